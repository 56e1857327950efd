//! Reads, loads, compiles and reports arbitrary text as a document. It must not panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcpaql_core::catalog::AdapterSettings;
use mcpaql_document::check::check;
use mcpaql_document::render::DiagnosticFormat;
use mcpaql_document::source::Source;

fuzz_target!(|input: (u8, &str)| {
    let (kind, text) = input;
    let name = ["a.md", "a.yaml", "a.json", "a"][usize::from(kind % 4)];
    let source = Source::new(name, text);
    let checked = check(&source, &AdapterSettings::default());
    for style in DiagnosticFormat::ALL {
        let _ = style.render(&[(&source, &checked.diagnostics)], kind % 2 == 0);
    }
});
