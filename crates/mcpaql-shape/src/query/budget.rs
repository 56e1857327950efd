//! The answer budget: reduces an answer step by step until it fits.
//!
//! What always holds: the result is valid JSON, and a warning names every step and how to get the rest. A budget holds as far as the
//! warnings leave room for data. The cursor of a page belongs to its last item, so a page that loses items loses its cursor. A
//! part ends where it was cut.

use super::collection::{ItemsPlace, find_items};
use super::page::PageWindow;
use super::preset::without_noise;
use super::{ItemsPage, PAGE_ITEMS, ShapeRequest, ShapedData, at_mut, converted, put_page, take_items};
use crate::answer::{Payload, Warning};
use crate::tokens;
use serde_json::{Map, Value};

/// Maximum tokens of an answer, unless the caller or the adapter sets another number.
pub const DEFAULT_ANSWER_BUDGET: usize = 8000;
/// Tokens of the envelope and of the warnings about the reduction.
const OVERHEAD_TOKENS: usize = 200;
/// Tokens of the description of a page, at most.
const PAGE_TOKENS: usize = 60;
/// Maximum characters of a text and items of a list inside an answer, from many to few.
const SIZES: [(usize, usize); 10] = [
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
const TEXT_SIZES: [(usize, usize); 5] =
    [(4000, usize::MAX), (2000, usize::MAX), (1000, usize::MAX), (500, usize::MAX), (250, usize::MAX)];
/// Maximum shortened fields that a warning names.
const MAX_NAMED_CUTS: usize = 5;

/// Reduces an answer to a budget of tokens, with warnings about the reduction. `request` is the one that the answer was
/// shaped with.
#[must_use]
pub fn fit(shaped: ShapedData, budget: usize, request: &ShapeRequest<'_>) -> ShapedData {
    if is_within(&shaped.data, budget) {
        return shaped;
    }
    let ShapedData { data, mut warnings, page } = shaped;
    let (value, changes) = data.parse();
    let data = reduce(value, budget, request, page, &mut warnings).into();
    warnings.extend(converted(changes));
    ShapedData { data, warnings, page: None }
}

fn reduce(
    mut value: Value,
    budget: usize,
    request: &ShapeRequest<'_>,
    page: Option<ItemsPage>,
    warnings: &mut Vec<Warning>,
) -> Value {
    let budget = budget.saturating_sub(OVERHEAD_TOKENS).max(budget / 2);
    let place = match page {
        Some(_) => ItemsPlace { path: vec![PAGE_ITEMS.to_owned()], is_list: true },
        None => find_items(&value, request.items_path),
    };
    if request.controls.fields.is_none() && request.controls.part.is_none() {
        let before = value.to_string().len();
        value = standard(value, &place);
        if value.to_string().len() < before {
            let message = "The answer was too long, so links, nulls and empty fields were left out. Select fields with 'fields', or get all of them with fields: full.";
            warnings.push(reduced("standard", request.control("fields"), message));
        }
    }
    if fits(&value, budget) {
        return value;
    }
    if request.controls.part.is_some() {
        return fit_part(value, budget, request, warnings);
    }
    if place.is_list && request.controls.aggregate.is_none() {
        match own_page_size(request).filter(|_| page.is_none()) {
            Some(size) => {
                let (short, warning) = shorten(&value, Vec::new(), budget, request, &TEXT_SIZES);
                if fits(&short, budget) {
                    warnings.extend(warning);
                    return short;
                }
                warnings.extend(cut_own_page(&mut value, &place, budget, size));
            }
            None => warnings.extend(cut_page(&mut value, &place, budget, request, page)),
        }
        if fits(&value, budget) {
            return value;
        }
    }
    let (value, warning) = shorten(&value, Vec::new(), budget, request, &SIZES);
    warnings.extend(warning);
    value
}

/// Returns the operation's own parameter for the size of a page, if it has cursors of its own.
fn own_page_size(request: &ShapeRequest<'_>) -> Option<&'static str> {
    let owns = |name: &&str| request.own_names.contains(name);
    ["first", "limit", "page_size"].into_iter().find(owns).filter(|_| owns(&"after"))
}

/// Keeps the first items of a page by the operation's own cursor. Its cursor would skip the others, so it is removed.
fn cut_own_page(value: &mut Value, place: &ItemsPlace, budget: usize, size: &'static str) -> Option<Warning> {
    let mut items = take_items(value, &place.path)?;
    let shown = items.len();
    if let Some(members) = value.as_object_mut() {
        members.retain(|name, _| !is_page_description(name));
    }
    let beside = tokens::answer_tokens(&value.to_string());
    let count = fitting(&items, budget.saturating_sub(beside)).max(1).min(shown);
    items.truncate(count);
    if let Some(list) = at_mut(value, &place.path) {
        *list = items.into();
    }
    let message = format!(
        "The answer was too long, so it has the first {count} of {shown} items and no cursor. For the others, call again with {size}: {count} and follow the cursors, or select fewer fields."
    );
    Some(reduced("page", size.into(), message).with_detail("returned", count).with_detail("total", shown))
}

fn is_page_description(name: &str) -> bool {
    matches!(name, "pageInfo" | "pagination")
}

/// Ends a part where the budget ends, so that the next part starts there. If its first member alone is too long, that one is
/// shortened.
fn fit_part(
    mut value: Value,
    budget: usize,
    request: &ShapeRequest<'_>,
    warnings: &mut Vec<Warning>,
) -> Value {
    let Some(members) = value.as_object_mut() else { return value };
    let part = members.shift_remove("part").unwrap_or_default();
    members.shift_remove("next_offset");
    let number = |name: &str| members.get(name).and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
    let (offset, total) = (number("offset").unwrap_or_default(), number("total").unwrap_or_default());
    let field = members.get("field").and_then(Value::as_str).unwrap_or_default().to_owned();
    let left = budget.saturating_sub(PAGE_TOKENS);
    let (requested, count) = match &part {
        Value::String(text) => (text.chars().count(), fitting_characters(text, left)),
        Value::Array(items) => (items.len(), fitting(items, left)),
        Value::Object(map) => (map.len(), fitting_members(map, left)),
        _ => (1, 1),
    };
    let mut part = match part {
        Value::String(text) => text.chars().take(count.max(1)).collect::<String>().into(),
        Value::Array(items) => Value::from_iter(items.into_iter().take(count.max(1))),
        Value::Object(map) => Value::from_iter(map.into_iter().take(count.max(1))),
        other => other,
    };
    if count == 0 {
        let base = |name: String| match field.as_str() {
            "" => vec![name],
            field => vec![field.to_owned(), name],
        };
        let first = match &mut part {
            Value::Array(items) => items.first_mut().map(|item| (base(offset.to_string()), item)),
            Value::Object(map) => map.iter_mut().next().map(|(name, member)| (base(name.clone()), member)),
            _ => None,
        };
        if let Some((path, member)) = first {
            let (short, warning) = shorten(member, path, left, request, &SIZES);
            *member = short;
            warnings.extend(warning);
        }
    }
    let end = offset.saturating_add(count.max(1));
    if count.max(1) < requested {
        let message = format!("The part was too long, so it ends before {end}. Read on with offset: {end}.");
        warnings.push(reduced("part", request.control("part"), message).with_detail("next_offset", end));
    }
    if end < total {
        members.insert("next_offset".to_owned(), end.into());
    }
    members.insert("part".to_owned(), part);
    value
}

/// Returns the number of first characters of a text that fit in a budget, as JSON.
fn fitting_characters(text: &str, budget: usize) -> usize {
    let ends: Vec<usize> = text.char_indices().map(|(start, _)| start).skip(1).chain([text.len()]).collect();
    let is_within = |end: &usize| {
        let start = text.get(..*end).unwrap_or_default();
        tokens::fits(&Value::from(start).to_string(), budget)
    };
    ends.partition_point(is_within)
}

/// Returns the number of first members of an object that fit in a budget.
fn fitting_members(members: &Map<String, Value>, budget: usize) -> usize {
    let mut left = budget;
    let costs = members.iter().map(|(name, value)| {
        tokens::answer_tokens(&Value::from(name.as_str()).to_string())
            + tokens::answer_tokens(&value.to_string())
            + 1
    });
    costs.take_while(|cost| left.checked_sub(*cost).inspect(|rest| left = *rest).is_some()).count()
}

/// Returns the number of first items that fit in a budget.
fn fitting(items: &[Value], budget: usize) -> usize {
    let mut left = budget;
    let costs = items.iter().map(|item| tokens::answer_tokens(&item.to_string()) + 1);
    costs.take_while(|cost| left.checked_sub(*cost).inspect(|rest| left = *rest).is_some()).count()
}

/// Returns whether an answer is within a budget of tokens. Most answers are not read for that.
#[must_use]
pub fn is_within(data: &Payload, budget: usize) -> bool {
    match data {
        Payload::Raw(raw) => tokens::fits(raw.get(), budget),
        Payload::Value(value) => {
            let mut left = budget;
            is_short(value, &mut left) || fits(value, budget)
        }
    }
}

/// Returns whether a value has fewer bytes as JSON than there are tokens left. A token has at least one byte.
fn is_short(value: &Value, left: &mut usize) -> bool {
    match value {
        Value::Null | Value::Bool(_) => spend(left, 6),
        Value::Number(_) => spend(left, 25),
        Value::String(text) => spend(left, text.len() + 3),
        Value::Array(items) => spend(left, 3) && items.iter().all(|item| is_short(item, left)),
        Value::Object(map) => {
            let mut members = map.iter();
            spend(left, 3)
                && members.all(|(name, member)| spend(left, name.len() + 4) && is_short(member, left))
        }
    }
}

fn spend(left: &mut usize, bytes: usize) -> bool {
    let is_enough = *left >= bytes;
    *left = left.saturating_sub(bytes);
    is_enough
}

fn fits(value: &Value, budget: usize) -> bool {
    tokens::fits(&value.to_string(), budget)
}

fn reduced(step: &str, control: String, message: impl Into<String>) -> Warning {
    Warning::new("ANSWER_REDUCED", message).with_detail("step", step).with_detail("control", control)
}

/// Leaves out links, nulls and empty containers of the items.
fn standard(mut value: Value, place: &ItemsPlace) -> Value {
    if let Some(items) = at_mut(&mut value, &place.path) {
        let reduced = match std::mem::take(items) {
            Value::Array(all) => all.into_iter().map(without_noise).collect(),
            one => without_noise(one),
        };
        *items = reduced;
    }
    value
}

/// Keeps the first items that fit, as a page with a cursor.
fn cut_page(
    value: &mut Value,
    place: &ItemsPlace,
    budget: usize,
    request: &ShapeRequest<'_>,
    page: Option<ItemsPage>,
) -> Option<Warning> {
    let items = take_items(value, &place.path)?;
    let shown = items.len();
    if let (Some(_), Some(members)) = (&page, value.as_object_mut()) {
        // The description of the page, which is now another one.
        members.retain(|name, _| !is_page_description(name));
    }
    let beside = tokens::answer_tokens(&value.to_string()) + PAGE_TOKENS;
    let count = fitting(&items, budget.saturating_sub(beside)).max(1).min(shown);
    let has_more = request.has_more(value, shown);
    let page = page.unwrap_or_else(|| ItemsPage {
        window: PageWindow::whole(shown),
        total: shown,
        is_total_known: !has_more,
    });
    let window = page.window.cut(count);
    let position = window.range.end.saturating_sub(1);
    let (first, after) = (request.control("first"), request.control("after"));
    let cursor = request.signer.encode(position);
    let page = ItemsPage { window, ..page };
    let kept: Vec<Value> = items.into_iter().take(count).collect();
    put_page(value, &place.path, kept, &page, &request.signer);
    (count < shown).then(|| {
        let message = format!(
            "The answer was too long, so it has the first {count} of {shown} items. For the next ones, call again with {first}: {count} and {after}: \"{cursor}\", or select fewer fields."
        );
        reduced("page", after, message).with_detail("returned", count).with_detail("total", shown)
    })
}

/// Shortens the longest texts and lists, step by step, until the value fits or the sizes end. `path` leads to the value.
fn shorten(
    value: &Value,
    mut path: Vec<String>,
    budget: usize,
    request: &ShapeRequest<'_>,
    sizes: &[(usize, usize)],
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
    let message = format!(
        "The answer was too long, so {} value(s) were shortened: {}. Read one in parts with {part}: {{\"field\": \"{example}\", \"offset\": 0}}.",
        named.len(),
        fields.join(", "),
    );
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
        self.named.push(ShortenedValue { path: path.join("."), kept, total, unit });
    }
}
