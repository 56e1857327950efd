//! The call that the gate decides about.

use crate::caller::{Caller, EntryPoint};
use crate::protocol::Feature;
use futures_util::future::BoxFuture;
use mcpaql_core::adapter::{McpLink, TargetConfig};
use mcpaql_core::gate::call::GatedCall;
use mcpaql_core::operation::{Binding, Category, Danger, Operation, Param};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::fmt;
use std::sync::OnceLock;

/// The call that the gate decides about. Arguments have been validated.
#[derive(Debug, Clone, Copy)]
pub struct GateRequest<'a> {
    /// The client that calls.
    pub caller: &'a Caller,
    /// How the call arrived.
    pub entry: EntryPoint,
    /// The operation or other subject of the call.
    pub subject: GateSubject<'a>,
    /// The arguments of the call.
    pub args: &'a Map<String, Value>,
    /// The token with which the caller confirms the call.
    pub confirmation: Option<&'a str>,
    /// Only asks what the call would do. The decision then issues no token and uses no quota.
    pub dry_run: bool,
    /// Reads what the call would change, for the person who approves it.
    pub(crate) current: Option<&'a dyn CurrentState>,
}

/// Reads what a call would change, as it is now.
pub(crate) trait CurrentState: fmt::Debug + Sync {
    /// Returns the current state, or `None` if nothing can be read.
    fn read(&self) -> BoxFuture<'_, Option<Value>>;
}

/// The subject of a call.
#[derive(Debug, Clone, Copy)]
pub enum GateSubject<'a> {
    /// An operation of the adapter.
    Operation(&'a Operation),
    /// A prompt, a resource, or a list of them.
    Feature(Feature),
    /// Background work, by its id.
    Task(&'a str),
    /// Discovery over all adapters of a gateway.
    Discovery,
}

impl<'a> GateSubject<'a> {
    /// Whether the subject only tells what an adapter can do. That is always allowed.
    pub(super) fn is_introspection(&self) -> bool {
        match self {
            GateSubject::Operation(operation) => operation.binding == Binding::Introspect,
            GateSubject::Feature(feature) => {
                matches!(feature, Feature::Prompts | Feature::Resources | Feature::Templates)
            }
            GateSubject::Task(_) => false,
            GateSubject::Discovery => true,
        }
    }

    /// Whether the subject is about background work that has passed the gate before.
    pub(super) fn is_about_executions(&self) -> bool {
        match self {
            GateSubject::Operation(operation) => matches!(operation.binding, Binding::Execution(_)),
            GateSubject::Task(_) => true,
            GateSubject::Feature(_) | GateSubject::Discovery => false,
        }
    }

    pub(super) fn operation(&self) -> Option<&'a Operation> {
        match self {
            GateSubject::Operation(operation) => Some(operation),
            _ => None,
        }
    }

    pub(super) fn name(&self) -> &'a str {
        match self {
            GateSubject::Operation(operation) => &operation.name,
            GateSubject::Feature(feature) => feature.method(),
            GateSubject::Task(_) => "tasks",
            GateSubject::Discovery => "introspect",
        }
    }

    pub(super) fn category(&self) -> Category {
        self.operation().map_or(Category::Read, |operation| operation.category)
    }
}

/// The arguments of a call that has none.
fn no_args() -> &'static Map<String, Value> {
    static NO_ARGS: OnceLock<Map<String, Value>> = OnceLock::new();
    NO_ARGS.get_or_init(Map::new)
}

impl<'a> GateRequest<'a> {
    /// Creates a request without arguments.
    #[must_use]
    pub fn new(entry: EntryPoint, subject: GateSubject<'a>, caller: &'a Caller) -> GateRequest<'a> {
        GateRequest {
            caller,
            entry,
            subject,
            args: no_args(),
            confirmation: None,
            dry_run: false,
            current: None,
        }
    }

    /// Returns the call as the rules see it.
    pub(super) fn gated_call(&self, adapter: &'a str, args: &'a Map<String, Value>) -> GatedCall<'a> {
        let operation = self.subject.operation();
        GatedCall {
            adapter,
            endpoint: operation.map_or(Category::Read.endpoint(), |operation| &operation.endpoint),
            category: self.subject.category(),
            operation: self.subject.name(),
            tags: operation.map_or(&[], |operation| &operation.tags),
            danger: operation.map_or(Danger::Safe, Operation::effective_danger),
            needs_confirmation: operation.is_some_and(Operation::needs_confirmation),
            caller: self.caller.identity(),
            args,
            continued_quotas: &[],
        }
    }

    /// Returns the names of the parameters whose values nobody may see.
    pub(super) fn sensitive_params(&self) -> Vec<&'a str> {
        let params = self.subject.operation().map(|operation| operation.params.iter());
        let sensitive = params.into_iter().flatten().filter(|param| is_secret(param));
        sensitive.map(|param| param.name.as_str()).collect()
    }
}

/// Whether nobody may see the values of a parameter. A field of a store says so in its schema.
fn is_secret(param: &Param) -> bool {
    let says = |key: &str, value: &Value| param.schema.get(key) == Some(value);
    param.sensitive || says("writeOnly", &Value::Bool(true)) || says("format", &Value::from("password"))
}

/// Returns the arguments as rules see them: the fields in `input` of an update stand beside the other parameters, as they do in the
/// other spelling of the call.
pub(super) fn flat_args<'a>(request: &GateRequest<'a>) -> Cow<'a, Map<String, Value>> {
    let takes_input = request.subject.operation().is_some_and(|operation| {
        operation.category == Category::Update && operation.param("input").is_none()
    });
    match request.args.get("input") {
        Some(Value::Object(fields)) if takes_input => {
            let mut args = request.args.clone();
            args.remove("input");
            args.extend(fields.iter().map(|(name, value)| (name.clone(), value.clone())));
            Cow::Owned(args)
        }
        _ => Cow::Borrowed(request.args),
    }
}

/// Returns where the calls of a target go, for people. It is what the document says, so it has no secret.
pub(super) fn reach_of(target: &TargetConfig) -> String {
    match target {
        TargetConfig::Http(target) => target.base_url.clone(),
        TargetConfig::Command(_) => "programs on this machine".to_owned(),
        TargetConfig::Store(_) => "records on this machine".to_owned(),
        TargetConfig::Code(_) => "this program".to_owned(),
        TargetConfig::Mcp(target) => match &target.link {
            McpLink::Command(program) => {
                format!(
                    "the MCP server `{}`",
                    program.command.first().map(String::as_str).unwrap_or_default()
                )
            }
            McpLink::Url { url, .. } => format!("the MCP server {url}"),
        },
    }
}
