//! Writes the descriptions of tools that have several operations.

use crate::catalog::{CRUDE_PROFILE, Catalog, CatalogEntry, Endpoint};
use crate::groups::Groups;
use crate::operation::{Binding, Category, Danger, INTROSPECT, Operation, Segment};
use crate::policy::Hints;
use crate::schema::shorten;
use crate::signature;
use crate::tokens;
use indexmap::IndexMap;
use serde_json::{Map, Value};

/// Maximum groups in a description; fewer if they do not fit the budget.
const MAX_GROUPS: usize = 12;
const SOME_GROUPS: usize = 6;
const FEW_GROUPS: usize = 3;
/// Maximum characters of a title or tag. Longer ones are cut.
const MAX_LABEL_CHARS: usize = 32;
/// Maximum operations that are examined for an example call; the second number is for operations that must be read
/// first.
const MAX_CANDIDATES: usize = 24;
const MAX_DEFERRED_CANDIDATES: usize = 2;
/// Maximum characters of an example call.
const MAX_EXAMPLE_CHARS: usize = 200;

/// How much a description shows of each operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum DescriptionDetail {
    Counts,
    SomeGroups,
    Groups,
    Names,
    Signatures,
}

/// Writes descriptions of some operations of a catalog.
pub(super) struct DescriptionWriter<'c> {
    catalog: &'c Catalog,
    entries: &'c [&'c CatalogEntry],
    example: Option<String>,
}

/// Names the tool to search with. This is the only tool name in a description that does not come from the author.
pub(super) fn search_in(tool: &str) -> String {
    format!("Search operations in {tool}")
}

impl<'c> DescriptionWriter<'c> {
    pub(super) fn new(catalog: &'c Catalog, entries: &'c [&'c CatalogEntry]) -> DescriptionWriter<'c> {
        DescriptionWriter { catalog, entries, example: quick_start(catalog, entries) }
    }

    /// Writes the description of an endpoint's tool.
    pub(super) fn endpoint(&self, name: &str, endpoint: &Endpoint, detail: DescriptionDetail) -> String {
        let (catalog, entries) = (self.catalog, self.entries);
        let category = (catalog.profile == CRUDE_PROFILE).then(|| Category::parse(name)).flatten();
        let mut parts = Vec::new();
        match category {
            Some(category) => {
                parts.push(format!("{}: {}", title(catalog), purpose(category, endpoint.hints)));
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
            parts.push(format!("Quick start:\n{example}"));
        }
        parts.push(self.discovery(name, detail));
        parts.join("\n\n")
    }

    /// Writes the description of the tool that has all operations.
    pub(super) fn adapter(&self, detail: DescriptionDetail) -> String {
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
            parts.push(format!("Quick start:\n{example}"));
        }
        parts.push(discovery_call());
        parts.join("\n\n")
    }

    /// Shows the call that finds operations. Tools without `introspect` name the tool that has it. With the least detail, the
    /// budget may be too small for the call.
    fn discovery(&self, endpoint: &str, detail: DescriptionDetail) -> String {
        let home = self.catalog.get(INTROSPECT).map(|entry| entry.operation.endpoint.as_str());
        if home == Some(endpoint) {
            return discovery_call();
        }
        let search = search_in(self.catalog.introspect_tool().unwrap_or_default());
        if detail == DescriptionDetail::Counts {
            return format!("{search} with introspect.");
        }
        format!("{search}:\n{SHORT_SEARCH_CALL}")
    }
}

fn discovery_call() -> String {
    format!("Call an operation directly when its signature is shown, else search:\n{SEARCH_CALL}")
}

/// Returns the shortest text that the description of an endpoint's tool always has.
pub(super) fn base_description(category: Category) -> String {
    let read_only = Hints { read_only: true, destructive: false, idempotent: false, open_world: false };
    let destructive = Hints { read_only: false, destructive: true, ..read_only };
    let mild = Hints { read_only: false, ..read_only };
    let texts =
        [read_only, destructive, mild].map(|hints| [purpose(category, hints), effect(category, hints)]);
    let shortest =
        texts.into_iter().min_by_key(|texts| tokens::estimate(&texts.join("\n\n"))).unwrap_or_default();
    let [purpose, effect] = shortest;
    [purpose, "Supported operations:", effect, &search_in("")].join("\n\n")
}

/// A search, for tools that only name the tool to search with.
pub(super) const SHORT_SEARCH_CALL: &str = r#"{"operation":"introspect","params":{"search":"words"}}"#;
/// An example of a search.
const SEARCH_CALL: &str = r#"{"operation":"introspect","params":{"search":"what you want to do"}}"#;

/// Characters that a gateway takes for shell syntax.
const SHELL_SYNTAX: [&str; 6] = [";", "&&", "||", "$(", "> ", "< "];

fn has_no_shell_syntax(text: &str) -> bool {
    SHELL_SYNTAX.iter().all(|syntax| !text.contains(syntax))
}

/// Writes a title or tag on one line: short, and without shell syntax.
pub(super) fn label(text: &str) -> String {
    let is_unsafe = |c: char| c.is_control() || matches!(c, ';' | '&' | '|' | '$' | '<' | '>');
    // A single `&` is common in titles.
    let text = text.replace(" & ", " and ").replace(is_unsafe, " ");
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    // Other characters than ASCII cost more tokens, but fewer of them say the same.
    let mut width = 0;
    let fitting = text.chars().take_while(|c| {
        width += if c.is_ascii() { 1 } else { 4 };
        width <= MAX_LABEL_CHARS
    });
    let fitting = fitting.count();
    let cut = shorten(&text, fitting);
    // Cut between words, unless too little would remain.
    let whole = cut.strip_suffix('…').filter(|_| cut != text).and_then(|start| start.rsplit_once(' '));
    match whole.map(|(start, _)| start.trim_end_matches(|c: char| !c.is_alphanumeric())) {
        Some(start) if start.chars().count() * 2 > fitting => format!("{start}…"),
        _ => cut.into_owned(),
    }
}

/// Returns the title of the adapter.
pub(super) fn title(catalog: &Catalog) -> String {
    let adapter = &catalog.adapter;
    Some(label(&adapter.display_name)).filter(|text| !text.is_empty()).unwrap_or_else(|| adapter.name.clone())
}

/// Returns the purpose of an endpoint in the CRUDE profile. It never contradicts the hints.
pub(super) fn purpose(category: Category, hints: Hints) -> &'static str {
    match category {
        Category::Create => "Operations that add something new.",
        Category::Read if !hints.read_only => "Operations that look something up.",
        Category::Read => "Safe, read-only operations.",
        Category::Update => "Operations that change existing data.",
        Category::Delete if !hints.destructive => "Operations that remove data.",
        Category::Delete => "Destructive operations that remove data.",
        Category::Execute => "Operations that run something.",
    }
}

/// Describes the effect of an endpoint's calls. It is never milder than the hints, and not harsher either.
pub(super) fn effect(category: Category, hints: Hints) -> &'static str {
    match category {
        Category::Create if hints.destructive => "Some of them may overwrite or remove existing data.",
        Category::Create => "They leave existing data untouched.",
        Category::Read if !hints.read_only => "Some of them may do more than read.",
        Category::Read => "They never change anything.",
        Category::Update if !hints.destructive => "They change data and remove nothing.",
        Category::Update => "They may overwrite previous values.",
        Category::Delete if !hints.destructive => "They remove data. Use with caution.",
        Category::Delete => "Removed data may be gone for good. Use with caution.",
        Category::Execute => match (hints.destructive, hints.idempotent) {
            (true, false) => "IMPORTANT: they may be destructive, and repeating one runs it again.",
            (true, true) => "IMPORTANT: they may be destructive.",
            (false, false) => "Repeating one runs it again.",
            (false, true) => "Repeating one has no further effect.",
        },
    }
}

fn list(catalog: &Catalog, entries: &[&CatalogEntry], detail: DescriptionDetail, separator: &str) -> String {
    let names = |text: &dyn Fn(&CatalogEntry) -> String| {
        entries.iter().map(|entry| text(entry)).collect::<Vec<_>>().join(separator)
    };
    match detail {
        // The discovery text explains `introspect`, so its signature would only repeat it.
        DescriptionDetail::Signatures => names(&|entry| {
            let full = catalog.full_operation(entry).filter(|_| entry.operation.name != INTROSPECT);
            let signature = full.map(|full| signature::call(full.operation));
            signature.filter(|text| has_no_shell_syntax(text)).unwrap_or_else(|| entry.operation.name.clone())
        }),
        DescriptionDetail::Names => names(&|entry| entry.operation.name.clone()),
        DescriptionDetail::Groups => group_counts(entries, MAX_GROUPS),
        DescriptionDetail::SomeGroups => group_counts(entries, SOME_GROUPS),
        DescriptionDetail::Counts => group_counts(entries, FEW_GROUPS),
    }
}

/// Names the operations that run in the background, and how to get their results.
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
        "In the background: {names}. They return an execution_id, and get_execution waits for the result."
    ))
}

/// Counts operations by group: `412 in 23 groups: repos 45, issues 30 and 21 more`. If nearly every operation is its
/// own group, it names a few operations.
fn group_counts(entries: &[&CatalogEntry], max: usize) -> String {
    let own = || entries.iter().map(|entry| &entry.operation).filter(|op| op.name != INTROSPECT);
    let groups = Groups::of(own());
    let (total, count) = (groups.len(), own().count());
    if total * 2 > count {
        let names: Vec<&str> = own().take(max).map(|operation| operation.name.as_str()).collect();
        let such_as = if names.len() < count { ", such as " } else { ": " };
        return if names.is_empty() {
            "introspect".to_owned()
        } else {
            format!("{count}{such_as}{}", names.join(", "))
        };
    }
    // Cut group names may become equal.
    let mut labels: IndexMap<String, usize> = IndexMap::new();
    for (group, count) in groups.largest(max) {
        *labels.entry(label(group)).or_default() += count;
    }
    let shown: Vec<String> = labels.iter().map(|(group, count)| format!("{group} {count}")).collect();
    let more = if total > max { format!(" and {} more", total - max) } else { String::new() };
    format!("{count} in {total} groups: {}{more}", shown.join(", "))
}

/// Returns the shortest example call. Prefers operations that need no identifier, because a new caller has none.
fn quick_start(catalog: &Catalog, entries: &[&CatalogEntry]) -> Option<String> {
    let needs_id = |operation: &Operation| {
        let is_id = |name: &str| name == "id" || name.ends_with("_id") || name.ends_with("_number");
        operation.params.iter().any(|param| param.required && is_id(&param.name))
    };
    // A write without parameters is not a good first call.
    let is_blind_write =
        |entry: &CatalogEntry, call: &str| !entry.hints.read_only && !call.contains("\"params\"");
    let is_own = |entry: &&CatalogEntry| {
        !matches!(entry.operation.binding, Binding::Introspect | Binding::Execution(_))
    };
    let own: Vec<&CatalogEntry> = entries.iter().copied().filter(is_own).collect();
    let deferred = own.first().is_some_and(|entry| catalog.is_deferred(entry));
    let max = if deferred { MAX_DEFERRED_CANDIDATES } else { MAX_CANDIDATES };
    let calls = candidates(own, max, |entry| &entry.operation).into_iter().filter_map(|entry| {
        let operation = catalog.full_operation(entry)?.operation;
        let call = example_call(operation)?;
        Some(((risk(operation), is_blind_write(entry, &call), needs_id(operation), call.len()), call))
    });
    calls.min_by_key(|(rank, _)| *rank).map(|(_, call)| call)
}

/// Selects the operations to examine: those with the fewest placeholders, because they need the fewest values.
fn candidates<T>(mut own: Vec<T>, max: usize, operation: impl Fn(&T) -> &Operation) -> Vec<T> {
    if own.len() > max {
        own.sort_by_key(|one| {
            let operation = operation(one);
            let is_deprecated = operation.deprecated.is_some();
            (is_deprecated, risk(operation), placeholders(operation), operation.name.len())
        });
        own.truncate(max);
    }
    own
}

/// Returns the positions of the operations that an example call may come from.
pub(super) fn example_candidates(family: Vec<(usize, &Operation)>) -> impl Iterator<Item = usize> {
    candidates(family, MAX_CANDIDATES, |(_, operation)| operation).into_iter().map(|(position, _)| position)
}

fn risk(operation: &Operation) -> (Danger, bool) {
    (operation.danger, is_sweeping(operation))
}

/// Returns whether an operation may delete a lot: resources near the root of an API contain many others.
fn is_sweeping(operation: &Operation) -> bool {
    operation.category == Category::Delete
        && matches!(operation.binding, Binding::Http(_))
        && placeholders(operation) < 2
}

fn placeholders(operation: &Operation) -> usize {
    let Binding::Http(http) = &operation.binding else { return 0 };
    http.path.iter().filter(|segment| matches!(segment, Segment::Param(_))).count()
}

/// Writes the first example of an operation as the arguments of a call; `None` if it is too long.
fn example_call(operation: &Operation) -> Option<String> {
    let example = operation.examples.first()?;
    let mut call = Map::new();
    call.insert("operation".into(), operation.name.as_str().into());
    if !example.params.is_empty() {
        call.insert("params".into(), Value::Object(example.params.clone()));
    }
    let text = Value::Object(call).to_string();
    (text.len() <= MAX_EXAMPLE_CHARS && has_no_shell_syntax(&text)).then_some(text)
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
