//! `all_pages`: walks the pages of a list, so that a query covers all of it.
//!
//! What always holds: a walk ends after [`MAX_PAGES`] pages, [`MAX_ITEMS`] items, [`MAX_DURATION`] or the size limit of an
//! answer; every page passes the gate; a warning says so if the list is incomplete.

use super::{CallReach, Dispatcher, Responder};
use crate::caller::{Caller, EntryPoint, Progress};
use crate::gate::{GateDecision, GateRequest, GateSubject, Pass};
use crate::target::Args;
use mcpaql_core::error::OpError;
use mcpaql_core::operation::{Binding, Operation, PageKind, Pagination, StoreAction};
use mcpaql_core::response::{Answer, Payload, Warning};
use mcpaql_core::shape::{AddedPage, FieldPath, JoinedPages};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// Maximum pages of one call.
const MAX_PAGES: usize = 20;
/// Maximum items of one call.
const MAX_ITEMS: usize = 2000;
/// Maximum duration of a walk.
const MAX_DURATION: Duration = Duration::from_secs(60);
/// Items that a walk asks for on a page, if the parameter for it allows so many.
const PAGE_ITEMS: u64 = 100;

/// A list, and whether it is complete; `None` if only one page was fetched.
pub(super) struct FetchedList {
    pub(super) answer: Answer,
    pub(super) is_complete: Option<bool>,
}

/// How to get the next page.
#[derive(Debug, PartialEq)]
enum NextPage {
    /// By these arguments.
    Args(Args),
    /// By this address.
    Address(String),
    /// There is none.
    End,
    /// There may be one, but nothing says how to get it.
    Unknown,
}

impl Dispatcher {
    /// Lets a handler or the target answer a call, page by page.
    pub(super) async fn perform_all_pages(
        self: &Arc<Self>,
        entry: EntryPoint,
        (pass, responder): (Pass, Responder),
        operation: &Operation,
        args: &Args,
        caller: &Caller,
        reach: CallReach<'_>,
    ) -> Result<FetchedList, OpError> {
        let args = &with_large_pages(operation, args);
        let deadline = Instant::now() + MAX_DURATION;
        let mut answer = self.perform((pass, responder), operation, args, caller, reach).await?;
        if is_whole_list(operation) {
            return Ok(FetchedList { answer, is_complete: None });
        }
        let path = operation.pagination.as_ref().and_then(|pages| pages.items.as_deref());
        let mut bytes = size_of(&answer.data);
        let joined = match JoinedPages::new(
            std::mem::replace(&mut answer.data, Value::Null.into()).into_value(),
            path,
        ) {
            Ok(joined) => joined,
            Err(data) => {
                answer.data = data.into();
                return Ok(FetchedList { answer, is_complete: None });
            }
        };
        let Some(pages) = &operation.pagination else {
            let has_more = joined.has_more();
            if has_more != Some(false) {
                answer.warnings.push(unknown_pagination());
            }
            answer.data = joined.into_data().into();
            return Ok(FetchedList {
                answer,
                is_complete: has_more.map(|more| !more).filter(|complete| *complete),
            });
        };
        answer.original = None;
        let mut walk = PageWalk::new(operation, pages, args, joined);
        let mut fetched = 1;
        let stopped = loop {
            let next = walk.next(answer.next_page.as_deref());
            let (args, address) = match &next {
                NextPage::End => break None,
                NextPage::Unknown => break Some("the API does not say how to get the next page".to_owned()),
                _ if fetched >= MAX_PAGES => {
                    break Some(format!("the maximum of {MAX_PAGES} pages was reached"));
                }
                _ if walk.joined.items().len() >= MAX_ITEMS => {
                    break Some(format!("the maximum of {MAX_ITEMS} items was reached"));
                }
                NextPage::Args(args) => (args, None),
                NextPage::Address(address) => (walk.args, Some(address.as_str())),
            };
            let request =
                GateRequest { args, ..GateRequest::new(entry, GateSubject::Operation(operation), caller) };
            let pass = match self.gate.decide(&request).await {
                GateDecision::Allow(allowed) => {
                    // The record of the whole list has the outcome.
                    allowed.trail.end(None, 0);
                    allowed.pass
                }
                GateDecision::Refuse(error) => {
                    break Some(format!("the next page was refused ({})", error.code));
                }
            };
            let items = walk.joined.items().len();
            let message = format!("Fetching page {} after {items} item(s)", fetched + 1);
            #[expect(clippy::cast_precision_loss, reason = "a small number")]
            caller.report_progress(Progress::new(fetched as f64).with_message(message));
            let reach = CallReach { next_page: address, ..reach };
            let page = self.perform((pass, responder), operation, args, caller, reach);
            let page = match timeout_at(deadline, page).await {
                Ok(Ok(page)) => page,
                Ok(Err(error)) => break Some(format!("page {} failed ({})", fetched + 1, error.code)),
                Err(_) => break Some(format!("the maximum of {} s was reached", MAX_DURATION.as_secs())),
            };
            fetched += 1;
            bytes = bytes.saturating_add(size_of(&page.data));
            if bytes > self.catalog.limits.response_bytes {
                break Some("the size limit of an answer was reached".to_owned());
            }
            answer.next_page = page.next_page;
            if let Some(reason) = walk.add(page.data.into_value()) {
                break Some(reason.to_owned());
            }
        };
        let has_stopped = stopped.is_some() || walk.starts_later;
        answer.warnings.extend(stopped.map(|reason| incomplete(&walk, fetched, &reason)));
        answer.warnings.extend(walk.starts_later.then(|| starts_later(pages)));
        answer.warnings.extend(changed(&walk.joined));
        answer.data = walk.joined.into_data().into();
        Ok(FetchedList { answer, is_complete: Some(!has_stopped) })
    }
}

/// The pages of one list so far.
struct PageWalk<'a> {
    operation: &'a Operation,
    pages: &'a Pagination,
    args: &'a Args,
    joined: JoinedPages,
    /// The number of the last page, or the items before the first page; `None` as long as the first number is unknown.
    position: Option<u64>,
    /// The next page may be the first one again, because its number is unknown.
    is_probing: bool,
    last_cursor: Option<Value>,
    /// The caller chose the first page, so the pages before it are missing.
    starts_later: bool,
}

impl<'a> PageWalk<'a> {
    fn new(
        operation: &'a Operation,
        pages: &'a Pagination,
        args: &'a Args,
        joined: JoinedPages,
    ) -> PageWalk<'a> {
        let param = pages.at.as_deref().and_then(|at| operation.param(at));
        let given = pages.at.as_deref().and_then(|at| args.get(at)).and_then(number);
        let declared = param.and_then(|param| {
            let default = param.default.as_ref().or(param.api_default.as_ref());
            number(default.or_else(|| param.schema.get("default"))?)
        });
        let position = given.or(declared).or(match pages.kind {
            PageKind::Offset => Some(u64::from(param.is_some_and(|param| counts_from_one(&param.wire)))),
            PageKind::Link | PageKind::Page | PageKind::Cursor => None,
        });
        let starts_later = chooses_page(operation, pages, args, declared);
        PageWalk {
            operation,
            pages,
            args,
            joined,
            position,
            is_probing: false,
            last_cursor: None,
            starts_later,
        }
    }

    /// Returns how to get the next page. `link` is the address in the `Link` header of the last page.
    fn next(&mut self, link: Option<&str>) -> NextPage {
        let says_more = self.joined.has_more();
        if says_more == Some(false) {
            return NextPage::End;
        }
        if let (PageKind::Link, Some(link)) = (self.pages.kind, link) {
            return NextPage::Address(link.to_owned());
        }
        let named = self.named_next();
        if let Some(Value::String(address)) = &named
            && is_address(address)
        {
            return NextPage::Address(address.clone());
        }
        match self.pages.kind {
            PageKind::Link => NextPage::End,
            PageKind::Cursor => match named.or_else(|| self.last_identifier(says_more)) {
                Some(cursor) if self.last_cursor.as_ref() == Some(&cursor) => NextPage::Unknown,
                Some(cursor) => {
                    self.last_cursor = Some(cursor.clone());
                    self.at(&cursor)
                }
                None if self.pages.next.is_some() || self.joined.last_page_items() == 0 => NextPage::End,
                None => NextPage::Unknown,
            },
            PageKind::Page | PageKind::Offset if self.joined.last_page_items() == 0 => NextPage::End,
            PageKind::Offset => {
                let items = u64::try_from(self.joined.items().len()).unwrap_or(u64::MAX);
                self.at(&self.position.unwrap_or_default().saturating_add(items).into())
            }
            PageKind::Page => {
                self.is_probing = self.position.is_none();
                let next = self.position.map_or(1, |position| position.saturating_add(1));
                self.position = Some(next);
                self.at(&next.into())
            }
        }
    }

    /// The next cursor or address in the last page; `None` if it is missing, null or empty.
    fn named_next(&self) -> Option<Value> {
        let path = FieldPath::parse(self.pages.next.as_deref()?)?;
        let next = path.first(self.joined.beside())?;
        let is_there = match next {
            Value::String(text) => !text.is_empty(),
            Value::Number(_) => true,
            _ => false,
        };
        is_there.then(|| next.clone())
    }

    /// The identifier of the last item, for APIs whose cursor is an item (`starting_after`).
    fn last_identifier(&self, says_more: Option<bool>) -> Option<Value> {
        let takes_item = matches!(self.pages.at.as_deref(), Some("starting_after" | "after_id" | "since_id"));
        (takes_item && says_more == Some(true) && self.pages.next.is_none())
            .then(|| self.joined.items().last()?.get("id").cloned())
            .flatten()
    }

    /// Returns the arguments with another value of the page parameter.
    fn at(&self, value: &Value) -> NextPage {
        let param = self.pages.at.as_deref().and_then(|at| self.operation.param(at));
        let Some(param) = param else { return NextPage::Unknown };
        let is_text = param.schema.get("type").is_some_and(|kind| kind == "string");
        let value = match value {
            Value::Number(number) if is_text => number.to_string().into(),
            other => other.clone(),
        };
        let mut args = self.args.clone();
        args.insert(param.name.clone(), value);
        NextPage::Args(args)
    }

    /// Adds a page. Returns why the walk ends, unless it goes on.
    fn add(&mut self, page: Value) -> Option<&'static str> {
        match self.joined.add(page) {
            AddedPage::Items(_) => None,
            // The first page had the number 1, although nothing said so.
            AddedPage::Repeated if std::mem::take(&mut self.is_probing) => None,
            AddedPage::Repeated => Some("the API returned the same page again"),
            AddedPage::NoList => Some("the next page has no list"),
        }
    }
}

/// Returns whether the caller chose a page that is not the first one.
fn chooses_page(operation: &Operation, pages: &Pagination, args: &Args, declared: Option<u64>) -> bool {
    let Some(given) = pages.at.as_deref().and_then(|at| args.get(at)) else { return false };
    let param = pages.at.as_deref().and_then(|at| operation.param(at));
    let is_default = param.is_some_and(|param| param.default.as_ref() == Some(given));
    let is_first = match pages.kind {
        PageKind::Link | PageKind::Page => number(given).is_none_or(|page| page <= declared.unwrap_or(1)),
        PageKind::Offset => number(given).is_none_or(|offset| offset <= declared.unwrap_or(0)),
        PageKind::Cursor => given.as_str().is_some_and(str::is_empty),
    };
    !is_default && !is_first
}

/// Asks for large pages, so that a list has few of them. A page size of the caller stays, and so does the usual one if the
/// caller chose a page: its number means something else with another size.
fn with_large_pages(operation: &Operation, args: &Args) -> Args {
    let mut args = args.clone();
    if let Some(pages) = &operation.pagination
        && pages.at.as_deref().is_some_and(|at| args.contains_key(at))
        && chooses_page(operation, pages, &args, None)
    {
        return args;
    }
    let size = operation.pagination.as_ref().and_then(|pages| operation.param(pages.size.as_deref()?));
    if let Some(size) = size
        && !args.contains_key(&size.name)
        && let Some(maximum) = size.schema.get("maximum").and_then(Value::as_u64)
    {
        args.insert(size.name.clone(), maximum.min(PAGE_ITEMS).into());
    }
    args
}

/// Returns whether the target returns the whole list in one answer, if a call needs it.
fn is_whole_list(operation: &Operation) -> bool {
    let Binding::Store(binding) = &operation.binding else { return false };
    matches!(binding.action, StoreAction::List | StoreAction::Search)
}

fn number(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.parse().ok())
}

/// Returns whether an offset counts items from 1.
fn counts_from_one(name: &str) -> bool {
    let name = name.to_ascii_lowercase().replace(['_', '-'], "");
    matches!(name.as_str(), "startindex" | "startposition")
}

fn is_address(text: &str) -> bool {
    ["https://", "http://", "/", "?"].iter().any(|start| text.starts_with(start))
}

fn size_of(data: &Payload) -> usize {
    match data {
        Payload::Raw(raw) => raw.get().len(),
        Payload::Value(value) => value.to_string().len(),
    }
}

fn incomplete(walk: &PageWalk<'_>, fetched: usize, reason: &str) -> Warning {
    let items = walk.joined.items().len();
    let message = format!(
        "The list is incomplete: {items} item(s) of {fetched} page(s) were fetched, and {reason}. Use the operation's own parameters to ask for less."
    );
    Warning::new("PARTIAL_LIST", message).with_detail("items", items).with_detail("pages", fetched)
}

fn starts_later(pages: &Pagination) -> Warning {
    let at = pages.at.as_deref().unwrap_or("page");
    let message = format!(
        "The list starts with the page chosen by '{at}', so earlier pages are missing. For all pages, leave '{at}' out."
    );
    Warning::new("PARTIAL_LIST", message)
}

/// Warns about a list that changed between two pages.
fn changed(joined: &JoinedPages) -> Option<Warning> {
    let again = joined.items_again();
    (again > 0).then(|| {
        let message = format!(
            "{again} item(s) have the id of an item on an earlier page. If the list changed while its pages were fetched, others may be missing; call again."
        );
        Warning::new("REPEATED_ITEMS", message).with_detail("items", again)
    })
}

fn unknown_pagination() -> Warning {
    let message = "Ignored: all_pages. Nothing says how this operation splits its list into pages, so the answer covers one request.";
    Warning::new("IGNORED_PARAMS", message)
}
