//! Diagnostics: what is wrong with a document, where, and what to write instead.
//!
//! ```
//! use mcpaql_schema::diagnostic::{Diagnostic, Severity, field_path};
//! use mcpaql_schema::error::Code;
//!
//! let problem = Diagnostic::error(Code::SchemaMissingField, "/target/base_url", "The URL is missing").suggest("add `base_url`");
//! assert_eq!(problem.severity, Severity::Error);
//! assert_eq!(field_path(&problem.pointer), "target.base_url");
//! ```
//!
//! Diagnostics are data; renderers are views of them.

use crate::error::Code;

/// The severity of a diagnostic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// The document, or a part of it, cannot be served.
    Error,
    /// The document can be served, but probably not as intended.
    Warning,
}

impl Severity {
    /// `error` or `warning`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
        }
    }
}

/// One problem of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The error code of the specification.
    pub code: Code,
    /// Error or warning.
    pub severity: Severity,
    /// What is wrong, in one sentence without a final full stop.
    pub message: String,
    /// JSON pointer of the value; empty for the whole document.
    pub pointer: String,
    /// Point to the key instead of the value (unknown and duplicate keys).
    pub at_key: bool,
    /// The position in the text. Known after the pointer is resolved against the source.
    pub span: Option<Span>,
    /// The value or type that is expected there.
    pub expected: Option<String>,
    /// The value that was found there. Never a credential.
    pub found: Option<String>,
    /// What to write instead.
    pub suggestion: Option<String>,
}

impl Diagnostic {
    /// Creates an error about the value at `pointer`.
    pub fn error(code: Code, pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Diagnostic {
            code,
            severity: Severity::Error,
            message: message.into(),
            pointer: pointer.into(),
            at_key: false,
            span: None,
            expected: None,
            found: None,
            suggestion: None,
        }
    }

    /// Creates a warning about the value at `pointer`.
    pub fn warning(code: Code, pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(code, pointer, message) }
    }

    /// Points to the key instead of the value.
    #[must_use]
    pub fn at_key(mut self) -> Self {
        self.at_key = true;
        self
    }

    /// Whether it is about a flag or the configuration, not about a place in the text.
    #[must_use]
    pub fn is_outside(&self) -> bool {
        self.span == Some(Span::NOWHERE) && self.pointer.is_empty()
    }

    /// Sets the words of which one is expected.
    #[must_use]
    pub fn expected_one_of<W: AsRef<str>>(self, words: &[W]) -> Self {
        let list: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
        match list.as_slice() {
            [word] => self.expected(*word),
            _ => self.expected(format!("one of {}", list.join(", "))),
        }
    }

    /// Sets what is expected.
    #[must_use]
    pub fn expected(mut self, text: impl Into<String>) -> Self {
        self.expected = Some(text.into());
        self
    }

    /// Sets what was found.
    #[must_use]
    pub fn found(mut self, text: impl Into<String>) -> Self {
        self.found = Some(text.into());
        self
    }

    /// Sets what to write instead.
    #[must_use]
    pub fn suggest(mut self, text: impl Into<String>) -> Self {
        self.suggestion = Some(text.into());
        self
    }
}

/// A range of a source text, with the line and column of its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Byte offset of the first byte.
    pub start: usize,
    /// Byte offset after the last byte.
    pub end: usize,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

impl Span {
    /// The span of a problem without a position in the text.
    pub const NOWHERE: Span = Span { start: 0, end: 0, line: 1, column: 1 };
}

/// Writes a pointer as authors read it: `/endpoints/read/0/params/2/name` becomes `endpoints.read[0].params[2].name`.
#[must_use]
pub fn field_path(pointer: &str) -> String {
    let mut path = String::new();
    for part in pointer.split('/').skip(1) {
        if !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()) {
            path.push('[');
            path.push_str(part);
            path.push(']');
        } else {
            if !path.is_empty() {
                path.push('.');
            }
            path.push_str(&part.replace("~1", "/").replace("~0", "~"));
        }
    }
    path
}

/// Capitalizes the first letter.
#[must_use]
pub fn capitalize(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
