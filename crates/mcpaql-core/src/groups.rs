//! Counts operations in groups: by tag, or by the noun of the name if there is no tag.

use crate::operation::Operation;
use indexmap::IndexMap;

/// Counted groups, largest first.
#[derive(Debug)]
pub(crate) struct Groups {
    /// At least half of the operations have a tag.
    pub(crate) by_tag: bool,
    counts: IndexMap<String, usize>,
}

impl Groups {
    /// Groups operations by their first tag, or by noun.
    pub(crate) fn of<'o>(operations: impl Iterator<Item = &'o Operation>) -> Groups {
        let mut counts: IndexMap<String, usize> = IndexMap::new();
        let (mut tagged, mut all) = (0, 0);
        for operation in operations {
            all += 1;
            let (group, has_tag) = group_of(operation);
            tagged += usize::from(has_tag);
            match counts.get_mut(group) {
                Some(count) => *count += 1,
                None => {
                    counts.insert(group.to_owned(), 1);
                }
            }
        }
        counts.sort_by(|a, m, b, n| n.cmp(m).then_with(|| a.cmp(b)));
        Groups { by_tag: tagged * 2 >= all, counts }
    }

    pub(crate) fn len(&self) -> usize {
        self.counts.len()
    }

    /// Returns the largest groups with their counts.
    pub(crate) fn largest(&self, max: usize) -> impl Iterator<Item = (&str, usize)> {
        self.counts.iter().take(max).map(|(name, count)| (name.as_str(), *count))
    }
}

/// Returns the group of an operation, and whether it is a tag.
#[must_use]
pub fn group_of(operation: &Operation) -> (&str, bool) {
    let tag = operation.tags.iter().map(|tag| tag.trim()).find(|tag| !tag.is_empty());
    (tag.unwrap_or_else(|| noun(&operation.name)), tag.is_some())
}

/// Returns the noun of a name: the word after the verb, without a plural `s`.
fn noun(name: &str) -> &str {
    let mut words = name.split('_').filter(|word| !word.is_empty());
    let first = words.next().unwrap_or(name);
    let noun = words.next().unwrap_or(first);
    if noun.len() > 3 && !noun.ends_with("ss") { noun.strip_suffix('s').unwrap_or(noun) } else { noun }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::Category;
    use crate::validate::fixtures::operation;

    fn groups(operations: &[(&str, &[&str])]) -> (bool, Vec<(String, usize)>) {
        let operations: Vec<Operation> = operations
            .iter()
            .map(|(name, tags)| Operation {
                tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
                ..operation(name, Category::Read)
            })
            .collect();
        let groups = Groups::of(operations.iter());
        (groups.by_tag, groups.largest(9).map(|(name, count)| (name.to_owned(), count)).collect())
    }

    #[test]
    fn the_first_tag_is_the_group_and_without_one_the_noun() {
        let (by_tag, counts) = groups(&[
            ("list_repos", &[]),
            ("get_repo", &["", " "]),
            ("get_repo_content", &[]),
            ("merge", &[]),
            ("list_issues", &["Issues", "repo"]),
        ]);
        assert!(!by_tag);
        assert_eq!(counts, [("repo".to_owned(), 3), ("Issues".to_owned(), 1), ("merge".to_owned(), 1)]);
    }

    #[test]
    fn they_are_by_tag_where_most_have_one() {
        assert!(groups(&[("list_repos", &["a"]), ("get_repo", &[])]).0);
    }
}
