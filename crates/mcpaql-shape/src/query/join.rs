//! Joins the pages of a list into one answer.
//!
//! What always holds: the joined answer has the form of a single page. What is beside the list comes from the last page.

use super::collection::find_items;
use super::{at_mut, more, take_items};
use serde_json::Value;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// The pages of one list.
#[derive(Debug, Clone)]
pub struct JoinedPages {
    /// The last page, without its items.
    beside: Value,
    /// The names of the members that lead to the list.
    place: Vec<String>,
    items: Vec<Value>,
    /// Where the last page starts.
    last_page: usize,
    /// The hash of each page's items, to notice a page that comes back.
    seen: HashSet<u64>,
    /// The identifiers of the items on the pages before the last one.
    identifiers: HashSet<u64>,
    /// Items that an earlier page had too.
    again: usize,
    items_path: Option<String>,
}

/// What a page added to the ones before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddedPage {
    /// This number of items.
    Items(usize),
    /// Nothing: it has the same items as an earlier page.
    Repeated,
    /// Nothing: it has no list.
    NoList,
}

impl JoinedPages {
    /// Starts with the first page. `items_path` is the path of the list, if the document names it.
    ///
    /// # Errors
    /// Returns the data if it has no list.
    pub fn new(mut first: Value, items_path: Option<&str>) -> Result<JoinedPages, Value> {
        let place = find_items(&first, items_path);
        if !place.is_list {
            return Err(first);
        }
        let Some(items) = take_items(&mut first, &place.path) else { return Err(first) };
        let items_path = items_path.map(str::to_owned);
        let seen = HashSet::from([hash_of(&items)]);
        let identifiers = identifiers(&items).collect();
        let (beside, place) = (first, place.path);
        Ok(JoinedPages { beside, place, items, last_page: 0, seen, identifiers, again: 0, items_path })
    }

    /// Adds the next page.
    pub fn add(&mut self, mut page: Value) -> AddedPage {
        let place = find_items(&page, self.items_path.as_deref());
        let items = if place.is_list { take_items(&mut page, &place.path) } else { None };
        let Some(items) = items else { return AddedPage::NoList };
        if !self.seen.insert(hash_of(&items)) && !items.is_empty() {
            return AddedPage::Repeated;
        }
        let count = items.len();
        let new: Vec<u64> = identifiers(&items).collect();
        self.again += new.iter().filter(|identifier| self.identifiers.contains(identifier)).count();
        self.identifiers.extend(new);
        self.last_page = self.items.len();
        self.items.extend(items);
        (self.beside, self.place) = (page, place.path);
        AddedPage::Items(count)
    }

    /// The items of all pages.
    #[must_use]
    pub fn items(&self) -> &[Value] {
        &self.items
    }

    /// The number of items that an earlier page had too: the list changed while it was fetched.
    #[must_use]
    pub const fn items_again(&self) -> usize {
        self.again
    }

    /// The number of items on the last page.
    #[must_use]
    pub fn last_page_items(&self) -> usize {
        self.items.len().saturating_sub(self.last_page)
    }

    /// What is beside the list on the last page.
    #[must_use]
    pub const fn beside(&self) -> &Value {
        &self.beside
    }

    /// Returns whether there are more pages; `None` if the last page does not say so.
    #[must_use]
    pub fn has_more(&self) -> Option<bool> {
        more::has_more(&self.beside, self.items.len())
    }

    /// Returns one answer with all items.
    #[must_use]
    pub fn into_data(mut self) -> Value {
        if let Some(list) = at_mut(&mut self.beside, &self.place) {
            *list = self.items.into();
        }
        self.beside
    }
}

/// Returns the hashes of the identifiers of items.
fn identifiers(items: &[Value]) -> impl Iterator<Item = u64> {
    items.iter().filter_map(|item| item.get("id")).map(|id| hash_of(std::slice::from_ref(id)))
}

fn hash_of(items: &[Value]) -> u64 {
    let mut hasher = DefaultHasher::new();
    items.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn pages_become_one_answer() {
        let mut joined = JoinedPages::new(json!({"data": [{"id": 1}], "next": "b"}), None).unwrap();
        assert_eq!(joined.has_more(), Some(true));
        assert_eq!(joined.add(json!({"data": [{"id": 1}], "next": "b"})), AddedPage::Repeated);
        assert_eq!(joined.add(json!({"id": 5})), AddedPage::NoList);
        assert_eq!(joined.add(json!({"data": [{"id": 2}, {"id": 3}], "next": null})), AddedPage::Items(2));
        assert_eq!((joined.has_more(), joined.last_page_items()), (Some(false), 2));
        assert_eq!(joined.into_data(), json!({"data": [{"id": 1}, {"id": 2}, {"id": 3}], "next": null}));
        let mut circle = JoinedPages::new(json!([1]), None).unwrap();
        assert_eq!(circle.add(json!([2])), AddedPage::Items(1));
        assert_eq!(circle.add(json!([1])), AddedPage::Repeated);
        assert_eq!(circle.into_data(), json!([1, 2]));
        let mut list = JoinedPages::new(json!([1]), None).unwrap();
        assert_eq!(list.add(json!([])), AddedPage::Items(0));
        assert_eq!(list.has_more(), None);
        assert_eq!(list.into_data(), json!([1]));
        assert!(JoinedPages::new(json!({"id": 1}), None).is_err());
        let mut changing = JoinedPages::new(json!([{"id": 1}, {"id": 2}]), None).unwrap();
        assert_eq!(changing.add(json!([{"id": 2, "read": true}, {"id": 3}])), AddedPage::Items(2));
        assert_eq!(changing.items_again(), 1);
        let mut named = JoinedPages::new(json!({"a": [1], "b": [2]}), Some("b")).unwrap();
        assert_eq!(named.add(json!({"a": [3], "b": [4]})), AddedPage::Items(1));
        assert_eq!(named.into_data(), json!({"a": [3], "b": [2, 4]}));
    }
}
