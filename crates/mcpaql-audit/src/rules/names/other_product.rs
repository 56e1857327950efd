//! NAME-022.

use super::spelling::{clipped_name, named_tools, required_by_all};
use crate::convention::Standard;
use crate::rule::{Findings, rule};
use crate::tool::{ParsedServer, ParsedTool};
use mcpaql_lexicon::verbs::is_verb;
use std::collections::HashMap;

/// Minimum number of names with the same product; fewer show no convention.
const MIN_NAMES: usize = 3;

rule! {
    /// Name starts with another product than the other names of the server.
    ///
    /// ## What it does
    ///
    /// If the pattern of a convention starts with `{product}` and the convention does not list the products, compares the first
    /// words of all names. Reports a first word that only one name has if at least three other names share theirs, and either all
    /// other names do, or the word is a spelling of it: `ff_` or `fireflies_` instead of `firefly_`. Names that start with a verb are
    /// reported by NAME-009.
    ///
    /// ## Why it matters
    ///
    /// The product groups the tools of a server in every list, and keeps them apart from those of other servers. A second spelling
    /// of it hides a tool from everyone who looks for the first one.
    ///
    /// ## Bad
    ///
    /// ```json bad at=/tools/3/name with=product-action-object
    /// {"tools": [
    ///   {"name": "firefly_generate_image"}, {"name": "firefly_expand_image"}, {"name": "firefly_fill_image"}, {"name": "ff_upload_image"}
    /// ]}
    /// ```
    ///
    /// ## Good
    ///
    /// ```json good with=product-action-object
    /// {"tools": [
    ///   {"name": "firefly_generate_image"}, {"name": "firefly_expand_image"},
    ///   {"name": "photoshop_apply_actions"}, {"name": "photoshop_edit_text"}, {"name": "lightroom_apply_preset"}
    /// ]}
    /// ```
    "NAME-022" "other-product" Warning Server(check)
}

fn check(server: &ParsedServer<'_>, standard: &Standard, findings: &mut Findings<'_>) {
    let who: Vec<&str> = standard
        .requirements(|convention| {
            let starts =
                convention.names.pattern.as_deref().is_some_and(|pattern| pattern.starts_with("{product}"));
            (starts && convention.names.products.is_empty()).then_some(())
        })
        .map(|(who, ())| who)
        .collect();
    if who.is_empty() {
        return;
    }
    let products: Vec<(&ParsedTool<'_>, &str)> =
        named_tools(server).filter_map(|tool| Some((tool, product(tool)?))).collect();
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for (_, product) in &products {
        *counts.entry(product).or_insert(0) += 1;
    }
    for (tool, product) in &products {
        if counts.get(product) != Some(&1) {
            continue;
        }
        let only = counts.len() == 2;
        let others = counts.iter().filter(|(other, count)| {
            *other != product && **count >= MIN_NAMES && (only || is_spelling(product, other))
        });
        // The most frequent one, and the first of two.
        let Some((other, count)) = others.max_by_key(|(other, count)| (**count, std::cmp::Reverse(**other)))
        else {
            continue;
        };
        let message = format!(
            "The name '{}' starts with '{product}', unlike {count} names that start with '{other}'",
            clipped_name(tool.name)
        );
        let finding = findings.tool(tool, "/name", message);
        let rest = tool.name.get(product.len()..).unwrap_or_default();
        finding.help(format!(
            "rename it to {other}{}, or list both products in your own convention",
            clipped_name(rest)
        ));
        required_by_all(finding, &who);
    }
}

/// Returns the first word of a name, unless it is a verb.
fn product<'a>(tool: &ParsedTool<'a>) -> Option<&'a str> {
    let (first, _) = tool.name.split_once('_')?;
    (!first.is_empty() && !is_verb(first)).then_some(first)
}

/// Returns whether a word is an abbreviation, an extension or a misspelling of another: both start with the same letter, and the
/// letters of one are in the other in the same order, except for one.
fn is_spelling(one: &str, other: &str) -> bool {
    let (short, long) = if one.len() <= other.len() { (one, other) } else { (other, one) };
    let mut rest = long.chars();
    let mut missing = 0;
    for letter in short.chars() {
        let mut ahead = rest.clone();
        match ahead.any(|found| found == letter) {
            true => rest = ahead,
            false => missing += 1,
        }
    }
    short.chars().next() == long.chars().next() && missing <= usize::from(short.len() > 4)
}
