//! `mcpaql schema`: prints the JSON Schema of adapter documents.

use crate::{CommandOutcome, output};
use anyhow::Result;
use mcpaql_document::load::DOCUMENT_SCHEMA;

pub(crate) fn run() -> Result<CommandOutcome> {
    output::print_data(DOCUMENT_SCHEMA);
    Ok(CommandOutcome::Clean)
}
