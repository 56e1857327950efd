//! Builds the index of a document in one pass: the text ranges of its parts.

use super::document::escaped;
use super::scan::{self, ObjectVisitor, TextRange, VisitedObject};
use indexmap::IndexMap;
use mcpaql_core::diagnostic::Diagnostic;
use mcpaql_core::error::Code;
use serde::de::MapAccess;
use std::borrow::Cow;
use std::collections::HashMap;

/// The methods that a path item can have.
pub(crate) const METHODS: &[&str] =
    &["get", "put", "post", "delete", "options", "head", "patch", "trace", "query"];

/// The sections of components in Swagger 2.0.
const SWAGGER_SECTIONS: &[&str] = &["definitions", "parameters", "responses", "securityDefinitions"];

/// The text ranges of a document's parts.
#[derive(Debug, Default)]
pub(crate) struct DocumentIndex {
    /// Top-level members except paths and components.
    pub(crate) top: IndexMap<Box<str>, TextRange>,
    pub(crate) items: Vec<PathItem>,
    /// `components/schemas` or `definitions` → name → range.
    pub(crate) sections: HashMap<Box<str>, IndexMap<Box<str>, TextRange>>,
}

/// A path with its operations.
#[derive(Debug, Default, Clone)]
pub(crate) struct PathItem {
    pub(crate) path: Box<str>,
    pub(crate) reference: Option<TextRange>,
    pub(crate) parameters: Option<TextRange>,
    pub(crate) servers: Option<TextRange>,
    pub(crate) summary: Option<TextRange>,
    pub(crate) description: Option<TextRange>,
    /// The method as written, and the range of the operation.
    pub(crate) operations: Vec<(Box<str>, TextRange)>,
}

impl DocumentIndex {
    /// Builds the index of a text, and returns it with the problems.
    pub(crate) fn of(text: &str) -> Result<(DocumentIndex, Vec<Diagnostic>), serde_json::Error> {
        let mut root = IndexVisitor {
            text,
            index: DocumentIndex::default(),
            paths: IndexMap::new(),
            problems: Vec::new(),
        };
        scan::visit_value(text, &mut root)?;
        let IndexVisitor { mut index, paths, problems, .. } = root;
        index.items = paths.into_values().collect();
        Ok((index, problems))
    }

    pub(crate) fn part(&self, section: &str, name: &str) -> Option<TextRange> {
        self.sections.get(section)?.get(name).copied()
    }
}

struct IndexVisitor<'t> {
    text: &'t str,
    index: DocumentIndex,
    paths: IndexMap<Box<str>, PathItem>,
    problems: Vec<Diagnostic>,
}

impl<'t> ObjectVisitor<'t> for IndexVisitor<'t> {
    fn member<A: MapAccess<'t>>(&mut self, name: Cow<'t, str>, access: &mut A) -> Result<(), A::Error> {
        match &*name {
            "paths" => {
                self.paths.clear();
                let mut paths =
                    PathsVisitor { text: self.text, paths: &mut self.paths, problems: &mut self.problems };
                access.next_value_seed(VisitedObject(&mut paths))
            }
            "components" => {
                let mut components = ComponentsVisitor {
                    text: self.text,
                    index: &mut self.index,
                    problems: &mut self.problems,
                };
                access.next_value_seed(VisitedObject(&mut components))
            }
            section if SWAGGER_SECTIONS.contains(&section) => {
                let mut parts = SectionVisitor {
                    text: self.text,
                    pointer: format!("/{section}"),
                    parts: IndexMap::new(),
                    problems: &mut self.problems,
                };
                access.next_value_seed(VisitedObject(&mut parts))?;
                let parts = parts.parts;
                self.index.sections.insert(section.into(), parts);
                Ok(())
            }
            _ => {
                let range = TextRange::of(self.text, scan::raw(access)?);
                self.index.top.insert(name.into(), range);
                Ok(())
            }
        }
    }

    fn wrong_type(&mut self, _: &'static str) {}
}

fn not_an_object(pointer: String, found: &'static str) -> Diagnostic {
    Diagnostic::warning(Code::SchemaInvalidType, pointer, "This is not an object and was left out")
        .expected("an object")
        .found(found)
}

struct ComponentsVisitor<'i, 't> {
    text: &'t str,
    index: &'i mut DocumentIndex,
    problems: &'i mut Vec<Diagnostic>,
}

impl<'t> ObjectVisitor<'t> for ComponentsVisitor<'_, 't> {
    fn member<A: MapAccess<'t>>(&mut self, name: Cow<'t, str>, access: &mut A) -> Result<(), A::Error> {
        if name.starts_with("x-") {
            return scan::skip(access);
        }
        let pointer = format!("/components/{}", escaped(&name));
        let mut section =
            SectionVisitor { text: self.text, pointer, parts: IndexMap::new(), problems: self.problems };
        access.next_value_seed(VisitedObject(&mut section))?;
        let parts = section.parts;
        self.index.sections.insert(format!("components/{name}").into(), parts);
        Ok(())
    }

    fn wrong_type(&mut self, found: &'static str) {
        self.problems.push(not_an_object("/components".to_owned(), found));
    }
}

struct SectionVisitor<'i, 't> {
    text: &'t str,
    pointer: String,
    parts: IndexMap<Box<str>, TextRange>,
    problems: &'i mut Vec<Diagnostic>,
}

impl<'t> ObjectVisitor<'t> for SectionVisitor<'_, 't> {
    fn member<A: MapAccess<'t>>(&mut self, name: Cow<'t, str>, access: &mut A) -> Result<(), A::Error> {
        let range = TextRange::of(self.text, scan::raw(access)?);
        self.parts.insert(name.into(), range);
        Ok(())
    }

    fn wrong_type(&mut self, found: &'static str) {
        self.problems.push(not_an_object(self.pointer.clone(), found));
    }
}

struct PathsVisitor<'i, 't> {
    text: &'t str,
    paths: &'i mut IndexMap<Box<str>, PathItem>,
    problems: &'i mut Vec<Diagnostic>,
}

impl<'t> ObjectVisitor<'t> for PathsVisitor<'_, 't> {
    fn member<A: MapAccess<'t>>(&mut self, name: Cow<'t, str>, access: &mut A) -> Result<(), A::Error> {
        if name.starts_with("x-") {
            return scan::skip(access);
        }
        let path: Box<str> = name.into();
        let mut item = PathItemVisitor {
            text: self.text,
            item: PathItem { path: path.clone(), ..PathItem::default() },
            wrong_type: None,
        };
        access.next_value_seed(VisitedObject(&mut item))?;
        match item.wrong_type {
            Some(found) => self.problems.push(not_an_object(format!("/paths/{}", escaped(&path)), found)),
            None => {
                self.paths.insert(path, item.item);
            }
        }
        Ok(())
    }

    fn wrong_type(&mut self, found: &'static str) {
        self.problems.push(not_an_object("/paths".to_owned(), found));
    }
}

struct PathItemVisitor<'t> {
    text: &'t str,
    item: PathItem,
    wrong_type: Option<&'static str>,
}

impl PathItemVisitor<'_> {
    fn add(&mut self, method: Cow<'_, str>, range: TextRange) {
        match self.item.operations.iter_mut().find(|(name, _)| **name == *method) {
            Some((_, known)) => *known = range,
            None => self.item.operations.push((method.into(), range)),
        }
    }
}

impl<'t> ObjectVisitor<'t> for PathItemVisitor<'t> {
    fn member<A: MapAccess<'t>>(&mut self, name: Cow<'t, str>, access: &mut A) -> Result<(), A::Error> {
        let text = scan::raw(access)?;
        let range = TextRange::of(self.text, text);
        match &*name {
            "$ref" => self.item.reference = Some(range),
            "parameters" => self.item.parameters = Some(range),
            "servers" => self.item.servers = Some(range),
            "summary" => self.item.summary = Some(range),
            "description" => self.item.description = Some(range),
            "additionalOperations" => {
                for (method, operation) in scan::members(text) {
                    self.add(method, TextRange::of(self.text, operation));
                }
            }
            method if METHODS.iter().any(|known| known.eq_ignore_ascii_case(method)) => self.add(name, range),
            _ => {}
        }
        Ok(())
    }

    fn wrong_type(&mut self, found: &'static str) {
        self.wrong_type = Some(found);
    }
}

/// Reads the path item at `part`, which is a part of `text`.
pub(crate) fn path_item(text: &str, part: &str, path: &str) -> Option<PathItem> {
    let mut item = PathItemVisitor {
        text,
        item: PathItem { path: path.into(), ..PathItem::default() },
        wrong_type: None,
    };
    scan::visit_value(part, &mut item).ok()?;
    item.wrong_type.is_none().then_some(item.item)
}
