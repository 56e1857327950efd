//! Names operations by their tools.
//!
//! What always holds: a name is `^[a-z][a-z0-9_]*$`, has at most 64 characters, is unique in its adapter and not reserved by
//! the protocol or the runtime. It depends only on the tool's name and on tools with the same candidate, so that other new
//! tools of a server rename nothing. For the same reason, a prefix that all tools share is kept.

use crate::naming::{short_hash, truncate_words};
use mcpaql_core::lifecycle::ExecutionAction;
use mcpaql_core::naming::{MAX_TOOL_NAME_LENGTH, RESERVED};
use mcpaql_lexicon::snake_case;
use std::collections::{HashMap, HashSet};

/// Returns the names for all tools, in their order.
///
/// If several tools have the same candidate, the tool with exactly this name keeps it. The others get a hash of their names.
pub(super) fn names(tools: &[&str]) -> Vec<String> {
    let firsts: Vec<String> = tools.iter().map(|tool| legal(tool)).collect();
    let mut wanted: HashMap<&str, usize> = HashMap::new();
    for name in &firsts {
        *wanted.entry(name).or_default() += 1;
    }
    let mut order: Vec<(&str, usize)> =
        tools.iter().enumerate().map(|(index, tool)| (*tool, index)).collect();
    order.sort_unstable();
    let mut names = vec![String::new(); tools.len()];
    let mut taken: HashSet<String> = HashSet::new();
    for (tool, index) in order {
        let Some(first) = firsts.get(index) else { continue };
        let alone = wanted.get(first.as_str()).is_some_and(|count| *count == 1);
        let own = alone || tool == first;
        let name = if own { first.clone() } else { hashed(first, tool) };
        // Duplicate tools have been left out, so a number is needed only for equal hashes.
        let name =
            unique_tool_name(name, &|name| taken.contains(name) || (!own && wanted.contains_key(name)));
        taken.insert(name.clone());
        if let Some(slot) = names.get_mut(index) {
            *slot = name;
        }
    }
    names
}

/// Returns the nearest valid name.
pub(super) fn legal(tool: &str) -> String {
    let mut name = snake_case(tool);
    name.retain(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_');
    let mut name = name.split('_').filter(|word| !word.is_empty()).collect::<Vec<_>>().join("_");
    if name.is_empty() {
        return format!("tool_{}", hash(tool));
    }
    if !name.starts_with(|first: char| first.is_ascii_lowercase()) {
        name.insert_str(0, "tool_");
    }
    if RESERVED.contains(&name.as_str()) || ExecutionAction::is_name(&name) {
        name.push_str("_tool");
    }
    if name.len() > MAX_TOOL_NAME_LENGTH { hashed(&name, tool) } else { name }
}

/// Hashes a name. It appends some text, because the hash hardly depends on the last character.
fn hash(tool: &str) -> String {
    short_hash(&format!("{tool} of a server"))
}

fn hashed(name: &str, tool: &str) -> String {
    let hash = hash(tool);
    format!("{}_{hash}", truncate_words(name, MAX_TOOL_NAME_LENGTH - hash.len() - 1))
}

fn unique_tool_name(name: String, taken: &dyn Fn(&str) -> bool) -> String {
    if !taken(&name) {
        return name;
    }
    let numbered =
        (2_usize..).map(|number| format!("{}_{number}", truncate_words(&name, MAX_TOOL_NAME_LENGTH - 8)));
    numbered.into_iter().find(|name| !taken(name)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcpaql_core::naming::is_operation_name;
    use proptest::prelude::*;

    #[test]
    fn names_are_snake_case_and_close_to_the_tools() {
        for (tool, expected) in [
            ("get_file_contents", "get_file_contents"),
            ("getFileContents", "get_file_contents"),
            ("get-file-contents", "get_file_contents"),
            ("devserver.start", "devserver_start"),
            ("ReverseGeocodeTool", "reverse_geocode_tool"),
            ("lightdash_tools__list_projects", "lightdash_tools_list_projects"),
            ("2fa_enable", "tool_2fa_enable"),
            ("introspect", "introspect_tool"),
            ("list_executions", "list_executions_tool"),
            ("github_create_issue", "github_create_issue"),
        ] {
            assert_eq!(legal(tool), expected, "{tool}");
        }
        assert!(legal("名前").starts_with("tool_"));
        assert_ne!(legal("名前"), legal("検索"));
    }

    #[test]
    fn the_tool_with_exactly_this_name_keeps_it() {
        let before = names(&["get_user", "list_users"]);
        let after = names(&["getUser", "get_user", "GetUser", "list_users"]);
        assert_eq!(after[1], before[0]);
        assert_eq!(after[3], before[1]);
        assert!(after[0].starts_with("get_user_") && after[2].starts_with("get_user_"), "{after:?}");
        assert_ne!(after[0], after[2]);
    }

    proptest! {
        #[test]
        fn names_are_valid_distinct_and_independent_of_order(
            tools in prop::collection::hash_set("\\PC{1,12}|[a-b_A-B.-]{1,3}|(long_name_){6,8}x?", 0..12)
        ) {
            let tools: Vec<&str> = tools.iter().map(String::as_str).collect();
            let made = names(&tools);
            let distinct: HashSet<&String> = made.iter().collect();
            prop_assert_eq!(distinct.len(), made.len());
            for name in &made {
                prop_assert!(is_operation_name(name) && name.len() <= MAX_TOOL_NAME_LENGTH, "{}", name);
            }
            let mut reversed = tools.clone();
            reversed.reverse();
            let mut again = names(&reversed);
            again.reverse();
            prop_assert_eq!(again, made);
        }
    }
}
