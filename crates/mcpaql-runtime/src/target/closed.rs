//! A target that could not be opened: every call is told why, and who can mend it.

use crate::open::OpenError;
use mcpaql_core::error::{Code, OpError};

/// A target that could not be opened.
#[derive(Debug, Clone)]
pub struct Closed {
    adapter: String,
    reason: String,
    cause: String,
}

impl Closed {
    /// The target of that adapter.
    #[must_use]
    pub fn new(adapter: &str, error: &OpenError) -> Closed {
        Closed { adapter: adapter.to_owned(), reason: error.told(), cause: error.to_string() }
    }

    pub(super) fn refuse(&self) -> OpError {
        let Closed { adapter, reason, cause } = self;
        let message = format!(
            "The adapter '{adapter}' cannot be used now: {reason}. Tell the user that the operator has to mend that; the server tries again by itself."
        );
        OpError::new(Code::Internal, message).because(cause)
    }
}
