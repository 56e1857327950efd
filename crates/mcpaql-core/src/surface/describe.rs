//! Descriptions of tools that stand for many operations.

use crate::catalog::{CRUDE_PROFILE, Catalog, CatalogEntry, Endpoint};
use crate::groups::Groups;
use crate::operation::{Binding, Category, Danger, INTROSPECT, Operation, Segment};
use crate::policy::Hints;
use crate::schema::shorten;
use crate::signature;
use crate::tokens;
use indexmap::IndexMap;
use serde_json::{Map, Value};

/// How many groups a description counts before it says "and more"; fewer where that would break the budget.
const GROUPS: usize = 12;
const SOME_GROUPS: usize = 6;
const FEW_GROUPS: usize = 3;
/// A longer title or tag is cut.
const MAX_LABEL_CHARS: usize = 32;
/// So many operations are looked at for an example call, and so many where each has to be read for it.
const CANDIDATES: usize = 24;
const DEFERRED_CANDIDATES: usize = 2;
/// A longer call is no example for a start.
const LONG_EXAMPLE: usize = 200;

/// How much a description says about each operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum DescriptionDetail {
    Counts,
    SomeGroups,
    Groups,
    Names,
    Signatures,
}

/// Speaks about some operations of a catalog, in as much detail as is asked for.
pub(super) struct DescriptionWriter<'c> {
    catalog: &'c Catalog,
    entries: &'c [&'c CatalogEntry],
    /// Shows the call that searches instead of the one that lists.
    search: bool,
    example: Option<String>,
}

/// Where operations are asked for: the only name of a tool in a description that is not its author's.
pub(super) fn introspect_through(tool: &str) -> String {
    format!("introspect through {tool}.")
}

impl<'c> DescriptionWriter<'c> {
    pub(super) fn new(
        catalog: &'c Catalog,
        entries: &'c [&'c CatalogEntry],
        search: bool,
    ) -> DescriptionWriter<'c> {
        DescriptionWriter { catalog, entries, search, example: quick_start(catalog, entries) }
    }

    /// The description of an endpoint's tool.
    pub(super) fn endpoint(&self, name: &str, endpoint: &Endpoint, detail: DescriptionDetail) -> String {
        let (catalog, entries) = (self.catalog, self.entries);
        let category = (catalog.profile == CRUDE_PROFILE).then(|| Category::parse(name)).flatten();
        let mut parts = Vec::new();
        match category {
            Some(category) => {
                parts.push(format!("{}: {}", title(catalog), purpose(category)));
            }
            None => {
                parts.push(sentence(&endpoint.purpose));
                parts.push(format!("Primary semantic categories: {}", categories(entries).join(", ")));
            }
        }
        let break_ = if detail == DescriptionDetail::Signatures { "\n" } else { " " };
        let separator = if detail == DescriptionDetail::Signatures { "\n" } else { ", " };
        parts.push(format!("Supported operations:{break_}{}", list(catalog, entries, detail, separator)));
        if let Some(category) = category {
            parts.push(effect(category, endpoint.hints).to_owned());
        }
        parts.extend(background(entries));
        if let Some(example) = &self.example {
            parts.push(format!("Quick start example:\n{example}"));
        }
        parts.push(self.discovery(name));
        parts.join("\n\n")
    }

    /// The description of the tool that stands for everything.
    pub(super) fn whole(&self, detail: DescriptionDetail) -> String {
        let display_name = title(self.catalog);
        let mut parts = vec![
            format!("MCP-AQL {display_name} adapter. All operations through one entry point."),
            "Operations are routed by their semantic category.".to_owned(),
        ];
        let mut lines = vec!["Supported operation categories:".to_owned()];
        for category in Category::ALL {
            let of_category = |entry: &&CatalogEntry| entry.operation.category == category;
            let entries: Vec<&CatalogEntry> = self.entries.iter().copied().filter(of_category).collect();
            if entries.is_empty() {
                continue;
            }
            let title = crate::naming::title_of(category.endpoint());
            lines.push(format!("- {title}: {}", list(self.catalog, &entries, detail, ", ")));
        }
        parts.push(lines.join("\n"));
        parts.extend(background(self.entries));
        if let Some(example) = &self.example {
            parts.push(format!("Quick start example:\n{example}"));
        }
        parts.push(self.discovery_call());
        parts.join("\n\n")
    }

    /// How to find out more. The tool that carries `introspect` shows the call; the others only say where it is.
    fn discovery(&self, endpoint: &str) -> String {
        let home = self.catalog.get(INTROSPECT).map(|entry| entry.operation.endpoint.as_str());
        if home == Some(endpoint) {
            return self.discovery_call();
        }
        let through = introspect_through(self.catalog.introspect_tool().unwrap_or_default());
        if self.search {
            format!("Search operations with {through}")
        } else {
            format!("Discover required parameters with {through}")
        }
    }

    fn discovery_call(&self) -> String {
        if self.search {
            format!("Search all operations, with their parameters:\n{SEARCH_CALL}")
        } else {
            format!("Discover all operations and parameters:\n{LIST_CALL}")
        }
    }
}

/// What the description of an endpoint's tool says at least, whatever its operations are.
pub(super) fn base_description(category: Category) -> String {
    let harmless = Hints { read_only: true, destructive: false, idempotent: false, open_world: false };
    let harmful = Hints { read_only: false, destructive: true, ..harmless };
    let effects = [harmless, harmful].map(|hints| effect(category, hints));
    let effect = effects.into_iter().min_by_key(|effect| tokens::estimate(effect)).unwrap_or_default();
    [purpose(category), "Supported operations:", effect, &introspect_through("")].join("\n\n")
}

/// The call that lists everything.
const LIST_CALL: &str = r#"{"operation":"introspect","params":{"query":"operations"}}"#;
/// The call that searches.
const SEARCH_CALL: &str = r#"{"operation":"introspect","params":{"search":"what you want to do"}}"#;

/// What a gateway takes for shell syntax.
const SHELL: [&str; 6] = [";", "&&", "||", "$(", "> ", "< "];

fn has_no_shell_syntax(text: &str) -> bool {
    SHELL.iter().all(|word| !text.contains(word))
}

/// A title or a tag on one line: short, and without what a gateway takes for shell syntax.
pub(super) fn label(text: &str) -> String {
    let harmful = |c: char| c.is_control() || matches!(c, ';' | '&' | '|' | '$' | '<' | '>');
    // A single `&` is a word of many titles.
    let text = text.replace(" & ", " and ").replace(harmful, " ");
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    // What is not ASCII costs more and needs fewer characters to say the same.
    let mut width = 0;
    let fitting = text.chars().take_while(|c| {
        width += if c.is_ascii() { 1 } else { 4 };
        width <= MAX_LABEL_CHARS
    });
    let fitting = fitting.count();
    let cut = shorten(&text, fitting);
    // Between words, unless that would leave next to nothing.
    let whole = cut.strip_suffix('…').filter(|_| cut != text).and_then(|start| start.rsplit_once(' '));
    match whole.map(|(start, _)| start.trim_end_matches(|c: char| !c.is_alphanumeric())) {
        Some(start) if start.chars().count() * 2 > fitting => format!("{start}…"),
        _ => cut.into_owned(),
    }
}

/// What the adapter is called.
pub(super) fn title(catalog: &Catalog) -> String {
    let adapter = &catalog.adapter;
    Some(label(&adapter.display_name)).filter(|text| !text.is_empty()).unwrap_or_else(|| adapter.name.clone())
}

/// What a family is for, in the CRUDE profile.
pub(super) fn purpose(category: Category) -> &'static str {
    match category {
        Category::Create => "Operations that add something new.",
        Category::Read => "Safe, read-only operations.",
        Category::Update => "Operations that change existing data.",
        Category::Delete => "Destructive operations that remove data.",
        Category::Execute => "Operations that run something.",
    }
}

/// What its calls do to the world; never milder than its hints.
pub(super) fn effect(category: Category, hints: Hints) -> &'static str {
    match category {
        Category::Create if hints.destructive => "Some of them may overwrite or remove what is there.",
        Category::Create => "They add data and leave what is there untouched.",
        Category::Read if !hints.read_only => "Some of them may do more than read.",
        Category::Read => "They only read and never change anything.",
        Category::Update => "They may overwrite previous values.",
        Category::Delete => "What they remove may be gone for good. Use with caution.",
        Category::Execute => "IMPORTANT: they may be destructive, and repeating one runs it again.",
    }
}

fn list(catalog: &Catalog, entries: &[&CatalogEntry], detail: DescriptionDetail, separator: &str) -> String {
    let names = |text: &dyn Fn(&CatalogEntry) -> String| {
        entries.iter().map(|entry| text(entry)).collect::<Vec<_>>().join(separator)
    };
    match detail {
        // `introspect` is explained by the discovery line; its signature would only repeat it.
        DescriptionDetail::Signatures => names(&|entry| {
            let whole = catalog.full_operation(entry).filter(|_| entry.operation.name != INTROSPECT);
            let signature = whole.map(|whole| signature::call(whole.operation));
            signature.filter(|text| has_no_shell_syntax(text)).unwrap_or_else(|| entry.operation.name.clone())
        }),
        DescriptionDetail::Names => names(&|entry| entry.operation.name.clone()),
        DescriptionDetail::Groups => group_counts(entries, GROUPS),
        DescriptionDetail::SomeGroups => group_counts(entries, SOME_GROUPS),
        DescriptionDetail::Counts => group_counts(entries, FEW_GROUPS),
    }
}

/// Which operations answer before they are done, and where their results are found.
fn background(entries: &[&CatalogEntry]) -> Option<String> {
    let long: Vec<&str> = entries
        .iter()
        .filter(|entry| entry.operation.lifecycle.is_some())
        .map(|entry| entry.operation.name.as_str())
        .collect();
    let names = match long.as_slice() {
        [] => return None,
        few if few.len() <= FEW_GROUPS => few.join(", "),
        many => format!("{} operations", many.len()),
    };
    Some(format!(
        "In the background: {names}. They answer with an execution_id, and get_execution waits for the result."
    ))
}

/// `412 in 23 groups: repos 45, issues 30 and 21 more`; where nearly every operation is a group of its own, a few names.
fn group_counts(entries: &[&CatalogEntry], most: usize) -> String {
    let own = || entries.iter().map(|entry| &entry.operation).filter(|op| op.name != INTROSPECT);
    let groups = Groups::of(own());
    let (total, count) = (groups.len(), own().count());
    if total * 2 > count {
        let names: Vec<&str> = own().take(most).map(|operation| operation.name.as_str()).collect();
        let such_as = if names.len() < count { ", such as " } else { ": " };
        return if names.is_empty() {
            "introspect".to_owned()
        } else {
            format!("{count}{such_as}{}", names.join(", "))
        };
    }
    // Groups whose names begin alike look the same when they are cut.
    let mut labels: IndexMap<String, usize> = IndexMap::new();
    for (group, count) in groups.largest(most) {
        *labels.entry(label(group)).or_default() += count;
    }
    let shown: Vec<String> = labels.iter().map(|(group, count)| format!("{group} {count}")).collect();
    let more = if total > most { format!(" and {} more", total - most) } else { String::new() };
    format!("{count} in {total} groups: {}{more}", shown.join(", "))
}

/// The shortest example call of a real operation; one that needs no identifier first, since nobody has one at the start.
fn quick_start(catalog: &Catalog, entries: &[&CatalogEntry]) -> Option<String> {
    let needs_id = |operation: &Operation| {
        let is_id = |name: &str| name == "id" || name.ends_with("_id") || name.ends_with("_number");
        operation.params.iter().any(|param| param.required && is_id(&param.name))
    };
    // A write without any parameter is the wrong thing to try first.
    let blind = |entry: &CatalogEntry, call: &str| !entry.hints.read_only && !call.contains("\"params\"");
    let is_own = |entry: &&CatalogEntry| {
        !matches!(entry.operation.binding, Binding::Introspect | Binding::Execution(_))
    };
    let own: Vec<&CatalogEntry> = entries.iter().copied().filter(is_own).collect();
    let deferred = own.first().is_some_and(|entry| catalog.is_deferred(entry));
    let most = if deferred { DEFERRED_CANDIDATES } else { CANDIDATES };
    let calls = candidates(own, most, |entry| &entry.operation).into_iter().filter_map(|entry| {
        let operation = catalog.full_operation(entry)?.operation;
        let call = example_call(operation)?;
        Some(((risk(operation), blind(entry, &call), needs_id(operation), call.len()), call))
    });
    calls.min_by_key(|(rank, _)| *rank).map(|(_, call)| call)
}

/// Of many operations only those with the fewest placeholders are looked into: they need the least.
fn candidates<T>(mut own: Vec<T>, most: usize, operation: impl Fn(&T) -> &Operation) -> Vec<T> {
    if own.len() > most {
        own.sort_by_key(|one| {
            let operation = operation(one);
            let discouraged = operation.deprecated.is_some();
            (discouraged, risk(operation), placeholders(operation), operation.name.len())
        });
        own.truncate(most);
    }
    own
}

/// Those of a family's operations, by their positions, that an example call may be taken from.
pub(super) fn example_candidates(family: Vec<(usize, &Operation)>) -> impl Iterator<Item = usize> {
    candidates(family, CANDIDATES, |(_, operation)| operation).into_iter().map(|(position, _)| position)
}

fn risk(operation: &Operation) -> (Danger, bool) {
    (operation.danger, is_sweeping(operation))
}

/// Whether an operation removes something that may hold much: what stands near the root of an API does.
fn is_sweeping(operation: &Operation) -> bool {
    operation.category == Category::Delete
        && matches!(operation.binding, Binding::Http(_))
        && placeholders(operation) < 2
}

fn placeholders(operation: &Operation) -> usize {
    let Binding::Http(http) = &operation.binding else { return 0 };
    http.path.iter().filter(|segment| matches!(segment, Segment::Param(_))).count()
}

/// The first example of an operation as the arguments of a call, unless it is long.
fn example_call(operation: &Operation) -> Option<String> {
    let example = operation.examples.first()?;
    let mut call = Map::new();
    call.insert("operation".into(), operation.name.as_str().into());
    if !example.params.is_empty() {
        call.insert("params".into(), Value::Object(example.params.clone()));
    }
    let text = Value::Object(call).to_string();
    (text.len() <= LONG_EXAMPLE && has_no_shell_syntax(&text)).then_some(text)
}

fn categories(entries: &[&CatalogEntry]) -> Vec<&'static str> {
    Category::ALL
        .into_iter()
        .filter(|category| entries.iter().any(|entry| entry.operation.category == *category))
        .map(Category::as_str)
        .collect()
}

fn sentence(text: &str) -> String {
    let text = text.trim();
    if text.ends_with(['.', '!', '?']) { text.to_owned() } else { format!("{text}.") }
}
