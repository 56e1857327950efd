//! Names parameters by their names in the API.
//!
//! What always holds: a name is `^[a-z][a-z0-9_]*$`, has at most 64 characters and is unique in its operation. It depends only
//! on the parameters before it, in the order path, query, headers, cookies, body.

use mcpaql_core::operation::ParamLocation;
use mcpaql_lexicon::snake_case;
use std::collections::HashSet;

/// Maximum length of a name that clients accept.
const MAX_NAME: usize = 64;
/// Names that the protocol uses next to the parameters of an operation.
const RESERVED_NAMES: [&str; 1] = ["confirmation_token"];
/// Signs at the end of a name, with the words that replace them.
const SIGNS: [(&str, &str); 5] = [("<=", "_lte"), (">=", "_gte"), ("!=", "_not"), ("<", "_lt"), (">", "_gt")];

/// Returns the nearest valid name.
pub(super) fn legal(wire: &str) -> String {
    let signed = SIGNS.iter().find_map(|(sign, word)| Some(format!("{}{word}", wire.strip_suffix(sign)?)));
    let mut name = snake_case(signed.as_deref().unwrap_or(wire));
    name.retain(|ch| ch.is_ascii_lowercase() || ch.is_ascii_digit() || ch == '_');
    let mut name = name.split('_').filter(|word| !word.is_empty()).collect::<Vec<_>>().join("_");
    if name.starts_with(|ch: char| ch.is_ascii_digit()) {
        // `+1` and `-1` are two reactions, not one.
        let sign = match wire.chars().next() {
            Some('+') => "plus_",
            Some('-') => "minus_",
            _ => "n",
        };
        name.insert_str(0, sign);
    }
    if name.is_empty() {
        name.push_str("value");
    }
    name.truncate(MAX_NAME);
    name
}

/// Returns the names of parameters, in order. If several have the same name, the first keeps it and the others get their
/// location as a prefix.
pub(crate) fn assign<'p>(params: impl IntoIterator<Item = (ParamLocation, &'p str)>) -> Vec<String> {
    let mut taken: HashSet<String> = RESERVED_NAMES.iter().map(|name| (*name).to_owned()).collect();
    params
        .into_iter()
        .map(|(location, wire)| {
            let plain = legal(wire);
            let prefixed = truncated(&format!("{}_{plain}", prefix(location)), "");
            let numbered = (2_usize..).map(|n| truncated(&prefixed, &format!("_{n}")));
            let name = [plain.clone(), prefixed.clone()]
                .into_iter()
                .chain(numbered)
                .find(|name| !taken.contains(name))
                .unwrap_or(plain);
            taken.insert(name.clone());
            name
        })
        .collect()
}

/// Returns the name with this end, truncated to the maximum length.
fn truncated(name: &str, end: &str) -> String {
    let head: String = name.chars().take(MAX_NAME - end.len().min(MAX_NAME)).collect();
    format!("{head}{end}")
}

const fn prefix(location: ParamLocation) -> &'static str {
    match location {
        ParamLocation::Path => "path",
        ParamLocation::Query => "query",
        ParamLocation::Header => "header",
        ParamLocation::Cookie => "cookie",
        ParamLocation::Body | ParamLocation::Target => "body",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_are_valid_and_close_to_those_of_the_api() {
        for (wire, expected) in [
            ("perPage", "per_page"),
            ("X-Request-ID", "x_request_id"),
            ("$filter", "filter"),
            ("filter[created_at]", "filter_created_at"),
            ("StartTime<", "start_time_lt"),
            ("StartTime>=", "start_time_gte"),
            ("_links", "links"),
            ("+1", "plus_1"),
            ("-1", "minus_1"),
            ("2fa", "n2fa"),
            ("größe", "gre"),
            ("名前", "value"),
            ("", "value"),
            ("input", "input"),
            ("operation", "operation"),
        ] {
            assert_eq!(legal(wire), expected, "{wire}");
        }
        assert_eq!(legal(&"x".repeat(200)).len(), MAX_NAME);
    }

    #[test]
    fn the_path_keeps_a_name_that_others_want() {
        let names = assign([
            (ParamLocation::Path, "id"),
            (ParamLocation::Query, "id"),
            (ParamLocation::Body, "id"),
            (ParamLocation::Body, "ID"),
            (ParamLocation::Body, "Id"),
            (ParamLocation::Body, "confirmation_token"),
        ]);
        assert_eq!(names, ["id", "query_id", "body_id", "body_id_2", "body_id_3", "body_confirmation_token"]);
    }

    proptest! {
        #[test]
        fn names_are_always_valid_and_distinct(wires in prop::collection::vec("\\PC{0,12}|[a-b_]{0,2}|x{60,70}", 0..12)) {
            let names = assign(wires.iter().map(|wire| (ParamLocation::Body, wire.as_str())));
            let distinct: HashSet<&String> = names.iter().collect();
            prop_assert_eq!(distinct.len(), names.len());
            for name in &names {
                prop_assert!(name.len() <= MAX_NAME);
                prop_assert!(name.starts_with(|ch: char| ch.is_ascii_lowercase()), "{}", name);
                prop_assert!(name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_'), "{}", name);
            }
        }
    }
}
