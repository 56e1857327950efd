//! The operator's state: grants, pins, confirmations, counters and pauses.
//!
//! What always holds:
//! - A change that was acknowledged is on disk, and every process of the operator sees it.
//! - A confirmation lets one call through, even if many processes use it at the same time.
//! - Nothing that has expired or was used becomes valid again, also if the clock is set back.
//! - The state in memory and the state in a file behave the same; only a file outlives the process.

mod clock;
mod confirmation;
#[cfg(feature = "store")]
mod file;
mod grant;
mod history;
mod memory;
mod window;

pub use clock::Clock;
pub use confirmation::{
    Approval, Confirmation, ConfirmationKind, ConfirmationScope, ConfirmationStatus, Decided, Issued,
    NewConfirmation, Redemption,
};
pub use grant::{OperationPin, Pause, TrustGrant};

use clock::ClockReading;
#[cfg(feature = "store")]
use file::FileState;
use history::KnownHistory;
use mcpaql_gate::decision::{History, Needs, UnknownHistory};
use memory::MemoryState;
use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

/// The name of the state's file in the operator's state folder.
pub const OPERATOR_FILE: &str = "operator.sqlite";

/// How often a waiting call looks for the decision of a person in another process.
const DECISION_POLL: Duration = Duration::from_millis(250);

/// Why the operator's state cannot be used. For the operator: the message may contain paths.
#[non_exhaustive]
#[derive(Debug, thiserror::Error)]
pub enum OperatorStateError {
    /// The file cannot be created or opened, or must not be changed.
    #[error(transparent)]
    Open(Box<dyn Error + Send + Sync>),
    /// The state cannot be read or written.
    #[error("cannot read or write the operator's state")]
    Storage(#[source] Box<dyn Error + Send + Sync>),
    /// A backup would replace a file, or a file cannot be used as a backup.
    #[error("{}: {problem}", path.display())]
    Backup {
        /// The backup.
        path: PathBuf,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// A state in memory has no backup.
    #[error("the operator's state is only in memory, because it has no folder")]
    NoFile,
}

/// The operator's state; clones share everything. Processes that open the same folder share one state.
#[derive(Debug, Clone)]
pub struct OperatorState {
    shared: Arc<OperatorShared>,
}

#[derive(Debug)]
struct OperatorShared {
    table: OperatorTable,
    clock: Clock,
    /// The latest time that this process has seen on the clock.
    latest: AtomicI64,
    /// Tells waiting calls that this process stored a decision.
    decisions: watch::Sender<()>,
}

#[derive(Debug)]
enum OperatorTable {
    /// Ends with the process.
    Memory(Box<MemoryState>),
    /// Outlives the process.
    #[cfg(feature = "store")]
    File(Box<FileState>),
}

/// Calls a method of the table, whichever it is. A table in memory has no errors and does not wait.
macro_rules! on_table {
    ($state:expr, $method:ident($($argument:expr),*)) => {
        match &$state.shared.table {
            OperatorTable::Memory(table) => Ok(table.$method($($argument),*)),
            #[cfg(feature = "store")]
            OperatorTable::File(table) => table.$method($($argument),*).await,
        }
    };
}

impl OperatorState {
    /// Opens the state in a folder, and creates it if needed. Without a folder, or without the feature `store`, the state ends with the
    /// process.
    ///
    /// # Errors
    /// When the file cannot be created or read, is damaged, or belongs to another program or a newer version.
    pub async fn open(folder: Option<&Path>) -> Result<OperatorState, OperatorStateError> {
        OperatorState::open_with_clock(folder, Clock::system()).await
    }

    /// Opens the state with another clock. For tests.
    ///
    /// # Errors
    /// Those of [`open`](OperatorState::open).
    pub async fn open_with_clock(
        folder: Option<&Path>,
        clock: Clock,
    ) -> Result<OperatorState, OperatorStateError> {
        let table = match folder {
            #[cfg(feature = "store")]
            Some(folder) => {
                OperatorTable::File(Box::new(FileState::open(&folder.join(OPERATOR_FILE)).await?))
            }
            _ => OperatorTable::Memory(Box::default()),
        };
        Ok(OperatorState::with_table(table, clock))
    }

    fn with_table(table: OperatorTable, clock: Clock) -> OperatorState {
        let latest = AtomicI64::new(clock.now_ms());
        let decisions = watch::Sender::default();
        OperatorState { shared: Arc::new(OperatorShared { table, clock, latest, decisions }) }
    }

    /// Creates a state that ends with the process.
    #[must_use]
    pub fn in_memory() -> OperatorState {
        OperatorState::with_table(OperatorTable::Memory(Box::default()), Clock::system())
    }

    /// Whether the state outlives the process.
    #[must_use]
    pub fn is_durable(&self) -> bool {
        !matches!(self.shared.table, OperatorTable::Memory(_))
    }

    /// The state's clock.
    #[must_use]
    pub fn clock(&self) -> &Clock {
        &self.shared.clock
    }

    /// A number that changes with every grant, pin, pause, request and decision, in any process. Reading it is cheap, so a server can do it twice
    /// a second.
    ///
    /// # Errors
    /// When the state cannot be read.
    pub async fn revision(&self) -> Result<i64, OperatorStateError> {
        self.read_clock();
        on_table!(self, revision())
    }

    /// Stores a grant, in place of an earlier one of the same subject.
    ///
    /// # Errors
    /// When the state cannot be written.
    pub async fn put_grant(&self, mut grant: TrustGrant) -> Result<(), OperatorStateError> {
        grant.granted_at = self.shared.clock.now_ms();
        on_table!(self, put_grant(&grant))
    }

    /// Returns the grant of a subject.
    ///
    /// # Errors
    /// When the state cannot be read.
    pub async fn grant(&self, subject: &str) -> Result<Option<TrustGrant>, OperatorStateError> {
        on_table!(self, grant(subject))
    }

    /// Returns all grants, by subject.
    ///
    /// # Errors
    /// When the state cannot be read.
    pub async fn grants(&self) -> Result<Vec<TrustGrant>, OperatorStateError> {
        on_table!(self, grants())
    }

    /// Removes the grant of a subject, and returns whether it had one.
    ///
    /// # Errors
    /// When the state cannot be written.
    pub async fn remove_grant(&self, subject: &str) -> Result<bool, OperatorStateError> {
        on_table!(self, remove_grant(subject))
    }

    /// Returns the fingerprints of an adapter's approved operations, by name. `None` if nothing was ever pinned, so that this list is the
    /// first.
    ///
    /// # Errors
    /// When the state cannot be read.
    pub async fn pinned(
        &self,
        adapter: &str,
    ) -> Result<Option<BTreeMap<String, String>>, OperatorStateError> {
        on_table!(self, pinned(adapter))
    }

    /// Returns an adapter's approved operations with their definitions, by name.
    ///
    /// # Errors
    /// When the state cannot be read.
    pub async fn pin_contents(&self, adapter: &str) -> Result<Vec<OperationPin>, OperatorStateError> {
        on_table!(self, pin_contents(adapter))
    }

    /// Approves operations of an adapter. Others keep their pins.
    ///
    /// # Errors
    /// When the state cannot be written.
    pub async fn pin(&self, adapter: &str, pins: &[OperationPin]) -> Result<(), OperatorStateError> {
        on_table!(self, pin(adapter, pins, self.shared.clock.now_ms()))
    }

    /// Approves the first list of an adapter, unless something was pinned before. Returns whether it was the first.
    ///
    /// # Errors
    /// When the state cannot be written.
    pub async fn pin_first(&self, adapter: &str, pins: &[OperationPin]) -> Result<bool, OperatorStateError> {
        on_table!(self, pin_first(adapter, pins, self.shared.clock.now_ms()))
    }

    /// Removes the pin of one operation, or all pins of an adapter, whose next list is then the first again. Returns whether there was one.
    ///
    /// # Errors
    /// When the state cannot be written.
    pub async fn unpin(&self, adapter: &str, operation: Option<&str>) -> Result<bool, OperatorStateError> {
        on_table!(self, unpin(adapter, operation))
    }

    /// Pauses an adapter, or all without a name. A second pause of the same replaces the first.
    ///
    /// # Errors
    /// When the state cannot be written.
    pub async fn pause(
        &self,
        adapter: Option<&str>,
        except_reads: bool,
        by: &str,
    ) -> Result<(), OperatorStateError> {
        let (adapter, at) = (adapter.map(str::to_owned), self.shared.clock.now_ms());
        let pause = Pause { adapter, except_reads, by: by.to_owned(), at };
        on_table!(self, pause(&pause))
    }

    /// Ends the pause of an adapter, or the pause of all without a name. Returns whether there was one.
    ///
    /// # Errors
    /// When the state cannot be written.
    pub async fn resume(&self, adapter: Option<&str>) -> Result<bool, OperatorStateError> {
        on_table!(self, resume(adapter))
    }

    /// Returns all pauses.
    ///
    /// # Errors
    /// When the state cannot be read.
    pub async fn pauses(&self) -> Result<Vec<Pause>, OperatorStateError> {
        on_table!(self, pauses())
    }

    /// Issues a token, or asks a person.
    ///
    /// # Errors
    /// When the state cannot be written.
    pub async fn issue(&self, new: &NewConfirmation) -> Result<Issued, OperatorStateError> {
        let reading = self.read_clock();
        let outcome = on_table!(self, issue(new, reading));
        self.settle(reading, outcome)
    }

    /// Uses up a token, by its hash. Of any number of callers, in any number of processes, one succeeds.
    ///
    /// # Errors
    /// When the state cannot be written. The call must not run then.
    pub async fn redeem_token(
        &self,
        hash: &[u8; 32],
        scope: &ConfirmationScope,
    ) -> Result<Redemption, OperatorStateError> {
        let reading = self.read_clock();
        let outcome = on_table!(self, redeem_token(hash, scope, reading));
        self.settle(reading, outcome)
    }

    /// Returns a confirmation.
    ///
    /// # Errors
    /// When the state cannot be read.
    pub async fn confirmation(&self, id: &str) -> Result<Option<Confirmation>, OperatorStateError> {
        on_table!(self, confirmation(id, self.read_clock()))
    }

    /// Returns the requests that wait for a person, the oldest first: those of one caller, or all.
    ///
    /// # Errors
    /// When the state cannot be read.
    pub async fn pending(&self, caller: Option<&str>) -> Result<Vec<Confirmation>, OperatorStateError> {
        on_table!(self, pending(caller, self.read_clock()))
    }

    /// Stores the decision of a person. The first decision counts.
    ///
    /// # Errors
    /// When the state cannot be written.
    pub async fn decide(&self, id: &str, is_approved: bool, by: &str) -> Result<Decided, OperatorStateError> {
        let reading = self.read_clock();
        let outcome = on_table!(self, decide(id, is_approved, by, reading));
        self.shared.decisions.send_replace(());
        self.settle(reading, outcome)
    }

    /// Uses up a person's approval of a call. `state_hash` is the hash of what the call changes, read just now; the approval is void if
    /// it differs from what the person saw. Of any number of callers, in any number of processes, one succeeds.
    ///
    /// # Errors
    /// When the state cannot be written. The call must not run then.
    pub async fn take_approved(
        &self,
        scope: &ConfirmationScope,
        state_hash: Option<&str>,
    ) -> Result<Approval, OperatorStateError> {
        let reading = self.read_clock();
        let outcome = on_table!(self, take_approved(scope, state_hash, reading));
        self.settle(reading, outcome)
    }

    /// Decides about a call with the history that the decision needs. `decide` returns the decision, and whether the call runs and is counted.
    /// Reading, deciding and counting are one step: no other process comes between.
    ///
    /// If the state cannot be read or written, `decide` is called with a history that knows nothing, and nothing is counted. So `decide` may
    /// be called twice; the last decision counts.
    pub async fn with_history<T: Send>(
        &self,
        needs: &Needs,
        mut decide: impl FnMut(&dyn History) -> (T, bool) + Send,
    ) -> T {
        if needs.is_empty() {
            return decide(&KnownHistory::default()).0;
        }
        let now = self.shared.clock.now_ms();
        let decided: Result<T, OperatorStateError> = on_table!(self, with_history(needs, now, &mut decide));
        decided.unwrap_or_else(|error| {
            tracing::error!(error = &error as &dyn Error, "calls with limits are denied");
            decide(&UnknownHistory).0
        })
    }

    /// Stores that an operation succeeded for a caller.
    ///
    /// # Errors
    /// When the state cannot be written.
    pub async fn record_success(
        &self,
        adapter: &str,
        operation: &str,
        caller: &str,
    ) -> Result<(), OperatorStateError> {
        on_table!(self, record_success(adapter, operation, caller, self.shared.clock.now_ms()))
    }

    /// Waits until a person has decided about a request, or the request or the time is over. Returns the state of the request; `None` if none
    /// has this id.
    ///
    /// # Errors
    /// When the state cannot be read.
    pub async fn wait_for_decision(
        &self,
        id: &str,
        at_most: Duration,
    ) -> Result<Option<ConfirmationStatus>, OperatorStateError> {
        let deadline = Instant::now() + at_most;
        let mut decisions = self.shared.decisions.subscribe();
        loop {
            decisions.mark_unchanged();
            let status = self.confirmation(id).await?.map(|found| found.status);
            if status != Some(ConfirmationStatus::Open) || Instant::now() >= deadline {
                return Ok(status);
            }
            let _ = timeout_at(deadline.min(Instant::now() + DECISION_POLL), decisions.changed()).await;
        }
    }

    /// Writes the state to a new file that only this user can read. Other processes may use the state meanwhile.
    ///
    /// # Errors
    /// When the file exists or cannot be written, or the state is in memory.
    pub async fn backup(&self, to: &Path) -> Result<(), OperatorStateError> {
        match &self.shared.table {
            OperatorTable::Memory(_) => {
                let _ = to;
                Err(OperatorStateError::NoFile)
            }
            #[cfg(feature = "store")]
            OperatorTable::File(table) => table.backup(to).await,
        }
    }

    /// Replaces the state with that of a backup, for all processes. Confirmations that were open in the backup are not valid, because
    /// they may have been used since.
    ///
    /// # Errors
    /// When the file is not a backup, or the state cannot be written or is in memory.
    pub async fn restore(&self, from: &Path) -> Result<(), OperatorStateError> {
        match &self.shared.table {
            OperatorTable::Memory(_) => {
                let _ = from;
                Err(OperatorStateError::NoFile)
            }
            #[cfg(feature = "store")]
            OperatorTable::File(table) => table.restore(from).await,
        }
    }

    fn read_clock(&self) -> ClockReading {
        let clock = self.shared.clock.now_ms();
        ClockReading { clock, latest: self.shared.latest.fetch_max(clock, Ordering::AcqRel) }
    }

    /// After a change, everything is expired that was open before the clock was set back. From now on this process follows the clock again.
    fn settle<T>(
        &self,
        reading: ClockReading,
        outcome: Result<T, OperatorStateError>,
    ) -> Result<T, OperatorStateError> {
        if outcome.is_ok() && reading.moment(i64::MIN).is_set_back {
            self.shared.latest.store(reading.clock, Ordering::Release);
        }
        outcome
    }
}
