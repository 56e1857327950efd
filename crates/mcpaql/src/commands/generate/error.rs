//! Errors of the generator: the kind, which is the exit status, and the details.

use crate::output::{HintedError, messages};
use mcpaql_core::diagnostic::{Diagnostic, Severity, field_path};
use mcpaql_core::error::Code;
use mcpaql_document::source::Source;
use serde_json::{Value, json};

/// Kinds of errors. The specification of the generator gives each an exit status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GenerateErrorKind {
    Internal,
    Schema,
    Configuration,
    Io,
    Template,
}

impl GenerateErrorKind {
    pub(crate) const fn exit_code(self) -> u8 {
        match self {
            GenerateErrorKind::Internal => 1,
            GenerateErrorKind::Schema => 2,
            GenerateErrorKind::Configuration => 3,
            GenerateErrorKind::Io => 4,
            GenerateErrorKind::Template => 5,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            GenerateErrorKind::Internal => "INTERNAL_ERROR",
            GenerateErrorKind::Schema => "SCHEMA_VALIDATION_ERROR",
            GenerateErrorKind::Configuration => "CONFIGURATION_ERROR",
            GenerateErrorKind::Io => "IO_ERROR",
            GenerateErrorKind::Template => "TEMPLATE_ERROR",
        }
    }
}

/// Why nothing was generated.
#[derive(Debug)]
pub(crate) struct GenerateError {
    pub(crate) kind: GenerateErrorKind,
    /// The message for the user.
    pub(crate) message: String,
    /// What to do, if the details do not say it.
    pub(crate) hint: Option<String>,
    pub(crate) details: Vec<GenerateIssue>,
    /// Warnings.
    pub(crate) warnings: Vec<GenerateIssue>,
    /// The problems of a text, to be printed with its lines. They are in `details`, too.
    pub(crate) source_diagnostics: Option<Box<(Source, Vec<Diagnostic>)>>,
}

/// One problem or warning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GenerateIssue {
    pub(crate) path: String,
    pub(crate) code: String,
    pub(crate) message: String,
    pub(crate) suggestion: Option<String>,
    /// The expected value.
    expected: Option<String>,
    /// The actual value.
    found: Option<String>,
    /// Line and column.
    position: Option<(usize, usize)>,
}

impl GenerateIssue {
    pub(crate) fn new(path: impl Into<String>, code: &str, message: impl Into<String>) -> GenerateIssue {
        GenerateIssue {
            path: path.into(),
            code: code.to_owned(),
            message: message.into(),
            suggestion: None,
            expected: None,
            found: None,
            position: None,
        }
    }

    pub(crate) fn suggest(mut self, suggestion: impl Into<String>) -> GenerateIssue {
        self.suggestion = Some(suggestion.into());
        self
    }

    /// Adds the expected and the actual value, and their line.
    pub(crate) fn with_expected(
        mut self,
        expected: &str,
        found: Option<&str>,
        line: Option<usize>,
    ) -> GenerateIssue {
        self.expected = Some(expected.to_owned());
        self.found = found.map(str::to_owned);
        self.position = line.map(|line| (line, 1));
        self
    }

    pub(crate) fn from_diagnostic(diagnostic: &Diagnostic) -> GenerateIssue {
        GenerateIssue {
            // Programs always get a suggestion: that of the problem, or the general advice for its code.
            suggestion: diagnostic.suggestion.clone().or_else(|| Some(suggestion(diagnostic))),
            expected: diagnostic.expected.clone(),
            found: diagnostic.found.clone(),
            position: diagnostic.span.map(|span| (span.line, span.column)),
            ..GenerateIssue::new(
                field_path(&diagnostic.pointer),
                diagnostic.code.as_str(),
                diagnostic.message.clone(),
            )
        }
    }

    pub(crate) fn to_json(&self) -> Value {
        let mut value = json!({"path": self.path, "code": self.code, "message": self.message});
        let members = [
            ("line", self.position.map(|(line, _)| line.into())),
            ("column", self.position.map(|(_, column)| column.into())),
            ("expected", self.expected.as_deref().map(Value::from)),
            ("found", self.found.as_deref().map(Value::from)),
            ("suggestion", self.suggestion.as_deref().map(Value::from)),
        ];
        if let Some(object) = value.as_object_mut() {
            object.extend(members.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))));
        }
        value
    }
}

/// Returns the suggestion for a problem without one.
fn suggestion(diagnostic: &Diagnostic) -> String {
    match (&diagnostic.expected, diagnostic.code) {
        (Some(expected), Code::SchemaUnknownField) => format!("remove it, or use {expected}"),
        (Some(expected), Code::SchemaInvalidValue | Code::SchemaInvalidType) => format!("use {expected}"),
        (_, code) => code.advice().to_owned(),
    }
}

impl GenerateError {
    pub(crate) fn new(kind: GenerateErrorKind, message: impl Into<String>) -> GenerateError {
        GenerateError {
            kind,
            message: message.into(),
            hint: None,
            details: Vec::new(),
            warnings: Vec::new(),
            source_diagnostics: None,
        }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> GenerateError {
        self.hint = Some(hint.into());
        self
    }

    pub(crate) fn details(mut self, details: Vec<GenerateIssue>) -> GenerateError {
        self.details = details;
        self
    }

    /// Creates an error from the problems of a text.
    pub(crate) fn from_diagnostics(
        kind: GenerateErrorKind,
        message: impl Into<String>,
        source: Source,
        diagnostics: Vec<Diagnostic>,
    ) -> GenerateError {
        let of = |severity: Severity| -> Vec<GenerateIssue> {
            diagnostics
                .iter()
                .filter(|one| one.severity == severity)
                .map(GenerateIssue::from_diagnostic)
                .collect()
        };
        let (details, warnings) = (of(Severity::Error), of(Severity::Warning));
        GenerateError {
            details,
            warnings,
            source_diagnostics: Some(Box::new((source, diagnostics))),
            ..GenerateError::new(kind, message)
        }
    }

    /// Converts an error of another part of the program. An I/O error anywhere in its chain makes it an I/O error.
    pub(crate) fn from_error(kind: GenerateErrorKind, error: &anyhow::Error) -> GenerateError {
        let is_io = error.chain().any(|cause| cause.is::<std::io::Error>());
        let message = messages(error).join(": ");
        let failure = GenerateError::new(if is_io { GenerateErrorKind::Io } else { kind }, message);
        match error.downcast_ref::<HintedError>() {
            Some(hinted) => failure.hint(&hinted.hint),
            None => failure,
        }
    }

    pub(crate) fn to_json(&self) -> Value {
        let mut error = json!({
            "code": self.kind.exit_code(),
            "type": self.kind.name(),
            "message": self.message,
            "details": self.details.iter().map(GenerateIssue::to_json).collect::<Vec<_>>(),
        });
        if let (Some(hint), Some(members)) = (&self.hint, error.as_object_mut()) {
            members.insert("suggestion".to_owned(), hint.as_str().into());
        }
        let mut value = json!({"success": false, "error": error});
        if let (false, Some(members)) = (self.warnings.is_empty(), value.as_object_mut()) {
            members.insert("warnings".to_owned(), self.warnings.iter().map(GenerateIssue::to_json).collect());
        }
        value
    }
}
