//! Parses JSON, YAML and Markdown with front matter into untyped values, and finds the position of a value by its pointer.
//!
//! ```
//! use mcpaql_document::source::Source;
//!
//! let source = Source::new("shop.yaml", "name: shop\nversion: '1.0'\n");
//! assert_eq!(source.parse().unwrap().value["version"], "1.0");
//! assert_eq!(source.spans(["/version"].into_iter())[0].line, 2);
//! ```
//!
//! What always holds: quoted scalars stay strings, and the order of keys is kept. If a key occurs twice, the first one wins
//! and the second one is reported. No text makes the parser panic, and memory is bounded by a multiple of the text. Spans are
//! byte ranges of the whole file.
//!
//! Spans are computed only for diagnostics, because most documents have no problems.

mod edit;
mod json;
pub(crate) mod lines;
mod problem;
mod scalar;
mod tree;
mod yaml;

#[cfg(test)]
mod tests;

pub use edit::{MemberEdit, members, plain_key};
pub use json::NOT_JSON;

use lines::LineIndex;
use mcpaql_core::diagnostic::{Diagnostic, Span};
use mcpaql_core::syntax::is_html_page;
use problem::SourceProblem;
use serde_json::Value;
use std::ops::Range;
use std::rc::Rc;

/// The name and the text of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// The file name as the user typed it.
    pub name: String,
    /// The whole text.
    pub text: String,
}

/// The format of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourceFormat {
    /// Markdown with the document as front matter.
    Markdown,
    /// Plain YAML.
    Yaml,
    /// JSON.
    Json,
}

impl SourceFormat {
    /// Returns the format that the extension of a file name stands for.
    #[must_use]
    pub fn of_extension(name: &str) -> Option<SourceFormat> {
        let (_, extension) = name.rsplit_once('.')?;
        match extension.to_ascii_lowercase().as_str() {
            "md" | "markdown" => Some(SourceFormat::Markdown),
            "yaml" | "yml" => Some(SourceFormat::Yaml),
            "json" => Some(SourceFormat::Json),
            _ => None,
        }
    }
}

/// A parsed document.
#[derive(Debug, Clone, PartialEq)]
pub struct Parsed {
    /// The value of the document.
    pub value: Value,
    /// The format of the document.
    pub format: SourceFormat,
    /// The range of the Markdown text after the front matter.
    pub body: Option<Range<usize>>,
    /// Problems that did not stop the parser, each with its span.
    pub diagnostics: Vec<Diagnostic>,
}

/// The part of the text that is the document, and its format.
struct SourceLayout {
    format: SourceFormat,
    document: Range<usize>,
    body: Option<Range<usize>>,
}

impl Source {
    /// Creates a source from a name and a text.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Source {
        Source { name: name.into(), text: text.into() }
    }

    /// Parses the text.
    ///
    /// # Errors
    ///
    /// Returns a diagnostic with the code `SCHEMA_SYNTAX` and the span if the text cannot be parsed.
    pub fn parse(&self) -> Result<Parsed, Vec<Diagnostic>> {
        let layout = self.layout().map_err(|problem| {
            vec![problem.resolve(&LineIndex::new(&self.text), byte_order_mark(&self.text))]
        })?;
        let (layout, read) = match (layout.format, self.read(&layout)) {
            // A YAML flow mapping starts like JSON.
            (SourceFormat::Json, Err(_)) if self.extension_format() == Some(SourceFormat::Yaml) => {
                let layout = SourceLayout { format: SourceFormat::Yaml, ..layout };
                let read = self.read(&layout);
                (layout, read)
            }
            (_, read) => (layout, read),
        };
        self.parsed(layout, read)
    }

    /// Parses the text as JSON, regardless of the file extension.
    ///
    /// # Errors
    ///
    /// Returns a diagnostic with the code `SCHEMA_SYNTAX` and the span if the text cannot be parsed.
    pub fn parse_json(&self) -> Result<Parsed, Vec<Diagnostic>> {
        let document = byte_order_mark(&self.text)..self.text.len();
        let layout = SourceLayout { format: SourceFormat::Json, document, body: None };
        let read = self.read(&layout);
        self.parsed(layout, read)
    }

    fn parsed(
        &self,
        layout: SourceLayout,
        read: Result<(Value, Vec<SourceProblem>), SourceProblem>,
    ) -> Result<Parsed, Vec<Diagnostic>> {
        let offset = layout.document.start;
        let resolve = |problems: Vec<SourceProblem>| -> Vec<Diagnostic> {
            if problems.is_empty() {
                return Vec::new();
            }
            let lines = LineIndex::new(&self.text);
            problems.into_iter().map(|problem| problem.resolve(&lines, offset)).collect()
        };
        match read {
            Ok((value, problems)) => {
                let diagnostics = resolve(problems);
                Ok(Parsed { value, format: layout.format, body: layout.body, diagnostics })
            }
            Err(problem) => Err(resolve(vec![problem])),
        }
    }

    /// Sets the span of every diagnostic that has none. It is the span of the key if the diagnostic is about the key or the
    /// value is missing, and the span of the value otherwise.
    pub fn locate(&self, diagnostics: &mut [Diagnostic]) {
        if diagnostics.iter().all(|diagnostic| diagnostic.span.is_some()) {
            return;
        }
        let lines = LineIndex::new(&self.text);
        let tree = self.tree();
        for diagnostic in diagnostics.iter_mut().filter(|diagnostic| diagnostic.span.is_none()) {
            let range = match &tree {
                Some((root, offset)) => {
                    let text = self.text.get(*offset..).unwrap_or_default();
                    let range = tree::find(root, text, &diagnostic.pointer, diagnostic.at_key);
                    range.start + offset..range.end + offset
                }
                None => 0..0,
            };
            diagnostic.span = Some(lines.span(range));
        }
    }

    /// Returns the spans of the values at these pointers, in the same order. A missing value gets the span of its nearest
    /// parent.
    #[must_use]
    pub fn spans<'p>(&self, pointers: impl Iterator<Item = &'p str>) -> Vec<Span> {
        let pointers: Vec<&str> = pointers.collect();
        let tree = self.tree_to(&pointers);
        let range = |pointer: &&str| match &tree {
            Some((root, offset)) => {
                let text = self.text.get(*offset..).unwrap_or_default();
                let range = tree::find(root, text, pointer, false);
                range.start + offset..range.end + offset
            }
            None => 0..0,
        };
        let ranges: Vec<Range<usize>> = pointers.iter().map(range).collect();
        LineIndex::new(&self.text).spans(&ranges)
    }

    /// Returns the ranges of the values at these pointers; missing values are left out.
    pub(crate) fn value_ranges<'p>(&self, pointers: impl Iterator<Item = &'p str>) -> Vec<Range<usize>> {
        let Some((root, offset)) = self.tree() else { return Vec::new() };
        pointers
            .filter_map(|pointer| tree::find_value(&root, pointer))
            .map(|range| range.start + offset..range.end + offset)
            .collect()
    }

    /// Returns a tree that covers these pointers; for JSON it has nothing else. Otherwise like [`Source::tree`].
    fn tree_to(&self, pointers: &[&str]) -> Option<(Rc<tree::SourceNode>, usize)> {
        let layout = self.layout().ok()?;
        let text = self.text.get(layout.document.clone())?;
        match layout.format {
            SourceFormat::Json => {
                let root = json::tree_to(text, pointers.iter().copied());
                root.map(|root| (root, layout.document.start)).or_else(|| self.tree())
            }
            SourceFormat::Markdown | SourceFormat::Yaml => self.tree(),
        }
    }

    /// Returns the tree of ranges, and the offset in the file that the ranges are relative to.
    fn tree(&self) -> Option<(Rc<tree::SourceNode>, usize)> {
        let layout = self.layout().ok()?;
        let text = self.text.get(layout.document.clone())?;
        let json = match layout.format {
            SourceFormat::Json => json::tree(text).map(|(root, _)| root),
            SourceFormat::Markdown | SourceFormat::Yaml => None,
        };
        let root = json.or_else(|| yaml::read(text).ok()?.root)?;
        Some((root, layout.document.start))
    }

    fn read(&self, layout: &SourceLayout) -> Result<(Value, Vec<SourceProblem>), SourceProblem> {
        let text = self.text.get(layout.document.clone()).unwrap_or_default();
        if layout.format == SourceFormat::Json {
            let (value, duplicates) = json::read(text)?;
            let problems = if duplicates { json::tree(text).map(|(_, problems)| problems) } else { None };
            return Ok((value, problems.unwrap_or_default()));
        }
        // `#` starts a comment in YAML and a heading in Markdown; the rest of the text decides.
        let heading = layout.format == SourceFormat::Yaml
            && text.starts_with('#')
            && self.extension_format() != Some(SourceFormat::Yaml);
        match yaml::read(text) {
            Err(_) if heading => Err(no_front_matter(text)),
            Err(problem) => Err(problem),
            Ok(yaml::ParsedYaml { root: None, .. }) if heading => Err(no_front_matter(text)),
            Ok(yaml::ParsedYaml { root: None, .. }) => Err(empty_document(layout.format)),
            Ok(yaml::ParsedYaml { root: Some(root), problems }) => match tree::into_value(root) {
                Value::String(_) if heading => Err(no_front_matter(text)),
                Value::Null if problems.is_empty() => Err(empty_document(layout.format)),
                value => Ok((value, problems)),
            },
        }
    }

    /// Finds the document in the text. Ranges of problems are relative to the end of the byte order mark.
    fn layout(&self) -> Result<SourceLayout, SourceProblem> {
        let text = self.text.as_str();
        let start = byte_order_mark(text);
        let content = text.get(start..).unwrap_or_default();
        let by_extension = self.extension_format();
        let markdown = by_extension == Some(SourceFormat::Markdown);
        let plain = |format| SourceLayout { format, document: start..text.len(), body: None };
        if content.trim().is_empty() {
            let message = "The file is empty";
            return Err(SourceProblem::syntax(0..0, message)
                .suggest("write an adapter document: front matter, YAML or JSON"));
        }
        if is_html_page(content) {
            let problem = SourceProblem::syntax(0..0, "This is a web page, not YAML or JSON");
            return Err(match named_description(content) {
                Some(address) => problem.suggest(format!("the page shows '{address}'; use that file or URL")),
                None => problem.suggest(
                    "pass the document itself; for an API, it is often at /openapi.json or /openapi.yaml",
                ),
            });
        }
        let mut lines = content.split_inclusive('\n');
        let first = lines.next().unwrap_or_default();
        if first.trim_end() == "---" && (markdown || by_extension.is_none()) {
            let opened = start + first.len();
            let mut end = opened;
            for line in lines {
                if line.trim_end() == "---" {
                    let body = Some(end + line.len()..text.len());
                    return Ok(SourceLayout { format: SourceFormat::Markdown, document: opened..end, body });
                }
                end += line.len();
            }
            if markdown {
                return Err(SourceProblem::syntax(0..3, "The front matter is not closed")
                    .suggest("add a line `---` between the front matter and the text"));
            }
        }
        if markdown {
            return Err(no_front_matter(content));
        }
        Ok(plain(match content.trim_start().bytes().next() {
            Some(b'{' | b'[') => SourceFormat::Json,
            _ if by_extension == Some(SourceFormat::Json) => SourceFormat::Json,
            _ => SourceFormat::Yaml,
        }))
    }

    fn extension_format(&self) -> Option<SourceFormat> {
        SourceFormat::of_extension(&self.name)
    }
}

/// Returns the description that a page of Swagger UI, Redoc or a similar viewer loads.
fn named_description(page: &str) -> Option<&str> {
    const ATTRIBUTES: [&str; 6] =
        ["spec-url=", "apiDescriptionUrl=", "data-url=", "url:", "\"url\":", "spec_url ="];
    ATTRIBUTES.iter().find_map(|attribute| {
        page.split(attribute).skip(1).find_map(|rest| {
            let rest = rest.trim_start();
            let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''))?;
            let address = rest.get(1..)?.split(quote).next()?;
            let plain = address.len() <= 300 && !address.contains(char::is_whitespace);
            let known = [".json", ".yaml", ".yml", "api-docs", "openapi", "swagger"];
            (plain && known.iter().any(|word| address.contains(word))).then_some(address)
        })
    })
}

/// The length of the byte order mark, or 0.
fn byte_order_mark(text: &str) -> usize {
    if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 }
}

fn no_front_matter(text: &str) -> SourceProblem {
    let range = tree::first_line(text, &(0..text.len()));
    let problem = SourceProblem::syntax(range, "The Markdown file has no front matter");
    if text.trim_start().starts_with("---") {
        return problem.suggest("remove everything before the first line `---`");
    }
    problem.suggest("start the file with a line `---`, the document in YAML, and another line `---`")
}

fn empty_document(format: SourceFormat) -> SourceProblem {
    let message = match format {
        SourceFormat::Markdown => "The front matter is empty",
        SourceFormat::Yaml | SourceFormat::Json => "The document is empty",
    };
    SourceProblem::syntax(0..0, message)
        .suggest("write at least `name`, `type: adapter`, `target` and `operations`")
}
