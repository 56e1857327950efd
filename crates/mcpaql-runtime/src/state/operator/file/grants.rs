//! Grants, pins and pauses.

use super::{FileState, advance_revision, begin, storage, undecodable};
use crate::state::operator::{OperationPin, OperatorStateError, Pause, TrustGrant};
use mcpaql_gate::trust::TrustLevel;
use sqlx::SqliteConnection;
use std::collections::BTreeMap;

type GrantRow = (String, String, String, String, bool, String, i64, String);

const GRANT_COLUMNS: &str =
    "subject, kind, fingerprint, level, accepts_edits, content, granted_at, granted_by";

fn select_grants(rest: &str) -> sqlx::AssertSqlSafe<String> {
    // Only constants of this module are inserted; values are bound.
    sqlx::AssertSqlSafe(format!("SELECT {GRANT_COLUMNS} FROM grants {rest}"))
}

fn grant_of(row: GrantRow) -> Result<TrustGrant, sqlx::Error> {
    let (subject, kind, fingerprint, level, accepts_edits, content, granted_at, granted_by) = row;
    let level = TrustLevel::parse(&level).ok_or_else(|| undecodable(&level))?;
    let content = serde_json::from_str(&content).map_err(|error| sqlx::Error::Decode(Box::new(error)))?;
    Ok(TrustGrant { subject, kind, fingerprint, level, accepts_edits, content, granted_at, granted_by })
}

impl FileState {
    pub(in crate::state::operator) async fn put_grant(
        &self,
        grant: &TrustGrant,
    ) -> Result<(), OperatorStateError> {
        let mut writer = self.writer.lock().await;
        let mut change = begin(&mut writer).await.map_err(storage)?;
        let put = sqlx::query(
            "INSERT INTO grants (subject, kind, fingerprint, level, accepts_edits, content, granted_at, granted_by) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT (subject) DO UPDATE SET kind = excluded.kind, \
             fingerprint = excluded.fingerprint, level = excluded.level, accepts_edits = excluded.accepts_edits, \
             content = excluded.content, granted_at = excluded.granted_at, granted_by = excluded.granted_by",
        );
        let put = put.bind(&grant.subject).bind(&grant.kind).bind(&grant.fingerprint);
        let put = put.bind(grant.level.as_str()).bind(grant.accepts_edits).bind(grant.content.to_string());
        put.bind(grant.granted_at).bind(&grant.granted_by).execute(&mut *change).await.map_err(storage)?;
        advance_revision(&mut change).await.map_err(storage)?;
        change.commit().await.map_err(storage)
    }

    pub(in crate::state::operator) async fn grant(
        &self,
        subject: &str,
    ) -> Result<Option<TrustGrant>, OperatorStateError> {
        let mut reader = self.reader.lock().await;
        let row = sqlx::query_as(select_grants("WHERE subject = ?1")).bind(subject);
        let row = row.fetch_optional(&mut *reader).await.map_err(storage)?;
        row.map(grant_of).transpose().map_err(storage)
    }

    pub(in crate::state::operator) async fn grants(&self) -> Result<Vec<TrustGrant>, OperatorStateError> {
        let mut reader = self.reader.lock().await;
        let rows = sqlx::query_as(select_grants("ORDER BY subject")).fetch_all(&mut *reader).await;
        rows.map_err(storage)?.into_iter().map(grant_of).collect::<Result<_, _>>().map_err(storage)
    }

    pub(in crate::state::operator) async fn remove_grant(
        &self,
        subject: &str,
    ) -> Result<bool, OperatorStateError> {
        self.delete(sqlx::query("DELETE FROM grants WHERE subject = ?1").bind(subject)).await
    }

    pub(in crate::state::operator) async fn pinned(
        &self,
        adapter: &str,
    ) -> Result<Option<BTreeMap<String, String>>, OperatorStateError> {
        let mut reader = self.reader.lock().await;
        // One statement, so that both tables are of one moment.
        let rows: Vec<(Option<String>, Option<String>)> = sqlx::query_as(
            "SELECT pins.operation, pins.fingerprint FROM baselines \
             LEFT JOIN pins ON pins.adapter = baselines.adapter WHERE baselines.adapter = ?1",
        )
        .bind(adapter)
        .fetch_all(&mut *reader)
        .await
        .map_err(storage)?;
        let is_pinned = !rows.is_empty();
        Ok(is_pinned
            .then(|| rows.into_iter().filter_map(|(name, fingerprint)| name.zip(fingerprint)).collect()))
    }

    pub(in crate::state::operator) async fn pin_contents(
        &self,
        adapter: &str,
    ) -> Result<Vec<OperationPin>, OperatorStateError> {
        let mut reader = self.reader.lock().await;
        let rows: Vec<(String, String, String)> = sqlx::query_as(
            "SELECT operation, fingerprint, content FROM pins WHERE adapter = ?1 ORDER BY operation",
        )
        .bind(adapter)
        .fetch_all(&mut *reader)
        .await
        .map_err(storage)?;
        let pin = |(operation, fingerprint, content): (String, String, String)| {
            let content = serde_json::from_str(&content).map_err(storage)?;
            Ok(OperationPin { operation, fingerprint, content })
        };
        rows.into_iter().map(pin).collect()
    }

    pub(in crate::state::operator) async fn pin(
        &self,
        adapter: &str,
        pins: &[OperationPin],
        now: i64,
    ) -> Result<(), OperatorStateError> {
        let mut writer = self.writer.lock().await;
        let mut change = begin(&mut writer).await.map_err(storage)?;
        begin_baseline(&mut change, adapter, now).await.map_err(storage)?;
        insert_pins(&mut change, adapter, pins).await.map_err(storage)?;
        change.commit().await.map_err(storage)
    }

    pub(in crate::state::operator) async fn pin_first(
        &self,
        adapter: &str,
        pins: &[OperationPin],
        now: i64,
    ) -> Result<bool, OperatorStateError> {
        let mut writer = self.writer.lock().await;
        let mut change = begin(&mut writer).await.map_err(storage)?;
        let is_first = begin_baseline(&mut change, adapter, now).await.map_err(storage)?;
        if is_first {
            insert_pins(&mut change, adapter, pins).await.map_err(storage)?;
        }
        change.commit().await.map_err(storage)?;
        Ok(is_first)
    }

    pub(in crate::state::operator) async fn unpin(
        &self,
        adapter: &str,
        operation: Option<&str>,
    ) -> Result<bool, OperatorStateError> {
        if let Some(operation) = operation {
            let delete = sqlx::query("DELETE FROM pins WHERE adapter = ?1 AND operation = ?2");
            return self.delete(delete.bind(adapter).bind(operation)).await;
        }
        let mut writer = self.writer.lock().await;
        let mut change = begin(&mut writer).await.map_err(storage)?;
        let pins = sqlx::query("DELETE FROM pins WHERE adapter = ?1").bind(adapter);
        pins.execute(&mut *change).await.map_err(storage)?;
        let baseline = sqlx::query("DELETE FROM baselines WHERE adapter = ?1").bind(adapter);
        let done = baseline.execute(&mut *change).await.map_err(storage)?;
        advance_revision(&mut change).await.map_err(storage)?;
        change.commit().await.map_err(storage)?;
        Ok(done.rows_affected() > 0)
    }

    pub(in crate::state::operator) async fn pause(&self, pause: &Pause) -> Result<(), OperatorStateError> {
        let mut writer = self.writer.lock().await;
        let mut change = begin(&mut writer).await.map_err(storage)?;
        let put = sqlx::query(
            "INSERT INTO pauses (adapter, except_reads, paused_by, paused_at) VALUES (?1, ?2, ?3, ?4) \
             ON CONFLICT (adapter) DO UPDATE SET except_reads = excluded.except_reads, \
             paused_by = excluded.paused_by, paused_at = excluded.paused_at",
        );
        let put = put.bind(stored_name(pause.adapter.as_deref())).bind(pause.except_reads).bind(&pause.by);
        put.bind(pause.at).execute(&mut *change).await.map_err(storage)?;
        advance_revision(&mut change).await.map_err(storage)?;
        change.commit().await.map_err(storage)
    }

    pub(in crate::state::operator) async fn resume(
        &self,
        adapter: Option<&str>,
    ) -> Result<bool, OperatorStateError> {
        self.delete(sqlx::query("DELETE FROM pauses WHERE adapter = ?1").bind(stored_name(adapter))).await
    }

    pub(in crate::state::operator) async fn pauses(&self) -> Result<Vec<Pause>, OperatorStateError> {
        let mut reader = self.reader.lock().await;
        let rows: Vec<(String, bool, String, i64)> =
            sqlx::query_as("SELECT adapter, except_reads, paused_by, paused_at FROM pauses ORDER BY adapter")
                .fetch_all(&mut *reader)
                .await
                .map_err(storage)?;
        let pause = |(adapter, except_reads, by, at): (String, bool, String, i64)| {
            let adapter = (adapter != ALL_ADAPTERS).then_some(adapter);
            Pause { adapter, except_reads, by, at }
        };
        Ok(rows.into_iter().map(pause).collect())
    }

    /// Deletes rows, and returns whether there were any.
    async fn delete(
        &self,
        delete: sqlx::query::Query<'_, sqlx::Sqlite, sqlx::sqlite::SqliteArguments>,
    ) -> Result<bool, OperatorStateError> {
        let mut writer = self.writer.lock().await;
        let mut change = begin(&mut writer).await.map_err(storage)?;
        let done = delete.execute(&mut *change).await.map_err(storage)?;
        if done.rows_affected() > 0 {
            advance_revision(&mut change).await.map_err(storage)?;
        }
        change.commit().await.map_err(storage)?;
        Ok(done.rows_affected() > 0)
    }
}

/// The stored name of a pause of all adapters. No adapter has this name.
const ALL_ADAPTERS: &str = "";

fn stored_name(adapter: Option<&str>) -> &str {
    adapter.unwrap_or(ALL_ADAPTERS)
}

/// Returns whether this is the first pin of the adapter.
async fn begin_baseline(file: &mut SqliteConnection, adapter: &str, now: i64) -> Result<bool, sqlx::Error> {
    let begin =
        sqlx::query("INSERT INTO baselines (adapter, pinned_at) VALUES (?1, ?2) ON CONFLICT DO NOTHING");
    Ok(begin.bind(adapter).bind(now).execute(file).await?.rows_affected() > 0)
}

async fn insert_pins(
    file: &mut SqliteConnection,
    adapter: &str,
    pins: &[OperationPin],
) -> Result<(), sqlx::Error> {
    for pin in pins {
        let put = sqlx::query(
            "INSERT INTO pins (adapter, operation, fingerprint, content) VALUES (?1, ?2, ?3, ?4) \
             ON CONFLICT (adapter, operation) DO UPDATE SET fingerprint = excluded.fingerprint, content = excluded.content",
        );
        let put = put.bind(adapter).bind(&pin.operation).bind(&pin.fingerprint);
        put.bind(pin.content.to_string()).execute(&mut *file).await?;
    }
    advance_revision(file).await
}
