//! Finding operations: by what they do, by what they give, by a name that is nearly theirs.
//!
//! What is needed for it is made when somebody first asks, from heads and outlines; no operation is read whole for it.

use super::{Catalog, CatalogEntry};
use crate::library::Outline;
use crate::links::{self, Links};
use crate::operation::{Binding, INTROSPECT, Operation, Segment};
use crate::search::{Doc, SearchIndex, SearchIndexBuilder};
use crate::suggest;
use std::sync::OnceLock;

/// The parameters of an operation that other operations have values for, with the names of these, the best first.
pub type Producers<'c> = Vec<(String, Vec<&'c str>)>;

/// So many operations are offered for a name that there is not.
const MAX_SUGGESTED_OPERATIONS: usize = 3;

/// What operations are about and what they have for one another, once somebody asked.
#[derive(Debug, Default)]
pub(crate) struct Discovery {
    index: OnceLock<SearchIndex>,
    links: OnceLock<Links>,
    /// Filled as soon as both were made together.
    prepared: OnceLock<()>,
}

impl Catalog {
    /// The operations that fit a question, the best first.
    #[must_use]
    pub fn search(&self, question: &str, limit: usize) -> Vec<&CatalogEntry> {
        let hits = self.index().search(question, limit);
        hits.into_iter().filter_map(|hit| self.operations.get(hit.position)).collect()
    }

    /// The same, with where their identifiers come from: producers that fit the question first, each said once.
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
                // What an import wrote down is what is inferred; only what an author says goes before the question.
                let known = self.inferred_producers_at(found.hit.position);
                Some((entry, self.apply_declared_producers(entry, inferred, &known)))
            })
            .collect()
    }

    /// Where the values of an operation's parameters come from: as its author says, else as the operations show.
    #[must_use]
    pub fn producers<'c>(&'c self, entry: &'c CatalogEntry) -> Producers<'c> {
        let Some(position) = self.position(entry) else { return Vec::new() };
        self.apply_declared_producers(entry, self.inferred_producers_at(position), &Vec::new())
    }

    /// Where they come from as the operations show, whatever the author says.
    #[must_use]
    pub fn inferred_producers(&self, entry: &CatalogEntry) -> Producers<'_> {
        self.position(entry).map(|position| self.inferred_producers_at(position)).unwrap_or_default()
    }

    /// Where they come from as the operations show.
    fn inferred_producers_at(&self, position: usize) -> Producers<'_> {
        let sources = self.links().for_operation(position).map(|source| {
            let best = source.best().iter().filter_map(|producer| usize::try_from(*producer).ok());
            (source.param.clone(), self.names(best))
        });
        sources.collect()
    }

    /// With what the operation itself says in place of what is inferred, unless that is `known` anyway.
    fn apply_declared_producers<'c>(
        &'c self,
        entry: &'c CatalogEntry,
        mut inferred: Producers<'c>,
        known: &Producers<'_>,
    ) -> Producers<'c> {
        let declared = self.full_operation(entry).into_iter().flat_map(|whole| &whole.operation.params);
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

    /// Adds an operation to an index; `of` is a word for the whole adapter, where the index is over several.
    pub(crate) fn add_to_index(
        &self,
        builder: &mut SearchIndexBuilder,
        entry: &CatalogEntry,
        of: Option<&str>,
    ) {
        add(builder, &entry.operation, &self.outline(entry), of);
    }

    /// Every name that leads to an operation, aliases included.
    pub(crate) fn known_names(&self) -> impl Iterator<Item = &str> {
        self.by_name.keys().map(String::as_str)
    }

    /// All but `introspect`, which is the last.
    fn searchable_entries(&self) -> impl Iterator<Item = &CatalogEntry> {
        self.operations.iter().filter(|entry| entry.operation.name != INTROSPECT)
    }

    /// Makes what a search with its chain needs from one look at every operation, which is what takes the time.
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

    /// What operations are about.
    pub(crate) fn index(&self) -> &SearchIndex {
        self.discovery.index.get_or_init(|| {
            let mut builder = SearchIndexBuilder::default();
            for entry in self.searchable_entries() {
                self.add_to_index(&mut builder, entry, None);
            }
            builder.finish()
        })
    }

    /// What operations have for one another.
    pub(crate) fn links(&self) -> &Links {
        self.discovery.links.get_or_init(|| {
            let operations: Vec<(&Operation, Outline)> =
                self.searchable_entries().map(|entry| (&entry.operation, self.outline(entry))).collect();
            links::producers(&operations)
        })
    }

    /// What a name that there is not may have meant: a slip of the finger first, else what its words and the parameters
    /// beside it are about.
    pub(crate) fn suggest_operations<'k>(
        &self,
        name: &str,
        params: impl Iterator<Item = &'k str>,
    ) -> Vec<&CatalogEntry> {
        let names = self.operations.iter().map(|entry| entry.operation.name.as_str());
        let near = suggest::nearest_many(name, names, MAX_SUGGESTED_OPERATIONS);
        let slips = near.iter().copied().filter(|candidate| suggest::is_misspelling(name, candidate));
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
        let mut offered: Vec<&str> = Vec::new();
        for name in slips.chain(found.iter().copied()).chain(near.iter().copied()) {
            if offered.len() < MAX_SUGGESTED_OPERATIONS && !offered.contains(&name) {
                offered.push(name);
            }
        }
        offered.into_iter().filter_map(|name| self.get(name)).collect()
    }
}

fn add(builder: &mut SearchIndexBuilder, operation: &Operation, outline: &Outline, of: Option<&str>) {
    let path = match &operation.binding {
        Binding::Http(http) => path_text(&http.path),
        _ => String::new(),
    };
    let tags: Vec<&str> = operation.tags.iter().map(String::as_str).chain(of).collect();
    let params: Vec<&str> = outline.params.iter().map(|need| need.name.as_str()).collect();
    let given = outline.answer.iter().flat_map(|given| &given.fields);
    let fields: Vec<&str> = given.map(String::as_str).collect();
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
