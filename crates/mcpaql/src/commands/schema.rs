//! `mcpaql schema`: the JSON Schema of adapter documents.

use crate::{Outcome, output};
use anyhow::Result;
use mcpaql_document::load::DOCUMENT_SCHEMA;

pub(crate) fn run() -> Result<Outcome> {
    output::data(DOCUMENT_SCHEMA);
    Ok(Outcome::Clean)
}
