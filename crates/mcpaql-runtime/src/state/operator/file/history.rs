//! Counters and successes.

use super::confirmations::{read_window, write_window};
use super::{FileState, begin, storage};
use crate::state::operator::OperatorStateError;
use crate::state::operator::history::{KnownHistory, counter_name, success_name, window_ms};
use crate::state::operator::window::CallWindow;
use mcpaql_gate::decision::{History, Needs};
use sqlx::SqliteConnection;

impl FileState {
    /// Reads the history, decides, and counts the call if it is charged, in one transaction. A decision that was not
    /// stored must not be used.
    pub(in crate::state::operator) async fn with_history<T>(
        &self,
        needs: &Needs,
        now: i64,
        decide: &mut (dyn FnMut(&dyn History) -> (T, bool) + Send),
    ) -> Result<T, OperatorStateError> {
        if needs.counters.is_empty() {
            let mut reader = self.reader.lock().await;
            let (history, _) = read_history(&mut reader, needs, now).await.map_err(storage)?;
            return Ok(decide(&history).0);
        }
        let mut counters = self.counters.lock().await;
        let mut change = begin(&mut counters).await.map_err(storage)?;
        let (history, mut windows) = read_history(&mut change, needs, now).await.map_err(storage)?;
        let (decision, is_charged) = decide(&history);
        if is_charged {
            let stored = async {
                let ended = sqlx::query("DELETE FROM windows WHERE ends_at < ?1").bind(now);
                ended.execute(&mut *change).await?;
                for (key, window) in needs.counters.iter().zip(&mut windows) {
                    let length = window_ms(key);
                    window.charge(now, length, key.cost);
                    write_window(&mut change, &counter_name(key), window, length).await?;
                }
                Ok::<(), sqlx::Error>(())
            };
            stored.await.map_err(storage)?;
            change.commit().await.map_err(storage)?;
        }
        Ok(decision)
    }

    pub(in crate::state::operator) async fn record_success(
        &self,
        adapter: &str,
        operation: &str,
        caller: &str,
        now: i64,
    ) -> Result<(), OperatorStateError> {
        let mut counters = self.counters.lock().await;
        let put = sqlx::query(
            "INSERT INTO successes (operation, succeeded_at) VALUES (?1, ?2) \
             ON CONFLICT (operation) DO UPDATE SET succeeded_at = excluded.succeeded_at",
        );
        let put = put.bind(success_name(adapter, operation, caller)).bind(now);
        put.execute(&mut *counters).await.map(drop).map_err(storage)
    }
}

async fn read_history(
    file: &mut SqliteConnection,
    needs: &Needs,
    now: i64,
) -> Result<(KnownHistory, Vec<CallWindow>), sqlx::Error> {
    let mut history = KnownHistory::default();
    let mut windows = Vec::with_capacity(needs.counters.len());
    for key in &needs.counters {
        let mut window = read_window(file, &counter_name(key)).await?;
        history.add_counter(key, &mut window, now);
        windows.push(window);
    }
    for key in &needs.successes {
        let at = sqlx::query_scalar("SELECT succeeded_at FROM successes WHERE operation = ?1");
        let at = at.bind(success_name(&key.adapter, &key.operation, &key.caller));
        history.add_success(key, at.fetch_optional(&mut *file).await?, now);
    }
    Ok((history, windows))
}
