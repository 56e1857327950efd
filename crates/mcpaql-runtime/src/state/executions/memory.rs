//! Executions in memory: for programs without a data folder or without the feature `store`.

use super::{ExecutionOutcome, ExecutionRow, NewExecution, StoredExecution};
use crate::state::now;
use mcpaql_core::lifecycle::ExecutionStatus;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The executions of one adapter in this process.
#[derive(Debug, Default)]
pub(crate) struct MemoryTable {
    inner: Mutex<MemoryRows>,
}

#[derive(Debug, Default)]
struct MemoryRows {
    /// Numbers are never used twice, so that cursors stay valid.
    last_seq: i64,
    by_seq: BTreeMap<i64, MemoryRow>,
}

#[derive(Debug)]
struct MemoryRow {
    row: ExecutionRow,
    keep_seconds: i64,
    is_cancel_requested: bool,
    outcome: Option<ExecutionOutcome>,
}

impl MemoryTable {
    fn rows(&self) -> MutexGuard<'_, MemoryRows> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the execution with this id, if it is in one of these states.
    fn change(&self, id: &str, states: &[ExecutionStatus], change: impl FnOnce(&mut MemoryRow)) {
        let mut rows = self.rows();
        let found = rows.by_seq.values_mut().find(|entry| entry.row.id == id);
        if let Some(entry) = found.filter(|entry| states.contains(&entry.row.status())) {
            change(entry);
        }
    }

    pub(super) fn insert(&self, new: &NewExecution<'_>) -> Option<ExecutionRow> {
        let mut rows = self.rows();
        if rows.by_seq.values().any(|entry| entry.row.id == new.id) {
            return None;
        }
        rows.last_seq += 1;
        let seq = rows.last_seq;
        let row = ExecutionRow {
            seq,
            id: new.id.to_owned(),
            operation: new.operation.to_owned(),
            status: new.status.as_str().to_owned(),
            progress: new.progress,
            message: None,
            started_at: now(),
            finished_at: None,
            expires_at: None,
            instance: new.instance.to_owned(),
            caller: Some(new.caller.to_owned()),
        };
        let (keep_seconds, is_cancel_requested, outcome) = (new.keep_seconds, false, None);
        rows.by_seq.insert(seq, MemoryRow { row: row.clone(), keep_seconds, is_cancel_requested, outcome });
        Some(row)
    }

    pub(super) fn begin(&self, id: &str, progress: i64) {
        self.change(id, &[ExecutionStatus::Pending], |entry| {
            entry.row.status = ExecutionStatus::Running.as_str().to_owned();
            entry.row.progress = progress;
        });
    }

    pub(super) fn advance(&self, id: &str, progress: i64, message: Option<&str>) {
        self.change(id, &[ExecutionStatus::Running], |entry| {
            entry.row.progress = entry.row.progress.max(progress);
            if let Some(message) = message {
                entry.row.message = Some(message.to_owned());
            }
        });
    }

    pub(super) fn finish(
        &self,
        id: &str,
        status: ExecutionStatus,
        message: Option<&str>,
        outcome: Option<&ExecutionOutcome>,
    ) {
        self.change(id, &[ExecutionStatus::Pending, ExecutionStatus::Running], |entry| {
            entry.row.status = status.as_str().to_owned();
            entry.row.message = message.map(str::to_owned);
            entry.row.finished_at = Some(now());
            entry.row.expires_at = Some(now().saturating_add(entry.keep_seconds));
            if status == ExecutionStatus::Completed {
                entry.row.progress = 100;
            }
            entry.outcome = outcome.cloned();
        });
    }

    pub(super) fn get(&self, id: &str) -> Option<StoredExecution> {
        let rows = self.rows();
        let entry = rows.by_seq.values().find(|entry| entry.row.id == id)?;
        Some(StoredExecution { row: entry.row.clone(), outcome: entry.outcome.clone() })
    }

    pub(super) fn list(
        &self,
        caller: &str,
        status: Option<ExecutionStatus>,
        before: Option<i64>,
        count: i64,
    ) -> Vec<ExecutionRow> {
        let rows = self.rows();
        let newest = rows.by_seq.range(..before.unwrap_or(i64::MAX)).rev().map(|(_, entry)| &entry.row);
        let wanted = newest.filter(|row| status.is_none_or(|status| row.status() == status) && row.belongs_to(caller));
        wanted.take(usize::try_from(count).unwrap_or_default()).cloned().collect()
    }

    pub(super) fn unfinished(&self) -> Vec<ExecutionRow> {
        self.rows()
            .by_seq
            .values()
            .filter(|entry| !entry.row.status().is_final())
            .map(|entry| entry.row.clone())
            .collect()
    }

    pub(super) fn request_cancel(&self, id: &str) {
        self.change(id, &ExecutionStatus::ALL, |entry| entry.is_cancel_requested = true);
    }

    pub(super) fn is_cancel_requested(&self, id: &str) -> bool {
        self.rows().by_seq.values().any(|entry| entry.row.id == id && entry.is_cancel_requested)
    }

    pub(super) fn delete_expired(&self) {
        let now = now();
        self.rows().by_seq.retain(|_, entry| entry.row.expires_at.is_none_or(|end| end > now));
    }
}
