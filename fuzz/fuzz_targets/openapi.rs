//! Imports arbitrary text as an OpenAPI document, and arbitrary text as the file it refers to. It must not panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcpaql_core::library::Library;
use mcpaql_import::openapi::{LoadedReference, OpenApiImportOptions, ReferenceLoader, open};
use std::sync::Arc;

struct Other(String);

impl ReferenceLoader for Other {
    fn load(&self, _: &str, _: &str) -> Result<LoadedReference, String> {
        Ok(LoadedReference { id: "other".into(), text: self.0.clone() })
    }
}

fuzz_target!(|input: (&str, &str)| {
    let (text, other) = input;
    let options = OpenApiImportOptions {
        url: Some("https://api.example/openapi.json".into()),
        ..OpenApiImportOptions::default()
    };
    let Ok(import) = open(text.to_owned(), &options, Arc::new(Other(other.to_owned()))) else { return };
    for index in 0..=import.adapter.operations.len() {
        let _ = import.library.operation(index);
        let _ = import.library.outline(index);
    }
    for name in import.library.type_names() {
        let _ = import.library.type_named(&name);
    }
});
