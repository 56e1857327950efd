//! Reads the heads of operations: everything except parameters, answers and examples.
//!
//! What always holds: an operation that cannot be called is left out, with a diagnostic that has its position and the reason.
//! Reading a head twice gives the same head.

use super::document::{OpenApiDocument, escaped};
use super::index::{PathItem, path_item};
use super::markdown::flatten;
use super::refs::Documents;
use super::scan::{self, ObjectVisitor};
use super::template::{self, PathTemplate};
use mcpaql_core::diagnostic::Diagnostic;
use mcpaql_core::error::Code;
use mcpaql_lexicon::first_sentence;
use serde::de::MapAccess;
use std::borrow::Cow;
use std::sync::Arc;

/// Methods that can be sent.
const SENDABLE: &[&str] = &["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];
/// Maximum length of a summary that is used as title.
const MAX_TITLE: usize = 90;

/// A path item and its document.
#[derive(Debug)]
pub(crate) struct LocatedPathItem {
    pub(crate) document: Arc<OpenApiDocument>,
    /// The document's id.
    pub(crate) base: Arc<str>,
    at: ItemLocation,
}

#[derive(Debug)]
enum ItemLocation {
    /// The index in the document.
    Own(usize),
    /// The target of a reference.
    Referenced(Box<PathItem>),
}

impl LocatedPathItem {
    pub(crate) fn item(&self) -> Option<&PathItem> {
        match &self.at {
            ItemLocation::Own(index) => self.document.items().get(*index),
            ItemLocation::Referenced(item) => Some(item),
        }
    }

    /// Returns the text of an operation.
    pub(crate) fn operation(&self, index: usize) -> Option<&str> {
        self.item()?.operations.get(index).map(|(_, range)| range.slice(self.document.text()))
    }

    /// Returns the text of the parameters that all operations of the path share.
    pub(crate) fn parameters(&self) -> Option<&str> {
        self.item()?.parameters.map(|range| range.slice(self.document.text()))
    }

    pub(crate) fn servers(&self) -> Option<&str> {
        self.item()?.servers.map(|range| range.slice(self.document.text()))
    }

    fn member_text(&self, part: impl Fn(&PathItem) -> Option<scan::TextRange>) -> Option<Cow<'_, str>> {
        scan::string(part(self.item()?)?.slice(self.document.text()))
    }
}

/// Returns all path items, including the targets of references.
pub(crate) fn path_items(documents: &Documents, notes: &mut Vec<Diagnostic>) -> Vec<LocatedPathItem> {
    let main = &documents.main;
    let base: Arc<str> = Arc::from("");
    let mut items = Vec::with_capacity(main.items().len());
    for (index, item) in main.items().iter().enumerate() {
        items.push(LocatedPathItem {
            document: main.clone(),
            base: base.clone(),
            at: ItemLocation::Own(index),
        });
        let Some(reference) = item.reference else { continue };
        let reference = scan::string(reference.slice(main.text()));
        match reference.as_deref().and_then(|reference| referenced_item(documents, reference, item)) {
            Some(located) => items.push(located),
            None => notes.push(
                Diagnostic::warning(
                    Code::SchemaUnresolvedRef,
                    format!("/paths/{}", escaped(&item.path)),
                    format!(
                        "The reference of the path '{}' cannot be resolved; its operations are left out",
                        item.path
                    ),
                )
                .found(reference.as_deref().unwrap_or_default()),
            ),
        }
    }
    items
}

fn referenced_item(documents: &Documents, reference: &str, item: &PathItem) -> Option<LocatedPathItem> {
    let location = documents.locate_end("", reference)?;
    let part = location.document.at(&location.pointer)?;
    let mut found = path_item(location.document.text(), part, &item.path)?;
    // Operations of the path itself win.
    found
        .operations
        .retain(|(method, _)| !item.operations.iter().any(|(own, _)| own.eq_ignore_ascii_case(method)));
    Some(LocatedPathItem {
        document: location.document.clone(),
        base: Arc::from(location.base),
        at: ItemLocation::Referenced(Box::new(found)),
    })
}

/// The members of an operation, borrowed from the text.
#[derive(Debug, Default)]
pub(crate) struct OperationMembers<'t> {
    pub(crate) id: Option<Cow<'t, str>>,
    summary: Option<Cow<'t, str>>,
    description: Option<Cow<'t, str>>,
    pub(crate) deprecated: bool,
    pub(crate) tags: Vec<Cow<'t, str>>,
    pub(crate) servers: Option<&'t str>,
    pub(crate) security: Option<&'t str>,
    pub(crate) responses: Option<&'t str>,
    pub(crate) has_body: bool,
    pub(crate) callbacks: usize,
    wrong_type: Option<&'static str>,
}

impl<'t> ObjectVisitor<'t> for OperationMembers<'t> {
    fn member<A: MapAccess<'t>>(&mut self, name: Cow<'t, str>, access: &mut A) -> Result<(), A::Error> {
        let text = scan::raw(access)?;
        match &*name {
            "operationId" => self.id = scan::string(text).filter(|id| !id.trim().is_empty()),
            "summary" => self.summary = scan::string(text),
            "description" => self.description = scan::string(text),
            "deprecated" => self.deprecated = text == "true",
            "tags" => self.tags = scan::items(text).into_iter().filter_map(scan::string).collect(),
            "servers" => self.servers = Some(text),
            "security" => self.security = Some(text).filter(|text| text.starts_with(['[', '{'])),
            "responses" => self.responses = Some(text),
            "requestBody" => self.has_body = true,
            "callbacks" => self.callbacks = scan::members(text).len(),
            _ => {}
        }
        Ok(())
    }

    fn wrong_type(&mut self, found: &'static str) {
        self.wrong_type = Some(found);
    }
}

/// An operation that can be called, before it gets its name.
#[derive(Debug)]
pub(crate) struct UnnamedOperation<'t> {
    /// The position of its path item, and of the operation in the path item.
    pub(crate) position: (usize, usize),
    pub(crate) method: &'static str,
    pub(crate) path: &'t str,
    pub(crate) template: PathTemplate,
    pub(crate) members: OperationMembers<'t>,
    pub(crate) summary: String,
    pub(crate) description: String,
}

/// Reads the head of an operation.
///
/// # Errors
///
/// Returns the reason if the operation cannot be called.
pub(crate) fn read_operation(
    located: &LocatedPathItem,
    position: (usize, usize),
) -> Result<UnnamedOperation<'_>, Box<Diagnostic>> {
    let item = located.item().ok_or_else(|| skipped_operation(located, position, "it does not exist"))?;
    let (written, _) = item
        .operations
        .get(position.1)
        .ok_or_else(|| skipped_operation(located, position, "it does not exist"))?;
    let Some(method) = SENDABLE.iter().copied().find(|method| method.eq_ignore_ascii_case(written)) else {
        let reason = format!("the method {} cannot be sent", written.to_ascii_uppercase());
        return Err(skipped_operation(located, position, &reason));
    };
    let template =
        template::read(&item.path).map_err(|reason| skipped_operation(located, position, reason))?;
    let text = located.operation(position.1).unwrap_or_default();
    let mut members = OperationMembers::default();
    scan::visit_value(text, &mut members)
        .map_err(|error| skipped_operation(located, position, &super::document::reason(&error)))?;
    if let Some(found) = members.wrong_type {
        return Err(skipped_operation(located, position, &format!("it is {found} instead of an object")));
    }
    let own =
        |words: Option<Cow<'_, str>>| words.map(|words| flatten(&words)).filter(|words| !words.is_empty());
    let summary = own(members.summary.take())
        .or_else(|| own(located.member_text(|item| item.summary)))
        .unwrap_or_default();
    let description = own(members.description.take())
        .or_else(|| own(located.member_text(|item| item.description)))
        .unwrap_or_default();
    Ok(UnnamedOperation { position, method, path: &item.path, template, members, summary, description })
}

fn skipped_operation(located: &LocatedPathItem, position: (usize, usize), reason: &str) -> Box<Diagnostic> {
    let (path, method) = located
        .item()
        .and_then(|item| Some((&*item.path, &*item.operations.get(position.1)?.0)))
        .unwrap_or_default();
    let pointer = format!("/paths/{}/{}", escaped(path), escaped(method));
    let message = format!("{} {path} was left out: {reason}", method.to_ascii_uppercase());
    let mut diagnostic = Diagnostic::error(Code::SchemaUnsupported, pointer, message);
    if located.base.is_empty() {
        diagnostic.span = located.operation(position.1).and_then(|text| located.document.span(text));
    }
    Box::new(diagnostic)
}

impl UnnamedOperation<'_> {
    /// Returns the summary as a title, if it is short.
    pub(crate) fn title(&self) -> Option<String> {
        let line = first_sentence(&self.summary).trim().trim_end_matches(['.', ' ', ':']);
        let fits = !line.is_empty() && line.chars().count() <= MAX_TITLE;
        fits.then(|| mcpaql_core::diagnostic::capitalize(line))
    }

    /// Returns summary and description, without repeating the summary.
    pub(crate) fn text(&self) -> String {
        let summary = self.summary.trim_end_matches('.');
        if self.description.is_empty() {
            return self.summary.clone();
        }
        if summary.is_empty() || begins_with(&self.description, summary) {
            return self.description.clone();
        }
        let stop = if summary.ends_with(['!', '?', ':', '…']) { "" } else { "." };
        format!("{summary}{stop} {}", self.description)
    }

    /// Returns the sentence about the replacement of a deprecated operation; empty if there is none.
    pub(crate) fn deprecation(&self) -> Option<String> {
        if !self.members.deprecated {
            return None;
        }
        let is_about_it = |sentence: &&str| {
            let lower = sentence.to_lowercase();
            lower.contains("instead") || lower.contains("deprecat") || lower.contains("replaced by")
        };
        let text = &self.description;
        let sentence =
            text.split_inclusive(['\n']).flat_map(|line| line.split_inclusive(". ")).find(is_about_it);
        Some(sentence.map(|sentence| sentence.trim().to_owned()).unwrap_or_default())
    }
}

fn begins_with(text: &str, start: &str) -> bool {
    text.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start))
}
