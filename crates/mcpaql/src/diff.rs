//! Two texts → a unified diff.

use std::fmt::Write as _;

/// So many lines are shown around what differs.
const AROUND: usize = 3;
/// Texts that differ in more lines than this are shown as replaced where they differ.
const MAX_EDITS: usize = 2_000;

/// A line of both texts, or of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line<'a> {
    Same(&'a str),
    Removed(&'a str),
    Added(&'a str),
}

/// How one file becomes another; empty where they are the same. A file that is not there is `None`.
pub(crate) fn unified(path: &str, old: Option<&str>, new: Option<&str>) -> String {
    let hunks = hunks(old.unwrap_or_default(), new.unwrap_or_default());
    if hunks.is_empty() && old.is_some() == new.is_some() {
        return String::new();
    }
    let from = old.map_or("/dev/null".to_owned(), |_| format!("a/{path}"));
    let to = new.map_or("/dev/null".to_owned(), |_| format!("b/{path}"));
    format!("--- {from}\n+++ {to}\n{hunks}")
}

/// What differs, with a little around it, each behind a line that says where: a unified diff without its two first lines.
pub(crate) fn hunks(old: &str, new: &str) -> String {
    shown(&edits(&split(old), &split(new)))
}

/// Lines with their ends, so that a last line without one is another line.
fn split(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

fn edits<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<Line<'a>> {
    let before = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let (old_rest, new_rest) = (old.get(before..).unwrap_or_default(), new.get(before..).unwrap_or_default());
    let after = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(a, b)| a == b).count();
    let old_middle = old_rest.get(..old_rest.len() - after).unwrap_or_default();
    let new_middle = new_rest.get(..new_rest.len() - after).unwrap_or_default();
    let mut out: Vec<Line<'a>> = old.iter().take(before).map(|line| Line::Same(line)).collect();
    out.extend(shortest(old_middle, new_middle).unwrap_or_else(|| {
        let removed = old_middle.iter().map(|line| Line::Removed(line));
        removed.chain(new_middle.iter().map(|line| Line::Added(line))).collect()
    }));
    out.extend(old_rest.iter().skip(old_middle.len()).map(|line| Line::Same(line)));
    out
}

/// The fewest edits, by Myers' greedy algorithm; `None` where there are too many.
fn shortest<'a>(old: &[&'a str], new: &[&'a str]) -> Option<Vec<Line<'a>>> {
    let (height, width) = (old.len() as isize, new.len() as isize);
    // Of each diagonal how far it was reached, one list for each number of edits.
    let mut trace: Vec<Vec<isize>> = Vec::new();
    let limit = (old.len() + new.len()).min(MAX_EDITS) as isize;
    for edits in 0..=limit {
        let last = trace.last();
        let reached = |diagonal: isize| -> isize {
            let inside = diagonal.abs() < edits;
            last.filter(|_| inside)
                .and_then(|last| last.get((diagonal + edits - 1) as usize))
                .copied()
                .unwrap_or(-1)
        };
        let mut row = vec![-1; (2 * edits + 1) as usize];
        for diagonal in (-edits..=edits).step_by(2) {
            let mut x = if edits == 0 { 0 } else { down_or_right(diagonal, edits, &reached).1 };
            while x < height
                && x - diagonal < width
                && old.get(x as usize) == new.get((x - diagonal) as usize)
            {
                x += 1;
            }
            if let Some(slot) = row.get_mut((diagonal + edits) as usize) {
                *slot = x;
            }
            if x >= height && x - diagonal >= width {
                trace.push(row);
                return Some(walk_back(old, new, &trace));
            }
        }
        trace.push(row);
    }
    None
}

/// Whether the last edit of a diagonal removed a line, and how far that reaches in the old text.
fn down_or_right(diagonal: isize, edits: isize, reached: &impl Fn(isize) -> isize) -> (bool, isize) {
    let (added, removed) = (reached(diagonal - 1), reached(diagonal + 1));
    let is_removal = diagonal == edits || (diagonal != -edits && added + 1 > removed);
    if is_removal { (true, added + 1) } else { (false, removed) }
}

fn walk_back<'a>(old: &[&'a str], new: &[&'a str], trace: &[Vec<isize>]) -> Vec<Line<'a>> {
    let (mut x, mut y) = (old.len() as isize, new.len() as isize);
    let mut out = Vec::new();
    let line =
        |text: &[&'a str], index: isize| usize::try_from(index).ok().and_then(|at| text.get(at).copied());
    for edits in (0..trace.len() as isize).rev() {
        let before = usize::try_from(edits - 1).ok().and_then(|index| trace.get(index));
        let reached = |diagonal: isize| -> isize {
            let inside = diagonal.abs() < edits;
            before
                .filter(|_| inside)
                .and_then(|row| row.get((diagonal + edits - 1) as usize))
                .copied()
                .unwrap_or(-1)
        };
        let (is_removal, start) = if edits == 0 { (false, 0) } else { down_or_right(x - y, edits, &reached) };
        while x > start && y > 0 {
            (x, y) = (x - 1, y - 1);
            out.extend(line(old, x).map(Line::Same));
        }
        if edits == 0 {
            break;
        }
        if is_removal {
            x -= 1;
            out.extend(line(old, x).map(Line::Removed));
        } else {
            y -= 1;
            out.extend(line(new, y).map(Line::Added));
        }
    }
    out.reverse();
    out
}

fn shown(lines: &[Line<'_>]) -> String {
    let mut out = String::new();
    let changed: Vec<usize> = lines
        .iter()
        .enumerate()
        .filter(|(_, line)| !matches!(line, Line::Same(_)))
        .map(|(index, _)| index)
        .collect();
    let mut at = 0;
    let (mut old_line, mut new_line) = (1, 1);
    let mut next = 0;
    while let Some(&first) = changed.get(next) {
        let start = first.saturating_sub(AROUND);
        let mut last = first;
        while let Some(&index) = changed.get(next).filter(|index| **index <= last + 2 * AROUND + 1) {
            last = index;
            next += 1;
        }
        let end = (last + AROUND + 1).min(lines.len());
        let skipped = start - at;
        (old_line, new_line) = (old_line + skipped, new_line + skipped);
        let hunk = lines.get(start..end).unwrap_or_default();
        let olds = hunk.iter().filter(|line| !matches!(line, Line::Added(_))).count();
        let news = hunk.iter().filter(|line| !matches!(line, Line::Removed(_))).count();
        let _ = writeln!(out, "@@ -{} +{} @@", range(old_line, olds), range(new_line, news));
        hunk.iter().for_each(|line| write_line(&mut out, *line));
        (old_line, new_line, at) = (old_line + olds, new_line + news, end);
    }
    out
}

fn range(start: usize, count: usize) -> String {
    match count {
        0 => format!("{},0", start - 1),
        1 => start.to_string(),
        count => format!("{start},{count}"),
    }
}

fn write_line(out: &mut String, line: Line<'_>) {
    let (sign, text) = match line {
        Line::Same(text) => (' ', text),
        Line::Removed(text) => ('-', text),
        Line::Added(text) => ('+', text),
    };
    out.push(sign);
    out.push_str(text);
    if !text.ends_with('\n') {
        out.push_str("\n\\ No newline at end of file\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_differs_is_shown_with_a_little_around_it() {
        let old = "a\nb\nc\nd\ne\nf\ng\nh\n";
        let new = "a\nb\nc\nd\nE\nf\ng\nh\ni\n";
        assert_eq!(
            unified("x", Some(old), Some(new)),
            "--- a/x\n+++ b/x\n@@ -2,7 +2,8 @@\n b\n c\n d\n-e\n+E\n f\n g\n h\n+i\n"
        );
        assert_eq!(unified("x", Some(old), Some(old)), "");
    }

    #[test]
    fn far_changes_are_hunks_of_their_own() {
        let old: String = (1..=30).map(|line| format!("{line}\n")).collect();
        let new = old.replace("2\n3\n", "2\nthree\n").replacen("29\n", "", 1);
        let diff = unified("x", Some(&old), Some(&new));
        assert_eq!(diff.matches("@@ -").count(), 2, "{diff}");
        assert!(diff.contains("@@ -1,6 +1,6 @@") && diff.contains("@@ -26,5 +26,4 @@"), "{diff}");
    }

    #[test]
    fn files_come_and_go() {
        assert_eq!(unified("x", None, Some("a\n")), "--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n");
        assert_eq!(
            unified("x", Some("a"), None),
            "--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n\\ No newline at end of file\n"
        );
        assert_eq!(unified("x", None, Some("")), "--- /dev/null\n+++ b/x\n");
    }

    fn apply(lines: &[Line<'_>]) -> (String, String) {
        let (mut old, mut new) = (String::new(), String::new());
        for line in lines {
            match line {
                Line::Same(text) => {
                    old.push_str(text);
                    new.push_str(text);
                }
                Line::Removed(text) => old.push_str(text),
                Line::Added(text) => new.push_str(text),
            }
        }
        (old, new)
    }

    proptest! {
        #[test]
        fn edits_lead_from_one_text_to_the_other(old in "[abc\n]{0,40}", new in "[abc\n]{0,40}") {
            let lines = edits(&split(&old), &split(&new));
            prop_assert_eq!(apply(&lines), (old, new));
        }
    }

    #[test]
    fn texts_that_have_little_in_common_are_replaced() {
        let old: String = (0..5000).map(|line| format!("old {line}\n")).collect();
        let new: String = (0..5000).map(|line| format!("new {line}\n")).collect();
        let lines = edits(&split(&old), &split(&new));
        assert_eq!(apply(&lines), (old, new));
    }
}
