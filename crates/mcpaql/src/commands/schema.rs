//! `mcpaql schema`: prints the JSON Schema of adapter documents or of `mcpaql.yaml`.

use crate::args::SchemaSubject;
use crate::{CommandOutcome, output};
use anyhow::Result;
use mcpaql_document::config::config_schema;
use mcpaql_document::load::DOCUMENT_SCHEMA;

pub(crate) fn run(subject: SchemaSubject) -> Result<CommandOutcome> {
    match subject {
        SchemaSubject::Document => output::print_data(DOCUMENT_SCHEMA),
        SchemaSubject::Config => output::print_data(&serde_json::to_string_pretty(&config_schema()?)?),
    }
    Ok(CommandOutcome::Clean)
}
