//! Pages of records: `list` filters by equality, `search` by words.
//!
//! A query with controls (`filter`, `sort`, `aggregate`, other pages) needs all records; dispatch applies the controls.
//!
//! Pages are ordered by time of creation, newest first. Updates do not change this order, so cursors stay valid.
//! SQLite returns a page as one text, because one row per record would cost a thread switch each. Its separators are
//! control characters, which JSON escapes, so no body can contain them.

use super::record::{Cursor, RecordRow, fold, write_record};
use super::{Store, StoreResource, internal, raw, storage_error};
use crate::target::Args;
use mcpaql_core::error::{Code, OpError};
use mcpaql_core::response::{Answer, Warning, clamped_page_warning};
use mcpaql_document::load::{DEFAULT_RECORDS_PAGE_SIZE, MAX_RECORDS_PAGE_SIZE, is_filter};
use serde_json::Value;
use sqlx::query::QueryScalar;
use sqlx::sqlite::SqliteArguments;
use sqlx::{AssertSqlSafe, Sqlite};
use std::fmt::Write;

/// Maximum number of words in a query.
const MAX_QUERY_WORDS: usize = 32;

/// Maximum records that the query controls of a call look at.
const MAX_QUERIED_RECORDS: usize = 20_000;

/// The columns that a page needs; without the search text.
const COLUMNS: &str = "seq, id, version, created_at, updated_at, body";
const ROW_END: char = '\u{1e}';

type PageQuery<'q> = QueryScalar<'q, Sqlite, Option<String>, SqliteArguments>;

impl Store {
    pub(super) async fn list(
        &self,
        resource: &StoreResource,
        args: &Args,
        whole_list: bool,
    ) -> Result<Answer, OpError> {
        let (page, after) = page_of(args, whole_list)?;
        let filters: Vec<(&str, &Value)> = resource
            .declaration
            .fields
            .iter()
            .filter(|(name, schema)| is_filter(name, schema))
            .filter_map(|(name, _)| Some((name.as_str(), args.get(name)?)))
            .collect();
        let mut sql = format!(
            "SELECT 0 AS rank, {COLUMNS} FROM records WHERE adapter = ?1 AND resource = ?2 AND seq < ?4"
        );
        for number in (0..filters.len()).map(|index| 5 + 2 * index) {
            let _ = write!(sql, " AND json_extract(body, ?{number}) IS ?{}", number + 1);
        }
        sql.push_str(" ORDER BY seq DESC LIMIT ?3");
        let mut query = self.page_query(resource, &sql, page.first).bind(after.seq);
        for (name, value) in filters {
            query = bind_scalar(query.bind(format!("$.\"{name}\"")), value);
        }
        self.page(query, page).await
    }

    pub(super) async fn search(
        &self,
        resource: &StoreResource,
        args: &Args,
        whole_list: bool,
    ) -> Result<Answer, OpError> {
        let (page, after) = page_of(args, whole_list)?;
        let words = words_of(args)?;
        let (mut all, mut in_head) = (String::new(), String::new());
        for number in (0..words.len()).map(|index| 6 + index) {
            let _ = write!(all, " AND (instr(head, ?{number}) > 0 OR instr(rest, ?{number}) > 0)");
            let _ = write!(in_head, " AND instr(head, ?{number}) > 0");
        }
        let sql = format!(
            "SELECT * FROM (SELECT CASE WHEN 1{in_head} THEN 0 ELSE 1 END AS rank, {COLUMNS} FROM records \
             WHERE adapter = ?1 AND resource = ?2{all}) \
             WHERE rank > ?4 OR (rank = ?4 AND seq < ?5) ORDER BY rank, seq DESC LIMIT ?3"
        );
        let mut query = self.page_query(resource, &sql, page.first).bind(after.rank).bind(after.seq);
        for word in words {
            query = query.bind(word);
        }
        self.page(query, page).await
    }

    /// The query of a page: `?1` is the adapter, `?2` the resource, `?3` the page size plus one.
    fn page_query<'q>(&'q self, resource: &'q StoreResource, rows: &str, first: usize) -> PageQuery<'q> {
        // The statement consists only of fixed text and placeholders.
        let sql = format!(
            "SELECT group_concat(concat_ws(char(31), rank, {COLUMNS}), char(30)) \
             FROM ({rows})"
        );
        let limit = i64::try_from(first).unwrap_or(i64::MAX).saturating_add(1);
        sqlx::query_scalar(AssertSqlSafe(sql)).bind(&self.adapter).bind(&resource.name).bind(limit)
    }

    async fn page(&self, query: PageQuery<'_>, requested: RequestedPage) -> Result<Answer, OpError> {
        let first = requested.first;
        let mut reader = self.reader().await;
        let text =
            query.fetch_one(&mut *reader).await.map_err(|error| storage_error(&error))?.unwrap_or_default();
        drop(reader);
        let rows = text
            .split(ROW_END)
            .filter(|row| !row.is_empty())
            .map(RecordRow::read)
            .collect::<Option<Vec<_>>>();
        let mut rows = rows.ok_or_else(|| internal("a record has an invalid row"))?;
        // SQLite does not define the order inside an aggregate.
        rows.sort_by_key(|row| (row.rank, std::cmp::Reverse(row.seq)));
        let more = rows.len() > first;
        rows.truncate(first);
        let mut page = String::with_capacity(text.len() + 64);
        page.push_str("{\"items\":[");
        for (index, row) in rows.iter().enumerate() {
            if index > 0 {
                page.push(',');
            }
            write_record(&mut page, row.id, row.version, row.created_at, row.updated_at, row.body);
        }
        let earlier = requested.is_later;
        let _ = write!(page, "],\"pageInfo\":{{\"hasNextPage\":{more},\"hasPreviousPage\":{earlier}");
        for (name, row) in [("startCursor", rows.first()), ("endCursor", rows.last())] {
            if let Some(cursor) = row.map(|row| Cursor { rank: row.rank, seq: row.seq }.encode()) {
                let _ = write!(page, ",\"{name}\":\"{cursor}\"");
            }
        }
        page.push_str("}}");
        let answer = raw(page)?;
        Ok(answer.with_warnings(requested.clamped.into_iter().collect()))
    }
}

/// The page that a caller asks for.
struct RequestedPage {
    first: usize,
    /// The caller sent a cursor, so there are records before this page.
    is_later: bool,
    /// The warning about a page size over the maximum.
    clamped: Option<Warning>,
}

fn page_of(args: &Args, whole_list: bool) -> Result<(RequestedPage, Cursor), OpError> {
    if whole_list {
        return Ok((
            RequestedPage { first: MAX_QUERIED_RECORDS, is_later: false, clamped: None },
            Cursor::START,
        ));
    }
    let first = match args.get("first") {
        None | Some(Value::Null) => DEFAULT_RECORDS_PAGE_SIZE,
        Some(value) => value.as_u64().filter(|first| *first > 0).ok_or_else(|| {
            let message = "Parameter 'first' must be a positive integer.";
            OpError::new(Code::InvalidValue, message).with_detail("param_name", "first")
        })?,
    };
    let after = match args.get("after") {
        None | Some(Value::Null) => Cursor::START,
        Some(value) => value.as_str().and_then(Cursor::decode).ok_or_else(|| {
            let message =
                "Parameter 'after' must be the endCursor of an earlier page; omit it to start from the beginning.";
            OpError::new(Code::InvalidValue, message).with_detail("param_name", "after")
        })?,
    };
    let size = |size: u64| usize::try_from(size).unwrap_or(usize::MAX);
    let (requested, maximum) = (size(first), size(MAX_RECORDS_PAGE_SIZE));
    let clamped = clamped_page_warning(requested, maximum);
    let is_later = args.get("after").is_some_and(|cursor| !cursor.is_null());
    Ok((RequestedPage { first: requested.min(maximum), is_later, clamped }, after))
}

fn words_of(args: &Args) -> Result<Vec<String>, OpError> {
    let invalid =
        |message: String| OpError::new(Code::InvalidValue, message).with_detail("param_name", "query");
    let query = fold(args.get("query").and_then(Value::as_str).unwrap_or_default());
    let mut words: Vec<String> = Vec::new();
    for word in query.split_whitespace() {
        if !words.iter().any(|known| known == word) {
            words.push(word.to_owned());
        }
    }
    match words.len() {
        0 => Err(invalid(
            "Parameter 'query' needs one or more words; use the list operation to see all records.".into(),
        )),
        1..=MAX_QUERY_WORDS => Ok(words),
        _ => Err(invalid(format!(
            "Parameter 'query' has more than {MAX_QUERY_WORDS} different words; use fewer."
        ))),
    }
}

fn bind_scalar<'q>(query: PageQuery<'q>, value: &Value) -> PageQuery<'q> {
    match value {
        Value::String(text) => query.bind(text.clone()),
        Value::Bool(flag) => query.bind(i64::from(*flag)),
        Value::Number(number) => match number.as_i64() {
            Some(integer) => query.bind(integer),
            None => query.bind(number.as_f64()),
        },
        // `IS NULL` matches records without the field.
        Value::Null | Value::Array(_) | Value::Object(_) => query.bind(None::<i64>),
    }
}
