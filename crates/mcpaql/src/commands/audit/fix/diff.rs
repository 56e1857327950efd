//! What would change in a file, as other programs show it and can apply.

use std::ops::Range;

/// Lines around a change that show where it is.
const AROUND: usize = 3;
/// How far to look for where two texts meet again.
const AHEAD: usize = 200;

/// A line of either text, or of both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line<'t> {
    Same(&'t str),
    Gone(&'t str),
    New(&'t str),
}

impl Line<'_> {
    fn shown(self) -> String {
        match self {
            Line::Same(text) => format!(" {text}\n"),
            Line::Gone(text) => format!("-{text}\n"),
            Line::New(text) => format!("+{text}\n"),
        }
    }
}

/// The changes with what stands around them, each behind a line that says where: the unified format without its two first lines.
pub(super) fn diff(old: &str, new: &str) -> String {
    let lines = lines(old, new);
    let changed = lines.iter().enumerate().filter(|(_, line)| !matches!(line, Line::Same(_)));
    let mut hunks: Vec<Range<usize>> = Vec::new();
    for (index, _) in changed {
        let around = index.saturating_sub(AROUND)..(index + 1 + AROUND).min(lines.len());
        match hunks.last_mut() {
            Some(last) if around.start <= last.end => last.end = around.end,
            _ => hunks.push(around),
        }
    }
    hunks.into_iter().map(|hunk| shown(&lines, hunk)).collect()
}

fn shown(lines: &[Line<'_>], hunk: Range<usize>) -> String {
    let (before, inside) = (lines.get(..hunk.start).unwrap_or_default(), lines.get(hunk).unwrap_or_default());
    let old = |lines: &[Line<'_>]| lines.iter().filter(|line| !matches!(line, Line::New(_))).count();
    let new = |lines: &[Line<'_>]| lines.iter().filter(|line| !matches!(line, Line::Gone(_))).count();
    // Where nothing is, the line before it is named.
    let place = |before: usize, count: usize| format!("{},{count}", before + usize::from(count > 0));
    let head = format!("@@ -{} +{} @@\n", place(old(before), old(inside)), place(new(before), new(inside)));
    inside.iter().fold(head, |text, line| text + &line.shown())
}

/// Both texts, line by line. Corrections add lines and change single ones, so looking a little ahead finds where they meet again.
fn lines<'t>(old: &'t str, new: &'t str) -> Vec<Line<'t>> {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let mut out = Vec::new();
    let (mut from, mut to) = (0, 0);
    while from < old.len() || to < new.len() {
        let (was, is) = (old.get(from).copied(), new.get(to).copied());
        if was == is {
            out.extend(was.map(Line::Same));
            (from, to) = (from + 1, to + 1);
            continue;
        }
        let meets = was.and_then(|was| new.iter().skip(to).take(AHEAD).position(|line| *line == was));
        match meets {
            Some(added) => {
                out.extend(new.iter().skip(to).take(added).copied().map(Line::New));
                to += added;
            }
            None => {
                out.extend(was.map(Line::Gone));
                out.extend(is.map(Line::New));
                (from, to) = (from + 1, to + 1);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_were_added_and_changed_are_shown_where_they_are() {
        assert_eq!(diff("a\nb\nc\n", "a\nx\nb\nC\n"), "@@ -1,3 +1,4 @@\n a\n+x\n b\n-c\n+C\n");
        assert_eq!(diff("", "a\n"), "@@ -0,0 +1,1 @@\n+a\n");
        assert_eq!(diff("a\nb\n", "a\n"), "@@ -1,2 +1,1 @@\n a\n-b\n");
        assert_eq!(diff("a\n", "a\n"), "");
    }

    #[test]
    fn changes_that_are_far_apart_stand_by_themselves() {
        let old: String = (1..=20).map(|number| format!("{number}\n")).collect();
        let new = old.replace("2\n3\n", "2\ntwo and a half\n3\n").replace("18\n", "eighteen\n");
        let expected = "@@ -1,5 +1,6 @@\n 1\n 2\n+two and a half\n 3\n 4\n 5\n@@ -15,6 +16,6 @@\n 15\n 16\n 17\n-18\n+eighteen\n 19\n 20\n";
        assert_eq!(diff(&old, &new), expected);
    }
}
