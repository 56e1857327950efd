//! Recognizes the shape of a path: a collection, an item, a link between two things, or an action.

use crate::verbs::{self, Verb, Weight};
use crate::{WordSet, words};

/// The shape of a path.
#[derive(Debug, Clone, Default)]
pub struct PathShape {
    /// Words of the last part that is not a placeholder; for `#Action=DeleteX`, of the action.
    pub last: Vec<String>,
    /// Words of the part before that.
    pub before: Vec<String>,
    /// The path ends in a placeholder.
    pub item: bool,
    /// A placeholder comes before `last`: `/{id}/start`.
    pub under_item: bool,
    /// `last` is the name of an operation: `:cancel`, `/users.list`, `#Action=…`.
    pub call: bool,
    /// All operations have the same path, and the operation's name is an argument: `#Action=…`.
    pub rpc: bool,
    /// Number of placeholders.
    pub placeholders: usize,
}

/// Nouns whose items are connections to things elsewhere.
static LINKS: WordSet = WordSet::of(
    "assignees blocks collaborators favorites followers following friends grants labels likes members \
         memberships owners participants ref roles starred stars subscribers subscription subscriptions tags \
         watchers favourites bookmarks followees",
);
/// Nouns whose items are runs: adding one runs something.
static RUNS: WordSet = WordSet::of("actions dispatches executions invocations reruns retries runs");

impl PathShape {
    /// Reads a path. Never fails; an unusual path has an unusual shape.
    #[must_use]
    pub fn of(path: &str) -> PathShape {
        let (plain, action) = match path.split_once(['#', '?']) {
            Some((plain, rest)) => (plain, rest.split('&').find_map(|pair| pair.split_once('='))),
            None => (path, None),
        };
        let mut builder = PathShapeBuilder::default();
        for segment in plain.split('/').filter(|segment| !segment.is_empty()) {
            builder.push(segment);
        }
        if let Some((_, value)) = action.filter(|(_, value)| !value.is_empty() && !value.starts_with('{')) {
            builder.literal(value.rsplit('.').next().unwrap_or(value));
            builder.shape.call = true;
            builder.shape.rpc = true;
            builder.shape.item = false;
        }
        PathShape { last: words(builder.last), before: words(builder.before), ..builder.shape }
    }

    /// Returns the verb at the end of the path, if a verb can be there.
    #[must_use]
    pub fn verb(&self) -> Option<&'static Verb> {
        if self.item {
            return None;
        }
        let skipped = self.last.iter().take_while(|word| verbs::is_modifier(word)).count();
        let first = self.last.get(skipped).or_else(|| self.last.first())?;
        let found = verbs::verb(first).or_else(|| verbs::glued(first))?;
        let verb_expected =
            self.call || self.under_item || self.before.last().is_some_and(|word| word == "actions");
        (found.weight != Weight::Weak || verb_expected).then_some(found)
    }

    /// Returns the verb if the path ends in a verb and nothing else: `/users/delete`.
    #[must_use]
    pub fn bare_verb(&self) -> Option<&'static Verb> {
        self.verb().filter(|_| self.last.len() == 1 || self.call)
    }

    /// Returns whether the path ends in a connection between things: `/teams/{team}/memberships/{user}`.
    #[must_use]
    pub fn ends_in_link(&self) -> bool {
        let is_link = self.last.last().is_some_and(|word| LINKS.contains(word));
        is_link
            && (self.placeholders >= 2
                || (self.item && self.before.iter().any(|word| word == "user" || word == "me")))
    }

    /// Returns whether the path takes queries in a query language (`/query`) instead of queries for a resource
    /// (`/users/query`).
    #[must_use]
    pub fn bare_query(&self) -> bool {
        let [word] = self.last.as_slice() else { return false };
        let resource = self.before.iter().any(|word| !is_version(word) && word != "api");
        word == "query" && !self.rpc && !resource
    }

    /// Returns whether adding an item to this path starts a run: `/dispatches`, `/{id}/actions`.
    #[must_use]
    pub fn starts_run(&self) -> bool {
        !self.item && self.last.last().is_some_and(|word| RUNS.contains(word))
    }
}

/// Builds the shape of a path. Only the words of its end are needed.
#[derive(Default)]
struct PathShapeBuilder<'p> {
    shape: PathShape,
    last: &'p str,
    before: &'p str,
}

impl<'p> PathShapeBuilder<'p> {
    fn push(&mut self, segment: &'p str) {
        if let Some((_, verb)) = segment.rsplit_once("}:") {
            self.placeholder();
            self.literal(verb);
            self.shape.call = true;
        } else if segment.starts_with('{') || segment.starts_with(':') || segment.starts_with("${") {
            self.placeholder();
        } else {
            let name = segment.split('(').next().unwrap_or(segment);
            let name = strip_extension(name);
            let (call, name) = match name.rsplit_once([':', '.']) {
                Some((_, name)) => (true, name),
                None => (false, name),
            };
            if name.contains(char::is_alphanumeric) {
                self.literal(name);
                self.shape.call = call;
            }
        }
    }

    fn placeholder(&mut self) {
        self.shape.item = true;
        self.shape.placeholders += 1;
        self.shape.call = false;
    }

    fn literal(&mut self, text: &'p str) {
        self.before = std::mem::replace(&mut self.last, text);
        self.shape.under_item = self.shape.item;
        self.shape.item = false;
    }
}

/// Returns whether a word is a version: `v1`, `v2beta`, `2020`.
#[must_use]
pub fn is_version(word: &str) -> bool {
    let digits = word.strip_prefix('v').unwrap_or(word);
    digits.starts_with(|ch: char| ch.is_ascii_digit())
}

fn strip_extension(segment: &str) -> &str {
    const EXTENSIONS: [&str; 7] = [".json", ".xml", ".php", ".aspx", ".html", ".do", ".csv"];
    EXTENSIONS.iter().find_map(|extension| segment.strip_suffix(extension)).unwrap_or(segment)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_ends_in_a_verb_only_where_a_verb_can_stand() {
        for (path, expected) in [
            ("/users/delete", Some("delete")),
            ("/repos/{owner}/{repo}/pulls/{number}/merge", Some("merge")),
            ("/v1/{name}:cancel", Some("cancel")),
            ("/v1/users:batchGet", Some("get")),
            ("/runs/{id}/start", Some("start")),
            ("/actions/start", Some("start")),
            ("/start", None),
            ("/archive", None),
            ("/archive/{id}", None),
            ("/chat.postMessage", Some("post")),
            ("/#Action=DeleteBucket", Some("delete")),
            ("/#X-Amz-Target=DynamoDB_20120810.ListTables", Some("list")),
            ("/items/_search", Some("search")),
            ("/search.json", Some("search")),
            ("/users", None),
            ("", None),
        ] {
            assert_eq!(PathShape::of(path).verb().map(|verb| verb.word), expected, "{path}");
        }
    }

    #[test]
    fn links_and_runs_have_their_own_shapes() {
        assert!(PathShape::of("/repos/{owner}/{repo}/collaborators/{username}").ends_in_link());
        assert!(PathShape::of("/user/starred/{owner}/{repo}").ends_in_link());
        assert!(!PathShape::of("/labels/{id}").ends_in_link());
        assert!(PathShape::of("/repos/{owner}/{repo}/dispatches").starts_run());
        assert!(!PathShape::of("/repos/{owner}/{repo}/actions/secrets").starts_run());
    }
}
