//! Names operations by their ids, summaries, methods and paths in the API.
//!
//! The verb and the noun of the id win. If the id has no verb, the name has the verb of the path's end or of the summary, and only
//! then the verb of the method. A verb that the table of verbs does not have is kept.
//!
//! What always holds: a name is `^[a-z][a-z0-9_]*$`, has at most 64 characters, is unique in its document and not reserved by
//! the protocol. The names of a set of operations do not depend on their order.
//!
//! Every operation has a list of candidate names, the shortest first, made only from its own id, summary, method, path and tags. If two paths
//! have the same candidate, neither gets it and both use their next one. So a new operation in a later version of a document
//! renames only operations that collide with it, and a name that was in use is never given to another operation.

mod id;
mod path;
mod summary;
mod verb;

use mcpaql_core::lifecycle::ExecutionAction;
use mcpaql_core::naming::{MAX_TOOL_NAME_LENGTH, RESERVED};
use mcpaql_core::operation::Category;
use mcpaql_lexicon::PREPOSITIONS;
use mcpaql_lexicon::classify::path::is_version;
use path::{LiteralCache, PathWords};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// A word of a name. It is shared, because a document repeats a few hundred words thousands of times.
type NameWord = Rc<str>;

/// The input for the name of an operation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NameInput<'a> {
    /// The id in the document.
    pub(crate) operation_id: Option<&'a str>,
    /// The method, in upper or lower case.
    pub(crate) method: &'a str,
    /// The path template.
    pub(crate) path: &'a str,
    /// The tags in the document.
    pub(crate) tags: &'a [&'a str],
    /// The summary in the document, or else the description.
    pub(crate) summary: &'a str,
    /// The category, if it is known: a POST that reads is not called `create`.
    pub(crate) category: Option<Category>,
}

/// Returns the names of all operations of a document, in the order of the inputs.
#[must_use]
pub(crate) fn name_operations(inputs: &[NameInput<'_>]) -> Vec<String> {
    let mut cache = LiteralCache::new();
    let requests = inputs.iter().enumerate().map(|(index, input)| NameRequest::new(index, input, &mut cache));
    let mut requests: Vec<NameRequest<'_>> = requests.collect();
    requests.sort_by_cached_key(NameRequest::key);
    // Reserved in advance: an author may add `lifecycle` later, and that must not rename an operation.
    let executions = ExecutionAction::ALL.map(ExecutionAction::operation_name);
    let mut taken: HashSet<String> = RESERVED.iter().copied().chain(executions).map(str::to_owned).collect();
    let mut names = vec![String::new(); inputs.len()];
    // First choices are given before any second choice, so that no operation loses its name to the fallback of another. If
    // several paths have the same first choice, none gets it, so that a name never changes its meaning between versions.
    let firsts: Vec<Option<String>> = requests.iter().map(NameRequest::first).collect();
    let mut wanted: HashMap<&str, Option<&str>> = HashMap::with_capacity(requests.len());
    for (request, name) in requests.iter().zip(&firsts) {
        let Some(name) = name else { continue };
        let only = wanted.entry(name).or_insert(Some(request.input.path));
        *only = only.filter(|path| *path == request.input.path);
    }
    let mut unnamed = Vec::new();
    for (request, name) in requests.into_iter().zip(&firsts) {
        match name {
            Some(name)
                if wanted.get(name.as_str()).is_some_and(Option::is_some) && taken.insert(name.clone()) =>
            {
                put(&mut names, request.index, name.clone());
            }
            _ => unnamed.push(request),
        }
    }
    taken.extend(firsts.into_iter().flatten());
    for request in unnamed {
        let name = request.next(&taken);
        taken.insert(name.clone());
        put(&mut names, request.index, name);
    }
    names
}

fn put(names: &mut [String], index: usize, name: String) {
    if let Some(slot) = names.get_mut(index) {
        *slot = name;
    }
}

/// An operation that needs a name.
struct NameRequest<'a> {
    index: usize,
    input: NameInput<'a>,
    path: PathWords,
    method: String,
    /// The words of the candidate names; never empty.
    choices: Vec<Vec<NameWord>>,
    /// Whether the candidates come from the id.
    from_id: bool,
}

impl<'a> NameRequest<'a> {
    fn new(index: usize, input: &NameInput<'a>, cache: &mut LiteralCache<'a>) -> NameRequest<'a> {
        let method = input.method.to_ascii_uppercase();
        let path = PathWords::of(input.path, cache);
        let mut choices = id::names(input, &method, &path, cache);
        let from_id = !choices.is_empty();
        if !from_id {
            choices.push(path::name(input, &method, &path, 1));
        }
        NameRequest { index, input: *input, path, method, choices, from_id }
    }

    fn first(&self) -> Option<String> {
        self.choices.first().and_then(|words| self.legal_name(words))
    }

    fn key(&self) -> (usize, &'a str, u8, &'a str) {
        let rank = match self.method.as_str() {
            "GET" => 0,
            "POST" => 1,
            // If a resource has both PATCH and PUT, `update` is the PATCH: a PUT drops fields that are not sent.
            "PATCH" => 2,
            "PUT" => 3,
            "DELETE" => 4,
            _ => 5,
        };
        let depth = self.input.path.split('/').filter(|segment| !segment.is_empty()).count();
        (depth, self.input.path, rank, self.input.operation_id.unwrap_or_default())
    }

    /// Returns the first free name after the first choice.
    fn next(&self, taken: &HashSet<String>) -> String {
        let mut cut = None;
        for words in self.longer_choices() {
            let Some(name) = self.legal_name(&words).filter(|name| !taken.contains(name)) else { continue };
            // Prefer a complete name to a longer one that must be cut.
            if words.iter().map(|word| word.len() + 1).sum::<usize>() <= MAX_TOOL_NAME_LENGTH + 1 {
                return name;
            }
            cut = cut.or(Some(name));
        }
        cut.or_else(|| self.with_version().filter(|name| !taken.contains(name)))
            .or_else(|| self.with_api().filter(|name| !taken.contains(name)))
            .unwrap_or_else(|| self.numbered(taken))
    }

    /// Returns the first choice with the version in the path, for two versions of an operation.
    fn with_version(&self) -> Option<String> {
        let is_version = |part: &&str| part.len() > 1 && part.starts_with('v') && is_version(part);
        let version = self.input.path.split('/').find(is_version)?;
        self.legal_name(&[self.choices.first()?.as_slice(), &[version.into()]].concat())
    }

    /// Returns the first choice with the word `api`, for names that are reserved.
    fn with_api(&self) -> Option<String> {
        let (verb, rest) = self.choices.first()?.split_first()?;
        self.legal_name(&[&[verb.clone(), "api".into()], rest].concat())
    }

    /// Returns longer and longer names. They are made one at a time, because the first one is mostly free.
    fn longer_choices(&self) -> impl Iterator<Item = Vec<NameWord>> {
        let shortest = self.choices.first().map(Vec::as_slice).unwrap_or_default();
        let verb: &str = shortest.first().map(|word| &**word).unwrap_or_default();
        let replace = (self.method == "PUT" && verb == "update")
            .then(|| [&[NameWord::from("replace")], shortest.get(1..).unwrap_or_default()].concat());
        let deeper = (1..=self.path.len()).map(move |depth| match self.from_id {
            true => path::qualified(shortest, &self.path, depth),
            false => path::name(&self.input, &self.method, &self.path, depth),
        });
        let by_params = std::iter::once_with(|| path::with_params(&self.input, &self.method, &self.path));
        let by_params = by_params.filter(|_| !self.from_id).flatten();
        let tagged = self.input.tags.iter().map(move |tag| path::tagged(shortest, tag));
        let own = self.choices.iter().skip(1).cloned().chain(replace);
        own.chain(deeper).chain(by_params).chain(tagged)
    }

    /// Returns a name with a short hash of method, path and id, if all candidates are taken.
    fn numbered(&self, taken: &HashSet<String>) -> String {
        let base = self.first().unwrap_or_else(|| "call".to_owned());
        let hash = self.hash();
        let hashed = truncate_words(&base, MAX_TOOL_NAME_LENGTH - hash.len() - 1);
        let first = format!("{hashed}_{hash}");
        if !taken.contains(&first) {
            return first;
        }
        // Only identical operations get here, so their order does not matter.
        (2_usize..)
            .map(|number| format!("{}_{number}", truncate_words(&first, MAX_TOOL_NAME_LENGTH - 8)))
            .find(|name| !taken.contains(name))
            .unwrap_or(first)
    }

    /// Returns a valid name of these words, shortened if it is too long; `None` if no word is usable.
    fn legal_name(&self, words: &[NameWord]) -> Option<String> {
        let legal = |word: &&str| {
            !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
        };
        let mut words: Vec<&str> = words.iter().map(|word| &**word).filter(legal).collect();
        words.dedup();
        // `get_getcountry` → `getcountry`
        if let [first, second, ..] = words.as_slice()
            && second.len() > first.len() + 2
            && second.starts_with(first)
            && *first == "get"
        {
            words.remove(0);
        }
        let name = words.join("_");
        if !name.starts_with(|ch: char| ch.is_ascii_lowercase()) {
            return None;
        }
        if name.len() <= MAX_TOOL_NAME_LENGTH {
            return Some(name);
        }
        // Words that are left out of names that are too long.
        words.retain(|word| !PREPOSITIONS.contains(word) && !matches!(*word, "a" | "an" | "and" | "the"));
        let name = words.join("_");
        if name.len() <= MAX_TOOL_NAME_LENGTH {
            return Some(name);
        }
        // The verb and the last words are the most important ones.
        let length = |words: &[&str]| words.iter().map(|word| word.len() + 1).sum::<usize>();
        while words.len() > 3 && length(&words) > MAX_TOOL_NAME_LENGTH + 1 {
            words.remove(1);
        }
        let name = words.join("_");
        if name.len() <= MAX_TOOL_NAME_LENGTH {
            return Some(name);
        }
        let hash = self.hash();
        Some(format!("{}_{hash}", truncate_words(&name, MAX_TOOL_NAME_LENGTH - hash.len() - 1)))
    }

    fn hash(&self) -> String {
        let id = self.input.operation_id.unwrap_or_default();
        let text = [self.method.as_str(), " ", self.input.path, " ", id].concat();
        short_hash(&text)
    }
}

/// Returns a hash of five characters.
pub(crate) fn short_hash(text: &str) -> String {
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let digits = b"abcdefghijkmnpqrstuvwxyz23456789";
    (0..5)
        .filter_map(|place| digits.get((hash >> (place * 5 + 20)) as usize % 32))
        .map(|digit| char::from(*digit))
        .collect()
}

/// Cuts a name after a word, to at most `length` characters.
pub(crate) fn truncate_words(name: &str, length: usize) -> &str {
    if name.len() <= length {
        return name;
    }
    let short = name.get(..length).unwrap_or(name);
    let whole = name.get(length..).is_some_and(|rest| rest.starts_with('_'));
    let end = if whole { None } else { short.rfind('_') };
    end.and_then(|end| short.get(..end)).unwrap_or(short).trim_end_matches('_')
}

#[cfg(test)]
mod tests;
