//! The answer budget: reduces an answer step by step until it fits.
//!
//! What always holds: the result is valid JSON, and a warning names every step and how to get the rest. Under a small budget
//! warnings are short. A budget holds as far as the warnings leave room for data. The cursor of a page belongs to its last item, so a page that loses items loses its cursor. A
//! part ends where it was cut.

use super::collection::{ItemsPlace, find_items};
use super::page::PageWindow;
use super::preset::without_noise;
use super::shorten::{SIZES, TEXT_SIZES, shorten};
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
/// Below this budget, warnings are short.
const SMALL_BUDGET: usize = 500;
/// Tokens of an envelope without data and warnings.
const ENVELOPE_TOKENS: usize = 12;
/// The details that a short warning keeps.
const KEPT_DETAILS: [&str; 5] = ["step", "param_name", "control", "returned", "total"];

/// Reduces an answer to a budget of tokens, with warnings about the reduction. `request` is the one that the answer was
/// shaped with.
#[must_use]
pub fn fit(shaped: ShapedData, budget: usize, request: &ShapeRequest<'_>) -> ShapedData {
    let mut shaped = shaped;
    if !is_within(&shaped.data, budget) {
        let ShapedData { data, mut warnings, page } = shaped;
        let (value, changes) = data.parse();
        let data = reduce(value, budget, request, page, &mut warnings).into();
        warnings.extend(converted(changes));
        shaped = ShapedData { data, warnings, page: None };
    }
    fit_warnings(&mut shaped, budget);
    shaped
}

/// Shortens the warnings if they do not fit beside the data.
fn fit_warnings(shaped: &mut ShapedData, budget: usize) {
    if shaped.warnings.is_empty() {
        return;
    }
    let cost = |warning: &Warning| {
        tokens::answer_tokens(&serde_json::to_string(warning).unwrap_or_default()).saturating_add(1)
    };
    let total: usize = shaped.warnings.iter().map(cost).sum();
    let left = budget.saturating_sub(total.saturating_add(ENVELOPE_TOKENS));
    if total < budget && is_within(&shaped.data, left) {
        return;
    }
    for warning in &mut shaped.warnings {
        warning.details.retain(|name, _| KEPT_DETAILS.contains(&name.as_str()));
    }
    // The steps say how to get the rest. Of the others, as many as fit a quarter of the budget stay.
    let mut rest = budget / 4;
    shaped.warnings.retain(|warning| {
        let is_step = warning.code == REDUCED;
        let fits = cost(warning) <= rest;
        if !is_step {
            rest = rest.saturating_sub(if fits { cost(warning) } else { rest });
        }
        is_step || fits
    });
}

fn reduce(
    mut value: Value,
    budget: usize,
    request: &ShapeRequest<'_>,
    page: Option<ItemsPage>,
    warnings: &mut Vec<Warning>,
) -> Value {
    let style = if budget < SMALL_BUDGET { WarningStyle::Short } else { WarningStyle::Whole };
    let budget = budget.saturating_sub(OVERHEAD_TOKENS).max(budget / 2);
    let place = match page {
        Some(_) => ItemsPlace { path: vec![PAGE_ITEMS.to_owned()], is_list: true },
        None => find_items(&value, request.items_path),
    };
    if request.controls.fields.is_none() && request.controls.part.is_none() {
        let before = value.to_string().len();
        value = standard(value, &place);
        if value.to_string().len() < before {
            let fields = request.control("fields");
            let message = match style {
                WarningStyle::Whole => format!(
                    "The answer was too long, so links, nulls and empty fields were left out. Select fields with '{fields}', or get all of them with {fields}: full."
                ),
                WarningStyle::Short => format!("Without links and empty fields; {fields}: full has them."),
            };
            warnings.push(style.apply(reduced("standard", fields, message)));
        }
    }
    if fits(&value, budget) {
        return value;
    }
    if request.controls.part.is_some() {
        return fit_part(value, budget, request, style, warnings);
    }
    let mut is_page = page.is_some();
    if place.is_list && request.controls.aggregate.is_none() {
        match own_page_size(request).filter(|_| page.is_none()) {
            Some(size) => {
                let (short, warning) = shorten(&value, Vec::new(), budget, request, (&TEXT_SIZES, style));
                if fits(&short, budget) {
                    warnings.extend(warning);
                    return short;
                }
                warnings.extend(cut_own_page(&mut value, &place, budget, size));
            }
            None => {
                is_page = true;
                let warning = cut_page(&mut value, &place, budget, request, page, style);
                warnings.extend(warning.map(|warning| style.apply(warning)));
            }
        }
        if fits(&value, budget) {
            return value;
        }
    }
    let description = if is_page { take_page_description(&mut value) } else { Map::new() };
    let left = match description.is_empty() {
        true => budget,
        false => budget.saturating_sub(tokens::answer_tokens(&Value::from(description.clone()).to_string())),
    };
    let (mut value, warning) = shorten(&value, Vec::new(), left, request, (&SIZES, style));
    if let Some(members) = value.as_object_mut().filter(|_| !description.is_empty()) {
        members.entry(PAGE_ITEMS).or_insert_with(|| Vec::<Value>::new().into());
        members.extend(description);
    }
    warnings.extend(warning.map(|warning| style.apply(warning)));
    value
}

/// The length of warnings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WarningStyle {
    Whole,
    Short,
}

impl WarningStyle {
    fn apply(self, mut warning: Warning) -> Warning {
        if self == WarningStyle::Short {
            warning.details.retain(|name, _| KEPT_DETAILS.contains(&name.as_str()));
        }
        warning
    }
}

/// Takes out the description of a page. Without it, nobody could go on.
fn take_page_description(value: &mut Value) -> Map<String, Value> {
    let mut out = Map::new();
    if let Some(members) = value.as_object_mut() {
        for name in PAGE_DESCRIPTIONS {
            out.extend(members.shift_remove(name).map(|description| (name.to_owned(), description)));
        }
    }
    out
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

/// The members that describe a page.
const PAGE_DESCRIPTIONS: [&str; 2] = ["pageInfo", "pagination"];

pub(super) fn is_page_description(name: &str) -> bool {
    PAGE_DESCRIPTIONS.contains(&name)
}

/// Ends a part where the budget ends, so that the next part starts there. If its first member alone is too long, that one is
/// shortened.
fn fit_part(
    mut value: Value,
    budget: usize,
    request: &ShapeRequest<'_>,
    style: WarningStyle,
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
    // A name cannot be shortened, so a member whose name alone is too long is left out.
    if let Value::Object(map) = &mut part {
        map.retain(|name, _| count > 0 || tokens::fits(&Value::from(name.as_str()).to_string(), left));
    }
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
            let (short, warning) = shorten(member, path, left, request, (&SIZES, style));
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

pub(super) fn fits(value: &Value, budget: usize) -> bool {
    tokens::fits(&value.to_string(), budget)
}

/// The code of the warnings about the steps.
const REDUCED: &str = "ANSWER_REDUCED";

pub(super) fn reduced(step: &str, control: String, message: impl Into<String>) -> Warning {
    Warning::new(REDUCED, message).with_detail("step", step).with_detail("control", control)
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
    style: WarningStyle,
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
        let message = match style {
            WarningStyle::Whole => format!(
                "The answer was too long, so it has the first {count} of {shown} items. For the next ones, call again with {first}: {count} and {after}: \"{cursor}\", or select fewer fields."
            ),
            WarningStyle::Short => {
                format!("{count} of {shown} items. Next: {first}: {count}, {after}: \"{cursor}\".")
            }
        };
        reduced("page", after, message).with_detail("returned", count).with_detail("total", shown)
    })
}
