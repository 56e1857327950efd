//! A document: its text and an index of its parts. Values are read on demand.
//!
//! What always holds: the text is JSON (YAML is converted once), and every range of the index is inside the text. A part of the
//! wrong type is reported and left out; it does not stop the import.

use super::details::Version;
use super::index::{DocumentIndex, PathItem};
use super::scan::{self, TextRange};
use mcpaql_core::diagnostic::{Diagnostic, Span};
use mcpaql_core::error::Code;
use mcpaql_document::source::Source;
use serde_json::Value;
use std::borrow::Cow;

/// The text of a document and its index.
#[derive(Debug)]
pub(crate) struct OpenApiDocument {
    text: String,
    /// Whether the text is the author's, not converted from YAML, so that line numbers are useful.
    is_authored: bool,
    index: DocumentIndex,
}

/// Maximum characters of a text in a message.
const MAX_SHOWN_TEXT: usize = 40;

impl OpenApiDocument {
    /// Reads a text and builds its index. Problems that can be skipped are added to `diagnostics`.
    ///
    /// # Errors
    ///
    /// Returns the problems if the text cannot be read.
    pub(crate) fn read(
        text: String,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Result<OpenApiDocument, Vec<Diagnostic>> {
        let text = trimmed(text);
        if text.is_empty() {
            return Err(vec![invalid_document("The document is empty")]);
        }
        let json_error = match text.starts_with(['{', '[']) {
            true => match DocumentIndex::of(&text) {
                Ok((index, problems)) => {
                    return OpenApiDocument::finish(text, true, index, problems, diagnostics);
                }
                Err(error) => Some(syntax(&text, &error)),
            },
            false => None,
        };
        // Invalid JSON may be valid YAML, which allows trailing commas and single quotes.
        let json = match (yaml_to_json(text, diagnostics), json_error) {
            (Ok(json), _) => json,
            (Err(_), Some(json_error)) => return Err(vec![json_error]),
            (Err(yaml_errors), None) => return Err(yaml_errors),
        };
        match DocumentIndex::of(&json) {
            Ok((index, problems)) => OpenApiDocument::finish(json, false, index, problems, diagnostics),
            Err(error) => Err(vec![syntax(&json, &error)]),
        }
    }

    fn finish(
        text: String,
        is_authored: bool,
        index: DocumentIndex,
        problems: Vec<Diagnostic>,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Result<OpenApiDocument, Vec<Diagnostic>> {
        if u32::try_from(text.len()).is_err() {
            return Err(vec![invalid_document("The document is larger than 4 GB")]);
        }
        if !text.starts_with('{') {
            let shown: String = text.chars().take(MAX_SHOWN_TEXT).collect();
            return Err(vec![
                invalid_document(format!("The document is {}, not an object", scan::kind(&text)))
                    .found(shown),
            ]);
        }
        diagnostics.extend(problems);
        Ok(OpenApiDocument { text, is_authored, index })
    }

    /// Returns the complete text, as JSON.
    #[must_use]
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Whether the document declares a version of OpenAPI or has paths.
    pub(crate) fn describes_an_api(&self) -> bool {
        let has_version = self.top("openapi").is_some() || self.top("swagger").is_some();
        has_version || !self.index.items.is_empty()
    }

    /// Returns the path items, in order.
    pub(crate) fn items(&self) -> &[PathItem] {
        &self.index.items
    }

    /// Returns the number of webhooks, which cannot be called.
    pub(crate) fn webhooks(&self) -> usize {
        self.top("webhooks").or_else(|| self.top("x-webhooks")).map_or(0, |text| scan::members(text).len())
    }

    /// Returns the text of a top-level member.
    pub(crate) fn top(&self, name: &str) -> Option<&str> {
        self.index.top.get(name).map(|range| range.slice(&self.text))
    }

    /// Returns names and texts of a section of components, in order.
    pub(crate) fn section(&self, section: &str) -> Vec<(&str, &str)> {
        let parts = self.index.sections.get(section).into_iter().flatten();
        parts.map(|(name, range)| (&**name, range.slice(&self.text))).collect()
    }

    /// Returns the OpenAPI version of the document. If it is missing or unknown, the structure decides, with a warning.
    #[must_use]
    pub(crate) fn version(&self) -> (Version, Option<Diagnostic>) {
        let declared = |name| self.top(name).map(|text| text.trim().trim_matches('"').to_owned());
        let (openapi, swagger) = (declared("openapi"), declared("swagger"));
        let known = match (openapi.as_deref(), swagger.as_deref()) {
            (Some(version), _) if is_version(version, "3.0") => Some(Version::V30),
            (Some(version), _) if is_version(version, "3.1") => Some(Version::V31),
            (Some(version), _) if is_version(version, "3.2") => Some(Version::V32),
            (_, Some(version)) if is_version(version, "2.0") || version == "2" => Some(Version::V2),
            _ => None,
        };
        if let Some(version) = known {
            return (version, None);
        }
        let sections = |start: &str| self.index.sections.keys().any(|section| section.starts_with(start));
        let swagger_like = swagger.is_some()
            || sections("definitions")
            || ["host", "basePath"].iter().any(|key| self.top(key).is_some());
        let guess = if swagger_like && !sections("components/") { Version::V2 } else { Version::V31 };
        let reading = if guess == Version::V2 { "Swagger 2.0" } else { "OpenAPI 3.1" };
        let (pointer, message) = match (&openapi, &swagger) {
            (Some(_), _) => ("/openapi", format!("The OpenAPI version is unknown; read as {reading}")),
            (_, Some(_)) => ("/swagger", format!("The OpenAPI version is unknown; read as {reading}")),
            _ => ("", format!("The document has no OpenAPI version; read as {reading}")),
        };
        let mut diagnostic = Diagnostic::warning(Code::SchemaVersionUnsupported, pointer, message)
            .expected("openapi 3.0, 3.1 or 3.2, or swagger 2.0");
        if let Some(found) = openapi.or(swagger) {
            diagnostic = diagnostic.found(found.chars().take(MAX_SHOWN_TEXT).collect::<String>());
        }
        (guess, Some(diagnostic))
    }

    /// Returns the text at a JSON pointer.
    pub(crate) fn at(&self, pointer: &str) -> Option<&str> {
        let tokens: Vec<Cow<'_, str>> = pointer.split('/').skip(1).map(unescaped).collect();
        let (mut found, used) = self.nearest_indexed(&tokens);
        for token in tokens.iter().skip(used) {
            found = scan::child(found, token)?;
        }
        Some(found)
    }

    /// Returns the text of the nearest indexed parent, and the number of tokens that lead to it.
    fn nearest_indexed(&self, tokens: &[Cow<'_, str>]) -> (&str, usize) {
        let range = match tokens {
            [components, section, name, ..] if components == "components" => {
                self.index.part(&format!("components/{section}"), name).map(|range| (range, 3))
            }
            [section, name, ..] if section == "paths" => self.operation(name, tokens.get(2)),
            [section, name, ..] => self.index.part(section, name).map(|range| (range, 2)),
            _ => None,
        };
        let range = range.or_else(|| {
            let first = tokens.first()?;
            self.index.top.get(&**first).map(|range| (*range, 1))
        });
        range.map_or((self.text.as_str(), 0), |(range, used)| (range.slice(&self.text), used))
    }

    fn operation(&self, path: &str, method: Option<&Cow<'_, str>>) -> Option<(TextRange, usize)> {
        let item = self.index.items.iter().find(|item| *item.path == *path)?;
        let (_, range) =
            item.operations.iter().find(|(name, _)| method.is_some_and(|method| **name == **method))?;
        Some((*range, 3))
    }

    /// Parses a part of the text.
    pub(crate) fn value(text: &str) -> Result<Value, String> {
        serde_json::from_str(text).map_err(|error| reason(&error))
    }

    /// Returns the span of a part of the text, unless the text was converted from YAML.
    pub(crate) fn span(&self, part: &str) -> Option<Span> {
        let range = TextRange::of(&self.text, part);
        if !self.is_authored || range.end() > self.text.len() {
            return None;
        }
        let before = self.text.get(..range.start())?;
        let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
        let column = before.rsplit('\n').next().map_or(0, |last| last.chars().count()) + 1;
        Some(Span { start: range.start(), end: range.end(), line, column })
    }
}

fn is_version(version: &str, prefix: &str) -> bool {
    version.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '-']))
}

/// Unescapes a token of a JSON pointer.
pub(crate) fn unescaped(token: &str) -> Cow<'_, str> {
    match token.contains('~') {
        true => Cow::Owned(token.replace("~1", "/").replace("~0", "~")),
        false => Cow::Borrowed(token),
    }
}

/// Escapes a token of a JSON pointer.
pub(crate) fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

fn invalid_document(message: impl Into<String>) -> Diagnostic {
    Diagnostic::error(Code::SchemaSyntax, "", message).expected("an OpenAPI description in JSON or YAML")
}

/// Removes blanks, NUL bytes and byte order marks around a text, which some editors and downloads add.
fn trimmed(mut text: String) -> String {
    let blank = |letter: char| letter.is_whitespace() || matches!(letter, '\0' | '\u{feff}');
    text.truncate(text.trim_end_matches(blank).len());
    let leading = text.len() - text.trim_start_matches(blank).len();
    if leading > 0 && text.get(..leading).is_some_and(|start| start.contains(['\0', '\u{feff}'])) {
        text.drain(..leading);
    }
    text
}

fn yaml_to_json(text: String, diagnostics: &mut Vec<Diagnostic>) -> Result<String, Vec<Diagnostic>> {
    let parsed = Source::new("document.yaml", text).parse()?;
    let Value::Object(_) = parsed.value else {
        return Err(vec![Diagnostic::error(
            Code::SchemaSyntax,
            "",
            "The file is not an OpenAPI description in JSON or YAML",
        )]);
    };
    diagnostics.extend(parsed.diagnostics);
    serde_json::to_string(&parsed.value).map_err(|error| vec![invalid_document(reason(&error))])
}

fn syntax(text: &str, error: &serde_json::Error) -> Diagnostic {
    let mut diagnostic = invalid_document(format!("This is not valid JSON: {}", reason(error)));
    let start = text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum::<usize>();
    let offset = (start + error.column().saturating_sub(1)).min(text.len());
    diagnostic.span =
        Some(Span { start: offset, end: offset, line: error.line().max(1), column: error.column().max(1) });
    diagnostic
}

/// Returns the parser's message without the position, which the span has.
pub(crate) fn reason(error: &serde_json::Error) -> String {
    let full = error.to_string();
    let text = full.rsplit_once(" at line ").map_or(full.as_str(), |(text, _)| text);
    match text {
        "recursion limit exceeded" => "it is nested too deeply".to_owned(),
        text => text.to_owned(),
    }
}
