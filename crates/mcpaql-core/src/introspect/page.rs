//! Splits lists into pages: `first`, `after` and `pageInfo`.
//!
//! What always holds: a cursor contains the position after its item and a hash of the list, so a cursor of another list is
//! rejected.

use super::args::IntrospectArgs;
use super::invalid;
use crate::error::OpError;
use crate::response::{Warning, clamped_page_warning};
use serde_json::{Map, Value};
use std::ops::Range;

/// Maximum length of a list that is not split into pages.
pub(crate) const MAX_UNPAGED_ITEMS: usize = 50;
/// Default page size of a longer list.
pub(crate) const LIST_PAGE_SIZE: usize = 20;
/// Maximum page size that a caller may request.
pub(crate) const MAX_LIST_PAGE_SIZE: usize = 200;

/// One page of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Page {
    /// The items on the page.
    pub(crate) range: Range<usize>,
    total: usize,
    list: u32,
    /// The requested page size and the maximum, if it is larger.
    clamped: Option<(usize, usize)>,
}

impl Page {
    /// Returns the requested page of a list with `total` items. The page has `size` items unless the caller requests
    /// another number, and at most `max`.
    pub(crate) fn of(
        options: &IntrospectArgs<'_>,
        total: usize,
        size: usize,
        max: usize,
    ) -> Result<Page, OpError> {
        let list = fingerprint(options);
        let start = match options.after {
            None => 0,
            Some(cursor) => cursor_offset(cursor, list).filter(|offset| *offset <= total).ok_or_else(|| {
                let message = "Parameter 'after' is not a cursor of this list. Send 'endCursor' of the previous page, \
                               with the same parameters.";
                invalid("after", message.to_owned())
            })?,
        };
        let max = max.max(1);
        let clamped = options.first.filter(|first| *first > max).map(|first| (first, max));
        let size = options.first.unwrap_or(size).clamp(1, max);
        Ok(Page { range: start..total.min(start.saturating_add(size)), total, list, clamped })
    }

    /// Returns the warning about a requested page size that is larger than the maximum.
    pub(crate) fn clamped_warning(&self) -> Option<Warning> {
        let (requested, maximum) = self.clamped?;
        clamped_page_warning(requested, maximum)
    }

    /// Returns whether the page omits some items.
    pub(crate) fn is_part(&self) -> bool {
        self.range.len() < self.total
    }

    /// Returns `pageInfo`. The cursors of an empty page are left out.
    pub(crate) fn info(&self) -> Value {
        let cursor = |position: usize| Value::from(format!("{position:x}-{:08x}", self.list));
        let mut info = Map::new();
        info.insert("hasNextPage".into(), (self.range.end < self.total).into());
        info.insert("hasPreviousPage".into(), (self.range.start > 0).into());
        if !self.range.is_empty() {
            info.insert("startCursor".into(), cursor(self.range.start + 1));
            info.insert("endCursor".into(), cursor(self.range.end));
        }
        info.insert("totalCount".into(), self.total.into());
        Value::Object(info)
    }
}

fn cursor_offset(cursor: &str, list: u32) -> Option<usize> {
    let (offset, hash) = cursor.split_once('-')?;
    (u32::from_str_radix(hash, 16) == Ok(list)).then(|| usize::from_str_radix(offset, 16).ok()).flatten()
}

/// Hashes the question and its filters (FNV-1a). The detail level does not change the list.
fn fingerprint(options: &IntrospectArgs<'_>) -> u32 {
    let category = options.category.map(|category| category.as_str());
    let parts = [
        Some(if options.types { "types" } else { "" }),
        options.search,
        category,
        options.endpoint,
        options.tag,
    ];
    let bytes = parts.iter().flat_map(|part| part.unwrap_or_default().bytes().chain([0]));
    bytes.fold(0x811c_9dc5, |hash: u32, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}
