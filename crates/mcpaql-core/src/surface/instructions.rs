//! The `instructions` of a server: how to call its tools.

use crate::adapter::Mode;
use crate::catalog::Catalog;
use crate::operation::Operation;

const SHARED: &str = "The mcpaql tools take {\"adapter\": NAME, \"operation\": NAME, \"params\": {…}} for the operations of all adapters. Find one with {\"operation\":\"introspect\",\"params\":{\"search\":\"what you want to do\"}}, and call it directly when its signature is shown.";
const SPLIT: &str = "The tools of {about} take {\"operation\": NAME, \"params\": {…}}. Each tool has some of the operations: call an operation through a tool that lists it.";
const SINGLE: &str =
    "The one tool of {about} takes {\"operation\": NAME, \"params\": {…}} for every operation.";
const DISCRETE: &str = "Each tool of {about} is one operation and takes its parameters as arguments; the result is JSON with `success` and either `data` or `error`.";
const DISCOVER: &str = "Find operations with {\"operation\":\"introspect\",\"params\":{\"search\":\"what you want to do\"}} on {about}. Call an operation directly when its signature is shown.";

const CONTROLS: &str = "Operations that read also take query controls: fields (minimal, standard, full or a list), filter {field: value or {gt, contains, …}}, sort {field, order}, aggregate, first and after.";

const BATCH: &str = "Several calls in one: {\"operations\": [{\"operation\": NAME, \"params\": {…}}, …]}, and a later one can use an earlier result: {\"$result\": \"0.data.id\"}.";
const DRY_RUN: &str = "Operations that change something take dry_run: true.";

/// Returns the `instructions` of a server with these catalogs, which answers query controls, batches and dry runs; empty if
/// there are none.
#[must_use]
pub fn instructions(catalogs: &[&Catalog]) -> String {
    let batches = catalogs.iter().any(|catalog| catalog.mode != Mode::Discrete);
    let changes = has(catalogs, Operation::takes_dry_run);
    let further = [(BATCH, batches), (DRY_RUN, changes)];
    let further = further.into_iter().filter(|(_, is_shown)| *is_shown).map(|(text, _)| text);
    let text = with_controls(catalogs, CONTROLS);
    std::iter::once(text.as_str()).chain(further).collect::<Vec<_>>().join(" ")
}

/// Returns the same for a server without the query control `aggregate`, batches and dry runs.
#[must_use]
pub fn instructions_of_a_project(catalogs: &[&Catalog]) -> String {
    with_controls(catalogs, &CONTROLS.replace(" aggregate,", ""))
}

fn with_controls(catalogs: &[&Catalog], controls: &str) -> String {
    let text = tools_and_discovery(catalogs);
    if has(catalogs, Operation::takes_controls) { format!("{text} {controls}") } else { text }
}

fn has(catalogs: &[&Catalog], is_meant: fn(&Operation) -> bool) -> bool {
    catalogs.iter().any(|catalog| catalog.operations.iter().any(|entry| is_meant(&entry.operation)))
}

fn tools_and_discovery(catalogs: &[&Catalog]) -> String {
    let own = || catalogs.iter().filter(|catalog| catalog.sharing.is_none());
    let served = |modes: &[Mode]| {
        let names = own().filter(|catalog| modes.contains(&catalog.mode));
        names.map(|catalog| catalog.adapter.display_name.as_str()).collect::<Vec<_>>().join(", ")
    };
    let mut sentences = Vec::new();
    if catalogs.iter().any(|catalog| catalog.sharing.is_some()) {
        sentences.push(SHARED.to_owned());
    }
    let fill = |about: String, text: &str| (!about.is_empty()).then(|| text.replace("{about}", &about));
    sentences.extend(fill(served(&[Mode::Semantic, Mode::All]), SPLIT));
    sentences.extend(fill(served(&[Mode::Single]), SINGLE));
    sentences.extend(fill(served(&[Mode::Discrete]), DISCRETE));
    let introspect: Vec<&str> = own().filter_map(|catalog| catalog.introspect_tool()).collect();
    sentences.extend(fill(introspect.join(", "), DISCOVER));
    sentences.join(" ")
}
