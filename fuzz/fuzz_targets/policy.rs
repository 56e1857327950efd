//! Reads arbitrary text as hint policies, and arbitrary text as the configuration that uses them. It must not panic, and a read-only
//! operation must never be called destructive.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcpaql_core::facts::{Facts, Reach};
use mcpaql_core::operation::Category;
use mcpaql_document::source::Source;
use mcpaql_document::{config, policies};

fuzz_target!(|input: (&str, &str)| {
    let (text, configuration) = input;
    if let Ok(policies) = policies::parse(&Source::new("policies.yaml", text)) {
        for policy in policies {
            for category in Category::ALL {
                let hints = policy.hints(category, &Facts::read(Reach::Process));
                assert!(!hints.read_only || !hints.destructive, "{policy:?}");
            }
        }
    }
    if let Ok(parsed) = Source::new("mcpaql.yaml", configuration).parse() {
        let _ = config::load(&parsed.value);
    }
});
