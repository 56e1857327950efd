//! Confirmations. Each transaction reads the row, changes it with the functions that the state in memory uses, too, and writes it.

use super::{FileState, advance_revision, begin, moment, storage, undecodable};
use crate::state::fresh_id;
use crate::state::operator::clock::{ClockReading, Moment};
use crate::state::operator::confirmation::{self, GUESS_WINDOW_MS, KEPT_MS, MAX_GUESSES};
use crate::state::operator::window::CallWindow;
use crate::state::operator::{
    Approval, Confirmation, ConfirmationKind, ConfirmationScope, ConfirmationStatus, Decided, Issued,
    NewConfirmation, OperatorStateError, Redemption,
};
use mcpaql_lexicon::Danger;
use sqlx::sqlite::SqliteRow;
use sqlx::{FromRow, Row as _, SqliteConnection};
use std::fmt::Write as _;

/// Characters of a hash by which a token is found. The rest is compared in constant time.
const TOKEN_START: usize = 16;

const COLUMNS: &str = "id, token_hash, adapter, operation, call_hash, caller, danger, request, state_hash, issued_at, expires_at, \
                       status, decided_by, decided_at";

fn select(rest: &str) -> sqlx::AssertSqlSafe<String> {
    // Only constants of this module are inserted; values are bound.
    sqlx::AssertSqlSafe(format!("SELECT {COLUMNS} FROM confirmations WHERE {rest}"))
}

impl FromRow<'_, SqliteRow> for Confirmation {
    fn from_row(row: &SqliteRow) -> Result<Confirmation, sqlx::Error> {
        let kind = match row.try_get::<Option<&str>, _>("token_hash")? {
            None => ConfirmationKind::Person,
            Some(hex) => ConfirmationKind::Token { hash: parse_hash(hex).ok_or_else(|| undecodable(hex))? },
        };
        let (danger, status): (&str, &str) = (row.try_get("danger")?, row.try_get("status")?);
        let request: &str = row.try_get("request")?;
        Ok(Confirmation {
            id: row.try_get("id")?,
            kind,
            scope: ConfirmationScope {
                adapter: row.try_get("adapter")?,
                operation: row.try_get("operation")?,
                call_hash: row.try_get("call_hash")?,
                caller: row.try_get("caller")?,
            },
            danger: Danger::parse(danger).ok_or_else(|| undecodable(danger))?,
            request: serde_json::from_str(request).map_err(|error| sqlx::Error::Decode(Box::new(error)))?,
            state_hash: row.try_get("state_hash")?,
            issued_at: row.try_get("issued_at")?,
            expires_at: row.try_get("expires_at")?,
            status: ConfirmationStatus::parse(status).ok_or_else(|| undecodable(status))?,
            decided_by: row.try_get("decided_by")?,
            decided_at: row.try_get("decided_at")?,
        })
    }
}

impl FileState {
    pub(in crate::state::operator) async fn issue(
        &self,
        new: &NewConfirmation,
        reading: ClockReading,
    ) -> Result<Issued, OperatorStateError> {
        let mut writer = self.writer.lock().await;
        let mut change = begin(&mut writer).await.map_err(storage)?;
        let issued = async {
            let moment = now_on(&mut change, reading).await?;
            let old = sqlx::query("DELETE FROM confirmations WHERE expires_at < ?1");
            old.bind(moment.now.saturating_sub(KEPT_MS)).execute(&mut *change).await?;
            let open = sqlx::query_as(select("caller = ?1 AND status = 'open' ORDER BY seq"));
            let mut open: Vec<Confirmation> = open.bind(&new.scope.caller).fetch_all(&mut *change).await?;
            let refused = confirmation::before_issue(new, open.iter_mut(), moment);
            for other in open.iter().filter(|other| !other.is_alive()) {
                update(&mut change, other).await?;
            }
            if let Some(refused) = refused {
                return Ok(refused);
            }
            let fresh = Confirmation::new(fresh_id("approval"), new, moment.now);
            insert(&mut change, &fresh).await?;
            advance_revision(&mut change).await?;
            Ok(Issued::New { id: fresh.id, expires_at: fresh.expires_at })
        };
        let issued = issued.await.map_err(|error: sqlx::Error| storage(error))?;
        change.commit().await.map_err(storage)?;
        Ok(issued)
    }

    pub(in crate::state::operator) async fn redeem_token(
        &self,
        hash: &[u8; 32],
        scope: &ConfirmationScope,
        reading: ClockReading,
    ) -> Result<Redemption, OperatorStateError> {
        let mut writer = self.writer.lock().await;
        let mut change = begin(&mut writer).await.map_err(storage)?;
        let redeemed = async {
            let moment = now_on(&mut change, reading).await?;
            let counter = format!("guesses {}", scope.caller);
            let mut guesses = read_window(&mut change, &counter).await?;
            if guesses.used(moment.now, GUESS_WINDOW_MS) >= MAX_GUESSES {
                let end = guesses.oldest_ends_at(GUESS_WINDOW_MS).unwrap_or(moment.now);
                let retry_after_seconds = confirmation::seconds_until(end, moment.now);
                return Ok(Redemption::TooManyAttempts { retry_after_seconds });
            }
            let hex = hash_text(hash);
            let candidates = sqlx::query_as(select("token_start = ?1")).bind(token_start(&hex));
            let mut candidates: Vec<Confirmation> = candidates.fetch_all(&mut *change).await?;
            let Some(found) = candidates.iter_mut().find(|candidate| candidate.has_token(hash)) else {
                guesses.charge(moment.now, GUESS_WINDOW_MS, 1);
                write_window(&mut change, &counter, &guesses, GUESS_WINDOW_MS).await?;
                return Ok(Redemption::Invalid);
            };
            let redemption = found.redeem(scope, moment);
            update(&mut change, found).await?;
            Ok(redemption)
        };
        let redeemed = redeemed.await.map_err(|error: sqlx::Error| storage(error))?;
        change.commit().await.map_err(storage)?;
        Ok(redeemed)
    }

    pub(in crate::state::operator) async fn confirmation(
        &self,
        id: &str,
        reading: ClockReading,
    ) -> Result<Option<Confirmation>, OperatorStateError> {
        let mut reader = self.reader.lock().await;
        let now = moment(&mut reader, reading).await.map_err(storage)?;
        let found = sqlx::query_as(select("id = ?1")).bind(id).fetch_optional(&mut *reader).await;
        let mut found: Option<Confirmation> = found.map_err(storage)?;
        found.iter_mut().for_each(|found| found.expire(now));
        Ok(found)
    }

    pub(in crate::state::operator) async fn pending(
        &self,
        caller: Option<&str>,
        reading: ClockReading,
    ) -> Result<Vec<Confirmation>, OperatorStateError> {
        let mut reader = self.reader.lock().await;
        let now = moment(&mut reader, reading).await.map_err(storage)?;
        let open = sqlx::query_as(select("status = 'open' AND token_hash IS NULL ORDER BY seq"));
        let mut open: Vec<Confirmation> = open.fetch_all(&mut *reader).await.map_err(storage)?;
        open.iter_mut().for_each(|found| found.expire(now));
        open.retain(|found| found.is_pending_of(caller));
        Ok(open)
    }

    pub(in crate::state::operator) async fn decide(
        &self,
        id: &str,
        is_approved: bool,
        by: &str,
        reading: ClockReading,
    ) -> Result<Decided, OperatorStateError> {
        let mut writer = self.writer.lock().await;
        let mut change = begin(&mut writer).await.map_err(storage)?;
        let decided = async {
            let moment = now_on(&mut change, reading).await?;
            let found = sqlx::query_as(select("id = ?1")).bind(id).fetch_optional(&mut *change).await?;
            let Some(mut found): Option<Confirmation> = found else { return Ok(Decided::Unknown) };
            let decided = found.decide(is_approved, by, moment);
            update(&mut change, &found).await?;
            advance_revision(&mut change).await?;
            Ok(decided)
        };
        let decided = decided.await.map_err(|error: sqlx::Error| storage(error))?;
        change.commit().await.map_err(storage)?;
        Ok(decided)
    }

    pub(in crate::state::operator) async fn take_approved(
        &self,
        scope: &ConfirmationScope,
        state_hash: Option<&str>,
        reading: ClockReading,
    ) -> Result<Approval, OperatorStateError> {
        let mut writer = self.writer.lock().await;
        let mut change = begin(&mut writer).await.map_err(storage)?;
        let taken = async {
            let moment = now_on(&mut change, reading).await?;
            let found = sqlx::query_as(select(
                "caller = ?1 AND adapter = ?2 AND operation = ?3 AND call_hash = ?4 AND token_hash IS NULL \
                 ORDER BY seq DESC LIMIT 1",
            ));
            let found = found.bind(&scope.caller).bind(&scope.adapter).bind(&scope.operation);
            let found = found.bind(&scope.call_hash).fetch_optional(&mut *change).await?;
            let Some(mut found): Option<Confirmation> = found else { return Ok(Approval::NotApproved) };
            let taken = found.take(state_hash, moment);
            update(&mut change, &found).await?;
            Ok(taken)
        };
        let taken = taken.await.map_err(|error: sqlx::Error| storage(error))?;
        change.commit().await.map_err(storage)?;
        Ok(taken)
    }
}

/// Returns the time of a change, stores it as the latest, and ends all confirmations whose time is over.
async fn now_on(file: &mut SqliteConnection, reading: ClockReading) -> Result<Moment, sqlx::Error> {
    let moment = moment(file, reading).await?;
    let mark = sqlx::query("UPDATE marks SET value = ?1 WHERE name = 'latest'").bind(moment.now);
    mark.execute(&mut *file).await?;
    let expire = sqlx::query(
        "UPDATE confirmations SET status = 'expired' WHERE status IN ('open', 'approved') \
         AND (?1 OR expires_at <= ?2 OR issued_at > ?2)",
    );
    expire.bind(moment.is_set_back).bind(moment.now).execute(&mut *file).await?;
    Ok(moment)
}

async fn insert(file: &mut SqliteConnection, new: &Confirmation) -> Result<(), sqlx::Error> {
    let hash = match &new.kind {
        ConfirmationKind::Token { hash } => Some(hash_text(hash)),
        ConfirmationKind::Person => None,
    };
    let insert = sqlx::query(
        "INSERT INTO confirmations (id, token_start, token_hash, adapter, operation, call_hash, caller, danger, request, \
         state_hash, issued_at, expires_at, status) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
    );
    let insert = insert.bind(&new.id).bind(hash.as_deref().map(token_start)).bind(&hash);
    let insert = insert.bind(&new.scope.adapter).bind(&new.scope.operation).bind(&new.scope.call_hash);
    let insert = insert.bind(&new.scope.caller).bind(new.danger.as_str()).bind(new.request.to_string());
    let insert = insert.bind(&new.state_hash).bind(new.issued_at).bind(new.expires_at);
    insert.bind(new.status.as_str()).execute(file).await.map(drop)
}

/// Stores what can change in a confirmation.
async fn update(file: &mut SqliteConnection, changed: &Confirmation) -> Result<(), sqlx::Error> {
    let update = sqlx::query(
        "UPDATE confirmations SET status = ?2, expires_at = ?3, decided_by = ?4, decided_at = ?5 WHERE id = ?1",
    );
    let update = update.bind(&changed.id).bind(changed.status.as_str()).bind(changed.expires_at);
    update.bind(&changed.decided_by).bind(changed.decided_at).execute(file).await.map(drop)
}

pub(super) async fn read_window(
    file: &mut SqliteConnection,
    counter: &str,
) -> Result<CallWindow, sqlx::Error> {
    let text = sqlx::query_scalar("SELECT buckets FROM windows WHERE counter = ?1").bind(counter);
    let text: Option<String> = text.fetch_optional(file).await?;
    let window = text.map(|text| serde_json::from_str(&text)).transpose();
    Ok(window.map_err(|error| sqlx::Error::Decode(Box::new(error)))?.unwrap_or_default())
}

pub(super) async fn write_window(
    file: &mut SqliteConnection,
    counter: &str,
    window: &CallWindow,
    length_ms: i64,
) -> Result<(), sqlx::Error> {
    let text = serde_json::to_string(window).map_err(|error| sqlx::Error::Encode(Box::new(error)))?;
    let put = sqlx::query(
        "INSERT INTO windows (counter, buckets, ends_at) VALUES (?1, ?2, ?3) \
         ON CONFLICT (counter) DO UPDATE SET buckets = excluded.buckets, ends_at = excluded.ends_at",
    );
    put.bind(counter).bind(text).bind(window.ends_at(length_ms)).execute(file).await.map(drop)
}

fn hash_text(hash: &[u8; 32]) -> String {
    hash.iter().fold(String::with_capacity(64), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn token_start(hex: &str) -> &str {
    hex.get(..TOKEN_START).unwrap_or(hex)
}

fn parse_hash(hex: &str) -> Option<[u8; 32]> {
    let mut hash = [0; 32];
    if hex.len() != 64 {
        return None;
    }
    for (index, byte) in hash.iter_mut().enumerate() {
        *byte = u8::from_str_radix(hex.get(2 * index..2 * index + 2)?, 16).ok()?;
    }
    Some(hash)
}
