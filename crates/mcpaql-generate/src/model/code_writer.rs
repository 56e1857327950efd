//! Writes lines of source code with indentation.

/// Source code that is being written.
#[derive(Debug)]
pub(crate) struct CodeWriter {
    out: String,
    unit: &'static str,
    depth: usize,
}

impl CodeWriter {
    /// Starts an empty text; `unit` is the indentation of one level.
    pub(crate) fn new(unit: &'static str) -> CodeWriter {
        CodeWriter { out: String::new(), unit, depth: 0 }
    }

    /// Writes one line, or several if the text has line ends. Empty lines have no indentation.
    pub(crate) fn line(&mut self, line: impl AsRef<str>) -> &mut CodeWriter {
        for line in line.as_ref().split('\n') {
            if !line.is_empty() {
                self.out.extend(std::iter::repeat_n(self.unit, self.depth));
                self.out.push_str(line);
            }
            self.out.push('\n');
        }
        self
    }

    /// Indents the following lines by one level.
    pub(crate) fn indent(&mut self) {
        self.depth += 1;
    }

    /// Reduces the indentation by one level.
    pub(crate) fn dedent(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    /// Writes lines that are indented by one level.
    pub(crate) fn within(&mut self, write: impl FnOnce(&mut CodeWriter)) -> &mut CodeWriter {
        self.indent();
        write(self);
        self.dedent();
        self
    }

    /// Writes `open`, indented lines, and `close`.
    pub(crate) fn block(
        &mut self,
        open: impl AsRef<str>,
        close: impl AsRef<str>,
        write: impl FnOnce(&mut CodeWriter),
    ) -> &mut CodeWriter {
        self.line(open).within(write).line(close)
    }

    /// Returns the columns that remain of a width at this indentation.
    pub(crate) fn room(&self, width: usize) -> usize {
        width.saturating_sub(self.unit.len() * self.depth)
    }

    /// Returns the text.
    pub(crate) fn finish(self) -> String {
        self.out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_indented_and_empty_lines_are_empty() {
        let mut text = CodeWriter::new("  ");
        text.block("{", "}", |text| {
            text.line("a\n\nb").block("[", "]", |text| {
                assert_eq!(text.room(20), 16);
                text.line("");
            });
        });
        assert_eq!(text.finish(), "{\n  a\n\n  b\n  [\n\n  ]\n}\n");
    }
}
