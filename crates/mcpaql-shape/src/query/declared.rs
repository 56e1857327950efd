//! What a document declares about the fields of an operation's answers.

use super::computed::ComputedFields;
use super::fields::FieldSelection;
use super::path::FieldPath;
use indexmap::IndexMap;

/// Fields that a document declares.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DeclaredFields {
    /// The fields of a call that selects none.
    pub default_fields: Option<FieldSelection>,
    /// Named selections of fields. They take precedence over `minimal` and `standard`.
    pub presets: IndexMap<String, Vec<FieldPath>>,
    /// Fields that are computed from others.
    pub computed: ComputedFields,
}

impl DeclaredFields {
    /// Returns whether nothing is declared.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.default_fields.is_none() && self.presets.is_empty() && self.computed.is_empty()
    }
}
