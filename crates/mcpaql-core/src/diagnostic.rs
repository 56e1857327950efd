//! Diagnostics are data: what is wrong with a document, where, and what to write instead. Renderers are views.

use crate::error::Code;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// The document, or a part of it, cannot be served.
    Error,
    /// It can, but probably not as meant.
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
    /// The specification's code.
    pub code: Code,
    /// How bad.
    pub severity: Severity,
    /// What is wrong, in one sentence without a final full stop.
    pub message: String,
    /// JSON pointer of the value; empty for the document as a whole.
    pub pointer: String,
    /// Point to the key instead of the value (unknown and duplicate keys).
    pub at_key: bool,
    /// Where it stands in the text, known once resolved against the source.
    pub span: Option<Span>,
    /// What should stand there.
    pub expected: Option<String>,
    /// What stands there; never a credential.
    pub found: Option<String>,
    /// What to write instead.
    pub suggestion: Option<String>,
}

impl Diagnostic {
    /// An error about the value behind `pointer`.
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

    /// A warning about the value behind `pointer`.
    pub fn warning(code: Code, pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(code, pointer, message) }
    }

    /// Points to the key.
    #[must_use]
    pub fn at_key(mut self) -> Self {
        self.at_key = true;
        self
    }

    /// Says what should stand there.
    #[must_use]
    pub fn expected(mut self, text: impl Into<String>) -> Self {
        self.expected = Some(text.into());
        self
    }

    /// Says what stands there.
    #[must_use]
    pub fn found(mut self, text: impl Into<String>) -> Self {
        self.found = Some(text.into());
        self
    }

    /// Says what to write instead.
    #[must_use]
    pub fn suggest(mut self, text: impl Into<String>) -> Self {
        self.suggestion = Some(text.into());
        self
    }
}

/// A range of a source text, with the position of its start for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Byte offset of the first byte.
    pub start: usize,
    /// Byte offset behind the last byte.
    pub end: usize,
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
}

impl Span {
    /// Of a problem that is not the text's own.
    pub const NOWHERE: Span = Span { start: 0, end: 0, line: 1, column: 1 };
}

/// A pointer as authors read it: `/endpoints/read/0/params/2/name` is `endpoints.read[0].params[2].name`.
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

/// A fragment as the beginning of a message.
#[must_use]
pub fn capitalize(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
