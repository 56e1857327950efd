//! Names of operations from what an API calls them.
//!
//! What always holds: a name is `^[a-z][a-z0-9_]*$`, has at most 64 characters, is unique in its document and never one that
//! the protocol reserves; and the names of a set of operations do not depend on the order in which they are given.
//!
//! Every operation has a list of names it could bear, the shortest first, made from nothing but itself: its id, method
//! and path. Where two paths want the same name, neither gets it and both take their next one: an addition in a later
//! version of a document renames only what collides with it, and never gives a name that was in use to something else.

mod id;
mod path;

use mcpaql_core::lifecycle::ExecutionAction;
use mcpaql_core::naming::{MAX_TOOL_NAME_LENGTH, RESERVED};
use mcpaql_core::operation::Category;
use mcpaql_lexicon::PREPOSITIONS;
use path::{LiteralCache, PathWords};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// A word of many names: a document repeats a few hundred of them thousands of times.
type NameWord = Rc<str>;

/// What a name is made from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NameInput<'a> {
    /// As the document has it.
    pub(crate) operation_id: Option<&'a str>,
    /// In any case.
    pub(crate) method: &'a str,
    /// The path template.
    pub(crate) path: &'a str,
    /// As the document has them.
    pub(crate) tags: &'a [&'a str],
    /// What the operation does, where that is known: a POST that reads is not called `create`.
    pub(crate) category: Option<Category>,
}

/// The names of all operations of a document, in the order of the inputs.
#[must_use]
pub(crate) fn name_operations(inputs: &[NameInput<'_>]) -> Vec<String> {
    let mut known = LiteralCache::new();
    let entries = inputs.iter().enumerate().map(|(index, input)| NameRequest::new(index, input, &mut known));
    let mut entries: Vec<NameRequest<'_>> = entries.collect();
    entries.sort_by_cached_key(NameRequest::key);
    // An author may add `lifecycle` later, and no name shall be lost to that.
    let executions = ExecutionAction::ALL.map(ExecutionAction::operation_name);
    let mut taken: HashSet<String> = RESERVED.iter().copied().chain(executions).map(str::to_owned).collect();
    let mut names = vec![String::new(); inputs.len()];
    // The first choices are given out before any second one: nobody loses a name to a stranger's fallback.
    // Where several paths want the same one, none gets it: what it meant yesterday must not mean something else tomorrow.
    let firsts: Vec<Option<String>> = entries.iter().map(NameRequest::first).collect();
    let mut wanted: HashMap<&str, Option<&str>> = HashMap::with_capacity(entries.len());
    for (entry, name) in entries.iter().zip(&firsts) {
        let Some(name) = name else { continue };
        let only = wanted.entry(name).or_insert(Some(entry.input.path));
        *only = only.filter(|known| *known == entry.input.path);
    }
    let mut left = Vec::new();
    for (entry, name) in entries.into_iter().zip(&firsts) {
        match name {
            Some(name)
                if wanted.get(name.as_str()).is_some_and(Option::is_some) && taken.insert(name.clone()) =>
            {
                put(&mut names, entry.index, name.clone());
            }
            _ => left.push(entry),
        }
    }
    taken.extend(firsts.into_iter().flatten());
    for entry in left {
        let name = entry.next(&taken);
        taken.insert(name.clone());
        put(&mut names, entry.index, name);
    }
    names
}

fn put(names: &mut [String], index: usize, name: String) {
    if let Some(slot) = names.get_mut(index) {
        *slot = name;
    }
}

/// An operation that wants a name.
struct NameRequest<'a> {
    index: usize,
    input: NameInput<'a>,
    path: PathWords,
    method: String,
    /// The words of the names that it could bear, never empty.
    choices: Vec<Vec<NameWord>>,
    /// They come from its id.
    from_id: bool,
}

impl<'a> NameRequest<'a> {
    fn new(index: usize, input: &NameInput<'a>, known: &mut LiteralCache<'a>) -> NameRequest<'a> {
        let method = input.method.to_ascii_uppercase();
        let path = PathWords::of(input.path, known);
        let mut choices = id::names(input, &method, &path, known);
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
            // Where a thing can be changed and replaced, `update` is the change: replacing drops what is not sent.
            "PATCH" => 2,
            "PUT" => 3,
            "DELETE" => 4,
            _ => 5,
        };
        let depth = self.input.path.split('/').filter(|segment| !segment.is_empty()).count();
        (depth, self.input.path, rank, self.input.operation_id.unwrap_or_default())
    }

    /// The first free name behind the first choice.
    fn next(&self, taken: &HashSet<String>) -> String {
        let mut cut = None;
        for words in self.longer_choices() {
            let Some(name) = self.legal_name(&words).filter(|name| !taken.contains(name)) else { continue };
            // A whole name that says a little less goes before a cut one.
            if words.iter().map(|word| word.len() + 1).sum::<usize>() <= MAX_TOOL_NAME_LENGTH + 1 {
                return name;
            }
            cut = cut.or(Some(name));
        }
        cut.unwrap_or_else(|| self.numbered(taken))
    }

    /// Longer and longer names, made one at a time because the first one mostly does.
    fn longer_choices(&self) -> impl Iterator<Item = Vec<NameWord>> {
        let shortest = self.choices.first().map(Vec::as_slice).unwrap_or_default();
        let verb: &str = shortest.first().map(|word| &**word).unwrap_or_default();
        let instead = move |verbs: &[&str]| -> Vec<NameWord> {
            verbs.iter().map(|verb| NameWord::from(*verb)).chain(shortest.iter().skip(1).cloned()).collect()
        };
        let replace = (self.method == "PUT" && verb == "update").then(|| instead(&["replace"]));
        let deeper = (1..=self.path.len()).map(move |depth| match self.from_id {
            true => path::qualified(shortest, &self.path, depth),
            false => path::name(&self.input, &self.method, &self.path, depth),
        });
        let by = std::iter::once_with(|| path::with_params(&self.input, &self.method, &self.path));
        let by = by.filter(|_| !self.from_id).flatten();
        let api = std::iter::once_with(move || instead(&[verb, "api"]));
        self.choices.iter().skip(1).cloned().chain(replace).chain(deeper).chain(by).chain(api)
    }

    /// Nothing of its own tells it from another one: a short hash of method, path and id does.
    fn numbered(&self, taken: &HashSet<String>) -> String {
        let base = self.first().unwrap_or_else(|| "call".to_owned());
        let hash = self.hash();
        let hashed = truncate_words(&base, MAX_TOOL_NAME_LENGTH - hash.len() - 1);
        let first = format!("{hashed}_{hash}");
        if !taken.contains(&first) {
            return first;
        }
        // Only operations that are equal in everything come here, so that their order does not matter.
        (2_usize..)
            .map(|number| format!("{}_{number}", truncate_words(&first, MAX_TOOL_NAME_LENGTH - 8)))
            .find(|name| !taken.contains(name))
            .unwrap_or(first)
    }

    /// A legal name of these words, shortened where it is too long; `None` where nothing is left.
    fn legal_name(&self, words: &[NameWord]) -> Option<String> {
        let legal = |word: &&str| {
            !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
        };
        let mut words: Vec<&str> = words.iter().map(|word| &**word).filter(legal).collect();
        words.dedup();
        // `get_getcountry`
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
        // Left out of names that are too long.
        words.retain(|word| !PREPOSITIONS.contains(word) && !matches!(*word, "a" | "an" | "and" | "the"));
        let name = words.join("_");
        if name.len() <= MAX_TOOL_NAME_LENGTH {
            return Some(name);
        }
        // The verb and the last words say most.
        let hash = self.hash();
        let length = |words: &[&str]| words.iter().map(|word| word.len() + 1).sum::<usize>();
        while words.len() > 2 && length(&words) + hash.len() > MAX_TOOL_NAME_LENGTH {
            words.remove(1);
        }
        Some(format!("{}_{hash}", truncate_words(&words.join("_"), MAX_TOOL_NAME_LENGTH - hash.len() - 1)))
    }

    fn hash(&self) -> String {
        let id = self.input.operation_id.unwrap_or_default();
        let text = [self.method.as_str(), " ", self.input.path, " ", id].concat();
        short_hash(&text)
    }
}

/// Five characters that tell texts apart.
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

/// As many whole words as fit.
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
