//! Texts of a document with references to environment variables. Pure: the caller supplies the values of the variables.

/// A text with `${env:NAME}`, or `${env:NAME:-fallback}` for a variable that may be unset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnvTemplate(Vec<EnvPiece>);

/// A piece of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EnvPiece {
    /// Literal text.
    Text(String),
    /// The value of a variable, or its fallback.
    Variable {
        /// The name of the variable.
        name: String,
        /// The value if the variable is not set or empty.
        fallback: Option<String>,
    },
}

impl EnvTemplate {
    /// Splits a text into pieces; `None` if a `${` is not a complete `${env:NAME}`.
    #[must_use]
    pub fn parse(text: &str) -> Option<EnvTemplate> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some((before, reference)) = rest.split_once("${") {
            let (inside, after) = reference.strip_prefix("env:")?.split_once('}')?;
            let (name, fallback) = match inside.split_once(":-") {
                Some((name, fallback)) => (name, Some(fallback.to_owned())),
                None => (inside, None),
            };
            if name.is_empty() {
                return None;
            }
            if !before.is_empty() {
                pieces.push(EnvPiece::Text(before.to_owned()));
            }
            pieces.push(EnvPiece::Variable { name: name.to_owned(), fallback });
            rest = after;
        }
        if !rest.is_empty() {
            pieces.push(EnvPiece::Text(rest.to_owned()));
        }
        Some(EnvTemplate(pieces))
    }

    /// Returns the pieces in order.
    #[must_use]
    pub fn pieces(&self) -> &[EnvPiece] {
        &self.0
    }

    /// Returns whether the text has variables. If so, its value may be a secret.
    #[must_use]
    pub fn has_variables(&self) -> bool {
        self.0.iter().any(|piece| matches!(piece, EnvPiece::Variable { .. }))
    }

    /// Returns the text with the values of its variables.
    ///
    /// # Errors
    /// Returns the name of the first variable that is not set.
    pub fn fill(&self, lookup: impl Fn(&str) -> Option<String>) -> Result<String, &str> {
        let mut out = String::new();
        for piece in &self.0 {
            match piece {
                EnvPiece::Text(text) => out.push_str(text),
                EnvPiece::Variable { name, fallback } => {
                    let value = lookup(name).filter(|value| fallback.is_none() || !value.is_empty());
                    out.push_str(&value.or_else(|| fallback.clone()).ok_or(name.as_str())?);
                }
            }
        }
        Ok(out)
    }
}

/// Returns whether this is a valid name of a variable for a program.
#[must_use]
pub fn is_variable_name(name: &str) -> bool {
    !name.is_empty() && !name.contains(['=', '\0'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_fill_in_variables_and_name_what_is_missing() {
        let set = |name: &str| match name {
            "A" => Some("1".to_owned()),
            "EMPTY" => Some(String::new()),
            _ => None,
        };
        let fill = |text: &str| EnvTemplate::parse(text).unwrap().fill(set).map_err(str::to_owned);
        assert_eq!(fill("/a/${env:A}/${env:A}b").unwrap(), "/a/1/1b");
        assert_eq!(fill("plain $A {A}").unwrap(), "plain $A {A}");
        assert_eq!(fill("${env:B}").unwrap_err(), "B");
        assert_eq!(fill("${env:B:-.}/${env:A:-y}/${env:EMPTY:-z}").unwrap(), "./1/z");
        assert!(!EnvTemplate::parse("plain $ {x}").unwrap().has_variables());
        for text in ["${A}", "${env:A", "${env:}", "${env::-x}"] {
            assert_eq!(EnvTemplate::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_variable_has_a_name_without_an_equals_sign() {
        assert!(
            is_variable_name("A")
                && !is_variable_name("")
                && !is_variable_name("A=B")
                && !is_variable_name("A\0")
        );
    }
}
