//! Danger levels: how bad it is if an operation runs by mistake.

use crate::Category;

/// How bad it is if an operation runs by mistake.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Danger {
    /// Reads only.
    Safe,
    /// Can be undone.
    Reversible,
    /// Cannot be undone.
    Destructive,
    /// Destroys a lot, or bypasses safeguards.
    Dangerous,
    /// Should not be available at all.
    Forbidden,
}

impl Danger {
    /// All five, mildest first.
    pub const ALL: [Danger; 5] =
        [Danger::Safe, Danger::Reversible, Danger::Destructive, Danger::Dangerous, Danger::Forbidden];

    /// The word in documents and introspection.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Danger::Safe => "safe",
            Danger::Reversible => "reversible",
            Danger::Destructive => "destructive",
            Danger::Dangerous => "dangerous",
            Danger::Forbidden => "forbidden",
        }
    }

    /// Parses the word.
    #[must_use]
    pub fn parse(text: &str) -> Option<Danger> {
        Danger::ALL.into_iter().find(|danger| danger.as_str() == text)
    }
}

/// Returns the danger level that the start of a name says, whatever the category.
#[must_use]
pub fn danger_of_start(name: &str) -> Option<Danger> {
    let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
    if starts(&["drop_", "delete_all", "truncate_", "reset_", "destroy_", "wipe_"]) {
        Some(Danger::Forbidden)
    } else if starts(&["force_", "bulk_delete", "purge_", "override_", "bypass_"]) {
        Some(Danger::Dangerous)
    } else {
        None
    }
}

/// Returns the danger level of an operation that does not declare one: by name pattern (the highest match), otherwise
/// by category.
#[must_use]
pub fn danger_of(name: &str, category: Category) -> Danger {
    let ends = |suffixes: &[&str]| suffixes.iter().any(|suffix| name.ends_with(suffix));
    if category != Category::Read {
        let by_start = danger_of_start(name);
        if by_start == Some(Danger::Forbidden) || ends(&["_production"]) {
            return Danger::Forbidden;
        }
        if by_start == Some(Danger::Dangerous) || ends(&["_permanently", "_without_backup"]) {
            return Danger::Dangerous;
        }
    }
    match category {
        Category::Read => Danger::Safe,
        Category::Create | Category::Update | Category::Execute => Danger::Reversible,
        Category::Delete => Danger::Destructive,
    }
}
