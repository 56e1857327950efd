//! Reads an MCP server as a target, and its tools as operations.

use super::binding::BoundOperation;
use super::params::UnplacedParam;
use super::target::{MCP_KEYS, STARTS, parse_word};
use super::{address, caller_headers, texts};
use mcpaql_core::adapter::{McpCommand, McpLink, McpTarget};
use mcpaql_core::diagnostic::Diagnostic;
use mcpaql_core::error::Code;
use mcpaql_core::operation::{Binding, McpBinding, ParamLocation};
use mcpaql_core::reader::{DocumentObject, DocumentReader, child};
use serde_json::{Map, Value};

/// Reads the settings of an MCP server.
pub(crate) fn target(reader: &mut DocumentReader, target: &DocumentObject<'_>) -> Option<McpTarget> {
    reader.check_nested_keys(target, MCP_KEYS, super::ELEMENT_KEYS);
    let link = link(reader, target);
    let caller_headers = caller_headers::read(reader, target);
    let defaults = McpTarget::new(link?);
    if matches!(defaults.link, McpLink::Command(_)) && !caller_headers.is_empty() {
        caller_headers::report_program(reader, &target.pointer_to("caller_headers"));
    }
    Some(McpTarget {
        caller_headers,
        eager: reader.choice(target, "start", STARTS, parse_word(STARTS)) == Some("eager"),
        start_timeout_ms: reader.seconds(target, "start_timeout").unwrap_or(defaults.start_timeout_ms),
        timeout_ms: reader.seconds(target, "timeout").unwrap_or(defaults.timeout_ms),
        max_response_bytes: reader
            .positive(target, "max_response_bytes")
            .unwrap_or(defaults.max_response_bytes),
        ..defaults
    })
}

/// Reads `command` or `url`, with the keys that belong to it.
pub(super) fn link(reader: &mut DocumentReader, target: &DocumentObject<'_>) -> Option<McpLink> {
    match (target.get("command").is_some(), target.get("url").is_some()) {
        (true, false) => command(reader, target).map(McpLink::Command),
        (false, true) => url(reader, target),
        (both, _) => {
            let message = if both {
                "An MCP server has either `command` or `url`, not both"
            } else {
                "An MCP server needs a `command` to start it, or its `url`"
            };
            reader.push(
                Diagnostic::error(Code::SchemaInvalidValue, &target.pointer, message)
                    .expected("command: [program, argument, …], or url: https://host/mcp"),
            );
            None
        }
    }
}

fn command(reader: &mut DocumentReader, target: &DocumentObject<'_>) -> Option<McpCommand> {
    if let Some(Value::String(line)) = target.get("command")
        && line.contains(char::is_whitespace)
    {
        // No shell splits the command, and splitting it here would ignore quotes.
        let words: Vec<String> = line.split_whitespace().map(|word| Value::from(word).to_string()).collect();
        reader.push(
            Diagnostic::error(
                Code::SchemaInvalidValue,
                target.pointer_to("command"),
                "The command is one string; it is not split into a program and its arguments",
            )
            .expected("a list: the program and its arguments")
            .found(line.as_str())
            .suggest(format!("write `command: [{}]`", words.join(", "))),
        );
        return None;
    }
    let command = reader.strings(target, "command");
    if command.first().is_none_or(|program| program.trim().is_empty()) {
        reader.push(
            Diagnostic::error(
                Code::SchemaInvalidValue,
                target.pointer_to("command"),
                "The command names no program",
            )
            .expected("a list: the program and its arguments"),
        );
        return None;
    }
    let pointer = target.pointer_to("command");
    for (index, text) in command.iter().enumerate() {
        texts::check_template(reader, &child(&pointer, index), text);
        texts::check_argument(reader, &child(&pointer, index), text);
    }
    let suggestion = "write `${env:NAME}` instead, or list the variable under `env`";
    let set_env = texts::template_variables(reader, target, suggestion);
    Some(McpCommand {
        command,
        cwd: texts::working_directory(reader, target),
        env: texts::variable_names(reader, target),
        set_env,
    })
}

fn url(reader: &mut DocumentReader, target: &DocumentObject<'_>) -> Option<McpLink> {
    let allow_http = reader.boolean(target, "allow_http").unwrap_or(false);
    let headers = texts::headers(reader, target);
    let text = reader.required_string(target, "url")?;
    let url = address::url(reader, target, "url", &text, allow_http)?;
    Some(McpLink::Url { url, headers, allow_http })
}

/// Reads the tool of an operation (`tool`, or else the operation's name) and its `fixed` arguments.
pub(super) fn binding(
    reader: &mut DocumentReader,
    operation: &DocumentObject<'_>,
    drafts: Vec<UnplacedParam>,
) -> Option<BoundOperation> {
    let tool = match operation.get("tool") {
        Some(_) => reader.string(operation, "tool"),
        None => reader.string(operation, "name"),
    };
    let fixed = reader.member(operation, "fixed").map_or_else(Map::new, |fixed| fixed.map.clone());
    let params: Vec<_> = drafts.into_iter().map(|draft| draft.finish(ParamLocation::Body)).collect();
    if let Some(param) = params.iter().find(|param| fixed.contains_key(&param.wire)) {
        reader.push(
            Diagnostic::error(
                Code::SchemaInvalidValue,
                operation.pointer_to("fixed"),
                format!("'{}' is both a fixed argument and a parameter", param.wire),
            )
            .suggest(format!("remove it from `fixed`, or remove the parameter `{}`", param.name)),
        );
    }
    Some(BoundOperation {
        binding: Binding::Mcp(McpBinding { tool: tool?, fixed, input_schema: None }),
        params,
    })
}
