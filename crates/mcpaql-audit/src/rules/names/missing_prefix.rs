//! NAME-008.

use super::spelling::{clipped_name, join_list};
use crate::convention::{NameRequirements, Standard, template};
use crate::rule::{Findings, rule};
use crate::tool::ParsedTool;

rule! {
    /// Name does not start with the prefix or product that a convention requires.
    ///
    /// ## What it does
    ///
    /// Compares the start of each name with the fixed prefix (`names.prefix`) or the list of products (`names.products`) of the
    /// selected conventions.
    ///
    /// ## Why it matters
    ///
    /// People connect several servers to one client. A product prefix keeps the names of two servers apart and groups the tools of
    /// one product in every list.
    ///
    /// ## Bad
    ///
    /// ```json bad at=/name with=lightdash
    /// {"name": "list_projects", "inputSchema": {"type": "object"}}
    /// ```
    ///
    /// ## Good
    ///
    /// ```json good with=lightdash
    /// {"name": "lightdash_tools__list_projects", "inputSchema": {"type": "object"}}
    /// ```
    "NAME-008" "missing-prefix" Warning Tool(check)
}

fn check(tool: &ParsedTool<'_>, standard: &Standard, findings: &mut Findings<'_>) {
    if tool.name.is_empty() {
        return;
    }
    let unmet: Vec<(&str, &NameRequirements)> = standard
        .requirements(|convention| Some(&convention.names).filter(|names| !has_prefix(tool.name, names)))
        .collect();
    let Some((_, names)) = unmet.first() else { return };
    let expected = match &names.prefix {
        Some(prefix) if !tool.name.starts_with(prefix.as_str()) => format!("does not start with '{prefix}'"),
        _ => {
            let products: Vec<&str> = names.products.iter().map(String::as_str).take(6).collect();
            format!("starts with none of the products {}", join_list(&products))
        }
    };
    let finding = findings.tool(tool, "/name", format!("The name '{}' {expected}", clipped_name(tool.name)));
    for (who, _) in unmet {
        finding.required_by(who);
    }
}

/// Returns whether a name starts with the prefix or a product of a convention.
pub(super) fn has_prefix(name: &str, names: &NameRequirements) -> bool {
    let prefixed = names.prefix.as_ref().is_none_or(|prefix| name.starts_with(prefix.as_str()));
    let of_product = || {
        let words: Vec<&str> = name.split('_').collect();
        template::product_words(&words, &names.products).is_some()
    };
    prefixed && (names.products.is_empty() || of_product())
}
