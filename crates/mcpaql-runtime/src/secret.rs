//! Values that must not be printed.
//!
//! A secret shows itself only through [`Secret::expose`]; its `Debug` is a constant, and it has no `Display`.

use std::fmt;

/// A credential.
#[derive(Clone)]
pub struct Secret(String);

impl Secret {
    /// Wraps a credential.
    pub fn new(value: impl Into<String>) -> Self {
        Secret(value.into())
    }

    /// The credential itself, for the one place that needs it.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Whether `other` is the same, in a time that depends on its length alone.
    #[must_use]
    pub fn matches(&self, other: &[u8]) -> bool {
        let own = self.0.as_bytes();
        let difference = own.iter().zip(other).fold(0, |seen, (a, b)| std::hint::black_box(seen | (a ^ b)));
        own.len() == other.len() && difference == 0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_shows_nothing_of_it() {
        assert_eq!(format!("{:?}", Some(Secret::new("hunter2"))), "Some(Secret(…))");
    }

    #[test]
    fn only_the_whole_value_matches() {
        let secret = Secret::new("hunter2");
        assert!(secret.matches(b"hunter2"));
        for other in ["", "hunter", "hunter22", "hunter3", "Hunter2"] {
            assert!(!secret.matches(other.as_bytes()), "{other}");
        }
    }
}
