//! Shortens long texts, lists and objects of an answer. The last step of its budget.

use super::ShapeRequest;
use super::budget::{WarningStyle, fits, reduced};
use super::path::MAX_PATH_PARTS;
use crate::answer::{Warning, is_plain_name};
use serde_json::{Map, Value};

/// Maximum characters of a text and items of a list inside an answer, from many to few.
pub(super) const SIZES: [(usize, usize); 10] = [
    (8000, 200),
    (4000, 100),
    (2000, 60),
    (1000, 40),
    (500, 20),
    (250, 10),
    (120, 5),
    (60, 3),
    (20, 1),
    (0, 0),
];
/// The same for an answer that keeps all its items.
pub(super) const TEXT_SIZES: [(usize, usize); 5] =
    [(4000, usize::MAX), (2000, usize::MAX), (1000, usize::MAX), (500, usize::MAX), (250, usize::MAX)];
/// Maximum shortened fields that a warning names.
const MAX_NAMED_CUTS: usize = 5;
/// Maximum characters of a path in a warning.
const MAX_SHOWN_PATH: usize = 120;

/// Shortens the longest texts and lists, step by step, until the value fits or the sizes end. `path` leads to the value.
pub(super) fn shorten(
    value: &Value,
    mut path: Vec<String>,
    budget: usize,
    request: &ShapeRequest<'_>,
    (sizes, style): (&[(usize, usize)], WarningStyle),
) -> (Value, Option<Warning>) {
    let mut last = (Value::Null, Vec::new());
    for &(characters, items) in sizes {
        let mut cuts = Cuts { characters, items, named: Vec::new() };
        let short = cuts.shorten(value, &mut path);
        let is_short_enough = fits(&short, budget);
        last = (short, cuts.named);
        if is_short_enough {
            break;
        }
    }
    let (short, named) = last;
    if named.is_empty() {
        return (short, None);
    }
    let fields: Vec<String> = named.iter().take(MAX_NAMED_CUTS).map(|cut| cut.describe()).collect();
    let example = named.first().map(|cut| cut.path.clone()).unwrap_or_default();
    let part = request.control("part");
    let read = format!("{part}: {{\"field\": \"{example}\", \"offset\": 0}}");
    let count = named.len();
    let message = match style {
        WarningStyle::Short => format!("{count} value(s) shortened. Read one with {read}."),
        WarningStyle::Whole => format!(
            "The answer was too long, so {count} value(s) were shortened: {}. Read one in parts with {read}.",
            fields.join(", "),
        ),
    };
    let details: Vec<Value> = named.iter().take(MAX_NAMED_CUTS).map(ShortenedValue::to_json).collect();
    (short, Some(reduced("shorten", part, message).with_detail("shortened", details)))
}

/// A value that was shortened.
struct ShortenedValue {
    path: String,
    kept: usize,
    total: usize,
    unit: &'static str,
}

impl ShortenedValue {
    fn describe(&self) -> String {
        let ShortenedValue { path, kept, total, unit } = self;
        format!("'{path}' to {kept} of {total} {unit}")
    }

    fn to_json(&self) -> Value {
        serde_json::json!({"field": self.path, "kept": self.kept, "total": self.total, "unit": self.unit})
    }
}

/// Returns the longest start of a path that `part` can read and that may stand in a message.
fn readable_path(path: &[String]) -> String {
    let mut out = String::new();
    for name in path.iter().take(MAX_PATH_PARTS).take_while(|name| is_plain_name(name)) {
        if out.len() + name.len() >= MAX_SHOWN_PATH {
            break;
        }
        out.push_str(if out.is_empty() { "" } else { "." });
        out.push_str(name);
    }
    out
}

struct Cuts {
    characters: usize,
    items: usize,
    named: Vec<ShortenedValue>,
}

impl Cuts {
    fn shorten(&mut self, value: &Value, path: &mut Vec<String>) -> Value {
        match value {
            Value::String(text) if text.len() > self.characters => {
                let total = text.chars().count();
                if total <= self.characters {
                    return value.clone();
                }
                self.note(path, self.characters, total, "characters");
                let start: String = text.chars().take(self.characters).collect();
                format!("{start}… ({total} characters)").into()
            }
            Value::Array(items) => {
                if items.len() > self.items {
                    self.note(path, self.items, items.len(), "items");
                }
                let kept = items.iter().take(self.items).enumerate();
                kept.map(|(position, item)| self.member(position.to_string(), item, path)).collect()
            }
            Value::Object(map) => {
                // Fields are fewer than items, and they say more.
                let most = self.items.saturating_mul(2);
                if map.len() > most {
                    self.note(path, most, map.len(), "fields");
                }
                let kept = map.iter().take(most);
                let kept = kept.map(|(name, member)| (name.clone(), self.member(name.clone(), member, path)));
                Value::Object(kept.collect::<Map<_, _>>())
            }
            scalar => scalar.clone(),
        }
    }

    fn member(&mut self, name: String, value: &Value, path: &mut Vec<String>) -> Value {
        path.push(name);
        let short = self.shorten(value, path);
        path.pop();
        short
    }

    fn note(&mut self, path: &[String], kept: usize, total: usize, unit: &'static str) {
        self.named.push(ShortenedValue { path: readable_path(path), kept, total, unit });
    }
}
