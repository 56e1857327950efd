//! Compiles an adapter into a catalog. All problems are reported, with pointers into the model.
//!
//! ```
//! use mcpaql_core::catalog::AdapterSettings;
//! use mcpaql_core::compile::compile;
//! # use mcpaql_core::adapter::{Adapter, CodeTarget, TargetConfig};
//! # use mcpaql_core::facts::{Facts, Reach};
//! # use mcpaql_core::operation::{Binding, Category, Operation};
//! # let mut adapter = Adapter::new("todo", TargetConfig::Code(CodeTarget::default()));
//! # let facts = Facts::read(Reach::Process);
//! # adapter.operations.push(Operation::new("list_tasks", Category::Read, facts, Binding::Code));
//!
//! let settings = AdapterSettings { prefix: Some("Not A Prefix".into()), ..AdapterSettings::default() };
//! let output = compile(adapter.clone(), &settings);
//! assert!(output.diagnostics[0].message.contains("prefix"));
//!
//! let output = compile(adapter, &AdapterSettings::default());
//! assert_eq!(output.catalog.unwrap().tools[0].name, "todo_mcpaql_read");
//! ```

mod families;
mod tools;

use crate::adapter::{Adapter, Mode, Profile, ResultForm};
use crate::catalog::{
    AdapterSettings, CRUDE_PROFILE, Catalog, CatalogEntry, DeferredOperation, EntryBody, call_signature,
    fix_examples,
};
use crate::diagnostic::{Diagnostic, Severity, Span, capitalize};
use crate::error::Code;
use crate::facts::{Facts, Reach};
use crate::flagged::{self, FlaggedOperation};
use crate::introspect;
use crate::library::Library;
use crate::lifecycle::ExecutionAction;
use crate::naming::{self, NameProblem, ToolNamer};
use crate::operation::{
    Binding, Category, Danger, Example, INTROSPECT, Operation, Param, StoreAction, operation_pointer,
    param_pointer,
};
use crate::policy::{self, HintSet, Hints, Policy};
use crate::reader::short_value;
use crate::schema::SchemaSet;
use crate::shape::DEFAULT_ANSWER_BUDGET;
use crate::signature;
use crate::surface;
use crate::targets;
use crate::validate::{CompiledParams, SizeLimits};
use families::{endpoint_of, endpoints, place_executions, place_introspect};
use indexmap::IndexMap;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::sync::Arc;

/// The result of compiling: the diagnostics, and a catalog unless an error prevents it.
#[derive(Debug)]
pub struct CompileOutput {
    /// The catalog.
    pub catalog: Option<Catalog>,
    /// Problems, with pointers into the document.
    pub diagnostics: Vec<Diagnostic>,
}

/// Compiles an adapter. Pointers in diagnostics refer to the model: `/operations/NAME/params/PARAM`.
#[must_use]
pub fn compile(adapter: Adapter, settings: &AdapterSettings) -> CompileOutput {
    compile_with(adapter, None, settings)
}

/// Compiles an adapter that has only the heads of operations. `library` has the rest.
#[must_use]
pub fn compile_deferred(
    adapter: Adapter,
    library: Arc<dyn Library>,
    settings: &AdapterSettings,
) -> CompileOutput {
    compile_with(adapter, Some(library), settings)
}

fn compile_with(
    mut adapter: Adapter,
    library: Option<Arc<dyn Library>>,
    settings: &AdapterSettings,
) -> CompileOutput {
    let mut compiler = AdapterCompiler { external_settings: settings.clone(), ..AdapterCompiler::default() };
    let settings = effective_settings(settings, &adapter);
    compiler.flagged = flagged::inspect(&mut adapter, &settings.allow_flagged);
    compiler.diagnostics.extend(compiler.flagged.iter().flat_map(FlaggedOperation::diagnostics));
    let catalog = compiler.run(adapter, library, &settings);
    CompileOutput { catalog, diagnostics: compiler.diagnostics }
}

/// Returns the settings from outside the document, with those of the document as fallback. Behind shared tools only its
/// policy and error settings count.
fn effective_settings(settings: &AdapterSettings, adapter: &Adapter) -> AdapterSettings {
    let own = AdapterSettings::from_adapter(adapter);
    match settings.sharing {
        None => settings.clone().with_fallback(own),
        Some(sharing) => {
            let AdapterSettings { policy, errors, answer_budget, .. } = own;
            let own = AdapterSettings { policy, errors, answer_budget, ..AdapterSettings::default() };
            AdapterSettings::for_shared_tools(sharing).with_fallback(settings.clone()).with_fallback(own)
        }
    }
}

#[derive(Default)]
pub(super) struct AdapterCompiler {
    pub(super) diagnostics: Vec<Diagnostic>,
    /// The settings from outside the document. Diagnostics about them do not point into the document.
    external_settings: AdapterSettings,
    /// The names of operations that are left out because of their errors.
    left_out: Vec<String>,
    /// Operations with poisoned texts.
    flagged: Vec<FlaggedOperation>,
}

/// What all operations of an adapter have in common.
struct CompileContext<'a> {
    adapter: &'a Adapter,
    profile: Option<&'a Profile>,
    policy: &'a Policy,
    types: &'a IndexMap<String, Value>,
    /// The types have no problems.
    clean_types: bool,
    limits: SizeLimits,
}

impl AdapterCompiler {
    /// What the tools return. Only tools with one operation each can return plain results.
    fn results(&mut self, mode: Mode, settings: &AdapterSettings) -> ResultForm {
        match settings.results.unwrap_or_default() {
            ResultForm::Plain if mode != Mode::Discrete => {
                let outside = self.external_settings.results.is_some();
                self.diagnostics.push(
                    Diagnostic::error(
                        Code::SchemaInvalidValue,
                        if outside { "" } else { "/results" },
                        format!(
                            "'results: plain' needs 'mode: discrete', but the mode is '{}'",
                            mode.as_str()
                        ),
                    )
                    .suggest("write `mode: discrete`, or remove `results`"),
                );
                ResultForm::Envelope
            }
            form => form,
        }
    }

    fn run(
        &mut self,
        mut adapter: Adapter,
        library: Option<Arc<dyn Library>>,
        settings: &AdapterSettings,
    ) -> Option<Catalog> {
        let mode = settings.mode.unwrap_or(Mode::Semantic);
        // With a wrong setting there is no catalog, but the operations are still checked.
        let profile = self.profile(&adapter, settings);
        let policy = self.policy(settings);
        let names = self.names(&adapter, settings);

        let mut operations = std::mem::take(&mut adapter.operations);
        let declared = adapter.profile.clone().filter(|_| profile.as_deref() != Some(CRUDE_PROFILE));
        let heads = if library.is_some() { operations.len() } else { 0 };
        // A tool's hints state the reach of its target, regardless of the operation.
        let reach = if adapter.target.is_remote() { Reach::Open } else { Reach::Process };
        let executes = operations.iter().any(|operation| operation.lifecycle.is_some());
        let own = operations.len();
        if executes {
            operations.extend(ExecutionAction::ALL.map(|action| action.operation(reach)));
        }
        operations.push(introspect_operation(reach, declared.as_ref()));
        for operation in &mut operations {
            operation.endpoint = endpoint_of(operation, declared.as_ref());
            if !matches!(operation.binding, Binding::Introspect | Binding::Execution(_)) {
                targets::add_target_param(operation, &adapter);
            }
        }
        if let Some(profile) = &declared {
            place_introspect(&mut operations, profile);
            place_executions(&mut operations, profile);
        }

        let mut types = adapter.types.clone();
        signature::hoist_types(&mut types);
        let written: Vec<Vec<Param>> = operations.iter().map(|operation| operation.params.clone()).collect();
        for operation in &mut operations {
            operation.params = signature::hoist(&operation.name, &operation.params, &mut types);
        }
        let (mut schemas, problems) = SchemaSet::compile(&types);
        if !problems.is_empty() {
            // Hoisted types are not in the document. Problems inside them are reported where the author wrote them.
            self.diagnostics.extend(SchemaSet::compile(&adapter.types).1);
        }
        let context = CompileContext {
            adapter: &adapter,
            profile: declared.as_ref(),
            policy: policy.unwrap_or_else(|| policy::default()),
            types: &types,
            clean_types: problems.is_empty(),
            limits: SizeLimits::default(),
        };
        let mut entries = Vec::with_capacity(operations.len());
        let mut kept = Vec::with_capacity(operations.len());
        for (index, (operation, written)) in operations.into_iter().zip(written).enumerate() {
            if executes && index < own && self.takes_execution_name(&operation) {
                self.left_out.push(operation.name);
                continue;
            }
            if index < own
                && self.flagged.iter().any(|flagged| flagged.is_withheld && flagged.name == operation.name)
            {
                self.left_out.push(operation.name);
                continue;
            }
            let entry = if index < heads {
                let (hints, written_hints) = self.hints(&operation, &context);
                Some(CatalogEntry {
                    hints,
                    written_hints,
                    tool: String::new(),
                    body: EntryBody::Deferred(DeferredOperation::new(index)),
                    operation,
                })
            } else {
                self.entry(operation, &written, &context, &mut schemas)
            };
            if let Some(entry) = entry {
                entries.push(entry);
                kept.push(written);
            }
        }
        let endpoints = endpoints(&entries, declared.as_ref());
        let mut catalog = Catalog {
            mode,
            sharing: settings.sharing,
            profile: profile?,
            names: names.clone()?,
            errors: settings.errors.unwrap_or_default(),
            results: self.results(mode, settings),
            title_in_annotations: context.policy.title_in_annotations,
            limits: context.limits,
            hide: adapter.hide.join(&settings.hide).into_owned(),
            answer_budget: settings.answer_budget.unwrap_or(DEFAULT_ANSWER_BUDGET),
            by_name: index(&entries),
            operations: entries,
            endpoints,
            types,
            tools: Vec::new(),
            flagged: std::mem::take(&mut self.flagged),
            allow_flagged: settings.allow_flagged.clone(),
            unapproved: Vec::new(),
            withheld_tools: HashMap::new(),
            schemas,
            library,
            discovery: Default::default(),
            routes: HashMap::new(),
            adapter,
        };
        policy?;
        if !tools::assign_tool_names(self, &mut catalog, &names?) {
            return None;
        }
        catalog.tools = surface::tools(&catalog, &kept, settings);
        if let Some(tokens) = settings.answer_budget {
            let reads = reading_tools(&catalog);
            for (tool, _) in catalog.tools.iter_mut().zip(reads).filter(|(_, reads)| *reads) {
                tool.max_result_chars = Some(tokens.saturating_mul(CHARS_PER_TOKEN));
            }
        }
        Some(catalog)
    }

    /// Reports an operation with a name that is reserved for executions.
    fn takes_execution_name(&mut self, operation: &Operation) -> bool {
        let Some(name) = operation.names().find(|name| ExecutionAction::is_name(name)) else { return false };
        let pointer = operation_pointer(&operation.name);
        let diagnostic = Diagnostic::error(
            Code::SchemaInvalidName,
            format!("{pointer}/{}", if name == operation.name { "name" } else { "aliases" }),
            format!(
                "'{name}' is reserved for executions, because this adapter has operations with `lifecycle`"
            ),
        )
        .expected("a name that is not reserved")
        .found(name)
        .suggest("choose another name, or remove `lifecycle` from the operations of this document");
        self.diagnostics.push(diagnostic);
        true
    }

    pub(super) fn problem(&mut self, code: Code, pointer: &str, message: impl Into<String>) {
        self.diagnostics.push(Diagnostic::error(code, pointer, message));
    }

    /// Reports a problem of a setting: at its place in the document, or without a place if it comes from outside.
    fn report_setting(&mut self, name: &str, outside: bool, diagnostic: Diagnostic) {
        self.diagnostics.push(if outside {
            let places = match name {
                "prefix" => "`--prefix`, `MCP_AQL_TOOL_PREFIX`, or `prefix` in mcpaql.yaml",
                "profile" => "`--profile`, `MCP_AQL_ENDPOINT_PROFILE`, or `profile` in mcpaql.yaml",
                "policy" => "`--policy`, or `policy` in mcpaql.yaml",
                _ => "`pattern` in mcpaql.yaml",
            };
            Diagnostic { pointer: String::new(), span: Some(Span::NOWHERE), ..diagnostic }
                .suggest(format!("the {name} is set outside the document: change {places}"))
        } else {
            diagnostic
        });
    }

    fn profile(&mut self, adapter: &Adapter, settings: &AdapterSettings) -> Option<String> {
        let own = adapter.profile.as_ref().map(|profile| profile.name.as_str());
        match settings.profile.as_deref() {
            None => Some(CRUDE_PROFILE.to_owned()),
            Some(CRUDE_PROFILE) => Some(CRUDE_PROFILE.to_owned()),
            Some(name) if own == Some(name) => Some(name.to_owned()),
            Some(name) => {
                let known = own.map_or(CRUDE_PROFILE.to_owned(), |own| format!("{CRUDE_PROFILE}, {own}"));
                let message = format!(
                    "The adapter '{}' has no endpoint profile '{name}' (it has {known})",
                    adapter.name
                );
                self.report_setting(
                    "profile",
                    self.external_settings.profile.is_some(),
                    Diagnostic::error(Code::SchemaInvalidValue, "/endpoints", message),
                );
                None
            }
        }
    }

    /// Returns the hint policy; reports an unknown one.
    fn policy<'s>(&mut self, settings: &'s AdapterSettings) -> Option<&'s Policy> {
        let Some(name) = settings.policy.as_deref() else { return Some(policy::default()) };
        let Some(unknown) = policy::unknown_policy(name, &settings.policies) else {
            return policy::find(name, &settings.policies);
        };
        let outside = self.external_settings.policy.is_some();
        self.report_setting("policy", outside, Diagnostic { pointer: "/policy".into(), ..unknown });
        None
    }

    fn names(&mut self, adapter: &Adapter, settings: &AdapterSettings) -> Option<ToolNamer> {
        if let Some(prefix) =
            settings.prefix.as_deref().filter(|prefix| prefix.len() >= naming::DISCOURAGED_PREFIX_LENGTH)
        {
            let message = format!("The prefix '{prefix}' is long; clients add their own prefix to it");
            self.report_setting(
                "prefix",
                self.external_settings.prefix.is_some(),
                Diagnostic::warning(Code::SchemaInvalidName, "/tool_names/prefix", message),
            );
        }
        match ToolNamer::new(&adapter.name, settings.pattern.as_deref(), settings.prefix.as_deref()) {
            Ok(names) => Some(names),
            Err(NameProblem(text)) => {
                let bad_prefix =
                    settings.prefix.as_deref().is_some_and(|prefix| naming::check_prefix(prefix).is_err());
                let (key, outside) = if bad_prefix {
                    ("prefix", self.external_settings.prefix.is_some())
                } else {
                    ("pattern", self.external_settings.pattern.is_some())
                };
                let pointer = format!("/tool_names/{key}");
                self.report_setting(
                    key,
                    outside,
                    Diagnostic::error(Code::SchemaInvalidName, pointer, capitalize(&text)),
                );
                None
            }
        }
    }

    /// Compiles one operation; `None` if its parameters have errors, which are reported.
    fn entry(
        &mut self,
        operation: Operation,
        written: &[Param],
        context: &CompileContext<'_>,
        schemas: &mut SchemaSet,
    ) -> Option<CatalogEntry> {
        let (params, found) = CompiledParams::compile(&operation, schemas, "");
        // Check the parameters again as the author wrote them, so that problems point to a place in the document.
        let needs_check =
            !found.is_empty() || !context.clean_types || written.iter().any(|param| param.default.is_some());
        let problems = if needs_check { check_params(&operation, written, schemas) } else { Vec::new() };
        let valid = problems.iter().all(|problem| problem.severity != Severity::Error);
        // The operations of a store share their fields, so one of them reports the problems.
        let reports = match &operation.binding {
            Binding::Store(store) => store.action == StoreAction::Create,
            _ => true,
        };
        if reports {
            self.diagnostics.extend(problems);
        }
        let (hints, written_hints) = self.hints(&operation, context);
        let signature = call_signature(&operation, context.types);
        let params = params.with_signature(signature.clone());
        let mut operation = operation;
        self.examples(&mut operation, &params, context, schemas);
        if !valid {
            self.left_out.push(operation.name);
            return None;
        }
        let body = EntryBody::Compiled { signature, params: Box::new(params) };
        Some(CatalogEntry { hints, written_hints, tool: String::new(), body, operation })
    }

    /// Returns the hints of an operation, and which of them tools state explicitly.
    fn hints(&mut self, operation: &Operation, context: &CompileContext<'_>) -> (Hints, HintSet) {
        let adapter = context.adapter;
        let family = context.profile.and_then(|profile| profile.families.get(&operation.endpoint));
        let endpoint = adapter.endpoint_hints.get(&operation.endpoint).copied().unwrap_or_default();
        let endpoint = family.map_or(endpoint, |family| family.hints.with_fallback(endpoint));
        let mut wider = endpoint.with_fallback(adapter.hints);
        if operation.category != Category::Read {
            wider = wider.without_read_only();
            if operation.hints.read_only == Some(true) {
                self.diagnostics.push(
                    Diagnostic::warning(
                        Code::SchemaInvalidValue,
                        format!("{}/annotations/readOnlyHint", operation_pointer(&operation.name)),
                        format!(
                            "'{}' is listed under `{}` but marked read-only",
                            operation.name,
                            operation.category.endpoint()
                        ),
                    )
                    .suggest("move it to `read` if it changes nothing"),
                );
            }
        }
        let policy = context.policy;
        let hints = operation.hints.apply(wider.apply(policy.hints(operation.category, &operation.facts)));
        (hints, policy.written_hints(operation.category).or(operation.hints.with_fallback(wider).specified()))
    }

    /// Reports examples that do not validate, because they would teach a failing call.
    fn examples(
        &mut self,
        operation: &mut Operation,
        params: &CompiledParams,
        context: &CompileContext<'_>,
        schemas: &SchemaSet,
    ) {
        let derived = matches!(operation.binding, Binding::Store(_));
        let pointer = operation_pointer(&operation.name);
        for (index, example) in operation.examples.iter().enumerate() {
            if let (Err(error), false) =
                (params.validate(example.params.clone(), schemas, &context.limits), derived)
            {
                self.problem(
                    Code::SchemaInvalidValue,
                    &format!("{pointer}/examples/{index}"),
                    format!("The example is not valid for its operation: {}", error.message),
                );
            }
        }
        fix_examples(operation, params, context.types, schemas, &context.limits);
    }
}

/// Characters of a token in most answers.
const CHARS_PER_TOKEN: usize = 4;

/// Returns for each tool whether its answers have a budget: those of operations that read, in an envelope.
fn reading_tools(catalog: &Catalog) -> Vec<bool> {
    let reads =
        |index: usize| catalog.operations.get(index).is_some_and(|entry| entry.operation.takes_controls());
    let has_budget = |name: &str| {
        let route = catalog.route(name).filter(|_| catalog.results == ResultForm::Envelope);
        route.is_some_and(|route| catalog.operations_in_scope(&route.scope).into_iter().any(reads))
    };
    catalog.tools.iter().map(|tool| has_budget(&tool.name)).collect()
}

/// Checks the parameters as the author wrote them: wrong schemas and defaults that do not fit.
fn check_params(operation: &Operation, params: &[Param], schemas: &mut SchemaSet) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for param in params {
        let pointer = param_pointer(&operation.name, &param.name);
        let (id, problems) = schemas.add(&param.schema, &pointer);
        found.extend(problems);
        let Some(default) = &param.default else { continue };
        if let Some(violation) = schemas.check(id, default).first() {
            let shown = if param.sensitive { "a secret".to_owned() } else { short_value(default) };
            found.push(
                Diagnostic::error(
                    Code::SchemaInvalidType,
                    format!("{pointer}/default"),
                    format!(
                        "The default of parameter '{}' of '{}' is not valid: {violation}",
                        param.name, operation.name
                    ),
                )
                .expected(signature::type_of(&param.schema))
                .found(shown),
            );
        }
    }
    found
}

fn index(entries: &[CatalogEntry]) -> HashMap<String, usize> {
    let mut by_name = HashMap::with_capacity(entries.len());
    for (index, entry) in entries.iter().enumerate() {
        by_name.extend(entry.operation.names().map(|name| (name.to_owned(), index)));
    }
    by_name
}

fn introspect_operation(reach: Reach, profile: Option<&Profile>) -> Operation {
    let endpoints: Vec<&str> = match profile {
        Some(profile) => profile.families.keys().map(String::as_str).collect(),
        None => Category::ALL.map(Category::endpoint).to_vec(),
    };
    let mut list = Map::new();
    list.insert("query".into(), json!("operations"));
    let facts = Facts::read(reach);
    Operation {
        title: "Introspect".to_owned(),
        description: "Discover the operations and types of this adapter.".to_owned(),
        params: introspect::params(&endpoints),
        examples: vec![Example { description: "List all operations".into(), params: list }],
        danger: Danger::Safe,
        ..Operation::new(INTROSPECT, Category::Read, facts, Binding::Introspect)
    }
}
