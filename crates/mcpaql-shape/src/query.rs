//! Applies query controls to answers.

mod aggregate;
mod budget;
mod collection;
mod compare;
mod computed;
mod controls;
mod cursor;
mod declared;
#[cfg(test)]
mod differential;
mod fields;
mod filter;
mod hide;
#[cfg(test)]
mod hostile;
mod join;
mod more;
mod page;
mod part;
mod path;
mod preset;
mod shorten;
mod sort;
#[cfg(test)]
mod tests;
mod warnings;

pub use aggregate::{Aggregations, FUNCTIONS};
pub use budget::{DEFAULT_ANSWER_BUDGET, fit, is_within};
pub use computed::ComputedFields;
pub use controls::{CONTROLS, QueryControls, control_of};
pub use cursor::CursorSigner;
pub use declared::DeclaredFields;
pub use fields::FieldSelection;
pub use filter::{ItemFilter, OPERATORS};
pub use hide::HiddenFields;
pub use join::{AddedPage, JoinedPages};
pub use page::{DEFAULT_PAGE_ITEMS, MAX_PAGE_ITEMS, PageRequest};
pub use part::PartRequest;
pub use path::FieldPath;
pub use preset::FieldPreset;
pub use sort::SortKey;

use crate::answer::{Payload, Warning, has_rounded_integer};
use collection::{ItemsPlace, JsonNode, find_items};
use fields::{FieldTree, first_items, standard_with};
use mcpaql_schema::error::OpError;
use page::PageWindow;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use warnings::{
    MAX_UNKNOWN_FIELDS, converted, examples, more_unknown_fields, no_items, no_list, no_numbers,
    nothing_left, partial_list, skipped_values, unknown_field, warn_unknown_fields,
};

/// Items that presets are inferred from.
const PRESET_SAMPLE: usize = 20;

/// Returns the list of items in an answer; `None` if the answer is one item.
#[must_use]
pub fn list_in(data: &Value) -> Option<&[Value]> {
    let place = find_items(data, None);
    let list = place.path.iter().try_fold(data, |value, name| value.get(name))?;
    list.as_array().map(Vec::as_slice)
}

/// Returns the list of items in JSON text, without parsing them; `None` if the answer is one item.
#[must_use]
pub fn raw_list_in(data: &RawValue) -> Option<Vec<&RawValue>> {
    let place = find_items(data, None);
    let mut list = data;
    for name in &place.path {
        (_, list) = raw_members(list).into_iter().find(|(known, _)| known == name)?;
    }
    serde_json::from_str(list.get()).ok()
}

/// Returns the members of an object in JSON text, without parsing their values. Of equal names, the last one counts.
#[must_use]
pub fn raw_members(object: &RawValue) -> Vec<(String, &RawValue)> {
    object.members()
}

/// What a call asks for.
#[derive(Debug, Clone)]
pub struct ShapeRequest<'a> {
    /// The controls of the call.
    pub controls: &'a QueryControls,
    /// The path of the items, if the document names it.
    pub items_path: Option<&'a str>,
    /// The answer may be one page of a longer list.
    pub may_have_more: bool,
    /// All pages of the list were fetched: whether these are all there are. `None` if only one was fetched.
    pub all_pages: Option<bool>,
    /// The computed fields of the items.
    pub computed: Option<&'a ComputedFields>,
    /// Names of controls that the operation has as parameters of its own, so the control has an underscore.
    pub own_names: Vec<&'static str>,
    /// Signs the cursors of the list.
    pub signer: CursorSigner,
}

impl<'a> ShapeRequest<'a> {
    /// Creates a request with controls and nothing else.
    #[must_use]
    pub fn new(controls: &'a QueryControls) -> ShapeRequest<'a> {
        let signer = CursorSigner::new("", "", controls.scope());
        ShapeRequest {
            controls,
            items_path: None,
            may_have_more: false,
            all_pages: None,
            computed: None,
            own_names: Vec::new(),
            signer,
        }
    }

    /// Returns whether the list has more than these `count` items. `beside` is the answer without them.
    fn has_more(&self, beside: &Value, count: usize) -> bool {
        match self.all_pages {
            Some(is_complete) => !is_complete,
            None => more::has_more(beside, count).unwrap_or(self.may_have_more),
        }
    }

    /// Returns the computed fields, if a control reads them.
    fn computed(&self) -> Option<&'a ComputedFields> {
        self.computed.filter(|computed| !computed.is_empty() && self.controls.reads_computed())
    }

    /// Returns the name of a control in this call.
    fn control(&self, name: &'static str) -> String {
        if self.own_names.contains(&name) { format!("_{name}") } else { name.to_owned() }
    }
}

/// A shaped answer.
#[derive(Debug)]
pub struct ShapedData {
    /// The data.
    pub data: Payload,
    /// Warnings for the agent.
    pub warnings: Vec<Warning>,
    /// The page that the data is, if the call asks for one.
    page: Option<ItemsPage>,
}

impl From<Payload> for ShapedData {
    fn from(data: Payload) -> Self {
        ShapedData { data, warnings: Vec::new(), page: None }
    }
}

/// A page of items, and its place in the list.
#[derive(Debug, Clone)]
struct ItemsPage {
    window: PageWindow,
    total: usize,
    is_total_known: bool,
}

/// The items of a page are always here.
const PAGE_ITEMS: &str = "items";

/// Returns the part of an answer that a call asks for.
///
/// # Errors
/// When a cursor belongs to another list, or `part` names no text or list.
pub fn shape(data: Payload, request: &ShapeRequest<'_>) -> Result<ShapedData, OpError> {
    let controls = request.controls;
    let computed = request.computed();
    if let (Some(selection), true) = (&controls.fields, controls.selects_fields_only() && computed.is_none())
    {
        match (&data, selection.preset) {
            (_, Some(FieldPreset::Full)) => return Ok(data.into()),
            (_, Some(FieldPreset::Standard)) | (Payload::Value(_), _) => {}
            (Payload::Raw(raw), _) => {
                if let Some((value, warnings)) = select_text(raw, selection, request) {
                    return Ok(ShapedData { data: value.into(), warnings, page: None });
                }
            }
        }
    }
    let (mut value, changes) = data.parse();
    let mut warnings = Vec::from_iter(converted(changes));
    let mut place = find_items(&value, request.items_path);
    let mut page = None;
    if let Some(computed) = computed {
        each_item(&mut value, &place.path, |item| computed.add_to(item));
    }
    if place.is_list {
        page = query_list(&mut value, &place, request, &mut warnings)?;
    } else {
        warnings.extend(no_list(controls));
    }
    warnings.extend(no_items(request, place.is_list));
    if page.is_some() || place.is_list && controls.aggregate.is_some() {
        place.path = vec![PAGE_ITEMS.to_owned()];
    }
    let has_items = controls.aggregate.is_none() || controls.include_items || !place.is_list;
    if let Some(selection) = controls.fields.as_ref().filter(|_| has_items) {
        select_items(&mut value, &place.path, selection, &mut warnings);
    }
    if computed.is_some() {
        let selected = controls.fields.iter().flat_map(FieldSelection::all_paths);
        let selected: Vec<&FieldPath> = selected.filter(|path| computed::is_computed(path)).collect();
        each_item(&mut value, &place.path, |item| computed::keep_selected(item, &selected));
    }
    if let Some(part) = &controls.part {
        value = part.select(&value)?;
        page = None;
    }
    Ok(ShapedData { data: value.into(), warnings, page })
}

/// Applies filter, order, aggregations and page to the list. Returns the page, if the call asks for one.
fn query_list(
    value: &mut Value,
    place: &ItemsPlace,
    request: &ShapeRequest<'_>,
    warnings: &mut Vec<Warning>,
) -> Result<Option<ItemsPage>, OpError> {
    let controls = request.controls;
    let Some(mut items) = take_items(value, &place.path) else { return Ok(None) };
    let has_more = request.has_more(value, items.len());
    let warns_of_more = has_more && request.all_pages.is_none();
    let listed = items.len();
    let queries_all = controls.filter.is_some() || !controls.sort.is_empty() || controls.aggregate.is_some();
    if warns_of_more && queries_all {
        warnings.push(partial_list(listed, request));
    }
    if let Some(filter) = &controls.filter {
        let filter = filter.clone().with_paths(|path| local_path(path, place, &items));
        warn_unknown_fields("filter", filter.paths(), &items, OPERATORS.as_slice(), warnings);
        let checked = items.len();
        let examples = examples(filter.paths(), &items);
        items.retain(|item| filter.matches(item));
        if items.is_empty() && checked > 0 {
            warnings.push(nothing_left(checked, examples));
        }
    }
    if !controls.sort.is_empty() {
        let local = |key: &SortKey| SortKey { path: local_path(&key.path, place, &items), ..key.clone() };
        let keys: Vec<SortKey> = controls.sort.iter().map(local).collect();
        warn_unknown_fields("sort", keys.iter().map(|key| &key.path), &items, &[], warnings);
        items = sort::sort(items, &keys);
    }
    let mut aggregations = None;
    if let Some(aggregate) = &controls.aggregate {
        let aggregate = aggregate.clone().with_paths(|path| local_path(path, place, &items));
        warn_unknown_fields("aggregate", aggregate.paths(), &items, &[], warnings);
        let without = aggregate.fields_without_numbers(&items);
        warnings.extend(without.into_iter().take(MAX_UNKNOWN_FIELDS).map(no_numbers));
        warnings.extend(aggregate.skipped_values(&items).map(skipped_values));
        aggregations = Some(Value::Object(aggregate.compute(&items)));
    }
    let mut page = None;
    if let Some(requested) = &controls.page {
        let total = items.len();
        let window = requested.window(total, &request.signer)?;
        if warns_of_more && !queries_all && window.range.end >= total {
            warnings.push(partial_list(listed, request));
        }
        items = items.into_iter().skip(window.range.start).take(window.range.len()).collect();
        page = Some(ItemsPage { window, total, is_total_known: !has_more });
    }
    match (aggregations, &page) {
        (Some(aggregations), page) => {
            let mut out = Map::from_iter([("aggregations".to_owned(), aggregations)]);
            if controls.include_items {
                out.insert(PAGE_ITEMS.to_owned(), items.into());
                if let Some(page) = page {
                    let (name, info) = page.describe(&request.signer);
                    out.insert(name.to_owned(), info);
                }
            }
            *value = Value::Object(out);
            return Ok(None);
        }
        (None, Some(page)) => put_page(value, &place.path, items, page, &request.signer),
        (None, None) => {
            if let Some(list) = at_mut(value, &place.path) {
                *list = items.into();
            }
        }
    }
    Ok(page)
}

impl ItemsPage {
    fn describe(&self, signer: &CursorSigner) -> (&'static str, Value) {
        self.window.describe(self.total, self.is_total_known, signer)
    }
}

/// Takes the list out of an answer.
fn take_items(value: &mut Value, place: &[String]) -> Option<Vec<Value>> {
    match at_mut(value, place)? {
        Value::Array(items) => Some(std::mem::take(items)),
        _ => None,
    }
}

/// Returns the value behind the names of members.
fn at_mut<'v>(value: &'v mut Value, place: &[String]) -> Option<&'v mut Value> {
    place.iter().try_fold(value, |value, name| value.get_mut(name))
}

/// Changes every item of an answer: those of the list, or the only one.
fn each_item(value: &mut Value, place: &[String], change: impl FnMut(&mut Value)) {
    match at_mut(value, place) {
        Some(Value::Array(items)) => items.iter_mut().for_each(change),
        Some(one) => std::iter::once(one).for_each(change),
        None => {}
    }
}

/// Makes the answer a page: its items, its description, and what is beside the list.
fn put_page(value: &mut Value, place: &[String], items: Vec<Value>, page: &ItemsPage, signer: &CursorSigner) {
    let (name, info) = page.describe(signer);
    let mut out = Map::from_iter([(PAGE_ITEMS.to_owned(), items.into()), (name.to_owned(), info)]);
    let mut level = std::mem::take(value);
    for inner in place {
        let Value::Object(mut members) = level else { break };
        level = members.shift_remove(inner).unwrap_or_default();
        for (name, member) in members {
            // A complete list has no other pages than these.
            let is_other = ["hasNextPage", "has_more"].iter().any(|more| member.get(more).is_some());
            if !(page.is_total_known && is_other && budget::is_page_description(&name)) {
                out.entry(name).or_insert(member);
            }
        }
    }
    *value = Value::Object(out);
}

/// Selects fields of parsed items.
fn select_items(
    value: &mut Value,
    place: &[String],
    selection: &FieldSelection,
    warnings: &mut Vec<Warning>,
) {
    let Some(items) = at_mut(value, place) else { return };
    let (mut list, is_list) = match std::mem::take(items) {
        Value::Array(list) => (list, true),
        one => (vec![one], false),
    };
    let local = ItemsPlace { path: place.to_vec(), is_list };
    let mut paths: Vec<FieldPath> =
        selection.paths.iter().map(|path| local_path(path, &local, &list)).collect();
    warn_unknown_fields("fields", paths.iter(), &list, &[], warnings);
    paths.extend(selection.declared.iter().map(|path| local_path(path, &local, &list)));
    if selection.preset == Some(FieldPreset::Minimal) {
        paths.extend(preset::minimal_paths(list.get(..PRESET_SAMPLE).unwrap_or(&list)));
    }
    let tree = FieldTree::new(&paths);
    let select = |item: Value| match selection.preset {
        Some(FieldPreset::Full) => item,
        Some(FieldPreset::Standard) => standard_with(item, &tree),
        Some(FieldPreset::Minimal) | None => tree.select(item),
    };
    list = list.into_iter().map(select).collect();
    *items = if is_list { Value::Array(list) } else { list.pop().unwrap_or_default() };
}

/// Selects fields of JSON text, without parsing the rest. `None` if no value can hold these fields.
fn select_text(
    raw: &RawValue,
    selection: &FieldSelection,
    request: &ShapeRequest<'_>,
) -> Option<(Value, Vec<Warning>)> {
    let place = find_items(raw, request.items_path);
    let sample = first_items(raw.get(), &place.path, PRESET_SAMPLE);
    if sample.is_empty() && selection.preset == Some(FieldPreset::Minimal) {
        return None;
    }
    let mut paths: Vec<FieldPath> =
        selection.paths.iter().map(|path| local_path(path, &place, &sample)).collect();
    let requested = paths.len();
    paths.extend(selection.declared.iter().map(|path| local_path(path, &place, &sample)));
    if selection.preset == Some(FieldPreset::Minimal) {
        paths.extend(preset::minimal_paths(&sample));
    }
    let tree = FieldTree::new(&paths);
    let value = tree.read(raw.get(), &place.path).ok().filter(|value| !has_rounded_integer(value, raw))?;
    let missing = paths.iter().zip(tree.found()).take(requested).filter(|(_, found)| !found);
    let (mut warnings, mut seen) = (Vec::new(), Vec::new());
    for (path, _) in missing.filter(|_| !sample.is_empty()) {
        if seen.contains(&path) {
            continue;
        }
        seen.push(path);
        if seen.len() <= MAX_UNKNOWN_FIELDS {
            warnings.push(unknown_field("fields", path, &path::known_paths(&sample), &[]));
        }
    }
    warnings.extend(more_unknown_fields("fields", seen.len()));
    Some((value, warnings))
}

/// Returns a path inside the items: `items.id` is `id` of each item, unless the items have `items` themselves.
fn local_path(path: &FieldPath, place: &ItemsPlace, items: &[Value]) -> FieldPath {
    let inside = path.inside(&place.path);
    let is_field = || items.iter().take(PRESET_SAMPLE).any(|item| path.first(item).is_some());
    if inside == *path || is_field() { path.clone() } else { inside }
}
