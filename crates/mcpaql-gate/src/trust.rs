//! Trust levels of adapters, and the table that decides from danger and trust.
//!
//! ```
//! use mcpaql_gate::trust::{TrustLevel, Verdict, matrix};
//! use mcpaql_lexicon::Danger;
//!
//! let level = TrustLevel::parse("validated").unwrap();
//! assert_eq!(matrix(Danger::Safe, level), Verdict::Allow);
//! assert_eq!(matrix(Danger::Forbidden, level), Verdict::Deny);
//! ```
//!
//! What always holds: more trust never makes a verdict stricter, and more danger never makes it milder.

use mcpaql_lexicon::Danger;

/// How far the operator trusts an adapter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TrustLevel {
    /// Nobody has approved it. Only introspection works.
    Untested,
    /// A program wrote it, and nobody has read it.
    Generated,
    /// The operator named or approved it.
    Validated,
    /// Others have reviewed it, too.
    CommunityReviewed,
    /// The operator vouches for it.
    Certified,
}

impl TrustLevel {
    /// All five, the least trusted first.
    pub const ALL: [TrustLevel; 5] = [
        TrustLevel::Untested,
        TrustLevel::Generated,
        TrustLevel::Validated,
        TrustLevel::CommunityReviewed,
        TrustLevel::Certified,
    ];

    /// The word in documents, flags and introspection.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            TrustLevel::Untested => "untested",
            TrustLevel::Generated => "generated",
            TrustLevel::Validated => "validated",
            TrustLevel::CommunityReviewed => "community_reviewed",
            TrustLevel::Certified => "certified",
        }
    }

    /// Parses the word.
    #[must_use]
    pub fn parse(text: &str) -> Option<TrustLevel> {
        TrustLevel::ALL.into_iter().find(|level| level.as_str() == text)
    }
}

/// What happens to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Verdict {
    /// It runs.
    Allow,
    /// It runs after a confirmation.
    Confirm,
    /// It does not run.
    Deny,
}

impl Verdict {
    /// The word in rules, reports and records.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Verdict::Allow => "allow",
            Verdict::Confirm => "confirm",
            Verdict::Deny => "deny",
        }
    }
}

/// Returns the verdict about an operation that no rule of the operator matches. Introspection is not asked about: it always works.
#[must_use]
pub const fn matrix(danger: Danger, trust: TrustLevel) -> Verdict {
    use Danger::{Dangerous, Destructive, Forbidden, Reversible, Safe};
    use TrustLevel::{Certified, CommunityReviewed, Generated, Untested, Validated};
    match (danger, trust) {
        (Safe, Generated | Validated | CommunityReviewed | Certified)
        | (Reversible, Validated | CommunityReviewed | Certified)
        | (Destructive, CommunityReviewed | Certified)
        | (Dangerous, Certified) => Verdict::Allow,
        (Destructive, Validated) | (Dangerous, CommunityReviewed) | (Forbidden, Certified) => {
            Verdict::Confirm
        }
        (_, Untested)
        | (Reversible | Destructive, Generated)
        | (Dangerous, Generated | Validated)
        | (Forbidden, Generated | Validated | CommunityReviewed) => Verdict::Deny,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table of the protocol, one row for each level of danger.
    const TABLE: [(Danger, [&str; 5]); 5] = [
        (Danger::Safe, ["deny", "allow", "allow", "allow", "allow"]),
        (Danger::Reversible, ["deny", "deny", "allow", "allow", "allow"]),
        (Danger::Destructive, ["deny", "deny", "confirm", "allow", "allow"]),
        (Danger::Dangerous, ["deny", "deny", "deny", "confirm", "allow"]),
        (Danger::Forbidden, ["deny", "deny", "deny", "deny", "confirm"]),
    ];

    #[test]
    fn every_cell_is_that_of_the_protocol() {
        for (danger, row) in TABLE {
            let verdicts = TrustLevel::ALL.map(|trust| matrix(danger, trust).as_str());
            assert_eq!(verdicts, row, "{danger:?}");
        }
    }

    #[test]
    fn more_trust_is_never_stricter_and_more_danger_is_never_milder() {
        for pair in TrustLevel::ALL.windows(2) {
            for danger in Danger::ALL {
                assert!(matrix(danger, pair[0]) >= matrix(danger, pair[1]), "{danger:?} {pair:?}");
            }
        }
        for pair in Danger::ALL.windows(2) {
            for trust in TrustLevel::ALL {
                assert!(matrix(pair[0], trust) <= matrix(pair[1], trust), "{trust:?} {pair:?}");
            }
        }
    }

    #[test]
    fn words_of_levels_are_read_back() {
        for level in TrustLevel::ALL {
            assert_eq!(TrustLevel::parse(level.as_str()), Some(level));
        }
        assert_eq!(TrustLevel::parse("Certified"), None);
    }
}
