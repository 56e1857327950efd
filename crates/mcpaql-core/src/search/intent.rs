//! The intent of a question: the categories of operations that it asks for.

use crate::operation::Category;

/// The intended categories; empty if the question shows none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Intent(u8);

impl Intent {
    /// Any category that changes something.
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

    /// Returns this intent, or `other` if this one is unknown.
    pub(super) const fn or(self, other: Intent) -> Intent {
        if self.is_unknown() { other } else { self }
    }

    pub(super) const fn is_unknown(self) -> bool {
        self.0 == 0
    }

    pub(super) const fn has(self, category: Category) -> bool {
        self.0 & Intent::of(category).0 != 0
    }

    /// Returns how well an operation's category matches the intent.
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
