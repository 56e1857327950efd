//! A diagnostic that knows its bytes but not yet its line.

use super::lines::LineIndex;
use super::tree::MAX_DEPTH;
use mcpaql_core::diagnostic::Diagnostic;
use mcpaql_core::error::Code;
use std::ops::Range;

/// A problem met while reading, with its range in the part of the text that was read.
#[derive(Debug)]
pub(super) struct SourceProblem {
    // Boxed, because it travels in the error of every step of the readers.
    diagnostic: Box<Diagnostic>,
    range: Range<usize>,
}

impl SourceProblem {
    pub(super) fn new(range: Range<usize>, diagnostic: Diagnostic) -> SourceProblem {
        SourceProblem { diagnostic: Box::new(diagnostic), range }
    }

    /// The text cannot be read any further.
    pub(super) fn syntax(range: Range<usize>, message: impl Into<String>) -> SourceProblem {
        SourceProblem::new(range, Diagnostic::error(Code::SchemaSyntax, "", message))
    }

    /// The text nests too deep to be a document.
    pub(super) fn too_deep(range: Range<usize>) -> SourceProblem {
        SourceProblem::syntax(range, format!("values nest deeper than {MAX_DEPTH} levels"))
            .suggest("flatten the document, or give repeated parts a name in `types`")
    }

    /// A name that its mapping has already.
    pub(super) fn duplicate(pointer: String, name: &str, key: Range<usize>) -> SourceProblem {
        let message = format!("`{name}` stands twice in the same mapping; the first one counts");
        let diagnostic = Diagnostic::error(Code::SchemaDuplicateName, pointer, message).at_key();
        SourceProblem::new(key, diagnostic).suggest("remove or rename one of the two")
    }

    pub(super) fn suggest(mut self, text: impl Into<String>) -> SourceProblem {
        self.diagnostic.suggestion = Some(text.into());
        self
    }

    /// The diagnostic with its span; `offset` is where the part that was read begins.
    pub(super) fn resolve(self, lines: &LineIndex<'_>, offset: usize) -> Diagnostic {
        let span = lines.span(self.range.start + offset..self.range.end + offset);
        Diagnostic { span: Some(span), ..*self.diagnostic }
    }
}
