//! The error codes of calls and documents, and the error type of a failed call.
//!
//! ```
//! use mcpaql_schema::error::{Code, OpError, Remedy};
//!
//! let error = OpError::new(Code::InvalidValue, "Parameter 'limit' must be between 1 and 10").with_detail("param_name", "limit");
//! assert_eq!(error.code.as_str(), "VALIDATION_INVALID_VALUE");
//! assert_eq!(error.code.remedy(), Remedy::Agent);
//! ```
//!
//! All codes are in one table: each has a meaning, advice, and a [`Remedy`]: who can act on it.
//!
//! What always holds: the message and the details of an [`OpError`] are written for the model that reads them. Anything
//! that only the operator may see (the upstream's address, a driver's message) is in `cause`. It goes to the log or to the
//! operator's terminal, never to the client.

mod leak;
mod limit;

pub use leak::looks_internal;
pub use limit::LimitType;

use serde_json::{Map, Value};
use std::fmt;

/// Who can act on a failure. This decides MCP's `isError`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remedy {
    /// The agent can fix its call or choose another one.
    Agent,
    /// Only the user or the operator can act. The agent can tell them, so it is no MCP error.
    User,
    /// Only the operator can act: the server, the network or the upstream failed.
    Operator,
    /// The author of the document. Calls never return such codes.
    Author,
}

macro_rules! codes {
    ($($variant:ident $text:literal $remedy:ident $meaning:literal $advice:literal;)*) => {
        /// The codes of the protocol that this implementation uses.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Code { $(#[doc = $meaning] $variant,)* }

        impl Code {
            /// Every code, in the order of the table.
            pub const ALL: &[Code] = &[$(Code::$variant,)*];

            /// Returns the code as clients see it, such as `NOT_FOUND_OPERATION`.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Code::$variant => $text,)* }
            }

            /// Returns who can act on it.
            #[must_use]
            pub const fn remedy(self) -> Remedy {
                match self { $(Code::$variant => Remedy::$remedy,)* }
            }

            /// Returns what it means, in one sentence.
            #[must_use]
            pub const fn meaning(self) -> &'static str {
                match self { $(Code::$variant => $meaning,)* }
            }

            /// Returns what to do about it.
            #[must_use]
            pub const fn advice(self) -> &'static str {
                match self { $(Code::$variant => $advice,)* }
            }
        }
    };
}

codes! {
    MissingParam "VALIDATION_MISSING_PARAM" Agent
        "A required parameter is missing."
        "Add the parameter; `details.signature` shows the whole call.";
    InvalidType "VALIDATION_INVALID_TYPE" Agent
        "A parameter has the wrong JSON type, or the upstream rejected the request as malformed."
        "Send the type shown in `details.signature`; do not quote numbers and booleans.";
    InvalidValue "VALIDATION_INVALID_VALUE" Agent
        "A parameter has the right type, but the operation does not allow its value."
        "Choose a value within the enum, bounds, format, pattern or length named in the message.";
    UnknownParam "VALIDATION_UNKNOWN_PARAM" Agent
        "The operation does not declare this parameter."
        "Use one of `details.valid_params`; the message names the nearest one.";
    UnknownField "VALIDATION_UNKNOWN_FIELD" Agent
        "An object parameter, or the `input` of an update, has an undeclared field."
        "Use one of `details.valid_fields`.";
    EndpointMismatch "VALIDATION_ENDPOINT_MISMATCH" Agent
        "The operation exists, but belongs to another tool."
        "Call the tool in `details.expected_tool` with the same arguments.";
    InvalidEncoding "VALIDATION_INVALID_ENCODING" Agent
        "Text in the request is not valid UTF-8, or contains forbidden characters."
        "Send plain UTF-8 without control characters.";
    PayloadTooLarge "VALIDATION_PAYLOAD_TOO_LARGE" Agent
        "The request or the response is larger than a published limit."
        "Request less (a page, a filter, fewer fields) or send less; `details.limit_type` names the limit.";
    NotFoundOperation "NOT_FOUND_OPERATION" Agent
        "The adapter has no operation with this name."
        "Use one of `details.suggestions`, or list operations with `introspect`.";
    NotFoundResource "NOT_FOUND_RESOURCE" Agent
        "The resource named in the call does not exist in the target."
        "Check the identifier: list or search the resources first.";
    PermissionDenied "PERMISSION_DENIED" User
        "The target rejected the credentials, or they are missing, or the host is not allowed; or a rule, a pause or a person has denied the call."
        "Tell the user: the message says why. The operator can set credentials, allow the host, or change the rule.";
    PermissionTrust "PERMISSION_TRUST_LEVEL_INSUFFICIENT" User
        "The operator has not granted this adapter enough trust for the operation."
        "Tell the user which operation needs more trust: the operator can grant it.";
    PermissionDanger "PERMISSION_DANGER_LEVEL_DENIED" Agent
        "The operation is too dangerous for the trust in its adapter."
        "Choose a safer operation, or tell the user: the operator can raise the trust or allow the operation with a rule.";
    ConfirmationRequired "CONFIRMATION_REQUIRED" User
        "The user or the operator must confirm the call before it runs."
        "Ask the user, then send the same call with `confirmation_token`. With `details.approval_id`, a person approves it with `mcpaql approve`.";
    TokenInvalid "TOKEN_INVALID" Agent
        "The confirmation token was not issued by this server."
        "Call the operation again without a token to get a new one.";
    TokenExpired "TOKEN_EXPIRED" Agent
        "The confirmation token is too old."
        "Call the operation again without a token to get a new one.";
    TokenAlreadyUsed "TOKEN_ALREADY_USED" Agent
        "The confirmation token was already used."
        "Call the operation again without a token to get a new one.";
    TokenScopeMismatch "TOKEN_SCOPE_MISMATCH" Agent
        "The confirmation token was issued for another operation or other parameters."
        "Send exactly the confirmed call again.";
    RateLimitExceeded "RATE_LIMIT_EXCEEDED" Agent
        "Too many calls in a short time."
        "Wait `details.retry_after_seconds` and try again.";
    QuotaWarning "RATE_LIMIT_QUOTA_WARNING" Agent
        "A quota is nearly used up."
        "Continue, but make fewer calls.";
    QuotaPause "RATE_LIMIT_QUOTA_PAUSE" User
        "A quota is reached. The user must decide whether to make more calls."
        "Ask the user whether to continue.";
    QuotaExhausted "RATE_LIMIT_QUOTA_EXHAUSTED" User
        "A quota is used up."
        "Stop; tell the user when it resets.";
    ConflictExists "CONFLICT_ALREADY_EXISTS" Agent
        "The call conflicts with the current state of the target."
        "Read the current state, then update it or choose another name.";
    ConflictVersion "CONFLICT_VERSION_MISMATCH" Agent
        "The record changed since it was read."
        "Read the record again, then call with its new `_etag` (for stores, as `if_match`).";
    Internal "INTERNAL_ERROR" Operator
        "The server or the upstream failed."
        "Try again later or tell the user; the call was valid. The cause is in the server's log.";
    TransportTimeout "TRANSPORT_TIMEOUT" Operator
        "The target did not respond in time."
        "Try again later; after a write, first check whether it took effect.";
    TransportConnection "TRANSPORT_CONNECTION_FAILED" Operator
        "The target could not be reached, or the connection broke."
        "Try again later or tell the user.";
    SchemaMissingField "SCHEMA_MISSING_FIELD" Author
        "A required key is missing from the document."
        "Add the key where the report points.";
    SchemaInvalidType "SCHEMA_INVALID_TYPE" Author
        "A value has the wrong type."
        "Write the type that the report expects; booleans and numbers are not quoted.";
    SchemaInvalidValue "SCHEMA_INVALID_VALUE" Author
        "A value has the right type, but is not allowed there."
        "Choose one of the values that the report lists.";
    SchemaUnresolvedRef "SCHEMA_UNRESOLVED_REF" Author
        "A name refers to a type or a parameter that is not declared."
        "Declare it, or correct the spelling.";
    SchemaDuplicateName "SCHEMA_DUPLICATE_NAME" Author
        "The same name is declared twice."
        "Rename or remove one of them.";
    SchemaInvalidName "SCHEMA_INVALID_NAME" Author
        "A name has a spelling that the protocol does not allow, or it is reserved."
        "Use the suggested spelling.";
    SchemaVersionUnsupported "SCHEMA_VERSION_UNSUPPORTED" Author
        "This program does not support the document's version."
        "Use a version that the report lists.";
    SchemaUnknownField "SCHEMA_UNKNOWN_FIELD" Author
        "The document has an unknown key, which would be ignored."
        "Correct the spelling or remove the key.";
    SchemaEmbeddedCredential "SCHEMA_EMBEDDED_CREDENTIAL" Author
        "The document contains a credential."
        "Put it in an environment variable, and write the name of the variable in the document.";
    SchemaSyntax "SCHEMA_SYNTAX" Author
        "The text is not valid YAML or JSON, or has no front matter."
        "Correct the syntax where the report points.";
    SchemaUnsupported "SCHEMA_UNSUPPORTED" Author
        "The document uses a feature that this program does not support yet."
        "Use the alternative in the report.";
}

impl Code {
    /// Finds a code by its wire form.
    #[must_use]
    pub fn parse(text: &str) -> Option<Code> {
        Code::ALL.iter().copied().find(|code| code.as_str() == text)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A failed call: a code, a message for the model, structured details, and a cause for the log only.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct OpError {
    /// The error code.
    pub code: Code,
    /// One sentence with the next step. It contains no path, no type name and no secret.
    pub message: String,
    /// Machine-readable details.
    pub details: Map<String, Value>,
    /// The cause, for the operator only: in the log or on a terminal. Never serialized.
    pub cause: Option<String>,
    /// What the operator can do. With a hint, the cause is a whole message that replaces [`message`](OpError::message) on a terminal.
    pub hint: Option<Box<str>>,
    /// The arguments were not an envelope, so nothing was called. Sets MCP's `isError` for any code.
    pub undispatched: bool,
}

impl OpError {
    /// Creates an error without details.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        OpError {
            code,
            message: message.into(),
            details: Map::new(),
            cause: None,
            hint: None,
            undispatched: false,
        }
    }

    /// Adds a detail.
    #[must_use]
    pub fn with_detail(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.details.insert(key.to_owned(), value.into());
        self
    }

    /// Marks an error about arguments that are not an envelope. It sets [`undispatched`](OpError::undispatched).
    #[must_use]
    pub fn before_dispatch(mut self) -> Self {
        self.undispatched = true;
        self
    }

    /// Adds a cause, which only the operator sees.
    #[must_use]
    pub fn with_cause(mut self, cause: impl fmt::Display) -> Self {
        self.cause = Some(cause.to_string());
        self
    }

    /// Adds the same error for the operator: the problem in a whole message, and what to do about it.
    #[must_use]
    pub fn for_operator(mut self, problem: impl fmt::Display, hint: impl Into<Box<str>>) -> Self {
        self.hint = Some(hint.into());
        self.with_cause(problem)
    }
}

impl fmt::Display for OpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}

impl std::error::Error for OpError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_and_found_again() {
        for &code in Code::ALL {
            assert_eq!(Code::parse(code.as_str()), Some(code));
        }
        assert_eq!(Code::parse("NOPE"), None);
    }

    #[test]
    fn texts_never_trip_a_leak_check() {
        for &code in Code::ALL.iter().filter(|code| code.remedy() != Remedy::Author) {
            for text in [code.meaning(), code.advice()] {
                assert!(!looks_internal(text), "{code}: {text}");
            }
        }
    }
}
