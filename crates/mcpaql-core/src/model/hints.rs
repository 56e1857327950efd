//! MCP's four behavioural hints.
//!
//! ```
//! use mcpaql_core::hints::{Hint, HintOverrides};
//!
//! let stated = HintOverrides { read_only: Some(true), ..HintOverrides::default() };
//! assert_eq!(stated.get(Hint::ReadOnly), Some(true));
//! assert!(stated.effective().open_world, "MCP's defaults are the most cautious values");
//! ```

/// One of MCP's behavioural hints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Hint {
    /// `readOnlyHint`.
    ReadOnly,
    /// `destructiveHint`.
    Destructive,
    /// `idempotentHint`.
    Idempotent,
    /// `openWorldHint`.
    OpenWorld,
}

impl Hint {
    /// All four, in the order of reports.
    pub const ALL: [Hint; 4] = [Hint::ReadOnly, Hint::Destructive, Hint::Idempotent, Hint::OpenWorld];

    /// The key in `annotations`.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Hint::ReadOnly => "readOnlyHint",
            Hint::Destructive => "destructiveHint",
            Hint::Idempotent => "idempotentHint",
            Hint::OpenWorld => "openWorldHint",
        }
    }

    /// Returns MCP's default for a tool without this hint.
    #[must_use]
    pub const fn default_value(self) -> bool {
        matches!(self, Hint::Destructive | Hint::OpenWorld)
    }

    /// Parses the key.
    #[must_use]
    pub fn parse(text: &str) -> Option<Hint> {
        Hint::ALL.into_iter().find(|hint| hint.key() == text)
    }
}

/// A set of hints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HintSet(u8);

impl HintSet {
    /// None of them.
    pub const NONE: HintSet = HintSet(0);
    /// All four.
    pub const ALL: HintSet = HintSet(0b1111);

    /// Returns whether the set has a hint.
    #[must_use]
    pub const fn contains(self, hint: Hint) -> bool {
        self.0 & (1 << hint as u8) != 0
    }

    /// Returns the union of two sets.
    #[must_use]
    pub const fn or(self, other: HintSet) -> HintSet {
        HintSet(self.0 | other.0)
    }
}

impl FromIterator<Hint> for HintSet {
    fn from_iter<T: IntoIterator<Item = Hint>>(hints: T) -> HintSet {
        hints.into_iter().fold(HintSet::NONE, |set, hint| HintSet(set.0 | (1 << hint as u8)))
    }
}

/// Values of all four hints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hints {
    /// Changes nothing.
    pub read_only: bool,
    /// May destroy or overwrite.
    pub destructive: bool,
    /// A repeated call has no further effect, as the policy defines it.
    pub idempotent: bool,
    /// Reaches beyond this machine.
    pub open_world: bool,
}

impl Hints {
    /// Returns one hint.
    #[must_use]
    pub const fn get(self, hint: Hint) -> bool {
        match hint {
            Hint::ReadOnly => self.read_only,
            Hint::Destructive => self.destructive,
            Hint::Idempotent => self.idempotent,
            Hint::OpenWorld => self.open_world,
        }
    }

    /// Returns the riskier value of each hint, for a tool that combines both.
    #[must_use]
    pub const fn riskier(self, other: Hints) -> Hints {
        Hints {
            read_only: self.read_only && other.read_only,
            destructive: self.destructive || other.destructive,
            idempotent: self.idempotent && other.idempotent,
            open_world: self.open_world || other.open_world,
        }
    }

    /// Returns only the hints in a set; the others are not set.
    #[must_use]
    pub fn select(self, hints: HintSet) -> HintOverrides {
        let selected = |hint: Hint| hints.contains(hint).then(|| self.get(hint));
        HintOverrides {
            read_only: selected(Hint::ReadOnly),
            destructive: selected(Hint::Destructive),
            idempotent: selected(Hint::Idempotent),
            open_world: selected(Hint::OpenWorld),
        }
    }
}

/// Optional values of hints: those that an author sets, or those that a tool states.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HintOverrides {
    /// `readOnlyHint`.
    pub read_only: Option<bool>,
    /// `destructiveHint`.
    pub destructive: Option<bool>,
    /// `idempotentHint`.
    pub idempotent: Option<bool>,
    /// `openWorldHint`.
    pub open_world: Option<bool>,
}

impl From<Hints> for HintOverrides {
    fn from(hints: Hints) -> HintOverrides {
        hints.select(HintSet::ALL)
    }
}

impl HintOverrides {
    /// Returns one hint.
    #[must_use]
    pub const fn get(self, hint: Hint) -> Option<bool> {
        match hint {
            Hint::ReadOnly => self.read_only,
            Hint::Destructive => self.destructive,
            Hint::Idempotent => self.idempotent,
            Hint::OpenWorld => self.open_world,
        }
    }

    /// Returns the hints that are set.
    #[must_use]
    pub fn specified(self) -> HintSet {
        Hint::ALL.into_iter().filter(|hint| self.get(*hint).is_some()).collect()
    }

    /// Returns the hints as a client sees them, with MCP's defaults for those that are not set.
    #[must_use]
    pub fn effective(self) -> Hints {
        let value = |hint: Hint| self.get(hint).unwrap_or(hint.default_value());
        Hints {
            read_only: value(Hint::ReadOnly),
            destructive: value(Hint::Destructive),
            idempotent: value(Hint::Idempotent),
            open_world: value(Hint::OpenWorld),
        }
    }

    /// Returns these hints, with `wider` for those that are not set.
    #[must_use]
    pub fn with_fallback(self, wider: HintOverrides) -> HintOverrides {
        HintOverrides {
            read_only: self.read_only.or(wider.read_only),
            destructive: self.destructive.or(wider.destructive),
            idempotent: self.idempotent.or(wider.idempotent),
            open_world: self.open_world.or(wider.open_world),
        }
    }

    /// Returns these hints without `readOnlyHint: true`. Only an operation itself may set that hint for a write.
    #[must_use]
    pub fn without_read_only(self) -> HintOverrides {
        HintOverrides { read_only: self.read_only.filter(|value| !value), ..self }
    }

    /// Applies these hints to `hints`. A read-only operation is not destructive and is idempotent, unless these hints
    /// say otherwise.
    #[must_use]
    pub fn apply(self, hints: Hints) -> Hints {
        let hints = match self.read_only {
            Some(true) => Hints { destructive: false, idempotent: true, ..hints },
            _ => hints,
        };
        Hints {
            read_only: self.read_only.unwrap_or(hints.read_only),
            destructive: self.destructive.unwrap_or(hints.destructive),
            idempotent: self.idempotent.unwrap_or(hints.idempotent),
            open_world: self.open_world.unwrap_or(hints.open_world),
        }
    }
}
