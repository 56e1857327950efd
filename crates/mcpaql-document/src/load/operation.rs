//! Reads operations and binds them to the target.

use super::binding::{self, BoundOperation};
use super::dialect;
use super::origins::Origins;
use super::{fields, identity, lifecycle, pagination, params};
use crate::effects;
use mcpaql_core::adapter::TargetConfig;
use mcpaql_core::diagnostic::Diagnostic;
use mcpaql_core::error::Code;
use mcpaql_core::facts::{self, Declared, Effect, Guard, Reach};
use mcpaql_core::naming::{RESERVED, title_of};
use mcpaql_core::operation::{
    Binding, Category, Danger, DangerNotes, Example, Operation, Param, ParamLocation, Returns, param_pointer,
};
use mcpaql_core::policy::HintOverrides;
use mcpaql_core::reader::{DocumentObject, DocumentReader, child};
use serde_json::{Map, Value};

/// Keys of an operation.
pub(super) const OPERATION_KEYS: &[&str] = &[
    "name",
    "maps_to",
    "http",
    "command",
    "stdin",
    "output",
    "exit",
    "timeout",
    "tool",
    "fixed",
    "body",
    "body_param",
    "body_template",
    "result",
    "error",
    "content_type",
    "idempotency_header",
    "base_url",
    "auth",
    "title",
    "description",
    "params",
    "returns",
    "response",
    "examples",
    "tags",
    "danger",
    "danger_level",
    "effect",
    "idempotent",
    "non_idempotent",
    "deprecated",
    "aliases",
    "annotations",
    "source_id",
    "pagination",
    "lifecycle",
    "supports_fields",
    "default_fields",
    "presets",
    "computed",
    "hide",
    "requires_confirmation",
];
/// Keys of `danger` as an object.
pub(super) const DANGER_KEYS: &[&str] =
    &["level", "reasons", "confirmation_message", "cooldown_seconds", "requires_reauth", "audit_context"];
/// Keys of `danger` that nothing implements.
const UNSUPPORTED_DANGER_KEYS: &[(&str, &str)] = &[
    ("cooldown_seconds", "calls can follow each other without a pause; use `at_most` in a rule of the operator"),
    ("requires_reauth", "nobody has to log in again; use `confirm: person` in a rule of the operator"),
    ("audit_context", "the log has no such field"),
];
/// Keys of an example.
pub(super) const EXAMPLE_KEYS: &[&str] = &["description", "params", "request"];

pub(super) const HINTS: &[&str] = &["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];

/// The parts of the document that all operations share.
pub(super) struct OperationContext<'a> {
    pub(super) types: &'a [String],
    pub(super) target: &'a TargetConfig,
}

/// Reads an operation; `None` if it cannot be served.
pub(super) fn read(
    reader: &mut DocumentReader,
    value: &Value,
    pointer: &str,
    category: Category,
    context: &OperationContext<'_>,
    origins: &mut Origins,
) -> Option<ReadOperation> {
    let object = reader.object(value, pointer)?;
    reader.check_keys(&object, OPERATION_KEYS);
    let name = name(reader, &object);
    let drafts = params::read(reader, &object, context.types);
    if let Some(name) = &name {
        for draft in &drafts {
            origins.note(param_pointer(name, &draft.param.name), draft.pointer.clone());
        }
    }
    let bound = binding::read(reader, &object, drafts, context);
    // Read everything before returning `None`, so that all problems are reported.
    let effect = reader.choice(&object, "effect", &Effect::ALL.map(Effect::as_str), Effect::parse);
    let danger = danger(reader, &object);
    let danger_notes = danger_notes(reader, &object);
    let idempotent = idempotent(reader, &object);
    let metadata = OperationMetadata {
        title: identity::shown_name(reader, &object, "title", "title"),
        description: reader.string(&object, "description").unwrap_or_default(),
        returns: returns(reader, &object, context.types),
        examples: examples(reader, &object),
        tags: reader.strings(&object, "tags"),
        aliases: aliases(reader, &object),
        deprecated: deprecated(reader, &object),
        hints: hints(reader, &object, "annotations", &[]),
        source_id: reader.string(&object, "source_id"),
    };
    let lifecycle = lifecycle::read(reader, &object, category, context.target);
    let hide = fields::hidden(reader, &object);
    let declared = fields::declared(reader, &object);
    let BoundOperation { binding, params } = bound?;
    let pagination = pagination::read(reader, &object, &params);
    check_contradictions(reader, &object, category, effect, danger, &binding);
    check_read_only_hint(reader, &object, metadata.hints, &binding);
    let name = name?;
    let contradiction = match (category, effect) {
        (Category::Read, None) => effects::contradicts_read(&name, &metadata.description, &binding),
        _ => None,
    };
    let category = if contradiction.is_some() { Category::Execute } else { category };
    let danger = danger.unwrap_or_else(|| facts::danger_of(&name, category));
    let facts = facts::infer(&Declared {
        category,
        effect,
        idempotent,
        danger,
        guard: guard_of(&params),
        reach: if context.target.is_remote() { Reach::Open } else { Reach::Process },
        binding: &binding,
    });
    let operation = Operation {
        title: metadata.title.unwrap_or_else(|| title_of(&name)),
        description: metadata.description,
        returns: metadata.returns,
        examples: metadata.examples,
        tags: metadata.tags,
        aliases: metadata.aliases,
        deprecated: metadata.deprecated,
        hints: metadata.hints,
        endpoint: category.endpoint().to_owned(),
        name,
        category,
        params,
        danger,
        danger_notes,
        facts,
        source_id: metadata.source_id,
        pagination,
        lifecycle,
        hide,
        fields: declared,
        binding,
    };
    let contradiction = contradiction.map(|reason| {
        Diagnostic::error(
            Code::SchemaInvalidValue,
            object.pointer_to("name"),
            format!("'{}' is listed under read, but {reason} says that it changes something", operation.name),
        )
        .suggest("move it to the category of its effect, or write `effect: read` if it only reads; until then it is served as EXECUTE")
    });
    Some(ReadOperation { operation, contradiction })
}

/// An operation of a document.
pub(super) struct ReadOperation {
    pub(super) operation: Operation,
    /// The error of an operation that is listed as a read, but is served as EXECUTE.
    pub(super) contradiction: Option<Diagnostic>,
}

/// The parts of an operation that do not depend on its binding.
struct OperationMetadata {
    title: Option<String>,
    description: String,
    returns: Option<Returns>,
    examples: Vec<Example>,
    tags: Vec<String>,
    aliases: Vec<String>,
    deprecated: Option<String>,
    hints: HintOverrides,
    source_id: Option<String>,
}

fn name(reader: &mut DocumentReader, object: &DocumentObject<'_>) -> Option<String> {
    let name = reader.required_string(object, "name")?;
    let pointer = object.pointer_to("name");
    if !params::is_snake_case(&name) {
        let better = params::better_name(&name, |better| RESERVED.contains(&better));
        let hint = better.as_ref().map_or_else(String::new, |better| format!(" (try '{better}')"));
        let mut diagnostic = Diagnostic::error(
            Code::SchemaInvalidName,
            pointer,
            format!("Operation name '{name}' must be snake_case{hint}"),
        )
        .expected("lower case letters, digits and underscores, starting with a letter")
        .found(name);
        if let Some(better) = better {
            diagnostic = diagnostic.suggest(format!("rename it to `{better}`"));
        }
        reader.push(diagnostic);
        return None;
    }
    if RESERVED.contains(&name.as_str()) {
        reader.push(
            Diagnostic::error(
                Code::SchemaInvalidName,
                pointer,
                format!("Operation name '{name}' is reserved by the protocol"),
            )
            .expected("a name that the protocol does not use")
            .found(name)
            .suggest("choose a name that describes what your API does"),
        );
        return None;
    }
    Some(name)
}

fn danger(reader: &mut DocumentReader, object: &DocumentObject<'_>) -> Option<Danger> {
    let words = Danger::ALL.map(Danger::as_str);
    let declared = if object.get("danger").is_some_and(Value::is_object) {
        let details = reader.member(object, "danger")?;
        reader.check_keys(&details, DANGER_KEYS);
        reader.warn_unsupported_keys(&details, UNSUPPORTED_DANGER_KEYS);
        reader.choice(&details, "level", &words, Danger::parse)
    } else {
        reader.choice(object, "danger", &words, Danger::parse)
    };
    declared.or_else(|| reader.choice(object, "danger_level", &words, Danger::parse))
}

/// Reads the parts of `danger` besides the level, and `requires_confirmation`.
fn danger_notes(reader: &mut DocumentReader, object: &DocumentObject<'_>) -> Option<Box<DangerNotes>> {
    let details = match object.get("danger") {
        Some(Value::Object(map)) => Some(DocumentObject { map, pointer: object.pointer_to("danger") }),
        _ => None,
    };
    let notes = DangerNotes {
        reasons: details.as_ref().map(|details| reader.strings(details, "reasons")).unwrap_or_default(),
        confirmation_message: details
            .as_ref()
            .and_then(|details| reader.string(details, "confirmation_message")),
        needs_confirmation: reader.boolean(object, "requires_confirmation").unwrap_or_default(),
        is_operators: false,
    };
    (notes != DangerNotes::default()).then(|| Box::new(notes))
}

fn idempotent(reader: &mut DocumentReader, object: &DocumentObject<'_>) -> Option<bool> {
    let declared = reader.boolean(object, "idempotent");
    let negated = reader.boolean(object, "non_idempotent");
    if declared.is_some() && declared == negated {
        reader.push(
            Diagnostic::error(
                Code::SchemaInvalidValue,
                object.pointer_to("non_idempotent"),
                "'idempotent' and 'non_idempotent' contradict each other",
            )
            .suggest("keep one of them"),
        );
    }
    declared.or(negated.map(|value| !value))
}

/// Reports operations whose category contradicts the method, effect or danger. Above all, a write under `read` would be
/// published as read-only, and clients would run it without asking.
fn check_contradictions(
    reader: &mut DocumentReader,
    object: &DocumentObject<'_>,
    category: Category,
    effect: Option<Effect>,
    danger: Option<Danger>,
    binding: &Binding,
) {
    if let (Category::Create, Binding::Http(http)) = (category, binding)
        && http.method == "DELETE"
    {
        reader.push(
            Diagnostic::warning(
                Code::SchemaInvalidValue,
                object.pointer_to(if object.get("maps_to").is_some() { "maps_to" } else { "http" }),
                "A DELETE request under create makes the whole endpoint destructive",
            )
            .found("DELETE")
            .suggest("move the operation to `delete`"),
        );
    }
    if category != Category::Read {
        return;
    }
    if let Some(effect) = effect.filter(|effect| effect.category() != Category::Read) {
        reader.push(
            Diagnostic::error(
                Code::SchemaInvalidValue,
                object.pointer_to("effect"),
                format!("An operation with the effect '{}' cannot be a read", effect.as_str()),
            )
            .expected("read or compute")
            .found(effect.as_str())
            .suggest(format!("move the operation to `{}`", effect.category().endpoint())),
        );
    }
    if let Some(danger) = danger.filter(|danger| *danger > Danger::Safe) {
        let key = if object.get("danger").is_some() { "danger" } else { "danger_level" };
        reader.push(
            Diagnostic::error(
                Code::SchemaInvalidValue,
                object.pointer_to(key),
                format!("An operation that is {} cannot be a read", danger.as_str()),
            )
            .expected("safe")
            .found(danger.as_str())
            .suggest("move the operation to the category of its effect"),
        );
    }
    if let Binding::Http(http) = binding
        && let Some(better) = category_of_write(&http.method)
    {
        let key = if object.get("maps_to").is_some() { "maps_to" } else { "http" };
        reader.push(
            Diagnostic::error(
                Code::SchemaInvalidValue,
                object.pointer_to(key),
                format!("A {} request cannot be a read: clients would run it without asking", http.method),
            )
            .expected("GET, HEAD, OPTIONS, or a POST that only searches")
            .found(http.method.clone())
            .suggest(format!("move the operation to `{}`", better.endpoint())),
        );
    }
}

/// Reports a request that always writes, but is marked read-only.
fn check_read_only_hint(
    reader: &mut DocumentReader,
    object: &DocumentObject<'_>,
    hints: HintOverrides,
    binding: &Binding,
) {
    if let Binding::Http(http) = binding
        && hints.read_only == Some(true)
        && category_of_write(&http.method).is_some()
    {
        reader.push(
            Diagnostic::error(
                Code::SchemaInvalidValue,
                child(&object.pointer_to("annotations"), "readOnlyHint"),
                format!("A {} request cannot be read-only: clients would run it without asking", http.method),
            )
            .expected("false, or no hint")
            .found("true")
            .suggest("remove the hint"),
        );
    }
}

/// The category of a method that always writes; `None` for other methods.
fn category_of_write(method: &str) -> Option<Category> {
    match method {
        "PUT" | "PATCH" | "PROPPATCH" | "MOVE" => Some(Category::Update),
        "MKCOL" | "MKCALENDAR" | "COPY" => Some(Category::Create),
        "DELETE" => Some(Category::Delete),
        _ => None,
    }
}

/// The guard of an operation against lost updates: a required etag or version parameter. In the path, such a parameter only
/// identifies a resource and is no guard.
#[must_use]
pub fn guard_of(params: &[Param]) -> Guard {
    let guarded = params.iter().any(|param| {
        param.required
            && param.location != ParamLocation::Path
            && matches!(param.name.as_str(), "etag" | "if_match" | "_etag" | "version" | "lock_version")
    });
    if guarded { Guard::Etag } else { Guard::None }
}

fn returns(reader: &mut DocumentReader, object: &DocumentObject<'_>, types: &[String]) -> Option<Returns> {
    let (key, value) =
        ["returns", "response"].iter().find_map(|key| object.get(key).map(|value| (*key, value)))?;
    let description = value.get("description").and_then(Value::as_str).unwrap_or_default().to_owned();
    let schema = dialect::schema(reader, value, &object.pointer_to(key), types);
    Some(Returns { schema, description })
}

/// Reads examples: `{params: {…}}` or `{request: {operation, params}}`, each with an optional description.
fn examples(reader: &mut DocumentReader, object: &DocumentObject<'_>) -> Vec<Example> {
    let Some(items) = reader.array(object, "examples") else { return Vec::new() };
    let pointer = object.pointer_to("examples");
    let mut examples = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let Some(example) = reader.object(item, &child(&pointer, index)) else { continue };
        reader.check_keys(&example, EXAMPLE_KEYS);
        let description = reader.string(&example, "description").unwrap_or_default();
        let params = match reader.member(&example, "request") {
            Some(request) => {
                check_example_operation(reader, object, &request);
                reader.member(&request, "params")
            }
            None => reader.member(&example, "params"),
        };
        let params = params.map_or_else(Map::new, |params| params.map.clone());
        examples.push(Example { description, params });
    }
    examples
}

/// Reports an example that calls another operation: it would teach a wrong call.
fn check_example_operation(
    reader: &mut DocumentReader,
    object: &DocumentObject<'_>,
    request: &DocumentObject<'_>,
) {
    let Some(named) = reader.string(request, "operation") else { return };
    let own = object.get("name").and_then(Value::as_str).unwrap_or_default();
    let alias = match object.get("aliases") {
        Some(Value::Array(aliases)) => aliases.iter().any(|alias| alias.as_str() == Some(named.as_str())),
        Some(alias) => alias.as_str() == Some(named.as_str()),
        None => false,
    };
    if named != own && !alias {
        reader.push(
            Diagnostic::error(
                Code::SchemaInvalidValue,
                request.pointer_to("operation"),
                format!("The example calls '{named}', but it belongs to '{own}'"),
            )
            .expected(own)
            .found(named.as_str())
            .suggest(format!("write `operation: {own}`, or move the example to '{named}'")),
        );
    }
}

fn aliases(reader: &mut DocumentReader, object: &DocumentObject<'_>) -> Vec<String> {
    let pointer = object.pointer_to("aliases");
    let own = object.get("name").and_then(Value::as_str);
    let mut aliases = reader.strings(object, "aliases");
    aliases.retain(|alias| {
        let legal = params::is_snake_case(alias)
            && !RESERVED.contains(&alias.as_str())
            && own != Some(alias.as_str());
        if !legal {
            reader.push(
                Diagnostic::error(
                    Code::SchemaInvalidName,
                    &pointer,
                    format!("Alias '{alias}' must be snake_case, not reserved, and not the name itself"),
                )
                .found(alias.as_str()),
            );
        }
        legal
    });
    aliases
}

fn deprecated(reader: &mut DocumentReader, object: &DocumentObject<'_>) -> Option<String> {
    match object.get("deprecated")? {
        Value::Bool(false) => None,
        Value::Bool(true) => Some(String::new()),
        Value::String(text) => Some(text.clone()),
        other => {
            reader.wrong_type(&object.pointer_to("deprecated"), "boolean", other);
            None
        }
    }
}

/// Reads hint overrides under `key`; `also` are other keys that the object may have.
pub(super) fn hints(
    reader: &mut DocumentReader,
    object: &DocumentObject<'_>,
    key: &str,
    also: &[&str],
) -> HintOverrides {
    let Some(hints) = reader.member(object, key) else { return HintOverrides::default() };
    let keys: Vec<&str> = HINTS.iter().chain(also).copied().collect();
    reader.check_keys(&hints, &keys);
    HintOverrides {
        read_only: reader.boolean(&hints, "readOnlyHint"),
        destructive: reader.boolean(&hints, "destructiveHint"),
        idempotent: reader.boolean(&hints, "idempotentHint"),
        open_world: reader.boolean(&hints, "openWorldHint"),
    }
}
