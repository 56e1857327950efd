//! Where the parts of an adapter were written, so that what compiling finds is reported where the author can mend it.
//!
//! The model has one shape and documents have several: parameters as a map or a list, types as a map or a list, operations
//! derived from a store's resources. Compiling speaks of `/operations/NAME/params/PARAM` and `/types/NAME/properties/FIELD`;
//! this maps those pointers to the document's own.

use std::collections::HashMap;

/// Pointer into the model → pointer into the document.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Origins(HashMap<String, String>);

impl Origins {
    /// Notes where a part stands.
    pub(crate) fn note(&mut self, part: String, written: impl Into<String>) {
        self.0.insert(part, written.into());
    }

    /// The document's pointer: that of the longest noted part of the path, with the rest behind it.
    #[must_use]
    pub fn resolve(&self, pointer: &str) -> String {
        let mut part = pointer;
        loop {
            if let Some(written) = self.0.get(part) {
                return format!("{written}{}", pointer.strip_prefix(part).unwrap_or_default());
            }
            match part.rsplit_once('/') {
                Some((parent, _)) => part = parent,
                None => return pointer.to_owned(),
            }
        }
    }
}
