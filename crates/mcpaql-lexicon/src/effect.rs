//! What an operation does to the world: five categories, and the kinds of effect within them.

use std::fmt;

/// What an operation does to the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Category {
    /// Adds without changing what is there.
    Create,
    /// Changes nothing.
    Read,
    /// Changes what is there.
    Update,
    /// Removes.
    Delete,
    /// Runs something whose effect is its own.
    Execute,
}

impl Category {
    /// All five, in the protocol's order.
    pub const ALL: [Category; 5] =
        [Category::Create, Category::Read, Category::Update, Category::Delete, Category::Execute];

    /// `CREATE` and so on: the category on the wire.
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

    /// `create` and so on: the endpoint of that category in the CRUDE profile, and its key in documents.
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

    /// The category whose name this is, in any case.
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

/// What kind of effect a call has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Observes.
    Read,
    /// Calculates from its arguments.
    Compute,
    /// Adds something new.
    Create,
    /// Adds to something that is there.
    Append,
    /// Changes parts of something.
    Update,
    /// Replaces a value or a whole thing.
    Set,
    /// Puts something elsewhere.
    Move,
    /// Removes, but keeps it recoverable.
    SoftDelete,
    /// Removes.
    Delete,
    /// Removes a connection between things.
    Unlink,
    /// Runs something.
    Execute,
    /// Sends something to someone.
    Send,
    /// Opens, closes or changes a session.
    Session,
    /// Several effects behind one switch.
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

    /// The word in documents.
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

    /// The effect of that word.
    #[must_use]
    pub fn parse(text: &str) -> Option<Effect> {
        Effect::ALL.into_iter().find(|effect| effect.as_str() == text)
    }

    /// The category that follows from the effect.
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

    /// The plainest effect of a category.
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
