//! A server's tools as rules look at them: raw JSON, with what several rules need read out once.

mod parameters;
mod reference;
mod tree;

pub(crate) use parameters::{EffectSwitch, listed_effects, parameters, required};
pub(crate) use reference::{Reference, ReferenceTarget, target, value_at};
pub(crate) use tree::{PatternMatch, Schema, TextKind, ToolTree, value_member};

use mcpaql_core::facts::Facts;
use mcpaql_core::operation::Category;
use mcpaql_core::policy::HintOverrides;
use mcpaql_core::tokens;
use mcpaql_lexicon::classify::{self, Classification, Evidence, ToolAnnotations};
use serde_json::Value;
use std::collections::HashMap;

/// What is audited: the tools of a server, as `tools/list` has them.
#[derive(Debug, Clone, Default)]
pub struct ServerTools {
    /// What the client calls it.
    pub name: String,
    /// Whether that name is only a guess: of a saved list nobody knows what the client calls its server.
    pub name_is_guessed: bool,
    /// Every tool, as raw JSON.
    pub tools: Vec<Value>,
    /// What is known for sure about tools, by name: of adapter documents, which say it.
    pub known: HashMap<String, KnownFacts>,
    /// Whether it is known to be an MCP-AQL adapter; it is guessed by its tools otherwise.
    pub is_adapter: bool,
    /// What a probe saw, by the name of the tool.
    pub observed: HashMap<String, ProbeResult>,
    /// Why a probe left tools alone, by the name of the tool.
    pub unprobed: HashMap<String, String>,
}

impl ServerTools {
    /// Whether its word was put to the test.
    #[must_use]
    pub fn is_probed(&self) -> bool {
        !self.observed.is_empty() || !self.unprobed.is_empty()
    }
}

/// What an adapter document says about a tool.
#[derive(Debug, Clone, Copy)]
pub struct KnownFacts {
    /// Its category.
    pub category: Category,
    /// What it does.
    pub facts: Facts,
}

/// What was seen when a tool was called with made-up arguments, and where it answered once more with the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProbeResult {
    /// Whether the state that the user lets us see was another one afterwards; nothing where there is none to see.
    pub changed: Option<bool>,
    /// How the two answers compare.
    pub answers: AnswerComparison,
}

/// How two answers compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerComparison {
    /// They are equal.
    Same,
    /// They are not.
    Different,
    /// The tool refused what was made up for it, so that there is nothing to compare.
    Refused,
    /// There was none: the server ended, did not answer in time, or its answer could not be read.
    Failed,
}

impl AnswerComparison {
    /// As reports write it.
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

/// Where something stands.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ToolPlace {
    /// Index of the server.
    pub server: usize,
    /// Index of the tool in its list; `None` where it is about the server as a whole.
    pub tool: Option<usize>,
    /// JSON pointer into the tool: `/annotations/readOnlyHint`. Empty for the whole. What should be there and is not has the
    /// pointer that it would have.
    pub pointer: String,
}

/// A server, read.
#[derive(Debug)]
pub struct ParsedServer<'a> {
    /// What was read.
    pub server: &'a ServerTools,
    /// Its position among the audited servers.
    pub index: usize,
    /// In the order of the list.
    pub tools: Vec<ParsedTool<'a>>,
    /// Whether its tools take MCP-AQL's envelope.
    pub is_adapter: bool,
}

/// A tool, read. Whatever is not of the type it should be is not there.
#[derive(Debug)]
pub struct ParsedTool<'a> {
    /// The whole tool.
    pub value: &'a Value,
    /// What the client calls the server.
    pub server: &'a str,
    /// Whether that is only a guess.
    pub server_is_guessed: bool,
    /// Its name; empty where it has none.
    pub name: &'a str,
    /// `title`.
    pub title: Option<&'a str>,
    /// `annotations.title`.
    pub annotation_title: Option<&'a str>,
    /// `description`.
    pub description: Option<&'a str>,
    /// `inputSchema`.
    pub schema: Option<&'a Value>,
    /// The hints that it writes out.
    pub declared: HintOverrides,
    /// The words of its name, in lower case.
    pub words: Vec<String>,
    /// What the classifier makes of name and description alone.
    pub by_name: Classification,
    /// What the importers' classifier makes of it, hints included.
    pub with_hints: Classification,
    /// What is known for sure.
    pub known: Option<KnownFacts>,
    /// What a probe saw.
    pub observed: Option<ProbeResult>,
    /// What it costs in a model's context, estimated.
    pub tokens: usize,
    /// Whether it takes MCP-AQL's envelope.
    pub is_adapter: bool,
    pub(super) tree: ToolTree<'a>,
    /// The parameter that switches between reading and writing, where one does.
    pub(super) switch: Option<EffectSwitch<'a>>,
    place: (usize, usize),
}

/// Servers as rules see them.
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

    /// None of its tools is read yet.
    pub(super) fn new(server: &'a ServerTools, index: usize) -> ParsedServer<'a> {
        let is_adapter = server.is_adapter || server.tools.iter().any(takes_envelope);
        ParsedServer { server, index, tools: Vec::new(), is_adapter }
    }

    /// What all tools cost.
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
        let (by_name, judged) = classify::classify_without_and_with_annotations(&Evidence {
            name,
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
            with_hints: judged,
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

    /// A place in the tool.
    #[must_use]
    pub fn place(&self, pointer: impl Into<String>) -> ToolPlace {
        ToolPlace { server: self.place.0, tool: Some(self.place.1), pointer: pointer.into() }
    }

    /// What a person calls it: its title, as MCP ranks them.
    #[must_use]
    pub fn shown_title(&self) -> Option<&'a str> {
        self.title.or(self.annotation_title)
    }
}

/// MCP-AQL's tools take `operation` and `params`, and speak of `introspect`.
fn takes_envelope(tool: &Value) -> bool {
    let properties = value_member(tool, "inputSchema").and_then(|schema| value_member(schema, "properties"));
    let property = |name: &str| properties.is_some_and(|properties| value_member(properties, name).is_some());
    if !(property("operation") && property("params")) {
        return false;
    }
    let speaks =
        tool.get("description").and_then(Value::as_str).is_some_and(|text| text.contains("introspect"));
    let named = tool.get("name").and_then(Value::as_str).is_some_and(|name| name.contains("aql"));
    speaks || named
}
