//! Prompts and resources that are not served, because one of their texts is certainly poisoned. They are neither listed nor
//! answered by name, like a withheld operation.

use crate::protocol::{Feature, FeatureChange, INVALID_PARAMS, RpcError};
use mcpaql_core::error::Code;
use serde_json::json;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Entries in the lists of one server, by list. A list that was not read yet is missing.
#[derive(Debug, Default)]
pub(super) struct ListedEntries(Mutex<HashMap<&'static str, Arc<HashSet<String>>>>);

impl ListedEntries {
    fn lock(&self) -> MutexGuard<'_, HashMap<&'static str, Arc<HashSet<String>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records entries of a list: the server's own names, URIs or URI templates.
    pub(super) fn record(&self, list: Feature, names: HashSet<String>) -> Arc<HashSet<String>> {
        let names = Arc::new(names);
        self.lock().insert(list.method(), Arc::clone(&names));
        names
    }

    pub(super) fn known(&self, list: Feature) -> Option<Arc<HashSet<String>>> {
        self.lock().get(list.method()).cloned()
    }

    /// Forgets lists that have changed.
    pub(super) fn forget(&self, change: &FeatureChange) {
        let lists: &[Feature] = match change {
            FeatureChange::Resources => &[Feature::Resources, Feature::Templates],
            FeatureChange::Prompts => &[Feature::Prompts],
            FeatureChange::Resource(_) => &[],
        };
        self.lock().retain(|method, _| !lists.iter().any(|list| list.method() == *method));
    }

    pub(super) fn forget_all(&self) {
        self.lock().clear();
    }
}

/// The entries of one server that are not simply served.
#[derive(Debug, Default)]
pub(super) struct SortedEntries {
    /// Entries with texts that may be an attack.
    pub(super) withheld: ListedEntries,
    /// Entries that the rules of the adapter select.
    pub(super) selected: ListedEntries,
    /// Entries that the rules of the adapter leave out.
    pub(super) left_out: ListedEntries,
}

impl SortedEntries {
    /// Forgets lists that have changed.
    pub(super) fn forget(&self, change: &FeatureChange) {
        let SortedEntries { withheld, selected, left_out } = self;
        [withheld, selected, left_out].into_iter().for_each(|entries| entries.forget(change));
    }

    pub(super) fn forget_all(&self) {
        let SortedEntries { withheld, selected, left_out } = self;
        [withheld, selected, left_out].into_iter().for_each(ListedEntries::forget_all);
    }
}

/// The error for a withheld prompt or resource.
pub(super) fn refusal(kind: &str, name: &str) -> RpcError {
    let message = format!(
        "The {kind} '{name}' is withheld, because its description may be an attack. Tell the user: the operator can review it and list it under `allow_flagged`."
    );
    let data = json!({"code": Code::PermissionTrust.as_str(), kind: name, "setting": "allow_flagged"});
    RpcError { code: INVALID_PARAMS, message, data: Some(data) }
}

/// Returns whether a URI may come from a URI template. Each expression of the template stands for any text.
pub(super) fn may_match(template: &str, uri: &str) -> bool {
    let mut literals = template.split('{').enumerate().map(|(index, part)| match index {
        0 => part,
        _ => part.split_once('}').map_or("", |(_, literal)| literal),
    });
    let Some(mut rest) = literals.next().and_then(|first| uri.strip_prefix(first)) else { return false };
    let mut last = None;
    for literal in literals {
        let Some((_, after)) = rest.split_once(literal) else { return false };
        rest = after;
        last = Some(literal);
    }
    match last {
        // The template has no expression.
        None => rest.is_empty(),
        Some(last) => uri.ends_with(last),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uri_matches_a_template_if_all_literals_occur_in_order() {
        for (template, uri, expected) in [
            ("test://a/{id}/data", "test://a/1/data", true),
            ("test://a/{id}/data", "test://a/1/data/more", false),
            ("test://a/{id}", "test://a/1/2", true),
            ("test://a/{id}", "test://b/1", false),
            ("test://a", "test://a", true),
            ("test://a", "test://ab", false),
            ("{+path}", "anything", true),
            ("x://{a}-{b}.txt", "x://1-2.txt", true),
            ("x://{a}-{b}.txt", "x://12.txt", false),
            ("x://{unclosed", "x://y", true),
        ] {
            assert_eq!(may_match(template, uri), expected, "{template} {uri}");
        }
    }

    #[test]
    fn a_changed_list_is_read_again() {
        let entries = ListedEntries::default();
        for list in [Feature::Prompts, Feature::Resources, Feature::Templates] {
            entries.record(list, HashSet::from(["x".to_owned()]));
        }
        entries.forget(&FeatureChange::Resource("x".into()));
        assert!(entries.known(Feature::Resources).is_some());
        entries.forget(&FeatureChange::Resources);
        assert!(entries.known(Feature::Resources).is_none() && entries.known(Feature::Templates).is_none());
        assert!(entries.known(Feature::Prompts).unwrap().contains("x"));
        entries.forget_all();
        assert!(entries.known(Feature::Prompts).is_none());
    }
}
