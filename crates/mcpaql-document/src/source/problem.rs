//! A diagnostic with a byte range, before its line and column are computed.

use super::lines::LineIndex;
use super::tree::MAX_DEPTH;
use mcpaql_core::diagnostic::Diagnostic;
use mcpaql_core::error::Code;
use std::ops::Range;

/// A problem found by a parser. Its range is relative to the part of the text that was parsed.
#[derive(Debug)]
pub(super) struct SourceProblem {
    // Boxed to keep the `Result`s of the parsers small.
    diagnostic: Box<Diagnostic>,
    range: Range<usize>,
}

impl SourceProblem {
    pub(super) fn new(range: Range<usize>, diagnostic: Diagnostic) -> SourceProblem {
        SourceProblem { diagnostic: Box::new(diagnostic), range }
    }

    /// A syntax error, which stops the parser.
    pub(super) fn syntax(range: Range<usize>, message: impl Into<String>) -> SourceProblem {
        SourceProblem::new(range, Diagnostic::error(Code::SchemaSyntax, "", message))
    }

    /// Too many levels of nested values.
    pub(super) fn too_deep(range: Range<usize>) -> SourceProblem {
        SourceProblem::syntax(range, format!("Values nest deeper than {MAX_DEPTH} levels"))
            .suggest("flatten the document, or give repeated parts a name in `types`")
    }

    /// A key that occurs twice in a mapping.
    pub(super) fn duplicate(pointer: String, name: &str, key: Range<usize>) -> SourceProblem {
        let message = format!("`{name}` occurs twice in the same mapping; the first one wins");
        let diagnostic = Diagnostic::error(Code::SchemaDuplicateName, pointer, message).at_key();
        SourceProblem::new(key, diagnostic).suggest("remove or rename one of the two")
    }

    pub(super) fn suggest(mut self, text: impl Into<String>) -> SourceProblem {
        self.diagnostic.suggestion = Some(text.into());
        self
    }

    /// Returns the diagnostic with its span; `offset` is the start of the parsed part in the file.
    pub(super) fn resolve(self, lines: &LineIndex<'_>, offset: usize) -> Diagnostic {
        let span = lines.span(self.range.start + offset..self.range.end + offset);
        Diagnostic { span: Some(span), ..*self.diagnostic }
    }
}
