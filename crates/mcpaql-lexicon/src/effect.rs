//! What an operation does: five categories, and the kinds of effect in them.

use std::fmt;

/// What an operation does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Category {
    /// Adds data without changing existing data.
    Create,
    /// Changes nothing.
    Read,
    /// Changes existing data.
    Update,
    /// Removes data.
    Delete,
    /// Runs something with an effect of its own.
    Execute,
}

impl Category {
    /// All five, in the protocol's order.
    pub const ALL: [Category; 5] =
        [Category::Create, Category::Read, Category::Update, Category::Delete, Category::Execute];

    /// Returns the category as clients see it, such as `CREATE`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Category::Create => "CREATE",
            Category::Read => "READ",
            Category::Update => "UPDATE",
            Category::Delete => "DELETE",
            Category::Execute => "EXECUTE",
        }
    }

    /// Returns the endpoint of the category in the CRUDE profile, such as `create`. It is also the key in documents.
    #[must_use]
    pub const fn endpoint(self) -> &'static str {
        match self {
            Category::Create => "create",
            Category::Read => "read",
            Category::Update => "update",
            Category::Delete => "delete",
            Category::Execute => "execute",
        }
    }

    /// Parses the name of a category, in upper or lower case.
    #[must_use]
    pub fn parse(text: &str) -> Option<Category> {
        Category::ALL.into_iter().find(|category| category.as_str().eq_ignore_ascii_case(text))
    }
}

impl fmt::Display for Category {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The kind of effect of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Reads.
    Read,
    /// Computes a result from its arguments.
    Compute,
    /// Adds something new.
    Create,
    /// Adds to something that exists.
    Append,
    /// Changes parts of something.
    Update,
    /// Replaces a value or a whole thing.
    Set,
    /// Moves something.
    Move,
    /// Removes something, but it can be restored.
    SoftDelete,
    /// Removes something.
    Delete,
    /// Removes a connection between things.
    Unlink,
    /// Runs something.
    Execute,
    /// Sends something to someone.
    Send,
    /// Opens, closes or changes a session.
    Session,
    /// Several effects, selected by an argument.
    Multiplexed,
}

impl Effect {
    /// All of them.
    pub const ALL: [Effect; 14] = [
        Effect::Read,
        Effect::Compute,
        Effect::Create,
        Effect::Append,
        Effect::Update,
        Effect::Set,
        Effect::Move,
        Effect::SoftDelete,
        Effect::Delete,
        Effect::Unlink,
        Effect::Execute,
        Effect::Send,
        Effect::Session,
        Effect::Multiplexed,
    ];

    /// Returns the word in documents.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Effect::Read => "read",
            Effect::Compute => "compute",
            Effect::Create => "create",
            Effect::Append => "append",
            Effect::Update => "update",
            Effect::Set => "set",
            Effect::Move => "move",
            Effect::SoftDelete => "soft_delete",
            Effect::Delete => "delete",
            Effect::Unlink => "unlink",
            Effect::Execute => "execute",
            Effect::Send => "send",
            Effect::Session => "session",
            Effect::Multiplexed => "multiplexed",
        }
    }

    /// Parses the word.
    #[must_use]
    pub fn parse(text: &str) -> Option<Effect> {
        Effect::ALL.into_iter().find(|effect| effect.as_str() == text)
    }

    /// Returns the category of the effect.
    #[must_use]
    pub const fn category(self) -> Category {
        match self {
            Effect::Read | Effect::Compute => Category::Read,
            Effect::Create | Effect::Append => Category::Create,
            Effect::Update | Effect::Set | Effect::Move => Category::Update,
            Effect::SoftDelete | Effect::Delete | Effect::Unlink => Category::Delete,
            Effect::Execute | Effect::Send | Effect::Session | Effect::Multiplexed => Category::Execute,
        }
    }

    /// Returns the simplest effect of a category.
    #[must_use]
    pub const fn of(category: Category) -> Effect {
        match category {
            Category::Create => Effect::Create,
            Category::Read => Effect::Read,
            Category::Update => Effect::Update,
            Category::Delete => Effect::Delete,
            Category::Execute => Effect::Execute,
        }
    }
}
