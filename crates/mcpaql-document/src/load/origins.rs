//! Maps pointers into the model to pointers into the document, so that problems found by the compiler are reported where the
//! author can fix them.
//!
//! The model has one shape and documents have several: parameters as a map or a list, types as a map or a list, operations
//! derived from a store's resources. The compiler reports `/operations/NAME/params/PARAM` and `/types/NAME/properties/FIELD`.

use std::collections::HashMap;

/// Pointer into the model → pointer into the document.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Origins(HashMap<String, String>);

impl Origins {
    /// Records the document's pointer to a part of the model.
    pub(crate) fn note(&mut self, part: String, pointer: impl Into<String>) {
        self.0.insert(part, pointer.into());
    }

    /// Returns the document's pointer: that of the longest recorded prefix, followed by the rest.
    #[must_use]
    pub fn resolve(&self, pointer: &str) -> String {
        let mut part = pointer;
        loop {
            if let Some(origin) = self.0.get(part) {
                return format!("{origin}{}", pointer.strip_prefix(part).unwrap_or_default());
            }
            match part.rsplit_once('/') {
                Some((parent, _)) => part = parent,
                None => return pointer.to_owned(),
            }
        }
    }
}
