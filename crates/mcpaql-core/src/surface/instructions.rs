//! What a server says about itself before anybody asks: how its tools are called.

use crate::adapter::Mode;
use crate::catalog::Catalog;

const SHARED: &str = "The mcpaql tools take {\"adapter\": NAME, \"operation\": NAME, \"params\": {…}} for the operations of all adapters. Find one with {\"operation\":\"introspect\",\"params\":{\"search\":\"what you want to do\"}}.";
const SPLIT: &str = "The tools of {about} take {\"operation\": NAME, \"params\": {…}} and share out the operations, so call an operation through a tool that lists it.";
const WHOLE: &str =
    "The one tool of {about} takes {\"operation\": NAME, \"params\": {…}} for every operation.";
const DISCRETE: &str = "Each tool of {about} is one operation and takes its parameters as arguments; the answer is JSON with `success` and either `data` or `error`.";
const DISCOVER: &str = "Discover operations and their parameters with {\"operation\":\"introspect\",\"params\":{\"query\":\"operations\"}} on {about}.";

/// The `instructions` of a server that serves these catalogs; empty where it serves none.
#[must_use]
pub fn instructions(catalogs: &[&Catalog]) -> String {
    let own = || catalogs.iter().filter(|catalog| catalog.sharing.is_none());
    let served = |modes: &[Mode]| {
        let names = own().filter(|catalog| modes.contains(&catalog.mode));
        names.map(|catalog| catalog.adapter.display_name.as_str()).collect::<Vec<_>>().join(", ")
    };
    let mut sentences = Vec::new();
    if catalogs.iter().any(|catalog| catalog.sharing.is_some()) {
        sentences.push(SHARED.to_owned());
    }
    let say = |about: String, what: &str| (!about.is_empty()).then(|| what.replace("{about}", &about));
    sentences.extend(say(served(&[Mode::Semantic, Mode::All]), SPLIT));
    sentences.extend(say(served(&[Mode::Single]), WHOLE));
    sentences.extend(say(served(&[Mode::Discrete]), DISCRETE));
    let introspect: Vec<&str> = own().filter_map(|catalog| catalog.introspect_tool()).collect();
    sentences.extend(say(introspect.join(", "), DISCOVER));
    sentences.join(" ")
}
