//! One table of codes: every failure a caller or an author can meet, with what it means and what to do.
//!
//! `OpError` is what goes wrong in a call and is written for the model that reads it. What only an operator may
//! see (the upstream's address, a driver's message) travels in `cause` and reaches the log, never the envelope.

use serde_json::{Map, Value};
use std::fmt;

/// Who can do something about a failure, which decides MCP's `isError`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remedy {
    /// The agent can repair its call or choose another one.
    Agent,
    /// Nobody in the conversation can: the server, the network or the upstream failed.
    Operator,
    /// The author of the document has to change it; such codes never travel in a call.
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

            /// The code as it stands on the wire.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Code::$variant => $text,)* }
            }

            /// Who can act on it.
            #[must_use]
            pub const fn remedy(self) -> Remedy {
                match self { $(Code::$variant => Remedy::$remedy,)* }
            }

            /// What it means, in one sentence.
            #[must_use]
            pub const fn meaning(self) -> &'static str {
                match self { $(Code::$variant => $meaning,)* }
            }

            /// What to do about it.
            #[must_use]
            pub const fn advice(self) -> &'static str {
                match self { $(Code::$variant => $advice,)* }
            }
        }
    };
}

codes! {
    MissingParam "VALIDATION_MISSING_PARAM" Agent
        "A required parameter was not given."
        "Add the parameter; `details.signature` shows the whole call.";
    InvalidType "VALIDATION_INVALID_TYPE" Agent
        "A parameter has the wrong JSON type, or the upstream rejected the request as malformed."
        "Send the type that `details.signature` names; numbers and booleans are not quoted.";
    InvalidValue "VALIDATION_INVALID_VALUE" Agent
        "A parameter has the right type but a value outside what the operation allows."
        "Choose a value within the enum, bounds, length, pattern or format that the message names.";
    UnknownParam "VALIDATION_UNKNOWN_PARAM" Agent
        "The call has a parameter that the operation does not declare."
        "Use one of `details.valid_params`; the message names the nearest one.";
    UnknownField "VALIDATION_UNKNOWN_FIELD" Agent
        "An object parameter, or the `input` of an update, has a field that is not declared."
        "Use one of `details.valid_fields`.";
    EndpointMismatch "VALIDATION_ENDPOINT_MISMATCH" Agent
        "The operation exists, but is reached through another tool."
        "Call the tool in `details.expected_tool` with the same arguments.";
    InvalidEncoding "VALIDATION_INVALID_ENCODING" Agent
        "Text in the request is not valid UTF-8 or holds characters that cannot be sent."
        "Send plain UTF-8 without control characters.";
    PayloadTooLarge "VALIDATION_PAYLOAD_TOO_LARGE" Agent
        "The request or the answer is larger than a published limit."
        "Ask for less (a page, a filter, fewer fields) or send less; `details.limit` names the limit.";
    NotFoundOperation "NOT_FOUND_OPERATION" Agent
        "The adapter has no operation of that name."
        "Use one of `details.suggestions`, or list operations with `introspect`.";
    NotFoundResource "NOT_FOUND_RESOURCE" Agent
        "The thing the call names does not exist in the target."
        "Check the identifier; list or search for it first.";
    PermissionDenied "PERMISSION_DENIED" Agent
        "The target refused the credentials, or they are missing."
        "Tell the user; the operator sets the credentials in the server's environment.";
    PermissionTrust "PERMISSION_TRUST_LEVEL_INSUFFICIENT" Agent
        "The operator has not trusted this adapter enough for the operation."
        "Tell the user which operation needs trust.";
    PermissionDanger "PERMISSION_DANGER_LEVEL_DENIED" Agent
        "The operator's policy forbids operations this dangerous."
        "Choose a safer operation or tell the user.";
    ConfirmationRequired "CONFIRMATION_REQUIRED" Agent
        "A human has to agree before the operation runs."
        "Show the user what would happen and ask.";
    TokenInvalid "TOKEN_INVALID" Agent
        "The confirmation token is not one this server issued."
        "Call the operation again without a token to get a fresh one.";
    TokenExpired "TOKEN_EXPIRED" Agent
        "The confirmation token is too old."
        "Call the operation again without a token to get a fresh one.";
    TokenAlreadyUsed "TOKEN_ALREADY_USED" Agent
        "A confirmation token works once."
        "Call the operation again without a token to get a fresh one.";
    TokenScopeMismatch "TOKEN_SCOPE_MISMATCH" Agent
        "The confirmation token was issued for another operation or other parameters."
        "Repeat exactly the call that was confirmed.";
    RateLimitExceeded "RATE_LIMIT_EXCEEDED" Agent
        "Too many calls in too short a time."
        "Wait `details.retry_after_seconds` and try again.";
    QuotaWarning "RATE_LIMIT_QUOTA_WARNING" Agent
        "A quota is nearly used up."
        "Go on, but sparingly.";
    QuotaPause "RATE_LIMIT_QUOTA_PAUSE" Agent
        "A quota asks for a decision before more calls."
        "Ask the user whether to go on.";
    QuotaExhausted "RATE_LIMIT_QUOTA_EXHAUSTED" Agent
        "A quota is used up."
        "Stop; tell the user when it resets.";
    ConflictExists "CONFLICT_ALREADY_EXISTS" Agent
        "The call conflicts with the present state of the target."
        "Read the present state, then decide between updating it and another name.";
    ConflictVersion "CONFLICT_VERSION_MISMATCH" Agent
        "The record changed since it was read."
        "Read it again and repeat the change with the new `_etag`.";
    Internal "INTERNAL_ERROR" Operator
        "The server or the upstream failed."
        "The call was right; try later or tell the user. The operator finds the cause in the log.";
    TransportTimeout "TRANSPORT_TIMEOUT" Operator
        "The target did not answer in time."
        "Try later; for a write, first read whether it took effect.";
    TransportConnection "TRANSPORT_CONNECTION_FAILED" Operator
        "The target could not be reached, or the connection broke."
        "Try later or tell the user.";
    SchemaMissingField "SCHEMA_MISSING_FIELD" Author
        "A required key is missing from the document."
        "Add the key where the report points.";
    SchemaInvalidType "SCHEMA_INVALID_TYPE" Author
        "A value has the wrong type."
        "Write the type that the report expects; booleans and numbers are not quoted.";
    SchemaInvalidValue "SCHEMA_INVALID_VALUE" Author
        "A value has the right type but is not one that is allowed there."
        "Choose one of the values the report lists.";
    SchemaUnresolvedRef "SCHEMA_UNRESOLVED_REF" Author
        "A name refers to a type or a parameter that is not declared."
        "Declare it, or correct the spelling.";
    SchemaDuplicateName "SCHEMA_DUPLICATE_NAME" Author
        "The same name is declared twice."
        "Rename or remove one of them.";
    SchemaInvalidName "SCHEMA_INVALID_NAME" Author
        "A name does not follow the protocol's spelling, or is reserved."
        "Use the suggested spelling.";
    SchemaVersionUnsupported "SCHEMA_VERSION_UNSUPPORTED" Author
        "The document's version is not one this program reads."
        "Use a version that the report lists.";
    SchemaUnknownField "SCHEMA_UNKNOWN_FIELD" Author
        "The document has a key that means nothing there, so what it says would be lost."
        "Correct the spelling or remove the key.";
    SchemaEmbeddedCredential "SCHEMA_EMBEDDED_CREDENTIAL" Author
        "A credential stands in the document itself."
        "Put it in an environment variable and name that variable.";
    SchemaSyntax "SCHEMA_SYNTAX" Author
        "The text is not valid YAML or JSON, or has no front matter."
        "Correct the syntax where the report points.";
    SchemaUnsupported "SCHEMA_UNSUPPORTED" Author
        "The document asks for something this program does not do yet."
        "Use what the report offers instead.";
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

/// A failed call: a code, one sentence for the model, structured details, and a cause for the log alone.
#[derive(Debug, Clone)]
pub struct OpError {
    /// What kind of failure.
    pub code: Code,
    /// One sentence that says what to do next. No path, no type name, no secret.
    pub message: String,
    /// What a program can read.
    pub details: Map<String, Value>,
    /// For the operator's log; never serialised.
    pub cause: Option<String>,
    /// The arguments were no envelope at all, so nothing was dispatched: MCP's `isError`, whatever the code.
    pub undispatched: bool,
}

impl OpError {
    /// A failure without details.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        OpError { code, message: message.into(), details: Map::new(), cause: None, undispatched: false }
    }

    /// Adds a detail.
    #[must_use]
    pub fn with_detail(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.details.insert(key.to_owned(), value.into());
        self
    }

    /// Marks arguments that are no envelope.
    #[must_use]
    pub fn before_dispatch(mut self) -> Self {
        self.undispatched = true;
        self
    }

    /// Adds what only the log may show.
    #[must_use]
    pub fn with_cause(mut self, cause: impl fmt::Display) -> Self {
        self.cause = Some(cause.to_string());
        self
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
        // The reference's check reads "at <word>" as a stack frame.
        for &code in Code::ALL {
            for text in [code.meaning(), code.advice()] {
                assert!(!format!(" {text}").contains(" at "), "{code}: {text}");
            }
        }
    }
}
