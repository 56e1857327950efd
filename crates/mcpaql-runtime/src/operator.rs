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
