//! What keeps the generator from generating: of which kind, and every detail.

use crate::output::HintedError;
use mcpaql_core::diagnostic::{Diagnostic, Severity, field_path};
use mcpaql_core::error::Code;
use mcpaql_document::source::Source;
use serde_json::{Value, json};

/// The kinds, by the exit status that the specification gives each.
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
    /// One fragment or sentence.
    pub(crate) message: String,
    /// What to do about the whole, where the details do not say.
    pub(crate) hint: Option<String>,
    pub(crate) details: Vec<GenerateIssue>,
    /// What is only odd.
    pub(crate) warnings: Vec<GenerateIssue>,
    /// What is wrong with a text, to be shown in it; it is among the details, too.
    pub(crate) source_diagnostics: Option<Box<(Source, Vec<Diagnostic>)>>,
}

/// One thing that is wrong, or odd.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GenerateIssue {
    pub(crate) path: String,
    pub(crate) code: String,
    pub(crate) message: String,
    pub(crate) suggestion: Option<String>,
    /// What should stand there, and what does.
    expected: Option<String>,
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

    /// The same with what should stand in a line, and what does.
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
            // Programs always get one: what the report expects, else what to do about every problem of that kind.
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
        let told = [
            ("line", self.position.map(|(line, _)| line.into())),
            ("column", self.position.map(|(_, column)| column.into())),
            ("expected", self.expected.as_deref().map(Value::from)),
            ("found", self.found.as_deref().map(Value::from)),
            ("suggestion", self.suggestion.as_deref().map(Value::from)),
        ];
        if let Some(members) = value.as_object_mut() {
            members.extend(told.into_iter().filter_map(|(key, told)| Some((key.to_owned(), told?))));
        }
        value
    }
}

/// What to do about a problem that does not say it itself.
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

    /// What is wrong with a text.
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

    /// An error of another part of the program: what the system refused is of its own kind, whoever asked it.
    pub(crate) fn from_error(kind: GenerateErrorKind, error: &anyhow::Error) -> GenerateError {
        let is_io = error.chain().any(|cause| cause.is::<std::io::Error>());
        let causes: Vec<String> = error.chain().map(ToString::to_string).collect();
        let failure = GenerateError::new(if is_io { GenerateErrorKind::Io } else { kind }, causes.join(": "));
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
