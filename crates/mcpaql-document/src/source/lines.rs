//! Converts byte offsets to lines and columns.

use mcpaql_core::diagnostic::Span;
use std::ops::Range;

/// The lines of a text. Lines count from 1 and end with `\n`; columns count characters from 1.
pub(crate) struct LineIndex<'t> {
    text: &'t str,
    starts: Vec<usize>,
}

impl<'t> LineIndex<'t> {
    pub(crate) fn new(text: &'t str) -> LineIndex<'t> {
        // The byte order mark does not count as a character of the first line.
        let first = super::byte_order_mark(text);
        let breaks = text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n').map(|(index, _)| index + 1);
        LineIndex { text, starts: std::iter::once(first).chain(breaks).collect() }
    }

    /// Returns line and column of an offset. An offset inside a character has the position of that character.
    pub(crate) fn position(&self, offset: usize) -> (usize, usize) {
        let line = self.starts.partition_point(|&start| start <= offset).max(1);
        let start = self.start(line);
        let before = self.text.get(start..self.text.floor_char_boundary(offset)).unwrap_or_default();
        (line, before.chars().count() + 1)
    }

    /// Returns the offset where a line starts, or the end of the text if there is no such line.
    pub(crate) fn start(&self, line: usize) -> usize {
        self.starts.get(line.saturating_sub(1)).copied().unwrap_or(self.text.len())
    }

    /// Converts a range to a span, extended to character boundaries and limited to the text.
    pub(crate) fn span(&self, range: Range<usize>) -> Span {
        let start = self.text.floor_char_boundary(range.start);
        let end = self.text.ceil_char_boundary(range.end).max(start);
        let (line, column) = self.position(start);
        Span { start, end, line, column }
    }

    /// Converts ranges to spans. Characters are counted once for all ranges, because a whole document may be one line.
    pub(crate) fn spans(&self, ranges: &[Range<usize>]) -> Vec<Span> {
        let mut order: Vec<usize> = (0..ranges.len()).collect();
        order.sort_by_key(|&index| ranges.get(index).map_or(0, |range| range.start));
        let mut spans = vec![Span::NOWHERE; ranges.len()];
        let (mut counted_line, mut counted_to, mut characters) = (0, 0, 0);
        for index in order {
            let (Some(range), Some(span)) = (ranges.get(index), spans.get_mut(index)) else { continue };
            let start = self.text.floor_char_boundary(range.start);
            let end = self.text.ceil_char_boundary(range.end).max(start);
            let line = self.starts.partition_point(|&first| first <= start).max(1);
            if line != counted_line {
                (counted_line, counted_to, characters) = (line, self.start(line), 0);
            }
            characters += self.text.get(counted_to..start).unwrap_or_default().chars().count();
            counted_to = counted_to.max(start);
            *span = Span { start, end, line, column: characters + 1 };
        }
        spans
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters_from_one() {
        let lines = LineIndex::new("äb\r\n日本 x\n");
        assert_eq!(lines.position(0), (1, 1));
        assert_eq!(lines.position(2), (1, 2));
        assert_eq!(lines.position("äb\r\n日本 ".len()), (2, 4));
        assert_eq!(lines.position("äb\r\n日本 x\n".len()), (3, 1));
    }

    #[test]
    fn offsets_beyond_the_text_or_inside_a_character_are_tolerated() {
        let lines = LineIndex::new("日");
        assert_eq!(lines.position(1), (1, 1));
        assert_eq!(lines.position(99), (1, 2));
        assert_eq!(lines.span(1..2), Span { start: 0, end: 3, line: 1, column: 1 });
    }

    #[test]
    fn many_ranges_have_the_same_spans_as_each_alone() {
        let text = "\u{feff}äb\r\n日本 x\nend";
        let lines = LineIndex::new(text);
        let ranges = [15..18, 3..4, 0..2, 9..10, 6..99, 9..9, 99..100];
        let alone: Vec<Span> = ranges.iter().map(|range| lines.span(range.clone())).collect();
        assert_eq!(lines.spans(&ranges), alone);
    }

    #[test]
    fn a_byte_order_mark_is_no_column() {
        assert_eq!(LineIndex::new("\u{feff}ab").position(4), (1, 2));
    }
}
