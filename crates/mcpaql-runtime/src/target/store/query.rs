//! Pages of records: `list` by equality, `search` by words.
//!
//! Newest first means by order of creation, which no update changes, so that a cursor stays valid. A page comes out of SQLite
//! as one text: a row each would cost a thread switch per record. Its separators are control characters, which JSON escapes, so that no
//! body can hold them.

use super::record::{Cursor, RecordRow, fold, write_record};
use super::{Store, StoreResource, internal, raw, storage_error};
use crate::target::Args;
use mcpaql_core::error::{Code, OpError};
use mcpaql_core::response::Answer;
use mcpaql_document::load::{DEFAULT_RECORDS_PAGE_SIZE, MAX_RECORDS_PAGE_SIZE, is_filter};
use serde_json::Value;
use sqlx::query::QueryScalar;
use sqlx::sqlite::SqliteArguments;
use sqlx::{AssertSqlSafe, Sqlite};
use std::fmt::Write;

/// More words than that are not a query.
const WORD_LIMIT: usize = 32;

/// What a page needs of a record; the text that search reads stays out.
const COLUMNS: &str = "seq, id, version, created_at, updated_at, body";
const ROW_END: char = '\u{1e}';

type PageQuery<'q> = QueryScalar<'q, Sqlite, Option<String>, SqliteArguments>;

impl Store {
    pub(super) async fn list(&self, kind: &StoreResource, args: &Args) -> Result<Answer, OpError> {
        let (first, after) = page_of(args)?;
        let filters: Vec<(&str, &Value)> = kind
            .resource
            .fields
            .iter()
            .filter(|(name, schema)| is_filter(name, schema))
            .filter_map(|(name, _)| Some((name.as_str(), args.get(name)?)))
            .collect();
        let mut sql = format!(
            "SELECT 0 AS rank, {COLUMNS} FROM records WHERE adapter = ?1 AND resource = ?2 AND seq < ?4"
        );
        for place in (0..filters.len()).map(|index| 5 + 2 * index) {
            let _ = write!(sql, " AND json_extract(body, ?{place}) IS ?{}", place + 1);
        }
        sql.push_str(" ORDER BY seq DESC LIMIT ?3");
        let mut query = self.page_query(kind, &sql, first).bind(after.seq);
        for (name, value) in filters {
            query = bind_scalar(query.bind(format!("$.\"{name}\"")), value);
        }
        self.page(query, first).await
    }

    pub(super) async fn search(&self, kind: &StoreResource, args: &Args) -> Result<Answer, OpError> {
        let (first, after) = page_of(args)?;
        let words = words_of(args)?;
        let (mut all, mut in_head) = (String::new(), String::new());
        for place in (0..words.len()).map(|index| 6 + index) {
            let _ = write!(all, " AND (instr(head, ?{place}) > 0 OR instr(rest, ?{place}) > 0)");
            let _ = write!(in_head, " AND instr(head, ?{place}) > 0");
        }
        let sql = format!(
            "SELECT * FROM (SELECT CASE WHEN 1{in_head} THEN 0 ELSE 1 END AS rank, {COLUMNS} FROM records \
             WHERE adapter = ?1 AND resource = ?2{all}) \
             WHERE rank > ?4 OR (rank = ?4 AND seq < ?5) ORDER BY rank, seq DESC LIMIT ?3"
        );
        let mut query = self.page_query(kind, &sql, first).bind(after.rank).bind(after.seq);
        for word in words {
            query = query.bind(word);
        }
        self.page(query, first).await
    }

    /// The query of a page, with `?1` adapter, `?2` resource and `?3` one record more than asked for.
    fn page_query<'q>(&'q self, kind: &'q StoreResource, rows: &str, first: usize) -> PageQuery<'q> {
        // Only fixed text and placeholders make up the statement.
        let sql = format!(
            "SELECT group_concat(concat_ws(char(31), rank, {COLUMNS}), char(30)) \
             FROM ({rows})"
        );
        let limit = i64::try_from(first).unwrap_or(i64::MAX).saturating_add(1);
        sqlx::query_scalar(AssertSqlSafe(sql)).bind(&self.adapter).bind(&kind.name).bind(limit)
    }

    async fn page(&self, query: PageQuery<'_>, first: usize) -> Result<Answer, OpError> {
        let mut reader = self.reader().await;
        let text =
            query.fetch_one(&mut *reader).await.map_err(|error| storage_error(&error))?.unwrap_or_default();
        drop(reader);
        let rows = text
            .split(ROW_END)
            .filter(|row| !row.is_empty())
            .map(RecordRow::read)
            .collect::<Option<Vec<_>>>();
        let mut rows = rows.ok_or_else(|| internal("a record is not as it was written"))?;
        // SQLite leaves the order inside an aggregate open.
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
        let end = rows.last().filter(|_| more).map(|row| Cursor { rank: row.rank, seq: row.seq }.encode());
        let end = end.map_or_else(|| "null".to_owned(), |cursor| format!("\"{cursor}\""));
        let _ = write!(page, "],\"pageInfo\":{{\"hasNextPage\":{more},\"endCursor\":{end}}}}}");
        raw(page)
    }
}

fn page_of(args: &Args) -> Result<(usize, Cursor), OpError> {
    let first = match args.get("first") {
        None | Some(Value::Null) => DEFAULT_RECORDS_PAGE_SIZE,
        Some(value) => {
            value.as_u64().filter(|first| (1..=MAX_RECORDS_PAGE_SIZE).contains(first)).ok_or_else(|| {
                let message =
                    format!("Parameter 'first' must be an integer from 1 to {MAX_RECORDS_PAGE_SIZE}.");
                OpError::new(Code::InvalidValue, message).with_detail("param_name", "first")
            })?
        }
    };
    let after = match args.get("after") {
        None | Some(Value::Null) => Cursor::START,
        Some(value) => value.as_str().and_then(Cursor::decode).ok_or_else(|| {
            let message =
                "Parameter 'after' must be the endCursor of an earlier page; leave it out to start anew.";
            OpError::new(Code::InvalidValue, message).with_detail("param_name", "after")
        })?,
    };
    Ok((usize::try_from(first).unwrap_or(usize::MAX), after))
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
        0 => Err(invalid("Parameter 'query' needs one word or more; list instead to see everything.".into())),
        1..=WORD_LIMIT => Ok(words),
        _ => Err(invalid(format!("Parameter 'query' may have {WORD_LIMIT} different words; use fewer."))),
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
        // `IS NULL` finds records without the field.
        Value::Null | Value::Array(_) | Value::Object(_) => query.bind(None::<i64>),
    }
}
