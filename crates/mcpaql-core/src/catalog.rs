//! The catalog: an adapter compiled once into everything a call needs. Immutable; lookups are O(1) in the number of operations.
//!
//! Tools, introspection, validation and errors are views of this one value, so what introspection says is what validation does.

use crate::adapter::{Adapter, ErrorPolicy, Mode, introspect_params, title_of};
use crate::diagnostic::Diagnostic;
use crate::error::Code;
use crate::facts::{Effect, Facts, Guard, Reach, Repeat};
use crate::naming::{self, NameProblem, Names, Subject};
use crate::operation::{Binding, Category, Danger, Example, INTROSPECT, Operation, Param};
use crate::policy::{self, HintOverrides, Hints, Policy};
use crate::schema::Schemas;
use crate::signature;
use crate::surface::{self, Tool};
use crate::validate::{CompiledParams, Limits};
use indexmap::IndexMap;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::collections::hash_map::Entry as Slot;

/// What may be decided outside the document; the most specific layer that says something wins.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settings {
    /// How operations are spread over tools.
    pub mode: Option<Mode>,
    /// `crude`, or the name of the document's own profile.
    pub profile: Option<String>,
    /// Pattern of tool names.
    pub pattern: Option<String>,
    /// Prefix of tool names.
    pub prefix: Option<String>,
    /// Name of the hint policy.
    pub policy: Option<String>,
    /// Whether `operation` lists its values as an enum.
    pub operation_enum: Option<bool>,
    /// Which failures carry `isError`.
    pub errors: Option<ErrorPolicy>,
    /// Estimated tokens the surface may cost.
    pub budget: Option<usize>,
}

impl Settings {
    /// This layer over a less specific one.
    #[must_use]
    pub fn over(self, wider: Settings) -> Settings {
        Settings {
            mode: self.mode.or(wider.mode),
            profile: self.profile.or(wider.profile),
            pattern: self.pattern.or(wider.pattern),
            prefix: self.prefix.or(wider.prefix),
            policy: self.policy.or(wider.policy),
            operation_enum: self.operation_enum.or(wider.operation_enum),
            errors: self.errors.or(wider.errors),
            budget: self.budget.or(wider.budget),
        }
    }

    /// What the document itself says.
    fn of(adapter: &Adapter) -> Settings {
        Settings {
            mode: adapter.mode,
            profile: adapter.profile.as_ref().map(|profile| profile.name.clone()),
            pattern: adapter.tool_names.pattern.clone(),
            prefix: adapter.tool_names.prefix.clone(),
            policy: adapter.policy.clone(),
            errors: Some(adapter.errors),
            ..Settings::default()
        }
    }
}

/// An adapter, ready to serve.
#[derive(Debug)]
pub struct Catalog {
    /// The document; its operations live in `operations`.
    pub adapter: Adapter,
    /// How operations are spread over tools.
    pub mode: Mode,
    /// `crude` or the name of a custom profile.
    pub profile: String,
    /// Which failures carry `isError`.
    pub errors: ErrorPolicy,
    /// What calls may not exceed.
    pub limits: Limits,
    /// Every operation, `introspect` last.
    pub operations: Vec<Entry>,
    /// Endpoint families in order, with what they hold; empty ones are not there.
    pub endpoints: IndexMap<String, Endpoint>,
    /// Declared and hoisted types.
    pub types: IndexMap<String, Value>,
    /// The surface: what `tools/list` shows, in order.
    pub tools: Vec<Tool>,
    pub(crate) schemas: Schemas,
    by_name: HashMap<String, usize>,
    routes: HashMap<String, Route>,
}

/// One operation, compiled.
#[derive(Debug)]
pub struct Entry {
    /// What the document means.
    pub operation: Operation,
    /// `name(a: string, b?: integer)`.
    pub signature: String,
    /// After policy and overrides.
    pub hints: Hints,
    /// The tool that reaches it.
    pub tool: String,
    pub(crate) params: CompiledParams,
}

/// One endpoint family.
#[derive(Debug)]
pub struct Endpoint {
    /// For people: `Read`.
    pub title: String,
    /// The custom family's purpose; empty in the CRUDE profile.
    pub purpose: String,
    /// Indexes into `operations`.
    pub operations: Vec<usize>,
    /// The hints of its riskiest operation.
    pub hints: Hints,
}

/// Where a tool name leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// What the tool covers.
    pub scope: Scope,
    /// The present name, where this one is an alias.
    pub renamed_to: Option<String>,
}

/// What a tool covers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// One endpoint family.
    Endpoint(String),
    /// Everything.
    Whole,
    /// One operation, by index.
    Operation(usize),
}

impl Catalog {
    /// The operation of that name or alias.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Entry> {
        self.by_name.get(name).and_then(|index| self.operations.get(*index))
    }

    /// Where a tool name leads.
    #[must_use]
    pub fn route(&self, tool: &str) -> Option<&Route> {
        self.routes.get(tool)
    }

    /// Every name a client may call: the tools and their aliases.
    pub fn tool_names(&self) -> impl Iterator<Item = &str> {
        self.routes.keys().map(String::as_str)
    }

    /// The tool that carries `introspect`, where one does.
    #[must_use]
    pub fn introspect_tool(&self) -> Option<&str> {
        self.get(INTROSPECT).map(|entry| entry.tool.as_str()).filter(|tool| !tool.is_empty())
    }
}

/// What compiling brought: a catalog unless something is too wrong, and all that was noticed.
#[derive(Debug)]
pub struct Compiled {
    /// The catalog.
    pub catalog: Option<Catalog>,
    /// Problems with pointers into the document.
    pub diagnostics: Vec<Diagnostic>,
}

/// Compiles an adapter; `origins` maps operations to their pointers in the document.
#[must_use]
pub fn compile(adapter: Adapter, origins: &IndexMap<String, String>, settings: &Settings) -> Compiled {
    let settings = settings.clone().over(Settings::of(&adapter));
    let mut diagnostics = Vec::new();
    let catalog = Compiler { origins, diagnostics: &mut diagnostics }.run(adapter, &settings);
    Compiled { catalog, diagnostics }
}

struct Compiler<'a> {
    origins: &'a IndexMap<String, String>,
    diagnostics: &'a mut Vec<Diagnostic>,
}

impl Compiler<'_> {
    fn run(mut self, mut adapter: Adapter, settings: &Settings) -> Option<Catalog> {
        let mode = settings.mode.unwrap_or(Mode::Semantic);
        let profile = self.profile(&adapter, settings)?;
        let policy = self.policy(settings)?;
        let names = self.names(&adapter, settings)?;

        let mut operations = std::mem::take(&mut adapter.operations);
        operations.push(introspect_operation(&adapter));
        let crude = profile == CRUDE;
        let declared = adapter.profile.clone().filter(|_| !crude);
        for operation in &mut operations {
            operation.endpoint = endpoint_of(operation, declared.as_ref());
        }
        if let Some(profile) = &declared {
            place_introspect(&mut operations, profile);
        }

        let mut types = adapter.types.clone();
        let whole: Vec<Vec<Param>> = operations.iter().map(|operation| operation.params.clone()).collect();
        for operation in &mut operations {
            operation.params = signature::hoist(&operation.name, &operation.params, &mut types);
        }
        let (mut schemas, problems) = Schemas::compile(&types);
        if !problems.is_empty() {
            // Hoisted types are not in the document; what is wrong inside them is reported where it was written.
            self.diagnostics.extend(Schemas::compile(&adapter.types).1);
        }
        let mut entries = Vec::with_capacity(operations.len());
        for (operation, written) in operations.into_iter().zip(&whole) {
            entries.push(self.entry(operation, written, &adapter, declared.as_ref(), policy, &mut schemas));
        }
        let endpoints = endpoints(&entries, declared.as_ref());
        let mut catalog = Catalog {
            mode,
            profile,
            errors: settings.errors.unwrap_or_default(),
            limits: Limits::default(),
            by_name: index(&entries),
            operations: entries,
            endpoints,
            types,
            tools: Vec::new(),
            schemas,
            routes: HashMap::new(),
            adapter,
        };
        self.check_examples(&catalog);
        let ok = self.name_tools(&mut catalog, &names);
        if !ok {
            return None;
        }
        catalog.tools = surface::tools(&catalog, &whole, settings);
        Some(catalog)
    }

    fn problem(&mut self, code: Code, pointer: &str, message: impl Into<String>) {
        self.diagnostics.push(Diagnostic::error(code, pointer, message));
    }

    fn profile(&mut self, adapter: &Adapter, settings: &Settings) -> Option<String> {
        let own = adapter.profile.as_ref().map(|profile| profile.name.as_str());
        match settings.profile.as_deref() {
            None => Some(CRUDE.to_owned()),
            Some(CRUDE) => Some(CRUDE.to_owned()),
            Some(name) if own == Some(name) => Some(name.to_owned()),
            Some(name) => {
                let known = own.map_or(CRUDE.to_owned(), |own| format!("{CRUDE}, {own}"));
                self.problem(
                    Code::SchemaInvalidValue,
                    "/endpoints",
                    format!(
                        "The adapter '{}' has no endpoint profile '{name}' (it has {known})",
                        adapter.name
                    ),
                );
                None
            }
        }
    }

    fn policy(&mut self, settings: &Settings) -> Option<&'static Policy> {
        let Some(name) = settings.policy.as_deref() else { return Some(&policy::DEFAULT) };
        let found = Policy::named(name);
        if found.is_none() {
            let known: Vec<&str> = policy::policies().map(|policy| policy.name).collect();
            self.problem(
                Code::SchemaInvalidValue,
                "/policy",
                format!("There is no hint policy '{name}' (there are {})", known.join(", ")),
            );
        }
        found
    }

    fn names(&mut self, adapter: &Adapter, settings: &Settings) -> Option<Names> {
        if let Some(prefix) = settings.prefix.as_deref().filter(|prefix| prefix.len() >= naming::LONG_PREFIX)
        {
            self.diagnostics.push(Diagnostic::warning(
                Code::SchemaInvalidName,
                "/tool_names/prefix",
                format!("The prefix '{prefix}' is long; clients add their own to it"),
            ));
        }
        match Names::new(&adapter.name, settings.pattern.as_deref(), settings.prefix.as_deref()) {
            Ok(names) => Some(names),
            Err(NameProblem(text)) => {
                self.problem(Code::SchemaInvalidName, "/tool_names", capital(&text));
                None
            }
        }
    }

    fn entry(
        &mut self,
        operation: Operation,
        written: &[Param],
        adapter: &Adapter,
        profile: Option<&crate::adapter::Profile>,
        policy: &Policy,
        schemas: &mut Schemas,
    ) -> Entry {
        let origin = self.origins.get(&operation.name).cloned().unwrap_or_default();
        let (params, _) = CompiledParams::compile(&operation, schemas, "");
        self.check_params(&operation.name, written, schemas, &origin);
        let hints = self.hints(&operation, adapter, profile, policy, &origin);
        let signature = params.signature().to_owned();
        Entry { signature, hints, tool: String::new(), params, operation }
    }

    /// The parameters as they were written: schemas that make no sense, defaults that do not fit.
    fn check_params(&mut self, operation: &str, params: &[Param], schemas: &mut Schemas, origin: &str) {
        for param in params {
            let pointer = format!("{origin}/params/{}", param.name);
            let (id, problems) = schemas.add(&param.schema, &pointer);
            self.diagnostics.extend(problems);
            let Some(default) = &param.default else { continue };
            if let Some(violation) = schemas.check(id, default).first() {
                self.diagnostics.push(
                    Diagnostic::error(
                        Code::SchemaInvalidType,
                        format!("{pointer}/default"),
                        format!(
                            "The default of parameter '{}' of '{operation}' does not fit: {violation}",
                            param.name
                        ),
                    )
                    .expected(signature::type_of(&param.schema))
                    .found(default.to_string()),
                );
            }
        }
    }

    fn hints(
        &mut self,
        operation: &Operation,
        adapter: &Adapter,
        profile: Option<&crate::adapter::Profile>,
        policy: &Policy,
        origin: &str,
    ) -> Hints {
        let family = profile.and_then(|profile| profile.families.get(&operation.endpoint));
        let endpoint = adapter.endpoint_hints.get(&operation.endpoint).copied().unwrap_or_default();
        let endpoint = family.map_or(endpoint, |family| family.hints.over(endpoint));
        let mut wider = endpoint.over(adapter.hints);
        if operation.category != Category::Read {
            wider = wider.without_read_only();
            if operation.hints.read_only == Some(true) {
                self.diagnostics.push(
                    Diagnostic::warning(
                        Code::SchemaInvalidValue,
                        format!("{origin}/annotations/readOnlyHint"),
                        format!("'{}' is a {} and says it is read-only", operation.name, operation.category),
                    )
                    .suggest("move it to `read` if it changes nothing"),
                );
            }
        }
        operation.hints.apply(wider.apply(policy.hints(operation.category, &operation.facts)))
    }

    /// An example that does not validate would teach the model a call that fails.
    fn check_examples(&mut self, catalog: &Catalog) {
        for entry in &catalog.operations {
            for (index, example) in entry.operation.examples.iter().enumerate() {
                let result = entry.params.validate(example.params.clone(), &catalog.schemas, &catalog.limits);
                if let Err(error) = result {
                    let origin = self.origins.get(&entry.operation.name).cloned().unwrap_or_default();
                    self.problem(
                        Code::SchemaInvalidValue,
                        &format!("{origin}/examples/{index}"),
                        format!("The example does not fit its operation: {}", error.message),
                    );
                }
            }
        }
    }

    /// Names every tool, and makes sure no two are alike.
    fn name_tools(&mut self, catalog: &mut Catalog, names: &Names) -> bool {
        let before = self.diagnostics.len();
        let mut scopes: Vec<(String, Scope)> = Vec::new();
        if matches!(catalog.mode, Mode::Semantic | Mode::All) {
            for endpoint in catalog.endpoints.keys() {
                if let Some(name) = self.name(names, Subject::Endpoint(endpoint)) {
                    scopes.push((name, Scope::Endpoint(endpoint.clone())));
                }
            }
        }
        if matches!(catalog.mode, Mode::Single | Mode::All)
            && let Some(name) = self.name(names, Subject::Whole)
        {
            scopes.push((name, Scope::Whole));
        }
        if catalog.mode == Mode::Discrete {
            for (index, entry) in catalog.operations.iter().enumerate() {
                if entry.operation.name != INTROSPECT
                    && let Some(name) = self.name(names, Subject::Operation(&entry.operation.name))
                {
                    scopes.push((name, Scope::Operation(index)));
                }
            }
        }
        for (name, scope) in &scopes {
            for index in catalog.covered(scope) {
                if let Some(entry) = catalog.operations.get_mut(index)
                    && entry.tool.is_empty()
                {
                    entry.tool.clone_from(name);
                }
            }
        }
        for (name, scope) in scopes {
            let route = Route { scope, renamed_to: None };
            if catalog.routes.insert(name.clone(), route).is_some() {
                self.problem(
                    Code::SchemaDuplicateName,
                    "/tool_names",
                    format!("Two tools are named '{name}'"),
                );
            }
        }
        self.tool_aliases(catalog);
        self.diagnostics
            .iter()
            .skip(before)
            .all(|diagnostic| diagnostic.severity != crate::diagnostic::Severity::Error)
    }

    fn name(&mut self, names: &Names, subject: Subject<'_>) -> Option<String> {
        match names.name(subject) {
            Ok(name) => {
                if name.len() > naming::SAFE_NAME {
                    self.diagnostics.push(Diagnostic::warning(
                        Code::SchemaInvalidName,
                        "/tool_names",
                        format!(
                            "The tool name '{name}' has {} characters; clients that put the server's name in front may cut or drop it",
                            name.len()
                        ),
                    ));
                }
                Some(name)
            }
            Err(NameProblem(text)) => {
                self.problem(Code::SchemaInvalidName, "/tool_names", capital(&text));
                None
            }
        }
    }

    fn tool_aliases(&mut self, catalog: &mut Catalog) {
        for (alias, stands_for) in catalog.adapter.tool_names.aliases.clone() {
            let pointer = format!("/tool_names/aliases/{alias}");
            let present = catalog
                .routes
                .iter()
                .find(|(name, route)| match &route.scope {
                    Scope::Endpoint(endpoint) => *endpoint == stands_for || **name == stands_for,
                    Scope::Whole => **name == stands_for || stands_for == catalog.adapter.name,
                    Scope::Operation(index) => {
                        **name == stands_for
                            || catalog
                                .operations
                                .get(*index)
                                .is_some_and(|entry| entry.operation.name == stands_for)
                    }
                })
                .map(|(name, route)| (name.clone(), route.scope.clone()));
            let Some((name, scope)) = present else {
                // In another mode the endpoint or operation simply has no tool of its own.
                let known =
                    catalog.endpoints.contains_key(&stands_for) || catalog.by_name.contains_key(&stands_for);
                if !known {
                    self.problem(
                        Code::SchemaUnresolvedRef,
                        &pointer,
                        format!("The alias '{alias}' stands for '{stands_for}', which is no endpoint, operation or tool"),
                    );
                }
                continue;
            };
            if let Err(NameProblem(text)) = naming::check_name(&alias) {
                self.problem(Code::SchemaInvalidName, &pointer, capital(&text));
                continue;
            }
            match catalog.routes.entry(alias) {
                Slot::Vacant(slot) => {
                    slot.insert(Route { scope, renamed_to: Some(name) });
                }
                Slot::Occupied(slot) => {
                    let message = format!("The alias '{}' is already a tool's name", slot.key());
                    self.problem(Code::SchemaDuplicateName, &pointer, message);
                }
            }
        }
    }
}

impl Catalog {
    /// The indexes of the operations behind a scope.
    pub(crate) fn covered(&self, scope: &Scope) -> Vec<usize> {
        match scope {
            Scope::Endpoint(endpoint) => {
                self.endpoints.get(endpoint).map_or_else(Vec::new, |endpoint| endpoint.operations.clone())
            }
            Scope::Whole => (0..self.operations.len()).collect(),
            Scope::Operation(index) => vec![*index],
        }
    }
}

/// The name of the standard profile.
pub const CRUDE: &str = "crude";

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn index(entries: &[Entry]) -> HashMap<String, usize> {
    let mut by_name = HashMap::with_capacity(entries.len());
    for (index, entry) in entries.iter().enumerate() {
        by_name.insert(entry.operation.name.clone(), index);
        for alias in &entry.operation.aliases {
            by_name.insert(alias.clone(), index);
        }
    }
    by_name
}

fn endpoint_of(operation: &Operation, profile: Option<&crate::adapter::Profile>) -> String {
    profile
        .and_then(|profile| profile.family_of(&operation.name, operation.category))
        .unwrap_or(operation.category.endpoint())
        .to_owned()
}

/// `introspect` goes where the document puts it, else to the first family that only reads, else to the first one.
fn place_introspect(operations: &mut [Operation], profile: &crate::adapter::Profile) {
    let named = profile.family_of(INTROSPECT, Category::Read).map(str::to_owned);
    let only_reads = |family: &str| {
        let mut members = operations
            .iter()
            .filter(|operation| operation.endpoint == family && operation.name != INTROSPECT);
        members.all(|operation| operation.category == Category::Read)
    };
    let home = named
        .or_else(|| profile.families.keys().find(|family| only_reads(family)).cloned())
        .or_else(|| profile.families.keys().next().cloned());
    if let (Some(home), Some(introspect)) =
        (home, operations.iter_mut().find(|operation| operation.name == INTROSPECT))
    {
        introspect.endpoint = home;
    }
}

fn endpoints(entries: &[Entry], profile: Option<&crate::adapter::Profile>) -> IndexMap<String, Endpoint> {
    let order: Vec<String> = match profile {
        Some(profile) => profile.families.keys().cloned().collect(),
        None => Category::ALL.map(|category| category.endpoint().to_owned()).to_vec(),
    };
    let mut endpoints = IndexMap::new();
    for name in order {
        let members: Vec<usize> = (0..entries.len())
            .filter(|index| entries.get(*index).is_some_and(|e| e.operation.endpoint == name))
            .collect();
        let hints = members
            .iter()
            .filter_map(|index| entries.get(*index))
            .map(|entry| entry.hints)
            .reduce(Hints::riskier);
        let Some(hints) = hints else { continue };
        let family = profile.and_then(|profile| profile.families.get(&name));
        let title = family.and_then(|family| family.title.clone()).unwrap_or_else(|| title_of(&name));
        let purpose = family.map(|family| family.purpose.clone()).unwrap_or_default();
        endpoints.insert(name, Endpoint { title, purpose, operations: members, hints });
    }
    endpoints
}

fn introspect_operation(adapter: &Adapter) -> Operation {
    let mut list = Map::new();
    list.insert("query".into(), json!("operations"));
    Operation {
        name: INTROSPECT.to_owned(),
        aliases: Vec::new(),
        category: Category::Read,
        endpoint: Category::Read.endpoint().to_owned(),
        title: "Introspect".to_owned(),
        description: "Discover the operations and types of this adapter.".to_owned(),
        params: introspect_params(),
        returns: None,
        examples: vec![Example { description: "List all operations".into(), params: list }],
        tags: Vec::new(),
        danger: Danger::Safe,
        facts: Facts {
            effect: Effect::Read,
            repeat: Repeat::NoEffect,
            overwrites: false,
            reversible: true,
            guard: Guard::None,
            // The tool is announced with its target's reach, whatever operation is called through it.
            reach: if adapter.target.is_remote() { Reach::Open } else { Reach::Process },
        },
        hints: HintOverrides::default(),
        deprecated: None,
        binding: Binding::Introspect,
    }
}
