//! Stand-ins for what comes from elsewhere; deleted when it is there.
#![allow(missing_docs, dead_code, unreachable_pub)]

use mcpaql_core::diagnostic::Diagnostic;
use mcpaql_core::facts::Effect;
use mcpaql_core::operation::{Category, Danger};

#[derive(Debug, Clone, Copy, Default)]
pub struct Evidence<'a> {
    pub method: Option<&'a str>,
    pub path: Option<&'a str>,
    pub name: &'a str,
    pub summary: &'a str,
    pub description: &'a str,
    pub answers_collection: Option<bool>,
    pub has_body: Option<bool>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Confidence {
    Low,
    Medium,
    High,
}

#[derive(Debug, Clone)]
pub struct Decision {
    pub effect: Effect,
    pub category: Category,
    pub danger: Danger,
    pub idempotent: Option<bool>,
    pub confidence: Confidence,
    pub reasons: Vec<String>,
    pub review: Option<String>,
}

impl Decision {
    pub fn published(&self) -> Category {
        self.category
    }
}

pub fn classify(evidence: &Evidence<'_>) -> Decision {
    let effect = match evidence.method.unwrap_or_default() {
        "GET" | "HEAD" | "OPTIONS" => Effect::Read,
        "DELETE" => Effect::Delete,
        "PUT" | "PATCH" => Effect::Update,
        _ => Effect::Create,
    };
    let category = effect.category();
    let danger = mcpaql_core::facts::danger_of(evidence.name, category);
    Decision {
        effect,
        category,
        danger,
        idempotent: None,
        confidence: Confidence::High,
        reasons: Vec::new(),
        review: None,
    }
}

pub fn wants_answer(evidence: &Evidence<'_>) -> bool {
    evidence.method == Some("POST")
}

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
