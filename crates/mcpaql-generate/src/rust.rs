//! Projects in Rust, on `mcpaql-runtime`.

use crate::{File, Project, Unsupported};

/// The source files of a project.
pub(crate) fn files(_: &Project<'_>) -> Result<Vec<File>, Unsupported> {
    Err(Unsupported {
        message: "Projects in Rust cannot be generated yet; serve the document instead.".to_owned(),
    })
}
