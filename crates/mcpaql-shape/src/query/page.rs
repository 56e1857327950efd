//! Pages: which items to return, and how the answer describes them.

use super::controls::{invalid_type, invalid_value, whole_number};
use super::cursor::CursorSigner;
use crate::answer::Warning;
use mcpaql_schema::error::{Code, OpError};
use serde_json::{Map, Value, json};
use std::ops::Range;

/// Items on a page without a size.
pub const DEFAULT_PAGE_ITEMS: usize = 25;
/// Maximum items on a page.
pub const MAX_PAGE_ITEMS: usize = 1000;

/// The controls of pages, by style.
const STYLES: [(&str, &[&str]); 3] = [
    ("first and after, or last and before", &["first", "after", "last", "before"]),
    ("limit and offset", &["limit", "offset"]),
    ("page and page_size", &["page", "page_size"]),
];

/// The page that a caller requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PageRequest {
    /// The first items, after a cursor.
    First {
        /// Maximum items.
        size: usize,
        /// The cursor of the item before the page.
        after: Option<String>,
    },
    /// The last items, before a cursor.
    Last {
        /// Maximum items.
        size: usize,
        /// The cursor of the item after the page.
        before: Option<String>,
    },
    /// Some items, after a number of them.
    Offset {
        /// Maximum items.
        limit: usize,
        /// Items to skip.
        offset: usize,
    },
    /// The page with a number, from 1.
    Number {
        /// The number of the page.
        page: usize,
        /// Items on a page.
        size: usize,
    },
}

/// Some of the items, and the style of their description.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PageWindow {
    pub(super) range: Range<usize>,
    style: PageStyle,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PageStyle {
    Cursor,
    Offset { limit: usize },
    Number { page: usize, size: usize },
}

impl PageRequest {
    /// Reads the page controls; `get` returns a control by name. Adds a warning if the page is too large.
    ///
    /// # Errors
    /// When controls contradict each other or have a wrong type.
    pub(super) fn read<'v>(
        get: impl Fn(&str) -> Option<&'v Value>,
        warnings: &mut Vec<Warning>,
    ) -> Result<Option<PageRequest>, OpError> {
        let given = |names: &[&'static str]| -> Vec<&'static str> {
            names.iter().copied().filter(|name| get(name).is_some()).collect()
        };
        let used: Vec<Vec<&str>> =
            STYLES.iter().map(|(_, names)| given(names)).filter(|names| !names.is_empty()).collect();
        if used.len() > 1 {
            let styles = STYLES.map(|(style, _)| style).join("; ");
            return Err(conflict(&used.concat(), &format!("Use one style of pages: {styles}.")));
        }
        let number = |name: &str, minimum: usize| -> Result<Option<usize>, OpError> {
            let Some(value) = get(name) else { return Ok(None) };
            let Some(number) = whole_number(value) else {
                let message = format!("Parameter '{name}' must be an integer from {minimum}.");
                return Err(invalid_type(name, message, &format!("integer from {minimum}"), value));
            };
            let number = usize::try_from(number).unwrap_or(usize::MAX);
            if number < minimum {
                return Err(invalid_value(name, format!("Parameter '{name}' must be {minimum} or more.")));
            }
            Ok(Some(number))
        };
        let cursor = |name: &str| match get(name) {
            None => Ok(None),
            Some(Value::String(cursor)) => Ok(Some(cursor.clone())),
            Some(other) => {
                let message = format!("Parameter '{name}' must be a cursor of an earlier page.");
                Err(invalid_type(name, message, "string", other))
            }
        };
        let mut clamp = |name: &str, requested: usize| {
            if requested > MAX_PAGE_ITEMS {
                let message = format!(
                    "A page has up to {MAX_PAGE_ITEMS} items here, so '{name}' was reduced to {MAX_PAGE_ITEMS}."
                );
                warnings.push(
                    Warning::new("VALIDATION_CLAMPED_WARNING", message)
                        .with_detail("param_name", name)
                        .with_detail("requested", requested)
                        .with_detail("maximum", MAX_PAGE_ITEMS),
                );
            }
            requested.min(MAX_PAGE_ITEMS)
        };
        let names = used.into_iter().next().unwrap_or_default();
        let has = |name: &str| names.contains(&name);
        Ok(match names.first() {
            None => None,
            Some(&("first" | "after" | "last" | "before")) => {
                if has("first") && has("last") {
                    return Err(conflict(
                        &names,
                        "Use 'first' for the start of the list or 'last' for its end.",
                    ));
                }
                if has("after") && !has("first") {
                    return Err(conflict(&names, "'after' needs 'first', the page size."));
                }
                if has("before") && !has("last") {
                    return Err(conflict(&names, "'before' needs 'last', the page size."));
                }
                if has("after") && has("last") || has("before") && has("first") {
                    return Err(conflict(&names, "Use 'first' with 'after', or 'last' with 'before'."));
                }
                let (first, last) = (number("first", 1)?, number("last", 1)?);
                match (first, last) {
                    (_, Some(size)) => {
                        Some(PageRequest::Last { size: clamp("last", size), before: cursor("before")? })
                    }
                    (size, None) => {
                        let size = clamp("first", size.unwrap_or(DEFAULT_PAGE_ITEMS));
                        Some(PageRequest::First { size, after: cursor("after")? })
                    }
                }
            }
            Some(&("limit" | "offset")) => {
                let limit = clamp("limit", number("limit", 0)?.unwrap_or(DEFAULT_PAGE_ITEMS));
                Some(PageRequest::Offset { limit, offset: number("offset", 0)?.unwrap_or_default() })
            }
            Some(_) => {
                let size = clamp("page_size", number("page_size", 1)?.unwrap_or(DEFAULT_PAGE_ITEMS));
                Some(PageRequest::Number { page: number("page", 1)?.unwrap_or(1), size })
            }
        })
    }

    /// Returns the window of this page in a list of `total` items.
    ///
    /// # Errors
    /// When the cursor belongs to another list.
    pub(super) fn window(&self, total: usize, signer: &CursorSigner) -> Result<PageWindow, OpError> {
        let position = |name: &str, cursor: &str| {
            signer.decode(cursor).ok_or_else(|| {
                let message = format!(
                    "Parameter '{name}' must be a cursor of this list with the same parameters; leave it out to start again."
                );
                OpError::new(Code::InvalidValue, message).with_detail("param_name", name)
            })
        };
        let range = |start: usize, size: usize| start.min(total)..start.saturating_add(size).min(total);
        Ok(match self {
            PageRequest::First { size, after } => {
                let start = match after {
                    Some(cursor) => position("after", cursor)?.saturating_add(1),
                    None => 0,
                };
                PageWindow { range: range(start, *size), style: PageStyle::Cursor }
            }
            PageRequest::Last { size, before } => {
                let end = match before {
                    Some(cursor) => position("before", cursor)?.min(total),
                    None => total,
                };
                PageWindow { range: end.saturating_sub(*size)..end, style: PageStyle::Cursor }
            }
            PageRequest::Offset { limit, offset } => {
                PageWindow { range: range(*offset, *limit), style: PageStyle::Offset { limit: *limit } }
            }
            PageRequest::Number { page, size } => {
                let start = page.saturating_sub(1).saturating_mul(*size);
                PageWindow {
                    range: range(start, *size),
                    style: PageStyle::Number { page: *page, size: *size },
                }
            }
        })
    }
}

impl PageWindow {
    /// The window of a list that is cut to its first items.
    pub(super) fn cut(&self, count: usize) -> PageWindow {
        let end = self.range.start.saturating_add(count).min(self.range.end);
        PageWindow { range: self.range.start..end, style: PageStyle::Cursor }
    }

    /// The window of a whole list.
    pub(super) const fn whole(total: usize) -> PageWindow {
        PageWindow { range: 0..total, style: PageStyle::Cursor }
    }

    /// Returns the member of the answer that describes the page. `total` is left out if the upstream has more items.
    pub(super) fn describe(
        &self,
        total: usize,
        is_total_known: bool,
        signer: &CursorSigner,
    ) -> (&'static str, Value) {
        let Range { start, end } = self.range;
        let has_more = end < total;
        let mut info = Map::new();
        match self.style {
            PageStyle::Cursor => {
                info.insert("hasNextPage".into(), has_more.into());
                info.insert("hasPreviousPage".into(), (start > 0 && total > 0).into());
                if start < end {
                    info.insert("startCursor".into(), signer.encode(start).into());
                    info.insert("endCursor".into(), signer.encode(end - 1).into());
                }
                if is_total_known {
                    info.insert("totalCount".into(), total.into());
                }
                return ("pageInfo", Value::Object(info));
            }
            PageStyle::Offset { limit } => {
                info.insert("limit".into(), limit.into());
                info.insert("offset".into(), start.into());
                info.insert("returned".into(), (end - start).into());
            }
            PageStyle::Number { page, size } => {
                info.insert("page".into(), page.into());
                info.insert("page_size".into(), size.into());
            }
        }
        if is_total_known {
            info.insert("total_items".into(), total.into());
            if let PageStyle::Number { size, .. } = self.style {
                info.insert("total_pages".into(), total.div_ceil(size.max(1)).into());
            }
        }
        info.insert("has_more".into(), has_more.into());
        ("pagination", Value::Object(info))
    }
}

fn conflict(names: &[&str], hint: &str) -> OpError {
    let quoted: Vec<String> = names.iter().map(|name| format!("'{name}'")).collect();
    OpError::new(
        Code::InvalidType,
        format!("These page parameters do not go together: {}. {hint}", quoted.join(", ")),
    )
    .with_detail("param_name", "pagination")
    .with_detail("expected_type", "valid pagination combination")
    .with_detail("actual_type", "conflicting parameters")
    .with_detail("provided", json!(names))
    .with_detail("hint", hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(controls: &Value) -> Result<Option<PageRequest>, OpError> {
        PageRequest::read(|name| controls.get(name), &mut Vec::new())
    }

    fn signer() -> CursorSigner {
        CursorSigner::new("a", "list", [])
    }

    fn range(controls: Value, total: usize) -> Range<usize> {
        read(&controls).unwrap().unwrap().window(total, &signer()).unwrap().range
    }

    #[test]
    fn windows_of_all_styles() {
        assert_eq!(range(json!({"first": 2}), 5), 0..2);
        assert_eq!(range(json!({"first": 2, "after": signer().encode(1)}), 5), 2..4);
        assert_eq!(range(json!({"first": 9, "after": signer().encode(7)}), 5), 5..5);
        assert_eq!(range(json!({"last": 2}), 5), 3..5);
        assert_eq!(range(json!({"last": 2, "before": signer().encode(1)}), 5), 0..1);
        assert_eq!(range(json!({"limit": 2, "offset": 4}), 5), 4..5);
        assert_eq!(range(json!({"limit": 0}), 5), 0..0);
        assert_eq!(range(json!({"page": 2, "page_size": 2}), 5), 2..4);
        assert_eq!(range(json!({"page": usize::MAX, "page_size": 900}), 5), 5..5);
        assert_eq!(read(&json!({})).unwrap(), None);
    }

    #[test]
    fn contradictions_have_the_specifications_code() {
        for controls in [
            json!({"first": 1, "last": 1}),
            json!({"after": "x"}),
            json!({"before": "x"}),
            json!({"first": 1, "before": "x"}),
            json!({"last": 1, "after": "x"}),
            json!({"first": 1, "limit": 1}),
            json!({"page": 1, "offset": 1}),
            json!({"first": "many"}),
            json!({"first": 1, "after": 5}),
        ] {
            assert_eq!(read(&controls).unwrap_err().code, Code::InvalidType, "{controls}");
        }
        assert_eq!(read(&json!({"first": 0})).unwrap_err().code, Code::InvalidValue);
        let foreign = read(&json!({"first": 1, "after": "1-aa"})).unwrap().unwrap();
        assert_eq!(foreign.window(3, &signer()).unwrap_err().code, Code::InvalidValue);
    }

    #[test]
    fn a_size_over_the_maximum_is_reduced_with_a_warning() {
        let mut warnings = Vec::new();
        let controls = json!({"first": 5000});
        let page = PageRequest::read(|name| controls.get(name), &mut warnings).unwrap();
        assert_eq!(page, Some(PageRequest::First { size: MAX_PAGE_ITEMS, after: None }));
        assert_eq!(warnings.first().map(|warning| warning.code), Some("VALIDATION_CLAMPED_WARNING"));
    }
}
