//! Lines of source with indentation.

/// Source that is being written.
#[derive(Debug)]
pub(crate) struct CodeWriter {
    out: String,
    unit: &'static str,
    depth: usize,
}

impl CodeWriter {
    /// Nothing yet; each level is indented by that unit.
    pub(crate) fn new(unit: &'static str) -> CodeWriter {
        CodeWriter { out: String::new(), unit, depth: 0 }
    }

    /// One line, or several where the text has line ends; an empty one has no indentation.
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

    /// What follows stands a level deeper.
    pub(crate) fn indent(&mut self) {
        self.depth += 1;
    }

    /// What follows stands a level less deep.
    pub(crate) fn dedent(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    /// Lines of a level more.
    pub(crate) fn within(&mut self, write: impl FnOnce(&mut CodeWriter)) -> &mut CodeWriter {
        self.indent();
        write(self);
        self.dedent();
        self
    }

    /// `open`, the lines of a level more, `close`.
    pub(crate) fn block(
        &mut self,
        open: impl AsRef<str>,
        close: impl AsRef<str>,
        write: impl FnOnce(&mut CodeWriter),
    ) -> &mut CodeWriter {
        self.line(open).within(write).line(close)
    }

    /// Columns that are left of a width on this level.
    pub(crate) fn room(&self, width: usize) -> usize {
        width.saturating_sub(self.unit.len() * self.depth)
    }

    /// What was written.
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
