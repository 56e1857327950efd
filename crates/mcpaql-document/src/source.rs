//! Text → value, with pointer → span on demand.
//!
//! A document is read untyped first: quoted scalars stay strings, the order of keys is kept, and of two equal keys the
//! first one wins and the second is reported. Reading never panics and never takes more than a bounded multiple of the
//! text, whatever the text is. Spans are byte ranges of the whole file; they are worked out only when there is
//! something to report, because most documents are right.

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
use problem::SourceProblem;
use serde_json::Value;
use std::ops::Range;
use std::rc::Rc;

/// A document's text and the name its reader knows it by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// The file name as the user typed it.
    pub name: String,
    /// The whole text.
    pub text: String,
}

/// How a document is spelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourceFormat {
    /// Markdown whose front matter is the document.
    Markdown,
    /// Plain YAML.
    Yaml,
    /// JSON.
    Json,
}

/// A document that could be read.
#[derive(Debug, Clone, PartialEq)]
pub struct Parsed {
    /// What it says.
    pub value: Value,
    /// How it says it.
    pub format: SourceFormat,
    /// Where the Markdown behind the front matter stands.
    pub body: Option<Range<usize>>,
    /// What was wrong but could be read over, each with its span.
    pub diagnostics: Vec<Diagnostic>,
}

/// Which part of the text is the document, and in which language.
struct SourceLayout {
    format: SourceFormat,
    document: Range<usize>,
    body: Option<Range<usize>>,
}

impl Source {
    /// A text under a name.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Source {
        Source { name: name.into(), text: text.into() }
    }

    /// Reads the text.
    ///
    /// # Errors
    ///
    /// Why it cannot be read, with code `SCHEMA_SYNTAX` and the span.
    pub fn parse(&self) -> Result<Parsed, Vec<Diagnostic>> {
        let layout = self.layout().map_err(|finding| {
            vec![finding.resolve(&LineIndex::new(&self.text), byte_order_mark(&self.text))]
        })?;
        let (layout, read) = match (layout.format, self.read(&layout)) {
            // A flow mapping is YAML that begins like JSON.
            (SourceFormat::Json, Err(_)) if self.has_extension(&["yaml", "yml"]) => {
                let layout = SourceLayout { format: SourceFormat::Yaml, ..layout };
                let read = self.read(&layout);
                (layout, read)
            }
            (_, read) => (layout, read),
        };
        self.parsed(layout, read)
    }

    /// Reads the text as JSON, whatever its name says that it is.
    ///
    /// # Errors
    ///
    /// Why it cannot be read, with code `SCHEMA_SYNTAX` and the span.
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
        let resolve = |findings: Vec<SourceProblem>| -> Vec<Diagnostic> {
            if findings.is_empty() {
                return Vec::new();
            }
            let lines = LineIndex::new(&self.text);
            findings.into_iter().map(|finding| finding.resolve(&lines, offset)).collect()
        };
        match read {
            Ok((value, findings)) => {
                let diagnostics = resolve(findings);
                Ok(Parsed { value, format: layout.format, body: layout.body, diagnostics })
            }
            Err(finding) => Err(resolve(vec![finding])),
        }
    }

    /// Fills in the span of every diagnostic that has none: of the key where the diagnostic is about the key or the
    /// value is not there, of the value otherwise.
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

    /// Where the values behind these pointers stand, in their order; where the text has nothing, its nearest parent answers.
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

    /// Where the values behind these pointers stand, as far as the text has them.
    pub(crate) fn value_ranges<'p>(&self, pointers: impl Iterator<Item = &'p str>) -> Vec<Range<usize>> {
        let Some((root, offset)) = self.tree() else { return Vec::new() };
        pointers
            .filter_map(|pointer| tree::find_value(&root, pointer))
            .map(|range| range.start + offset..range.end + offset)
            .collect()
    }

    /// The tree with nothing in it that these pointers do not lead through, where that can be left out.
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

    /// The tree of ranges and the offset that they count from.
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
            let findings = if duplicates { json::tree(text).map(|(_, findings)| findings) } else { None };
            return Ok((value, findings.unwrap_or_default()));
        }
        // A comment of YAML and a heading of Markdown begin alike; what follows tells them apart.
        let heading = layout.format == SourceFormat::Yaml
            && text.starts_with('#')
            && !self.has_extension(&["yaml", "yml"]);
        match yaml::read(text) {
            Err(_) if heading => Err(no_front_matter(text)),
            Err(finding) => Err(finding),
            Ok(yaml::ParsedYaml { root: None, .. }) if heading => Err(no_front_matter(text)),
            Ok(yaml::ParsedYaml { root: None, .. }) => Err(empty_document(layout.format)),
            Ok(yaml::ParsedYaml { root: Some(root), findings }) => match tree::into_value(root) {
                Value::String(_) if heading => Err(no_front_matter(text)),
                Value::Null if findings.is_empty() => Err(empty_document(layout.format)),
                value => Ok((value, findings)),
            },
        }
    }

    /// Findings count from behind the byte order mark.
    fn layout(&self) -> Result<SourceLayout, SourceProblem> {
        let text = self.text.as_str();
        let start = byte_order_mark(text);
        let content = text.get(start..).unwrap_or_default();
        let markdown = self.has_extension(&["md", "markdown"]);
        let plain = |format| SourceLayout { format, document: start..text.len(), body: None };
        if content.trim().is_empty() {
            let message = "the file is empty";
            return Err(SourceProblem::syntax(0..0, message)
                .suggest("write an adapter document: front matter, YAML or JSON"));
        }
        let mut lines = content.split_inclusive('\n');
        let first = lines.next().unwrap_or_default();
        if first.trim_end() == "---" && !self.has_extension(&["yaml", "yml", "json"]) {
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
                return Err(SourceProblem::syntax(0..3, "the front matter is never closed")
                    .suggest("add a line `---` between the front matter and the text"));
            }
        }
        if markdown {
            return Err(no_front_matter(content));
        }
        Ok(plain(match content.trim_start().bytes().next() {
            Some(b'{' | b'[') => SourceFormat::Json,
            _ if self.has_extension(&["json"]) => SourceFormat::Json,
            _ => SourceFormat::Yaml,
        }))
    }

    fn has_extension(&self, extensions: &[&str]) -> bool {
        let Some((_, found)) = self.name.rsplit_once('.') else { return false };
        extensions.iter().any(|extension| found.eq_ignore_ascii_case(extension))
    }
}

/// How many bytes to skip before the first character.
fn byte_order_mark(text: &str) -> usize {
    if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 }
}

fn no_front_matter(text: &str) -> SourceProblem {
    let range = tree::first_line(text, &(0..text.len()));
    let finding = SourceProblem::syntax(range, "the Markdown file has no front matter");
    if text.trim_start().starts_with("---") {
        return finding.suggest("let the first line be `---`, with nothing before it");
    }
    finding.suggest("begin the file with a line `---`, the document in YAML, and another line `---`")
}

fn empty_document(format: SourceFormat) -> SourceProblem {
    let message = match format {
        SourceFormat::Markdown => "the front matter is empty",
        SourceFormat::Yaml | SourceFormat::Json => "the document is empty",
    };
    SourceProblem::syntax(0..0, message)
        .suggest("write at least `name`, `type: adapter`, `target` and `operations`")
}
