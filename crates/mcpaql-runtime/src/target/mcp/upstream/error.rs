//! Why an upstream gave no answer, and what a caller is told about it.

use crate::limits;
use crate::secret::Mask;
use mcpaql_core::error::{Code, OpError};
use serde_json::Value;
use std::borrow::Cow;
use std::time::Duration;

/// Why there is no answer. Nothing in it shows a secret.
#[derive(Debug, Clone, thiserror::Error)]
pub enum UpstreamError {
    /// It could not be started or reached, or it went away.
    #[error("the MCP server '{server}' {reason}")]
    Unavailable {
        /// Its name, as far as it is known.
        server: String,
        /// What happened, as the rest of a sentence.
        reason: String,
        /// When it will be tried again; nothing means that the next call does.
        retry_after: Option<Duration>,
    },
    /// It did not answer in time.
    #[error("the MCP server '{server}' did not answer within {} ms", after.as_millis())]
    Timeout {
        /// Its name.
        server: String,
        /// How long it was waited for.
        after: Duration,
    },
    /// The answer was larger than may be.
    #[error("the answer of the MCP server '{server}' has more than {limit} bytes")]
    TooLarge {
        /// Its name.
        server: String,
        /// The most that is read.
        limit: usize,
    },
    /// The answer was not one.
    #[error("the answer of the MCP server '{server}' {reason}")]
    Unreadable {
        /// Its name.
        server: String,
        /// What is wrong with it, as the rest of a sentence.
        reason: Cow<'static, str>,
    },
    /// It answered with an error of the protocol.
    #[error("the MCP server '{server}' answered with error {code}: {message}")]
    Refused {
        /// Its name.
        server: String,
        /// JSON-RPC's code.
        code: i64,
        /// Its words.
        message: String,
        /// And what it added.
        data: Option<Value>,
    },
    /// Credentials are missing, or the way to it refused the request.
    #[error("{0}")]
    Refusal(Box<OpError>),
}

impl UpstreamError {
    /// The same without secrets in the server's own words.
    pub(super) fn masked(self, mask: &Mask) -> UpstreamError {
        match self {
            UpstreamError::Refused { server, code, message, mut data } => {
                if let Some(data) = &mut data {
                    mask.apply_value(data);
                }
                UpstreamError::Refused { server, code, message: mask.apply(&message).into_owned(), data }
            }
            other => other,
        }
    }

    /// What the caller is told. An error of the protocol is not here: whoever made the request knows what it means.
    pub(crate) fn to_op_error(&self) -> OpError {
        let error = |code, advice: &str| OpError::new(code, sentence(&format!("{self}; {advice}.")));
        match self {
            UpstreamError::Unavailable { retry_after, .. } => {
                let now = error(
                    Code::TransportConnection,
                    "try again, and after a write first read whether it took effect",
                );
                match retry_after {
                    Some(wait) => error(Code::TransportConnection, "it is tried again later").with_detail(
                        "retry_after_seconds",
                        wait.as_secs() + u64::from(wait.subsec_nanos() > 0),
                    ),
                    None => now,
                }
            }
            UpstreamError::Timeout { .. } => error(
                Code::TransportTimeout,
                "try later or ask for less, and after a write first read whether it took effect",
            ),
            UpstreamError::TooLarge { limit, .. } => {
                let message =
                    sentence(&format!("{self}; ask for less with a page, a filter or fewer fields."));
                limits::too_large(message, "max_response_bytes", None, *limit)
            }
            UpstreamError::Unreadable { .. } | UpstreamError::Refused { .. } => {
                error(Code::Internal, "tell the user")
            }
            UpstreamError::Refusal(error) => (**error).clone(),
        }
    }
}

/// A call that failed, and whether the server cannot have seen it.
#[derive(Debug)]
pub(super) struct CallFailure {
    pub(super) error: UpstreamError,
    pub(super) unseen: bool,
}

impl From<UpstreamError> for CallFailure {
    fn from(error: UpstreamError) -> CallFailure {
        CallFailure { error, unseen: false }
    }
}

impl CallFailure {
    pub(super) fn unseen(error: UpstreamError) -> CallFailure {
        CallFailure { error, unseen: true }
    }
}

fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

/// Why an upstream cannot be reached as the document wants. Written for the operator.
#[derive(Debug, thiserror::Error)]
pub enum UpstreamSetupError {
    /// A `${` that is not `${env:NAME}`.
    #[error("'{text}' has a '${{' that is not '${{env:NAME}}'")]
    Reference {
        /// As written.
        text: String,
    },
    /// A variable that no program can be given.
    #[error("the environment variable '{name}' cannot be set: '=' and NUL are not allowed in names")]
    Variable {
        /// The variable.
        name: String,
    },
    /// A program takes no headers.
    #[error("headers of callers cannot be passed on to a program; remove caller_headers or use url")]
    CallerHeaders,
    /// The address, a header or the HTTP client.
    #[error(transparent)]
    Http(#[from] crate::target::http::HttpSetupError),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caller_is_told_what_happened_and_what_to_do() {
        let server = || "files".to_owned();
        let gone = |retry_after| UpstreamError::Unavailable {
            server: server(),
            reason: "ended with exit status 3".to_owned(),
            retry_after,
        };
        let error = gone(None).to_op_error();
        assert_eq!(
            error.message,
            "The MCP server 'files' ended with exit status 3; try again, and after a write first read whether it took effect."
        );
        let error = gone(Some(Duration::from_millis(1500))).to_op_error();
        assert_eq!(error.details["retry_after_seconds"], 2);
        let error = UpstreamError::TooLarge { server: server(), limit: 7 }.to_op_error();
        assert_eq!((error.code, error.details["maximum"].clone()), (Code::PayloadTooLarge, 7.into()));
        let error = UpstreamError::Timeout { server: server(), after: Duration::from_secs(1) }.to_op_error();
        assert_eq!(error.code, Code::TransportTimeout);
        assert!(!format!(" {}", error.message).contains(" at "));
    }
}
