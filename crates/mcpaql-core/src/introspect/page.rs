//! Pages of a list: `first`, `after` and `pageInfo`.
//!
//! A cursor holds a place and what was listed, so that one of another list is refused instead of leading anywhere.

use super::args::IntrospectArgs;
use super::invalid;
use crate::error::OpError;
use serde_json::{Value, json};
use std::ops::Range;

/// A list up to this length comes whole.
pub(crate) const MAX_UNPAGED_ITEMS: usize = 50;
/// A page of a longer one.
pub(crate) const LIST_PAGE_SIZE: usize = 20;
/// The longest page that somebody may ask for.
pub(crate) const MAX_LIST_PAGE_SIZE: usize = 200;

/// One page of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Page {
    /// What stands on it.
    pub(crate) range: Range<usize>,
    total: usize,
    list: u32,
}

impl Page {
    /// The page that is asked for, of a list so long; `size` where nobody says how long a page is, `most` at the most.
    pub(crate) fn of(
        ask: &IntrospectArgs<'_>,
        total: usize,
        size: usize,
        most: usize,
    ) -> Result<Page, OpError> {
        let list = fingerprint(ask);
        let start = match ask.after {
            None => 0,
            Some(cursor) => cursor_offset(cursor, list).filter(|place| *place <= total).ok_or_else(|| {
                let message = "Parameter 'after' is no cursor of this list. Take 'endCursor' of the page before, \
                               with the same parameters.";
                invalid("after", message.to_owned())
            })?,
        };
        let size = ask.first.unwrap_or(size).clamp(1, most.max(1));
        Ok(Page { range: start..total.min(start.saturating_add(size)), total, list })
    }

    /// Whether the page leaves anything out.
    pub(crate) fn is_part(&self) -> bool {
        self.range.len() < self.total
    }

    /// `pageInfo`.
    pub(crate) fn info(&self) -> Value {
        let more = self.range.end < self.total;
        let cursor = (!self.range.is_empty()).then(|| format!("{:x}-{:08x}", self.range.end, self.list));
        json!({"hasNextPage": more, "endCursor": cursor, "total": self.total})
    }
}

fn cursor_offset(cursor: &str, list: u32) -> Option<usize> {
    let (place, of) = cursor.split_once('-')?;
    (u32::from_str_radix(of, 16) == Ok(list)).then(|| usize::from_str_radix(place, 16).ok()).flatten()
}

/// What is listed, in a number (FNV-1a); how much is said about each does not matter.
fn fingerprint(ask: &IntrospectArgs<'_>) -> u32 {
    let category = ask.category.map(|category| category.as_str());
    let parts = [Some(if ask.types { "types" } else { "" }), ask.search, category, ask.endpoint, ask.tag];
    let bytes = parts.iter().flat_map(|part| part.unwrap_or_default().bytes().chain([0]));
    bytes.fold(0x811c_9dc5, |hash: u32, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}
