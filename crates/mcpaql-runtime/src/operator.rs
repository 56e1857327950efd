//! The operator's state: what is trusted, what is approved, and what is paused. All processes of the operator share it.
//!
//! ```
//! use mcpaql_runtime::operator::OperatorState;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // A program without a folder keeps its state in memory.
//! let state = OperatorState::open(None).await?;
//! state.pause(Some("shop"), true, "alice").await?;
//! assert!(state.pauses().await?[0].stops("shop", false));
//! # Ok(())
//! # }
//! ```

pub use crate::state::{
    Approval, Clock, Confirmation, ConfirmationKind, ConfirmationScope, ConfirmationStatus, Decided, Issued,
    NewConfirmation, OPERATOR_FILE, OperationPin, OperatorState, OperatorStateError, Pause, Redemption,
    TrustGrant,
};

/// Placeholder until the log lands.
#[derive(Debug, Clone)]
pub enum AuditLog {}
impl AuditLog {
    /// Appends.
    pub async fn append_durable(&self, _: mcpaql_core::gate::log::LogRecord) -> Result<(), String> { match *self {} }
    /// Appends.
    pub fn append_batched(&self, _: mcpaql_core::gate::log::LogRecord) { match *self {} }
}
/// Random.
pub fn random_bytes() -> Result<[u8; 32], String> {
    let (one, two) = (uuid::Uuid::new_v4(), uuid::Uuid::new_v4());
    Ok([one.into_bytes(), two.into_bytes()].concat().try_into().unwrap_or_default())
}
