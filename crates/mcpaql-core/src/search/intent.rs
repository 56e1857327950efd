//! What shall be done to the world, as far as a question says so.

use crate::operation::Category;

/// The categories that are meant; none where the question does not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Intent(u8);

impl Intent {
    /// Something shall be done, whatever it is.
    pub(super) const ANY_ACTION: Intent = Intent::of(Category::Create)
        .and(Intent::of(Category::Update))
        .and(Intent::of(Category::Delete))
        .and(Intent::of(Category::Execute));

    pub(super) const fn of(category: Category) -> Intent {
        Intent(1 << category as u8)
    }

    pub(super) const fn and(self, other: Intent) -> Intent {
        Intent(self.0 | other.0)
    }

    /// This one, else the other where this one says nothing.
    pub(super) const fn or(self, other: Intent) -> Intent {
        if self.is_unknown() { other } else { self }
    }

    pub(super) const fn is_unknown(self) -> bool {
        self.0 == 0
    }

    pub(super) const fn has(self, category: Category) -> bool {
        self.0 & Intent::of(category).0 != 0
    }

    /// How well an operation's category fits what shall be done.
    pub(super) fn agreement(self, category: Category) -> f32 {
        use Category::{Create, Delete, Execute, Read, Update};
        if self.is_unknown() {
            return if category == Read { 1.0 } else { 0.85 };
        }
        if self.has(category) {
            return 1.0;
        }
        match category {
            Create | Update | Execute if self.has(Create) || self.has(Update) || self.has(Execute) => 0.8,
            Update | Execute if self.has(Delete) => 0.5,
            _ => 0.25,
        }
    }
}
