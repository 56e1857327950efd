//! Finds operations: by a question, by the values they produce, or by a misspelled name.
//!
//! The indexes are built on first use, from heads and outlines. No full operation is read for them.

use super::{Catalog, CatalogEntry};
use crate::library::Outline;
use crate::links::{self, Links};
use crate::operation::{Binding, INTROSPECT, Operation, Segment};
use crate::search::{Doc, SearchIndex, SearchIndexBuilder};
use crate::suggest;
use std::sync::OnceLock;

/// Parameters of an operation, each with the names of the operations that return a value for it, best first.
pub type Producers<'c> = Vec<(String, Vec<&'c str>)>;

/// Maximum operations that are suggested for an unknown name.
const MAX_SUGGESTED_OPERATIONS: usize = 3;

/// The search index and the links between operations, built on first use.
#[derive(Debug, Default)]
pub(crate) struct Discovery {
    index: OnceLock<SearchIndex>,
    links: OnceLock<Links>,
    /// Set when the index and the links were built together.
    prepared: OnceLock<()>,
}

impl Catalog {
    /// Searches operations by a question, best first.
    #[must_use]
    pub fn search(&self, question: &str, limit: usize) -> Vec<&CatalogEntry> {
        let hits = self.index().search(question, limit);
        hits.into_iter().filter_map(|hit| self.operations.get(hit.position)).collect()
    }

    /// Searches operations and adds the producers of their identifiers. Producers that match the question come first,
    /// and each is named once.
    #[must_use]
    pub fn search_with_chain(&self, question: &str, limit: usize) -> Vec<(&CatalogEntry, Producers<'_>)> {
        self.prepare();
        let found = self.index().search_with_chain(self.links(), question, limit, |_| true);
        found
            .into_iter()
            .filter_map(|found| {
                let entry = self.operations.get(found.hit.position)?;
                let inferred = found.sources.into_iter().flat_map(|source| {
                    let names = self.names(source.producers.into_iter());
                    source.params.into_iter().map(move |param| (param, names.clone()))
                });
                let inferred = inferred.collect();
                // An import writes down inferred producers. Only producers that differ from them come from an author
                // and have priority over the question.
                let known = self.inferred_producers_at(found.hit.position);
                Some((entry, self.apply_declared_producers(entry, inferred, &known)))
            })
            .collect()
    }

    /// Returns the producers of an operation's parameters: declared by the author, otherwise inferred.
    #[must_use]
    pub fn producers<'c>(&'c self, entry: &'c CatalogEntry) -> Producers<'c> {
        let Some(position) = self.position(entry) else { return Vec::new() };
        self.apply_declared_producers(entry, self.inferred_producers_at(position), &Vec::new())
    }

    /// Returns the inferred producers, without those that the author declares.
    #[must_use]
    pub fn inferred_producers(&self, entry: &CatalogEntry) -> Producers<'_> {
        self.position(entry).map(|position| self.inferred_producers_at(position)).unwrap_or_default()
    }

    /// Returns the inferred producers of the operation at `position`.
    /// Returns the producers of an operation's identifiers, without identifiers that callers already have.
    pub(crate) fn specific_producers<'c>(&'c self, entry: &'c CatalogEntry) -> Producers<'c> {
        let Some(position) = self.position(entry) else { return Vec::new() };
        let common = |param: &str| {
            self.links().for_operation(position).any(|link| link.everywhere && link.param == param)
        };
        let mut producers = self.producers(entry);
        producers.retain(|(param, _)| !common(param));
        producers
    }

    /// Returns all known producers of a parameter, best first.
    pub(crate) fn all_producers<'c>(&'c self, entry: &'c CatalogEntry, param: &str) -> Vec<&'c CatalogEntry> {
        let declared = self.full_operation(entry).and_then(|full| full.operation.param(param));
        let declared = declared.map(|param| param.from.as_slice()).unwrap_or_default();
        if !declared.is_empty() {
            return declared.iter().filter_map(|name| self.get(name)).collect();
        }
        let links =
            self.position(entry).into_iter().flat_map(|position| self.links().for_operation(position));
        let positions = links.filter(|link| link.param == param).flat_map(|link| &link.producers);
        positions.filter_map(|position| self.operations.get(usize::try_from(*position).ok()?)).collect()
    }

    fn inferred_producers_at(&self, position: usize) -> Producers<'_> {
        let sources = self.links().for_operation(position).map(|source| {
            let best = source.best().iter().filter_map(|producer| usize::try_from(*producer).ok());
            (source.param.clone(), self.names(best))
        });
        sources.collect()
    }

    /// Replaces inferred producers with those that the operation declares, unless these are in `known`.
    fn apply_declared_producers<'c>(
        &'c self,
        entry: &'c CatalogEntry,
        mut inferred: Producers<'c>,
        known: &Producers<'_>,
    ) -> Producers<'c> {
        let declared = self.full_operation(entry).into_iter().flat_map(|full| &full.operation.params);
        for param in declared.filter(|param| !param.from.is_empty()) {
            let names: Vec<&str> = param.from.iter().map(String::as_str).collect();
            if known.iter().any(|(name, known)| *name == param.name && *known == names) {
                continue;
            }
            match inferred.iter_mut().find(|(name, _)| *name == param.name) {
                Some(slot) => slot.1 = names,
                None => inferred.push((param.name.clone(), names)),
            }
        }
        inferred
    }

    fn names(&self, positions: impl Iterator<Item = usize>) -> Vec<&str> {
        positions
            .filter_map(|position| self.operations.get(position))
            .map(|entry| entry.operation.name.as_str())
            .collect()
    }

    fn position(&self, entry: &CatalogEntry) -> Option<usize> {
        self.by_name.get(&entry.operation.name).copied()
    }

    /// Adds an operation to an index. `adapter` is the adapter's name if the index covers several adapters.
    pub(crate) fn add_to_index(
        &self,
        builder: &mut SearchIndexBuilder,
        entry: &CatalogEntry,
        adapter: Option<&str>,
    ) {
        add(builder, &entry.operation, &self.outline(entry), adapter);
    }

    /// Returns all names and aliases of operations.
    pub(crate) fn known_names(&self) -> impl Iterator<Item = &str> {
        self.by_name.keys().map(String::as_str)
    }

    /// Returns all operations except `introspect`.
    fn searchable_entries(&self) -> impl Iterator<Item = &CatalogEntry> {
        self.operations.iter().filter(|entry| entry.operation.name != INTROSPECT)
    }

    /// Builds the index and the links together, because reading every outline takes most of the time.
    fn prepare(&self) {
        self.discovery.prepared.get_or_init(|| {
            let Discovery { index, links, .. } = &self.discovery;
            if index.get().is_some() || links.get().is_some() {
                return;
            }
            let outlined: Vec<(&Operation, Outline)> =
                self.searchable_entries().map(|entry| (&entry.operation, self.outline(entry))).collect();
            index.get_or_init(|| {
                let mut builder = SearchIndexBuilder::default();
                for (operation, outline) in &outlined {
                    add(&mut builder, operation, outline, None);
                }
                builder.finish()
            });
            links.get_or_init(|| links::producers(&outlined));
        });
    }

    /// Returns the search index.
    pub(crate) fn index(&self) -> &SearchIndex {
        self.discovery.index.get_or_init(|| {
            let mut builder = SearchIndexBuilder::default();
            for entry in self.searchable_entries() {
                self.add_to_index(&mut builder, entry, None);
            }
            builder.finish()
        })
    }

    /// Returns the links between operations.
    pub(crate) fn links(&self) -> &Links {
        self.discovery.links.get_or_init(|| {
            let operations: Vec<(&Operation, Outline)> =
                self.searchable_entries().map(|entry| (&entry.operation, self.outline(entry))).collect();
            links::producers(&operations)
        })
    }

    /// Suggests operations for an unknown name: misspellings first, then those that match its words and the names of
    /// the parameters.
    pub(crate) fn suggest_operations<'k>(
        &self,
        name: &str,
        params: impl Iterator<Item = &'k str>,
    ) -> Vec<&CatalogEntry> {
        let names = self.operations.iter().map(|entry| entry.operation.name.as_str());
        let near = suggest::nearest_many(name, names, MAX_SUGGESTED_OPERATIONS);
        let misspellings = near.iter().copied().filter(|candidate| suggest::is_misspelling(name, candidate));
        let mut words = mcpaql_lexicon::snake_case(name).replace('_', " ");
        for param in params {
            words.push(' ');
            words.push_str(&mcpaql_lexicon::snake_case(param).replace('_', " "));
        }
        let found: Vec<&str> = self
            .search(&words, MAX_SUGGESTED_OPERATIONS)
            .into_iter()
            .map(|entry| entry.operation.name.as_str())
            .collect();
        let mut suggested: Vec<&str> = Vec::new();
        for name in misspellings.chain(found.iter().copied()).chain(near.iter().copied()) {
            if suggested.len() < MAX_SUGGESTED_OPERATIONS && !suggested.contains(&name) {
                suggested.push(name);
            }
        }
        suggested.into_iter().filter_map(|name| self.get(name)).collect()
    }
}

fn add(builder: &mut SearchIndexBuilder, operation: &Operation, outline: &Outline, adapter: Option<&str>) {
    let path = match &operation.binding {
        Binding::Http(http) => path_text(&http.path),
        _ => String::new(),
    };
    let tags: Vec<&str> = operation.tags.iter().map(String::as_str).chain(adapter).collect();
    let params: Vec<&str> = outline.params.iter().map(|param| param.name.as_str()).collect();
    let fields = outline.answer.iter().flat_map(|answer| &answer.fields);
    let fields: Vec<&str> = fields.map(String::as_str).collect();
    builder.add(&Doc {
        path: &path,
        summary: &operation.title,
        description: &operation.description,
        tags: &tags,
        params: &params,
        deprecated: operation.deprecated.is_some(),
        fields: &fields,
        ..Doc::new(&operation.name, operation.category)
    });
}

fn path_text(path: &[Segment]) -> String {
    let piece = |segment: &Segment| match segment {
        Segment::Literal(text) => text.clone(),
        Segment::Param(name) => format!("{{{name}}}"),
    };
    path.iter().map(piece).collect()
}
