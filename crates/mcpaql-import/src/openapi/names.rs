//! Names of parameters, from what the API calls them.
//!
//! What always holds: a name is `^[a-z][a-z0-9_]*$`, at most 64 characters and unique in its operation, and depends on
//! the parameters before it alone: path, query, headers, cookies, body.

use mcpaql_core::operation::ParamLocation;
use mcpaql_lexicon::snake_case;
use std::collections::HashSet;

/// Clients accept no longer names.
const MAX_NAME: usize = 64;
/// Names that the protocol gives a meaning of its own beside an operation's parameters.
const RESERVED_NAMES: [&str; 1] = ["confirmation_token"];
/// Signs at the end of a name that tell it from its siblings.
const SIGNS: [(&str, &str); 5] = [("<=", "_lte"), (">=", "_gte"), ("!=", "_not"), ("<", "_lt"), (">", "_gt")];

/// A legal name that is nearest to the API's.
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

/// The names of parameters in their order; the first keeps its name, others say where they stand.
pub(crate) fn assign<'p>(params: impl IntoIterator<Item = (ParamLocation, &'p str)>) -> Vec<String> {
    let mut taken: HashSet<String> = RESERVED_NAMES.iter().map(|name| (*name).to_owned()).collect();
    params
        .into_iter()
        .map(|(place, wire)| {
            let plain = legal(wire);
            let placed = fitting(&format!("{}_{plain}", place_word(place)), "");
            let numbered = (2_usize..).map(|n| fitting(&placed, &format!("_{n}")));
            let name = [plain.clone(), placed.clone()]
                .into_iter()
                .chain(numbered)
                .find(|name| !taken.contains(name))
                .unwrap_or(plain);
            taken.insert(name.clone());
            name
        })
        .collect()
}

fn fitting(name: &str, end: &str) -> String {
    let head: String = name.chars().take(MAX_NAME - end.len().min(MAX_NAME)).collect();
    format!("{head}{end}")
}

const fn place_word(place: ParamLocation) -> &'static str {
    match place {
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
    fn names_are_legal_and_close_to_the_apis() {
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
        fn names_are_always_legal_and_distinct(wires in prop::collection::vec("\\PC{0,12}|[a-b_]{0,2}|x{60,70}", 0..12)) {
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
