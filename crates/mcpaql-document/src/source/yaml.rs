//! Parses YAML: parser events → a tree of values with their ranges.
//!
//! What always holds: an alias shares the node of its anchor, and the size of all expanded aliases is checked before anything
//! is copied.
//!
//! The events are read directly instead of through serde, because only events distinguish a quoted `"true"` from a plain one,
//! include duplicate keys, and have positions.

use super::problem::SourceProblem;
use super::scalar::{self, InvalidScalar, Scalar};
use super::tree::{MAX_DEPTH, MappingMember, NodeKind, SourceNode, first_line, push_segment};
use granit_parser::{ErrorKind, Event, Options, Parser, ScalarStyle, ScanError, Span, StructureStyle, Tag};
use indexmap::IndexMap;
use indexmap::map::Entry;
use mcpaql_core::diagnostic::Diagnostic;
use mcpaql_core::error::Code;
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

/// Maximum size of all expanded aliases of a document, in approximate bytes.
const MAX_EXPANSION: usize = 16 * 1024 * 1024;

/// The result of parsing a YAML text.
pub(super) struct ParsedYaml {
    /// `None` if the text has only blanks and comments.
    pub(super) root: Option<Rc<SourceNode>>,
    pub(super) problems: Vec<SourceProblem>,
}

/// Reads one YAML document.
pub(super) fn read(text: &str) -> Result<ParsedYaml, SourceProblem> {
    let mut options = Options::default();
    options.set_emit_comments(false);
    let mut loader = YamlLoader {
        text,
        open: Vec::new(),
        anchors: HashMap::new(),
        expanded: 0,
        problems: Vec::new(),
        root: None,
        documents: 0,
    };
    for event in Parser::new_from_str_with_options(text, options) {
        let (event, span) = event.map_err(|error| syntax_problem(text, &error))?;
        loader.handle_event(event, &span)?;
    }
    Ok(ParsedYaml { root: loader.root, problems: loader.problems })
}

fn syntax_problem(text: &str, error: &ScanError) -> SourceProblem {
    let mut offset = error.marker().byte_offset().unwrap_or(text.len()).min(text.len());
    if matches!(error.kind(), ErrorKind::RecursionLimitExceeded) {
        return SourceProblem::too_deep(offset..offset);
    }
    if matches!(error.kind(), ErrorKind::TabInPlainScalar) {
        // The parser's position is the start of the scalar, which may be some lines before the tab.
        offset += text.get(offset..).and_then(|rest| rest.find('\t')).unwrap_or(0);
    }
    let end = text.ceil_char_boundary((offset + 1).min(text.len()));
    let problem = SourceProblem::syntax(offset..end, format!("This is not valid YAML: {}", error.kind()));
    if let Some(better) = unquoted_path(text, offset) {
        return problem.suggest(format!("quote it: `maps_to: \"{better}\"`"));
    }
    match hint(error.kind()) {
        Some(hint) => problem.suggest(hint),
        None => problem,
    }
}

/// Returns the path of `maps_to` if it must be quoted: inside `{ … }`, the brace of a placeholder starts a mapping.
fn unquoted_path(text: &str, offset: usize) -> Option<&str> {
    let start = text.get(..offset)?.rfind('\n').map_or(0, |end| end + 1);
    let line = text.get(start..)?.lines().next()?;
    let (before, path) = line.split_once("maps_to: ")?;
    if !before.contains('{') || path.starts_with(['"', '\'']) {
        return None;
    }
    let last = path.find('{').and_then(|open| path.get(open..)?.find('}').map(|close| open + close + 1))?;
    let rest = path.get(last..)?;
    let end = last + rest.find([',', ' ']).unwrap_or(rest.len());
    path.get(..end)
}

/// Returns the most common fix for a syntax error.
fn hint(kind: &ErrorKind) -> Option<&'static str> {
    Some(match kind {
        ErrorKind::TabNotAllowed
        | ErrorKind::TabInBlockIndentation
        | ErrorKind::TabInIndentation
        | ErrorKind::TabInPlainScalar => "indent with spaces",
        ErrorKind::MappingValueNotAllowed => {
            "put text that contains `: ` in quotes, or check the indentation"
        }
        ErrorKind::UnknownAnchor => {
            "put text that starts with `*` in quotes, or define the anchor before the alias"
        }
        ErrorKind::UnexpectedCharacter { .. } => "put text that starts with this character in quotes",
        ErrorKind::SimpleKeyExpected => "write `key: value`, and check the indentation",
        ErrorKind::ExpectedBlockMappingKey | ErrorKind::InvalidIndentation => "check the indentation",
        ErrorKind::UnclosedQuotedScalar => "add the closing quote",
        _ => return None,
    })
}

/// A collection that has not ended yet.
struct OpenCollection {
    anchor: usize,
    start: usize,
    /// The end of the last member so far; a block collection ends there.
    end: usize,
    flow: bool,
    inside: CollectionContents,
}

enum CollectionContents {
    List(Vec<Rc<SourceNode>>),
    Map { members: IndexMap<String, MappingMember>, key: Option<PendingKey>, merged: Vec<Rc<SourceNode>> },
}

/// A key whose value has not been read yet.
struct PendingKey {
    name: String,
    range: Range<usize>,
    merge: bool,
    /// The number of problems found before the value.
    problems: usize,
}

struct YamlLoader<'t> {
    text: &'t str,
    open: Vec<OpenCollection>,
    anchors: HashMap<usize, Rc<SourceNode>>,
    expanded: usize,
    problems: Vec<SourceProblem>,
    root: Option<Rc<SourceNode>>,
    documents: usize,
}

impl YamlLoader<'_> {
    fn handle_event(&mut self, event: Event<'_>, span: &Span) -> Result<(), SourceProblem> {
        let range = span.byte_range().unwrap_or(0..0);
        match event {
            Event::DocumentStart(..) => {
                self.documents += 1;
                if self.documents > 1 {
                    return Err(SourceProblem::syntax(
                        range,
                        "This is a second YAML document in the same file",
                    )
                    .suggest("put each document in a separate file"));
                }
            }
            Event::Scalar(text, style, anchor, tag) if self.awaits_key() => {
                let merge =
                    &*text == "<<" && style == ScalarStyle::Plain && tag.is_none_or(|tag| is_merge(&tag));
                if anchor != 0 {
                    let node =
                        SourceNode::new(range.clone(), NodeKind::Scalar(Scalar::Text(text.to_string())));
                    self.anchors.insert(anchor, Rc::new(node));
                }
                self.set_key(text.into_owned(), range, merge);
            }
            Event::Scalar(text, style, anchor, tag) => {
                let range = self.trimmed(range);
                let scalar = self.scalar(text.into_owned(), style, tag.as_deref(), &range);
                let node = Rc::new(SourceNode::new(range.clone(), NodeKind::Scalar(scalar)));
                self.attach(node, anchor, range)?;
            }
            Event::Alias(id) => self.alias(id, range)?,
            Event::SequenceStart(style, anchor, tag) => {
                self.begin(style, anchor, tag.as_deref(), range, CollectionContents::List(Vec::new()))?;
            }
            Event::MappingStart(style, anchor, tag) => {
                let inside =
                    CollectionContents::Map { members: IndexMap::new(), key: None, merged: Vec::new() };
                self.begin(style, anchor, tag.as_deref(), range, inside)?;
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(&range)?,
            _ => {}
        }
        Ok(())
    }

    fn awaits_key(&self) -> bool {
        matches!(
            self.open.last(),
            Some(OpenCollection { inside: CollectionContents::Map { key: None, .. }, .. })
        )
    }

    fn set_key(&mut self, name: String, range: Range<usize>, merge: bool) {
        let problems = self.problems.len();
        if let Some(open) = self.open.last_mut() {
            open.end = open.end.max(range.end);
            if let CollectionContents::Map { key, .. } = &mut open.inside {
                *key = Some(PendingKey { name, range, merge, problems });
            }
        }
    }

    fn begin(
        &mut self,
        style: StructureStyle,
        anchor: usize,
        tag: Option<&Tag>,
        range: Range<usize>,
        inside: CollectionContents,
    ) -> Result<(), SourceProblem> {
        let flow = style == StructureStyle::Flow;
        if self.awaits_key() {
            let problem = SourceProblem::syntax(range, "A mapping or a list cannot be a key");
            return Err(if flow {
                problem.suggest("put text that starts with `{` or `[` in quotes")
            } else {
                problem
            });
        }
        if self.open.len() >= MAX_DEPTH {
            return Err(SourceProblem::too_deep(range));
        }
        if let Some(tag) = tag {
            self.warn_about(tag, &range);
        }
        self.open.push(OpenCollection { anchor, start: range.start, end: range.end, flow, inside });
        Ok(())
    }

    fn end(&mut self, range: &Range<usize>) -> Result<(), SourceProblem> {
        let Some(open) = self.open.pop() else { return Ok(()) };
        let end = if open.flow { range.end } else { open.end };
        let kind = match open.inside {
            CollectionContents::List(items) => NodeKind::List(items),
            CollectionContents::Map { mut members, merged, .. } => {
                for source in merged {
                    if let NodeKind::Map(inherited) = &source.kind {
                        for (name, member) in inherited {
                            members.entry(name.clone()).or_insert_with(|| member.clone());
                        }
                    }
                }
                NodeKind::Map(members)
            }
        };
        let range = self.trimmed(open.start..end.max(open.start));
        self.attach(Rc::new(SourceNode::new(range.clone(), kind)), open.anchor, range)
    }

    fn alias(&mut self, id: usize, range: Range<usize>) -> Result<(), SourceProblem> {
        let Some(node) = self.anchors.get(&id).cloned() else {
            return Err(SourceProblem::syntax(
                range,
                "An alias cannot be inside the value of its own anchor",
            ));
        };
        if self.awaits_key() {
            let NodeKind::Scalar(scalar) = &node.kind else {
                return Err(SourceProblem::syntax(range, "A mapping or a list cannot be a key"));
            };
            self.expand(node.size, &range)?;
            self.set_key(scalar.name(), range, false);
            return Ok(());
        }
        self.expand(node.size, &range)?;
        self.attach(node, 0, range)
    }

    fn expand(&mut self, size: usize, range: &Range<usize>) -> Result<(), SourceProblem> {
        self.expanded = self.expanded.saturating_add(size);
        if self.expanded > MAX_EXPANSION {
            return Err(SourceProblem::syntax(range.clone(), "The aliases expand to too much data")
                .suggest("write the repeated part once and refer to it by name in `types`"));
        }
        Ok(())
    }

    /// Adds a complete value to its collection. `range` is its position; for an alias, that is not the position of the anchor.
    fn attach(
        &mut self,
        node: Rc<SourceNode>,
        anchor: usize,
        range: Range<usize>,
    ) -> Result<(), SourceProblem> {
        if self.open.len() + node.height > MAX_DEPTH {
            return Err(SourceProblem::too_deep(range));
        }
        if anchor != 0 {
            self.anchors.insert(anchor, Rc::clone(&node));
        }
        let Some(open) = self.open.last_mut() else {
            self.root = Some(node);
            return Ok(());
        };
        open.end = open.end.max(range.end);
        match &mut open.inside {
            CollectionContents::List(items) => items.push(node),
            CollectionContents::Map { members, key, merged } => {
                let Some(key) = key.take() else { return Ok(()) };
                if key.merge {
                    match merge_sources(&node) {
                        Some(sources) => merged.extend(sources),
                        None => self.refuse_merge(key.range),
                    }
                    return Ok(());
                }
                match members.entry(key.name) {
                    Entry::Vacant(entry) => {
                        entry.insert(MappingMember { key: key.range, value: node });
                    }
                    Entry::Occupied(entry) => {
                        let name = entry.key().clone();
                        // Drop the problems inside a value that is ignored.
                        self.problems.truncate(key.problems);
                        let pointer = self.pointer(Some(&name));
                        self.problems.push(SourceProblem::duplicate(pointer, &name, key.range));
                    }
                }
            }
        }
        Ok(())
    }

    fn refuse_merge(&mut self, key: Range<usize>) {
        let diagnostic =
            Diagnostic::error(Code::SchemaInvalidType, self.pointer(None), "`<<` can only merge mappings")
                .expected("an alias of a mapping, or a list of them");
        self.problems.push(SourceProblem::new(key, diagnostic));
    }

    fn scalar(
        &mut self,
        text: String,
        style: ScalarStyle,
        tag: Option<&Tag>,
        range: &Range<usize>,
    ) -> Scalar {
        let resolved = match tag {
            Some(tag) => match tag.core_suffix() {
                Some(suffix) => scalar::tagged(&text, suffix).map(Some),
                None => {
                    self.warn_about(tag, range);
                    Ok(None)
                }
            },
            None if style == ScalarStyle::Plain => scalar::plain(&text),
            None => Ok(None),
        };
        let (diagnostic, scalar) = match resolved {
            Ok(Some(scalar)) => return scalar,
            Ok(None) => return Scalar::Text(text),
            Err(InvalidScalar::NotFinite) => {
                let message = "A number must be finite";
                let diagnostic = Diagnostic::error(Code::SchemaInvalidValue, self.pointer(None), message)
                    .expected("a finite number")
                    .found(format!("`{text}`"))
                    .suggest("quote it if it is meant as text, or leave it out for no limit");
                (diagnostic, Scalar::Null)
            }
            Err(InvalidScalar::Tag) => {
                let name = tag.map(Tag::original).unwrap_or_default();
                let message = format!("The value does not match its tag `{name}`");
                let diagnostic = Diagnostic::error(Code::SchemaInvalidType, self.pointer(None), message)
                    .suggest("remove the tag or correct the value");
                (diagnostic, Scalar::Text(text))
            }
        };
        self.problems.push(SourceProblem::new(range.clone(), diagnostic));
        scalar
    }

    /// Warns about an unknown tag, because it is ignored.
    fn warn_about(&mut self, tag: &Tag, range: &Range<usize>) {
        let known = tag.suffix_in_namespace("tag:yaml.org,2002:").is_some() || tag.parts() == ("", "!");
        if known || tag.original() == "!" {
            return;
        }
        let message = format!("The tag `{}` is not supported and is ignored", tag.original());
        let diagnostic = Diagnostic::warning(Code::SchemaUnsupported, self.pointer(None), message)
            .suggest("remove the tag and write the value itself");
        self.problems.push(SourceProblem::new(first_line(self.text, range), diagnostic));
    }

    /// Returns the pointer of the next value, or of the member `name` of the innermost collection.
    fn pointer(&self, name: Option<&str>) -> String {
        let mut pointer = String::new();
        for open in &self.open {
            match &open.inside {
                CollectionContents::List(items) => push_segment(&mut pointer, &items.len().to_string()),
                CollectionContents::Map { key: Some(key), .. } => push_segment(&mut pointer, &key.name),
                CollectionContents::Map { key: None, .. } => {}
            }
        }
        if let Some(name) = name {
            push_segment(&mut pointer, name);
        }
        pointer
    }

    /// Returns the range without trailing blanks and line breaks, which the parser includes for block scalars.
    fn trimmed(&self, range: Range<usize>) -> Range<usize> {
        let length = self.text.get(range.clone()).map_or(0, |part| part.trim_end().len());
        range.start..range.start + length
    }
}

fn is_merge(tag: &Tag) -> bool {
    tag.suffix_in_namespace("tag:yaml.org,2002:").as_deref() == Some("merge")
}

/// Returns the mappings in the value of `<<`, in order of precedence.
fn merge_sources(node: &Rc<SourceNode>) -> Option<Vec<Rc<SourceNode>>> {
    let is_map = |node: &Rc<SourceNode>| matches!(node.kind, NodeKind::Map(_));
    match &node.kind {
        NodeKind::Map(_) => Some(vec![Rc::clone(node)]),
        NodeKind::List(items) if items.iter().all(is_map) => Some(items.clone()),
        _ => None,
    }
}
