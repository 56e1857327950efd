//! Unified diffs of two texts.

use similar::TextDiff;
use std::time::Duration;

/// After this time, the diff may contain more lines than necessary.
const TIMEOUT: Duration = Duration::from_secs(2);

/// Returns the diff from `old` to `new`, or an empty string if they are equal. `None` is a file that does not exist.
pub(crate) fn unified_diff(path: &str, old: Option<&str>, new: Option<&str>) -> String {
    let hunks = hunks(old.unwrap_or_default(), new.unwrap_or_default());
    if hunks.is_empty() && old.is_some() == new.is_some() {
        return String::new();
    }
    let from = old.map_or("/dev/null".to_owned(), |_| format!("a/{path}"));
    let to = new.map_or("/dev/null".to_owned(), |_| format!("b/{path}"));
    format!("--- {from}\n+++ {to}\n{hunks}")
}

/// Returns the changed lines with three lines of context: a unified diff without its two header lines.
pub(crate) fn hunks(old: &str, new: &str) -> String {
    TextDiff::configure().timeout(TIMEOUT).diff_lines(old, new).unified_diff().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_shown_with_three_lines_of_context() {
        let old = "a\nb\nc\nd\ne\nf\ng\nh\n";
        let new = "a\nb\nc\nd\nE\nf\ng\nh\ni\n";
        assert_eq!(
            unified_diff("x", Some(old), Some(new)),
            "--- a/x\n+++ b/x\n@@ -2,7 +2,8 @@\n b\n c\n d\n-e\n+E\n f\n g\n h\n+i\n"
        );
        assert_eq!(unified_diff("x", Some(old), Some(old)), "");
    }

    #[test]
    fn far_changes_are_hunks_of_their_own() {
        let old: String = (1..=30).map(|line| format!("{line}\n")).collect();
        let new = old.replace("2\n3\n", "2\nthree\n").replacen("29\n", "", 1);
        let diff = unified_diff("x", Some(&old), Some(&new));
        assert_eq!(diff.matches("@@ -").count(), 2, "{diff}");
        assert!(diff.contains("@@ -1,6 +1,6 @@") && diff.contains("@@ -26,5 +26,4 @@"), "{diff}");
    }

    #[test]
    fn files_come_and_go() {
        assert_eq!(unified_diff("x", None, Some("a\n")), "--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n");
        assert_eq!(
            unified_diff("x", Some("a"), None),
            "--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n\\ No newline at end of file\n"
        );
        assert_eq!(unified_diff("x", None, Some("")), "--- /dev/null\n+++ b/x\n");
    }
}
