//! Imports the tools of an MCP server as an adapter: every tool becomes an operation, or several if it is split.
//!
//! ```
//! use mcpaql_core::adapter::{Auth, McpLink, McpTarget};
//! use mcpaql_core::capture::Capture;
//! use mcpaql_import::mcp::{self, McpImportOptions};
//! use serde_json::json;
//!
//! let tools = json!({"tools": [{"name": "getNote", "inputSchema": {"type": "object"}}]});
//! let capture = Capture::from_json(tools).unwrap();
//! let link = McpLink::Url { url: "https://notes.example/mcp".into(), headers: Default::default(), allow_http: false };
//! let options = McpImportOptions { name: Some("notes".into()), ..McpImportOptions::default() };
//! let imported = mcp::import(&capture, McpTarget::new(link), Auth::default(), &options).unwrap();
//! assert_eq!(imported.adapter.operations[0].name, "get_note");
//! ```
//!
//! What always holds: no tool is lost because of an unusual schema. Names depend only on the tools, not on their order. Calls
//! use the server's own name of a tool. A default in a schema is never sent, because it describes what the server assumes if
//! the argument is missing.

mod arguments;
mod bundle;
mod identity;
mod names;
mod operation_plan;
mod tool;
mod types;

pub use bundle::{bundle, canonical};

use crate::emit;
use crate::openapi::corrections::{apply_correction, decided_facts};
use crate::report::{ClassifiedOperation, ImportReport, Note, Notes, OperationOrigin};
use crate::select::{self, Selection};
use arguments::ConvertedSchema;
use indexmap::IndexMap;
use mcpaql_core::adapter::{Adapter, Auth, McpLink, McpTarget, TargetConfig};
use mcpaql_core::capture::Capture;
use mcpaql_core::diagnostic::Diagnostic;
use mcpaql_core::error::Code;
use mcpaql_core::evidence;
use mcpaql_core::facts::Effect;
use mcpaql_core::naming::title_of;
use mcpaql_core::operation::{Binding, Category, Danger, McpBinding, Operation, Param};
use mcpaql_core::policy::HintOverrides;
use mcpaql_document::load::guard_of;
use mcpaql_document::overrides::{Overrides, invalid_split, unmatched_param, unmatched_producer};
use mcpaql_lexicon::classify::{self, Classification, Evidence, ParamEvidence, Reason, classify};
use operation_plan::{PlannedOperation, ToolPart};
use serde_json::{Map, Value, json};
use std::collections::HashSet;
use tool::ListedTool;
use types::LocalTypes;

/// The options of an import.
#[derive(Debug, Clone, Default)]
pub struct McpImportOptions {
    /// The adapter's name. Default: derived from the server's name.
    pub name: Option<String>,
    /// The operations to import.
    pub selection: Selection,
    /// The author's corrections.
    pub overrides: Overrides,
    /// Keep the server's own schemas of arguments. A document cannot contain them; a gateway with plain results shows them.
    pub keep_input_schemas: bool,
}

/// An imported MCP server.
#[derive(Debug)]
pub struct ImportedServer {
    /// The adapter, with complete operations and all types.
    pub adapter: Adapter,
    /// The decisions and problems of the import.
    pub report: ImportReport,
    /// The version of the server.
    pub version: Option<String>,
    /// Notes about what was changed or left out.
    pub notes: Notes,
}

/// Imports a captured server.
///
/// # Errors
///
/// Returns the problems if overrides are invalid or the selection is empty.
pub fn import(
    capture: &Capture,
    target: McpTarget,
    auth: Auth,
    options: &McpImportOptions,
) -> Result<ImportedServer, Vec<Diagnostic>> {
    import_tools(&capture.tools, capture, target, auth, options)
}

/// Imports a captured server with `tools` instead of the captured ones. This saves a copy of the capture.
///
/// # Errors
///
/// Returns the problems if overrides are invalid or the selection is empty.
pub fn import_tools(
    tools: &[Value],
    capture: &Capture,
    target: McpTarget,
    auth: Auth,
    options: &McpImportOptions,
) -> Result<ImportedServer, Vec<Diagnostic>> {
    let mut report = ImportReport::default();
    let tools = callable(tools, &mut report);
    let plans = operation_plan::plans(&tools, &options.overrides)?;
    let (mut adapter, version) = adapter(capture, target, auth, options)?;
    let mut idle = options.selection.rules();
    let mut problems = Vec::new();
    let mut taken = Vec::with_capacity(plans.len());
    for plan in &plans {
        let Some(tool) = tools.get(plan.tool) else { continue };
        let mut built = build_operation(tool, plan, BuildExtent::Whole, &mut problems);
        if options.keep_input_schemas {
            keep_input_schema(&mut built.operation, tool, plan);
        }
        let wanted = plan.correction.as_ref().and_then(|correction| correction.include);
        let is_taken = wanted.unwrap_or_else(|| options.selection.takes(&built.operation, ""));
        idle.retain(|rule| !rule.fits(&built.operation, ""));
        if is_taken {
            taken.push((built, plan));
        } else {
            report.excluded += 1;
        }
    }
    problems.extend(missing_producers(&taken));
    if !problems.is_empty() {
        return Err(problems);
    }
    report.diagnostics.extend(options.selection.unmatched(&idle));
    if taken.is_empty() && !plans.is_empty() && !options.selection.rules().is_empty() {
        report.diagnostics.push(select::empty_selection(plans.len()));
        return Err(report.diagnostics);
    }
    let mut taken: Vec<BuiltOperation> = taken.into_iter().map(|(built, _)| built).collect();
    adapter.types = name_types(&mut taken);
    // The same order as in the document that `emit` writes.
    taken.sort_by_cached_key(|built| emit::sort_key(&built.operation));
    let mut notes = Notes::new();
    for built in taken {
        if !built.notes.is_empty() {
            notes.insert(built.operation.name.clone(), built.notes);
        }
        adapter.operations.push(built.operation);
        report.operations.push(built.classified);
    }
    Ok(ImportedServer { adapter, report, version, notes })
}

/// Returns an adapter that is good enough to measure the cost of its tools, but not to call them. Only operations that `shown`
/// selects have parameters.
///
/// # Errors
///
/// Returns the problems if the tools cannot be imported.
pub fn outline_tools(
    tools: &[Value],
    target: McpTarget,
    shown: impl Fn(&[&Operation]) -> Vec<bool>,
) -> Result<Adapter, Vec<Diagnostic>> {
    let tools = callable(tools, &mut ImportReport::default());
    let plans = operation_plan::plans(&tools, &Overrides::default())?;
    let (mut adapter, _) = adapter(&Capture::default(), target, Auth::None, &McpImportOptions::default())?;
    let mut problems = Vec::new();
    let mut make = |plan: &PlannedOperation, extent| {
        Some(build_operation(tools.get(plan.tool)?, plan, extent, &mut problems))
    };
    let heads = plans.iter().filter_map(|plan| Some((make(plan, BuildExtent::Head)?, plan)));
    let mut heads: Vec<(BuiltOperation, &PlannedOperation)> = heads.collect();
    heads.sort_by_cached_key(|(built, _)| emit::sort_key(&built.operation));
    let operations: Vec<&Operation> = heads.iter().map(|(built, _)| &built.operation).collect();
    let shown = shown(&operations);
    let built = heads.into_iter().zip(shown).filter_map(|((head, plan), is_shown)| match is_shown {
        true => make(plan, BuildExtent::Whole),
        false => Some(head),
    });
    let mut built: Vec<BuiltOperation> = built.collect();
    adapter.types = name_types(&mut built);
    adapter.operations = built.into_iter().map(|built| built.operation).collect();
    Ok(adapter)
}

/// Returns a name for a server from its command or URL. The server's own name is not used, because it may change.
#[must_use]
pub fn name_from_link(link: &McpLink) -> String {
    identity::name_from_link(link).unwrap_or_else(|| "server".to_owned())
}

/// Returns the tools that can be called; the others are reported and counted.
fn callable<'c>(listed: &'c [Value], report: &mut ImportReport) -> Vec<ListedTool<'c>> {
    let mut tools: Vec<ListedTool<'c>> = Vec::with_capacity(listed.len());
    let mut seen: HashSet<&str> = HashSet::new();
    for (index, value) in listed.iter().enumerate() {
        let pointer = format!("/tools/{index}");
        match ListedTool::read(value) {
            Some(tool) if seen.insert(tool.name) => tools.push(tool),
            Some(tool) => {
                report.skipped += 1;
                let message = format!("A second tool has the name '{}' and cannot be called", tool.name);
                report.diagnostics.push(Diagnostic::warning(Code::SchemaDuplicateName, pointer, message));
            }
            None => {
                report.skipped += 1;
                let message = "A tool without a name cannot be called";
                report.diagnostics.push(Diagnostic::error(Code::SchemaMissingField, pointer, message));
            }
        }
    }
    if tools.is_empty() {
        let message = "The server has no tool that can be called";
        report.diagnostics.push(Diagnostic::warning(Code::SchemaMissingField, "/tools", message));
    }
    tools
}

/// An operation with its classification, notes and types.
struct BuiltOperation {
    operation: Operation,
    classified: ClassifiedOperation,
    notes: Vec<Note>,
    /// The definitions of its arguments and of its result.
    locals: [LocalTypes; 2],
}

/// The extent to which an operation is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BuildExtent {
    /// The complete operation.
    Whole,
    /// Without parameters and answer, unless the parameters affect its facts.
    Head,
}

/// Builds an operation of a tool.
fn build_operation(
    tool: &ListedTool<'_>,
    plan: &PlannedOperation,
    extent: BuildExtent,
    problems: &mut Vec<Diagnostic>,
) -> BuiltOperation {
    let correction = plan.correction.as_deref();
    let mut decision = classify_operation(tool, plan);
    let (name, category) = apply_correction(correction, plan.name.clone(), &mut decision);
    let is_whole = extent == BuildExtent::Whole || arguments::may_have_guard(tool.input);
    let mut params = if is_whole { arguments::params(tool.input) } else { ConvertedSchema::default() };
    let fixed = fix_switch_params(&mut params.converted, plan, problems);
    let returns = if is_whole { arguments::returns(tool.output) } else { ConvertedSchema::default() };
    let binding = Binding::Mcp(McpBinding { tool: tool.name.to_owned(), fixed, input_schema: None });
    let facts = decided_facts(&decision, category, guard_of(&params.converted), &binding);
    let mut operation = Operation::new(name, category, facts, binding);
    let own_title = tool.title.clone().filter(|_| !matches!(plan.kind, ToolPart::Value { .. }));
    operation.title = own_title.unwrap_or_else(|| title_of(&operation.name));
    operation.description = match plan.kind {
        ToolPart::Value { .. } => format!("{}: {}", operation.title, tool.description),
        ToolPart::Whole | ToolPart::Rest { .. } => tool.description.clone(),
    };
    operation.danger = decision.danger;
    operation.hints = hints(tool, category, operation.danger);
    operation.tags.clone_from(&tool.tags);
    operation.source_id = Some(tool.name.to_owned());
    operation.params = params.converted;
    operation.returns = returns.converted;
    if let Some(correction) = correction {
        let known =
            |name: &str| operation.params.iter().any(|param| param.name == name || param.wire == name);
        let missing = correction.params.keys().filter(|name| !known(name));
        let names = || operation.params.iter().map(|param| param.name.as_str());
        problems.extend(missing.map(|name| unmatched_param(&plan.key, name, names())));
        correction.apply(&mut operation);
    }
    let classified = ClassifiedOperation {
        name: operation.name.clone(),
        source_id: operation.source_id.clone(),
        origin: OperationOrigin::Tool(tool.name.to_owned()),
        category,
        decision,
        // A name for a part of a tool does not declare its effect.
        corrected: correction.is_some_and(|correction| {
            correction.category().is_some() || !matches!(plan.kind, ToolPart::Value { .. })
        }),
    };
    let local = |types| LocalTypes { tool: tool.name.to_owned(), types };
    let locals = [local(params.types), local(returns.types)];
    BuiltOperation {
        operation,
        classified,
        notes: params.notes.into_iter().chain(returns.notes).collect(),
        locals,
    }
}

/// Keeps the server's own schema of the arguments, unless the operation has other parameters.
fn keep_input_schema(operation: &mut Operation, tool: &ListedTool<'_>, plan: &PlannedOperation) {
    let is_corrected = plan.correction.as_ref().is_some_and(|correction| !correction.params.is_empty());
    if let Binding::Mcp(binding) = &mut operation.binding
        && matches!(plan.kind, ToolPart::Whole)
        && !is_corrected
    {
        binding.input_schema = tool.input.filter(|schema| schema.is_object()).cloned();
    }
}

/// Classifies an operation.
fn classify_operation(tool: &ListedTool<'_>, plan: &PlannedOperation) -> Classification {
    let part = match &plan.kind {
        ToolPart::Value { value, .. } => {
            Some(operation_plan::part_name(tool.name, &operation_plan::value_text(value)))
        }
        ToolPart::Whole | ToolPart::Rest { .. } => None,
    };
    // The parameters and the answer of a tool are about all its parts, too.
    let (params, answer) = match part {
        Some(_) => (Vec::new(), Vec::new()),
        None => (evidence::of_schema(tool.input), evidence::of_schema(tool.output)),
    };
    // Parameters that switch between operations are judged below, by all their values.
    let params: Vec<ParamEvidence<'_>> =
        params.into_iter().filter(|param| !operation_plan::is_switch(param.name)).collect();
    let mut decision = classify(&Evidence {
        name: part.as_deref().unwrap_or(tool.name),
        params: &params,
        answer: &answer,
        // The description of a tool is about all its parts.
        description: if part.is_some() { "" } else { &tool.description },
        annotations: tool.annotations,
        ..Evidence::default()
    });
    let left = match &plan.kind {
        ToolPart::Whole => None,
        ToolPart::Rest { values, .. } => Some(values.as_slice()),
        ToolPart::Value { .. } => return decision,
    };
    if let Some((by, effects)) = operation_plan::switch_effects(tool, left) {
        let mut categories = effects.values().map(|effect| effect.category());
        let first = categories.next();
        let mixes = categories.any(|category| Some(category) != first);
        // A single acting value is enough to reject a read that is not announced. Otherwise the values may be a filter.
        if mixes || (decision.category == Category::Read && tool.annotations.read_only.is_none()) {
            apply_mixed_effects(&mut decision, &by, &effects);
        }
    }
    decision
}

/// Classifies a tool with a switch parameter by the worst effect of its values.
fn apply_mixed_effects(decision: &mut Classification, by: &str, effects: &IndexMap<String, Effect>) {
    let destroys = effects.values().any(|effect| effect.category() == Category::Delete);
    let words: Vec<&str> = effects.keys().map(String::as_str).take(6).collect();
    let review = format!(
        "its parameter '{by}' selects {}; split the tool into one operation for each",
        words.join(" or ")
    );
    decision.effect = Effect::Multiplexed;
    decision.category = Category::Execute;
    decision.idempotent = None;
    decision.danger = decision.danger.max(if destroys { Danger::Destructive } else { Danger::Reversible });
    let text = format!("'{by}' selects {}", words.join(" or "));
    decision.reasons.push(Reason { evidence: classify::EvidenceKind::Name, text });
    decision.review = Some(match decision.review.take() {
        Some(other) => format!("{other}; {review}"),
        None => review,
    });
}

/// Removes the switch parameter of a part from the parameters, and returns it as a fixed argument.
fn fix_switch_params(
    params: &mut Vec<Param>,
    plan: &PlannedOperation,
    problems: &mut Vec<Diagnostic>,
) -> Map<String, Value> {
    match &plan.kind {
        ToolPart::Whole => Map::new(),
        ToolPart::Rest { by, values } => {
            if let Some(schema) =
                params.iter_mut().find(|param| param.wire == *by).map(|param| &mut param.schema)
                && !values.is_empty()
            {
                *schema = json!({"type": "string", "enum": values});
            }
            Map::new()
        }
        ToolPart::Value { by, value, params: wanted } => {
            if let Some(wanted) = wanted {
                let known =
                    |word: &String| params.iter().any(|param| param.name == *word || param.wire == *word);
                for word in wanted.iter().filter(|word| !known(word)) {
                    let message = format!("'{word}' is not a parameter of '{}'", plan.key);
                    let value = operation_plan::value_text(value);
                    problems.push(invalid_split(&plan.key, &["values", &value, "params"], message));
                }
                params.retain(|param| wanted.contains(&param.name) || wanted.contains(&param.wire));
            }
            params.retain(|param| param.wire != *by);
            Map::from_iter([(by.clone(), value.clone())])
        }
    }
}

/// Returns the hints of the server that facts cannot express: an update or execution that destroys nothing, and a closed
/// world. `destructiveHint: true` is already part of the danger.
fn hints(tool: &ListedTool<'_>, category: Category, danger: Danger) -> HintOverrides {
    let harmless = tool.annotations.destructive == Some(false)
        && matches!(category, Category::Update | Category::Execute)
        && danger < Danger::Destructive;
    HintOverrides {
        destructive: harmless.then_some(false),
        open_world: tool.open_world.filter(|open| !open),
        ..HintOverrides::default()
    }
}

/// Returns problems for operations in `from` that do not exist.
fn missing_producers(taken: &[(BuiltOperation, &PlannedOperation)]) -> Vec<Diagnostic> {
    let names = || taken.iter().map(|(built, _)| built.operation.name.as_str());
    let mut problems = Vec::new();
    for (_, plan) in taken {
        let params = plan.correction.iter().flat_map(|correction| &correction.params);
        for (param, own) in params {
            let missing = own.from.iter().flatten().filter(|from| !names().any(|name| name == **from));
            problems.extend(missing.map(|from| unmatched_producer(&plan.key, param, from, names())));
        }
    }
    problems
}

/// Names the types of all operations, uniquely in the adapter, and returns them.
fn name_types(built: &mut [BuiltOperation]) -> IndexMap<String, Value> {
    let locals: Vec<&LocalTypes> = built.iter().flat_map(|built| &built.locals).collect();
    let merged = types::merge(&locals);
    let mut renames = merged.renames.into_iter();
    for built in built {
        let (Some(input), Some(output)) = (renames.next(), renames.next()) else { break };
        built.operation.params.iter_mut().for_each(|param| types::rename(&mut param.schema, &input));
        built.operation.returns.iter_mut().for_each(|returns| types::rename(&mut returns.schema, &output));
    }
    merged.types
}

fn adapter(
    capture: &Capture,
    mut target: McpTarget,
    auth: Auth,
    options: &McpImportOptions,
) -> Result<(Adapter, Option<String>), Vec<Diagnostic>> {
    let overrides = &options.overrides.adapter;
    let mut identity =
        identity::read(capture, &target.link, options.name.as_deref().or(overrides.name.as_deref()));
    identity.apply_override(overrides);
    if let Some(address) = &overrides.base_url {
        match &mut target.link {
            McpLink::Url { url, .. } => url.clone_from(address),
            McpLink::Command(_) => {
                let message = "A server that is started by a command has no URL to override";
                return Err(vec![Diagnostic::error(Code::SchemaInvalidValue, "/adapter/base_url", message)]);
            }
        }
    }
    let adapter = Adapter {
        display_name: identity.display_name,
        version: identity.version,
        description: identity.description,
        auth,
        ..Adapter::new(identity.name, TargetConfig::Mcp(target))
    };
    Ok((adapter, identity.declared_version))
}
