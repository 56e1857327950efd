//! Stand-ins for what comes from elsewhere; deleted when it is there.
#![allow(missing_docs, dead_code, unreachable_pub)]

use mcpaql_core::classify::Decision;
use mcpaql_core::diagnostic::Diagnostic;
use mcpaql_core::operation::Category;

#[derive(Debug, Clone, Copy)]
pub struct NameInput<'a> {
    pub operation_id: Option<&'a str>,
    pub method: &'a str,
    pub path: &'a str,
    pub tags: &'a [&'a str],
    pub category: Option<Category>,
}

pub fn name_operations(inputs: &[NameInput<'_>]) -> Vec<String> {
    let mut taken = std::collections::HashSet::new();
    inputs
        .iter()
        .map(|input| {
            let text =
                input.operation_id.map_or_else(|| format!("{} {}", input.method, input.path), str::to_owned);
            let mut base = String::new();
            let mut lower = false;
            for letter in text.chars() {
                if letter.is_ascii_alphanumeric() {
                    if letter.is_ascii_uppercase() && lower {
                        base.push('_');
                    }
                    lower = letter.is_ascii_lowercase();
                    base.push(letter.to_ascii_lowercase());
                } else if !base.is_empty() && !base.ends_with('_') {
                    base.push('_');
                    lower = false;
                }
            }
            let base = base.trim_end_matches('_').to_owned();
            let base =
                if base.starts_with(|c: char| c.is_ascii_lowercase()) { base } else { format!("op_{base}") };
            let mut name = base.clone();
            let mut count = 2;
            while !taken.insert(name.clone()) {
                name = format!("{base}_{count}");
                count += 1;
            }
            name
        })
        .collect()
}

#[derive(Debug, Default)]
pub struct Report {
    pub diagnostics: Vec<Diagnostic>,
    pub skipped: usize,
    pub ignored: Vec<(String, usize)>,
    pub decisions: Vec<(String, Decision)>,
}
