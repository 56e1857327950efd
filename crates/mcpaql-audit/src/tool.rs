//! Parsed servers and tools: raw JSON, with the parts that several rules need.

mod parameters;
mod reference;
mod tree;

pub(crate) use parameters::{EffectSwitch, listed_effects, parameters, required};
pub(crate) use reference::{Reference, ReferenceTarget, target, value_at};
pub(crate) use tree::{Schema, TextKind, ToolTree, value_member};

use mcpaql_core::evidence;
use mcpaql_core::facts::Facts;
use mcpaql_core::flagged::FlaggedOperation;
use mcpaql_core::operation::Category;
use mcpaql_core::policy::HintOverrides;
use mcpaql_core::tokens;
use mcpaql_lexicon::classify::{self, Classification, Evidence, ToolAnnotations};
use serde_json::Value;
use std::collections::HashMap;

/// The tools of a server, as returned by `tools/list`.
#[derive(Debug, Clone, Default)]
pub struct ServerTools {
    /// The client's name for the server.
    pub name: String,
    /// Whether the name is only a guess, as for a saved list.
    pub name_is_guessed: bool,
    /// The tools, as raw JSON.
    pub tools: Vec<Value>,
    /// Facts from an adapter document, by the name of the tool.
    pub known: HashMap<String, KnownFacts>,
    /// Operations behind an adapter whose texts look poisoned. Its tools do not show these texts.
    pub flagged: Vec<FlaggedOperation>,
    /// Whether it is known to be an MCP-AQL adapter. If not, this is guessed from its tools.
    pub is_adapter: bool,
    /// Results of a probe, by the name of the tool.
    pub observed: HashMap<String, ProbeResult>,
    /// Reasons why a probe did not call a tool, by its name.
    pub unprobed: HashMap<String, String>,
}

impl ServerTools {
    /// Returns whether the server was probed.
    #[must_use]
    pub fn is_probed(&self) -> bool {
        !self.observed.is_empty() || !self.unprobed.is_empty()
    }
}

/// Facts about a tool from an adapter document.
#[derive(Debug, Clone, Copy)]
pub struct KnownFacts {
    /// The category.
    pub category: Category,
    /// The facts.
    pub facts: Facts,
}

/// The result of calling a tool with made-up arguments, twice if it answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProbeResult {
    /// Whether the snapshot of the state changed; `None` without a snapshot.
    pub changed: Option<bool>,
    /// How the two answers compare.
    pub answers: AnswerComparison,
}

/// How two answers compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerComparison {
    /// The answers are equal.
    Same,
    /// The answers differ.
    Different,
    /// The tool rejected the made-up arguments, so there is nothing to compare.
    Refused,
    /// There was no answer: the server exited, did not answer in time, or its answer could not be read.
    Failed,
}

impl AnswerComparison {
    /// Returns the name in reports.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            AnswerComparison::Same => "same",
            AnswerComparison::Different => "different",
            AnswerComparison::Refused => "refused",
            AnswerComparison::Failed => "failed",
        }
    }
}

/// A place in the tools of a server.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ToolPlace {
    /// Index of the server.
    pub server: usize,
    /// Index of the tool in its list; `None` for the server as a whole.
    pub tool: Option<usize>,
    /// JSON pointer into the tool, such as `/annotations/readOnlyHint`; empty for the whole tool. A missing field has the pointer
    /// that it would have.
    pub pointer: String,
}

/// A parsed server.
#[derive(Debug)]
pub struct ParsedServer<'a> {
    /// The tools as raw JSON.
    pub server: &'a ServerTools,
    /// Index among the audited servers.
    pub index: usize,
    /// The parsed tools, in the order of the list.
    pub tools: Vec<ParsedTool<'a>>,
    /// Whether its tools take MCP-AQL's envelope.
    pub is_adapter: bool,
}

/// A parsed tool. A field of the wrong type counts as missing.
#[derive(Debug)]
pub struct ParsedTool<'a> {
    /// The whole tool.
    pub value: &'a Value,
    /// The client's name for the server.
    pub server: &'a str,
    /// Whether that name is only a guess.
    pub server_is_guessed: bool,
    /// The name; empty if missing.
    pub name: &'a str,
    /// `title`.
    pub title: Option<&'a str>,
    /// `annotations.title`.
    pub annotation_title: Option<&'a str>,
    /// `description`.
    pub description: Option<&'a str>,
    /// `inputSchema`.
    pub schema: Option<&'a Value>,
    /// The hints that the tool sets.
    pub declared: HintOverrides,
    /// The words of its name, in lower case.
    pub words: Vec<String>,
    /// The classification by name and description.
    pub by_name: Classification,
    /// The classification by name, description and hints, as in an import.
    pub with_hints: Classification,
    /// Facts from an adapter document.
    pub known: Option<KnownFacts>,
    /// The result of a probe.
    pub observed: Option<ProbeResult>,
    /// The estimated cost in a model's context, in tokens.
    pub tokens: usize,
    /// Whether it takes MCP-AQL's envelope.
    pub is_adapter: bool,
    pub(super) tree: ToolTree<'a>,
    /// The parameter that switches between reading and writing, if there is one.
    pub(super) switch: Option<EffectSwitch<'a>>,
    place: (usize, usize),
}

/// Parses servers for the rules.
#[must_use]
pub fn parse_servers(servers: &[ServerTools]) -> Vec<ParsedServer<'_>> {
    servers.iter().enumerate().map(|(index, server)| ParsedServer::of(server, index)).collect()
}

impl<'a> ParsedServer<'a> {
    pub(super) fn of(server: &'a ServerTools, index: usize) -> ParsedServer<'a> {
        let tools = server.tools.iter().enumerate();
        let tools = tools.map(|(position, value)| ParsedTool::of(server, value, (index, position))).collect();
        ParsedServer { tools, ..ParsedServer::new(server, index) }
    }

    /// Creates a parsed server without tools.
    pub(super) fn new(server: &'a ServerTools, index: usize) -> ParsedServer<'a> {
        let is_adapter = server.is_adapter || server.tools.iter().any(takes_envelope);
        ParsedServer { server, index, tools: Vec::new(), is_adapter }
    }

    /// Returns the estimated cost of all tools, in tokens.
    #[must_use]
    pub fn tokens(&self) -> usize {
        self.tools.iter().map(|tool| tool.tokens).sum()
    }
}

impl<'a> ParsedTool<'a> {
    pub(super) fn of(server: &'a ServerTools, value: &'a Value, place: (usize, usize)) -> ParsedTool<'a> {
        let text = |key: &str| value_member(value, key).and_then(Value::as_str);
        let annotations = value_member(value, "annotations");
        let hint = |key: &str| annotations.and_then(|annotations| value_member(annotations, key)?.as_bool());
        let name = text("name").unwrap_or_default();
        let declared = HintOverrides {
            read_only: hint("readOnlyHint"),
            destructive: hint("destructiveHint"),
            idempotent: hint("idempotentHint"),
            open_world: hint("openWorldHint"),
        };
        let annotated = ToolAnnotations {
            read_only: declared.read_only,
            destructive: declared.destructive,
            idempotent: declared.idempotent,
        };
        let description = text("description");
        let params = evidence::of_schema(value_member(value, "inputSchema"));
        let answer = evidence::of_schema(value_member(value, "outputSchema"));
        let (by_name, with_hints) = classify::classify_without_and_with_annotations(&Evidence {
            name,
            params: &params,
            answer: &answer,
            description: description.unwrap_or_default(),
            annotations: annotated,
            ..Evidence::default()
        });
        let tool = ParsedTool {
            value,
            server: &server.name,
            server_is_guessed: server.name_is_guessed,
            name,
            title: text("title"),
            annotation_title: annotations
                .and_then(|annotations| value_member(annotations, "title")?.as_str()),
            description,
            schema: value_member(value, "inputSchema"),
            declared,
            words: mcpaql_lexicon::words(name),
            by_name,
            with_hints,
            known: server.known.get(name).copied(),
            observed: server.observed.get(name).copied(),
            tokens: tokens::estimate_json(value),
            is_adapter: takes_envelope(value),
            tree: ToolTree::of(value),
            switch: None,
            place,
        };
        ParsedTool { switch: parameters::switch(&tool), ..tool }
    }

    /// Returns a place in the tool.
    #[must_use]
    pub fn place(&self, pointer: impl Into<String>) -> ToolPlace {
        ToolPlace { server: self.place.0, tool: Some(self.place.1), pointer: pointer.into() }
    }

    /// Returns the title that clients show: `title`, else `annotations.title`. They treat an empty `title` as a missing one.
    #[must_use]
    pub fn shown_title(&self) -> Option<&'a str> {
        self.title.filter(|title| !title.is_empty()).or(self.annotation_title)
    }

    /// Returns the pointer to the title that clients show.
    #[must_use]
    pub fn shown_title_pointer(&self) -> &'static str {
        if self.title.is_some_and(|title| !title.is_empty()) { "/title" } else { "/annotations/title" }
    }
}

/// Returns whether a tool takes `operation` and `params` and mentions `introspect` or has `aql` in its name.
fn takes_envelope(tool: &Value) -> bool {
    let properties = value_member(tool, "inputSchema").and_then(|schema| value_member(schema, "properties"));
    let property = |name: &str| properties.is_some_and(|properties| value_member(properties, name).is_some());
    if !(property("operation") && property("params")) {
        return false;
    }
    let mentions_introspect =
        tool.get("description").and_then(Value::as_str).is_some_and(|text| text.contains("introspect"));
    let named = tool.get("name").and_then(Value::as_str).is_some_and(|name| name.contains("aql"));
    mentions_introspect || named
}
