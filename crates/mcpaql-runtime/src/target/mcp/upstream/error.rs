//! Why an upstream did not answer, and the errors for callers.

use crate::secret::Mask;
use mcpaql_core::error::{Code, LimitType, OpError};
use serde_json::Value;
use std::borrow::Cow;
use std::time::Duration;

/// Why there is no answer. It contains no secrets.
#[non_exhaustive]
#[derive(Debug, Clone, thiserror::Error)]
pub enum UpstreamError {
    /// The server could not be started or reached, or it disconnected.
    #[error("the MCP server '{server}' {reason}")]
    Unavailable {
        /// The server's name, as far as known.
        server: String,
        /// What happened, as the end of a sentence.
        reason: String,
        /// Why the server could not be reached or started, for the operator: with the address, or with the program.
        cause: Option<String>,
        /// The delay before the server is started again; `None` if the next call starts it.
        retry_after: Option<Duration>,
    },
    /// The server did not answer in time.
    #[error("the MCP server '{server}' did not answer within {} ms", after.as_millis())]
    Timeout {
        /// The server's name.
        server: String,
        /// The time limit.
        after: Duration,
    },
    /// The answer was too large.
    #[error("the answer of the MCP server '{server}' has more than {limit} bytes")]
    TooLarge {
        /// The server's name.
        server: String,
        /// The maximum size.
        limit: usize,
    },
    /// The answer was invalid.
    #[error("the answer of the MCP server '{server}' {reason}")]
    Unreadable {
        /// The server's name.
        server: String,
        /// The problem, as the end of a sentence.
        reason: Cow<'static, str>,
    },
    /// The program or the address behind the connection is not an MCP server.
    #[error("the MCP server '{server}' does not speak MCP: {reason}")]
    NotMcp {
        /// The name from the configuration.
        server: String,
        /// How it answers the handshake.
        reason: &'static str,
    },
    /// The server answered with a JSON-RPC error.
    #[error("the MCP server '{server}' answered with error {code}: {message}")]
    Refused {
        /// The server's name.
        server: String,
        /// The JSON-RPC error code.
        code: i64,
        /// The server's message.
        message: String,
        /// Additional data.
        data: Option<Value>,
    },
    /// Credentials are missing, or an HTTP request was refused.
    #[error("{0}")]
    Refusal(Box<OpError>),
}

impl UpstreamError {
    /// Returns why the server could not be reached or started, for the operator.
    pub(super) fn cause(&self) -> Option<&str> {
        match self {
            UpstreamError::Unavailable { cause, .. } => cause.as_deref(),
            _ => None,
        }
    }

    /// Returns the error with secrets removed from the server's message.
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

    /// Returns the error for the caller. JSON-RPC errors are usually converted by the code that made the request,
    /// because it knows their meaning.
    pub(crate) fn to_op_error(&self) -> OpError {
        let error = |code, advice: &str| OpError::new(code, sentence(&format!("{self}; {advice}.")));
        match self {
            UpstreamError::Unavailable { retry_after, cause, .. } => {
                let error = |advice| {
                    let error = error(Code::TransportConnection, advice);
                    match cause {
                        Some(cause) => error.for_operator(
                            cause,
                            "check the URL or the command of the server in the configuration",
                        ),
                        None => error,
                    }
                };
                match retry_after {
                    Some(wait) => error("it is retried later").with_detail(
                        "retry_after_seconds",
                        wait.as_secs() + u64::from(wait.subsec_nanos() > 0),
                    ),
                    None => error("try again; if it was a write, first check whether it took effect"),
                }
            }
            UpstreamError::Timeout { .. } => error(
                Code::TransportTimeout,
                "try later or request less data; if it was a write, first check whether it took effect",
            ),
            UpstreamError::TooLarge { limit, .. } => {
                let message =
                    sentence(&format!("{self}; request less data with a page, a filter or fewer fields."));
                OpError::too_large(message, LimitType::ResponseSize, None, *limit)
            }
            UpstreamError::Unreadable { .. }
            | UpstreamError::NotMcp { .. }
            | UpstreamError::Refused { .. } => error(Code::Internal, "tell the user"),
            UpstreamError::Refusal(error) => (**error).clone(),
        }
    }
}

/// Whether the server has run a failed call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CallEffect {
    /// It may have run it.
    Unknown,
    /// Its answer says that it does not know the session, but not in the way of the protocol.
    #[cfg(feature = "http")]
    Unlikely,
    /// The call was never sent, or was refused as the protocol refuses calls of an unknown session.
    None,
}

/// A failed call, and whether the server has run it.
#[derive(Debug)]
pub(super) struct CallFailure {
    pub(super) error: UpstreamError,
    pub(super) effect: CallEffect,
}

impl From<UpstreamError> for CallFailure {
    fn from(error: UpstreamError) -> CallFailure {
        CallFailure { error, effect: CallEffect::Unknown }
    }
}

impl CallFailure {
    pub(super) fn unseen(error: UpstreamError) -> CallFailure {
        CallFailure { error, effect: CallEffect::None }
    }

    /// Returns whether the call may be sent again. `is_read` says that running it twice does no harm.
    #[cfg_attr(
        not(feature = "http"),
        expect(unused_variables, reason = "only servers behind URLs doubt a session")
    )]
    pub(super) fn may_repeat(&self, is_read: bool) -> bool {
        match self.effect {
            CallEffect::Unknown => false,
            #[cfg(feature = "http")]
            CallEffect::Unlikely => is_read,
            CallEffect::None => true,
        }
    }
}

fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

/// Why an upstream cannot be set up. For the operator.
#[non_exhaustive]
#[derive(Debug, thiserror::Error)]
pub enum UpstreamSetupError {
    /// A `${` that is not `${env:NAME}`.
    #[error("invalid '${{' in '{text}'; write '${{env:NAME}}'")]
    Reference {
        /// The text as written.
        text: String,
    },
    /// A variable with an invalid name.
    #[error("the environment variable '{name}' cannot be set: '=' and NUL are not allowed in names")]
    Variable {
        /// The variable.
        name: String,
    },
    /// A program cannot receive headers.
    #[error("caller_headers only work over HTTP, not with a program; remove caller_headers or use url")]
    CallerHeaders,
    /// The address, a header or the HTTP client is invalid.
    #[cfg(feature = "http")]
    #[error(transparent)]
    Http(#[from] crate::target::http::HttpSetupError),
    /// The server is reached through a URL, and the feature `http` is missing.
    #[error(transparent)]
    MissingFeature(#[from] crate::target::MissingFeature),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_say_what_happened_and_what_to_do() {
        let server = || "files".to_owned();
        let gone = |retry_after| UpstreamError::Unavailable {
            server: server(),
            reason: "exited with status 3".to_owned(),
            cause: None,
            retry_after,
        };
        let error = gone(None).to_op_error();
        assert_eq!(
            error.message,
            "The MCP server 'files' exited with status 3; try again; if it was a write, first check whether it took effect."
        );
        let error = gone(Some(Duration::from_millis(1500))).to_op_error();
        assert_eq!(error.details["retry_after_seconds"], 2);
        let error = UpstreamError::TooLarge { server: server(), limit: 7 }.to_op_error();
        assert_eq!((error.code, error.details["limit_value"].clone()), (Code::PayloadTooLarge, 7.into()));
        let error = UpstreamError::Timeout { server: server(), after: Duration::from_secs(1) }.to_op_error();
        assert_eq!(error.code, Code::TransportTimeout);
        assert!(!format!(" {}", error.message).contains(" at "));
    }
}
