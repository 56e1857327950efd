//! Projects in TypeScript, on the official MCP SDK.

use crate::{File, Project, Unsupported};

/// The source files of a project.
pub(crate) fn files(_: &Project<'_>) -> Result<Vec<File>, Unsupported> {
    Err(Unsupported {
        message: "Projects in TypeScript cannot be generated yet; serve the document instead.".to_owned(),
    })
}
