//! Where the parts of a document stand, found in one pass over its text.

use super::document::escaped;
use super::scan::{self, Object, Range, Walk};
use indexmap::IndexMap;
use mcpaql_core::diagnostic::Diagnostic;
use mcpaql_core::error::Code;
use serde::de::MapAccess;
use std::borrow::Cow;
use std::collections::HashMap;

/// The methods that a path item names.
pub(crate) const METHODS: &[&str] =
    &["get", "put", "post", "delete", "options", "head", "patch", "trace", "query"];

/// Where Swagger 2.0 keeps what others refer to.
const SWAGGER_SECTIONS: &[&str] = &["definitions", "parameters", "responses", "securityDefinitions"];

/// The parts of a document.
#[derive(Debug, Default)]
pub(crate) struct Index {
    /// Top-level members, but for the paths.
    pub(crate) top: IndexMap<Box<str>, Range>,
    pub(crate) items: Vec<PathItem>,
    /// `components/schemas` or `definitions` → name → where.
    pub(crate) sections: HashMap<Box<str>, IndexMap<Box<str>, Range>>,
}

/// One path with its operations.
#[derive(Debug, Default, Clone)]
pub(crate) struct PathItem {
    pub(crate) path: Box<str>,
    pub(crate) reference: Option<Range>,
    pub(crate) parameters: Option<Range>,
    pub(crate) servers: Option<Range>,
    pub(crate) summary: Option<Range>,
    pub(crate) description: Option<Range>,
    /// The method as written, and where the operation stands.
    pub(crate) operations: Vec<(Box<str>, Range)>,
}

impl Index {
    /// Goes over a text once. Problems come back beside the index.
    pub(crate) fn of(text: &str) -> Result<(Index, Vec<Diagnostic>), serde_json::Error> {
        let mut root = Root { text, index: Index::default(), paths: IndexMap::new(), problems: Vec::new() };
        scan::walk(text, &mut root)?;
        let Root { mut index, paths, problems, .. } = root;
        index.items = paths.into_values().collect();
        Ok((index, problems))
    }

    pub(crate) fn part(&self, section: &str, name: &str) -> Option<Range> {
        self.sections.get(section)?.get(name).copied()
    }
}

struct Root<'t> {
    text: &'t str,
    index: Index,
    paths: IndexMap<Box<str>, PathItem>,
    problems: Vec<Diagnostic>,
}

impl<'t> Walk<'t> for Root<'t> {
    fn member<A: MapAccess<'t>>(&mut self, name: Cow<'t, str>, access: &mut A) -> Result<(), A::Error> {
        match &*name {
            "paths" => {
                self.paths.clear();
                let mut paths =
                    Paths { text: self.text, paths: &mut self.paths, problems: &mut self.problems };
                access.next_value_seed(Object(&mut paths))
            }
            "components" => {
                let mut components =
                    Components { text: self.text, index: &mut self.index, problems: &mut self.problems };
                access.next_value_seed(Object(&mut components))
            }
            section if SWAGGER_SECTIONS.contains(&section) => {
                let mut parts = Section {
                    text: self.text,
                    pointer: format!("/{section}"),
                    parts: IndexMap::new(),
                    problems: &mut self.problems,
                };
                access.next_value_seed(Object(&mut parts))?;
                let parts = parts.parts;
                self.index.sections.insert(section.into(), parts);
                Ok(())
            }
            _ => {
                let range = Range::of(self.text, scan::raw(access)?);
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

struct Components<'i, 't> {
    text: &'t str,
    index: &'i mut Index,
    problems: &'i mut Vec<Diagnostic>,
}

impl<'t> Walk<'t> for Components<'_, 't> {
    fn member<A: MapAccess<'t>>(&mut self, name: Cow<'t, str>, access: &mut A) -> Result<(), A::Error> {
        if name.starts_with("x-") {
            return scan::skip(access);
        }
        let pointer = format!("/components/{}", escaped(&name));
        let mut section =
            Section { text: self.text, pointer, parts: IndexMap::new(), problems: self.problems };
        access.next_value_seed(Object(&mut section))?;
        let parts = section.parts;
        self.index.sections.insert(format!("components/{name}").into(), parts);
        Ok(())
    }

    fn wrong_type(&mut self, found: &'static str) {
        self.problems.push(not_an_object("/components".to_owned(), found));
    }
}

struct Section<'i, 't> {
    text: &'t str,
    pointer: String,
    parts: IndexMap<Box<str>, Range>,
    problems: &'i mut Vec<Diagnostic>,
}

impl<'t> Walk<'t> for Section<'_, 't> {
    fn member<A: MapAccess<'t>>(&mut self, name: Cow<'t, str>, access: &mut A) -> Result<(), A::Error> {
        let range = Range::of(self.text, scan::raw(access)?);
        self.parts.insert(name.into(), range);
        Ok(())
    }

    fn wrong_type(&mut self, found: &'static str) {
        self.problems.push(not_an_object(self.pointer.clone(), found));
    }
}

struct Paths<'i, 't> {
    text: &'t str,
    paths: &'i mut IndexMap<Box<str>, PathItem>,
    problems: &'i mut Vec<Diagnostic>,
}

impl<'t> Walk<'t> for Paths<'_, 't> {
    fn member<A: MapAccess<'t>>(&mut self, name: Cow<'t, str>, access: &mut A) -> Result<(), A::Error> {
        if name.starts_with("x-") {
            return scan::skip(access);
        }
        let path: Box<str> = name.into();
        let mut item = Item {
            text: self.text,
            item: PathItem { path: path.clone(), ..PathItem::default() },
            wrong_type: None,
        };
        access.next_value_seed(Object(&mut item))?;
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

struct Item<'t> {
    text: &'t str,
    item: PathItem,
    wrong_type: Option<&'static str>,
}

impl Item<'_> {
    fn add(&mut self, method: Cow<'_, str>, range: Range) {
        match self.item.operations.iter_mut().find(|(name, _)| **name == *method) {
            Some((_, place)) => *place = range,
            None => self.item.operations.push((method.into(), range)),
        }
    }
}

impl<'t> Walk<'t> for Item<'t> {
    fn member<A: MapAccess<'t>>(&mut self, name: Cow<'t, str>, access: &mut A) -> Result<(), A::Error> {
        let text = scan::raw(access)?;
        let range = Range::of(self.text, text);
        match &*name {
            "$ref" => self.item.reference = Some(range),
            "parameters" => self.item.parameters = Some(range),
            "servers" => self.item.servers = Some(range),
            "summary" => self.item.summary = Some(range),
            "description" => self.item.description = Some(range),
            "additionalOperations" => {
                for (method, operation) in scan::members(text) {
                    self.add(method, Range::of(self.text, operation));
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

/// Reads the path item that a piece of `text` is.
pub(crate) fn path_item(text: &str, part: &str, path: &str) -> Option<PathItem> {
    let mut item =
        Item { text, item: PathItem { path: path.into(), ..PathItem::default() }, wrong_type: None };
    scan::walk(part, &mut item).ok()?;
    item.wrong_type.is_none().then_some(item.item)
}
