//! Finds the reference of arguments in a description, as docstrings have it:
//!
//! ```text
//! Args:
//!     path: the file to read
//!     keep: if false, the file is deleted afterwards
//! ```
//!
//! Its entries describe parameters, so they are judged as parameters and not as sentences about the operation.

/// A description without its reference of arguments, and the reference.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::classify) struct SplitDescription<'t> {
    /// The texts before and after the reference.
    pub(in crate::classify) prose: Vec<&'t str>,
    /// Names and descriptions of arguments.
    pub(in crate::classify) entries: Vec<(&'t str, &'t str)>,
}

/// Splits a description.
pub(in crate::classify) fn split_description(text: &str) -> SplitDescription<'_> {
    let mut split = SplitDescription::default();
    let Some(header) = header_end(text) else {
        split.prose.push(text);
        return split;
    };
    split.prose.extend(text.get(..header));
    let section = text.get(header..).unwrap_or_default();
    let (mut offset, mut after_blank, mut end) = (0, false, section.len());
    // Name, and where its description starts and ends.
    let mut entries: Vec<(&str, usize, usize)> = Vec::new();
    for line in section.split_inclusive('\n') {
        let start = offset;
        offset += line.len();
        let trimmed = line.trim();
        if trimmed.is_empty() {
            after_blank = true;
            continue;
        }
        let is_header = trimmed.starts_with('#') || (trimmed.ends_with(':') && !trimmed.contains(' '));
        if let Some((name, description)) = entry(line).filter(|_| !is_header) {
            entries.push((name, start + description, offset));
        } else if is_header || after_blank {
            end = start;
            break;
        } else if let Some(last) = entries.last_mut() {
            last.2 = offset;
        }
        after_blank = false;
    }
    split.prose.extend(section.get(end..).filter(|rest| !rest.is_empty()));
    let entry = |(name, start, end): (_, usize, usize)| Some((name, section.get(start..end)?.trim()));
    split.entries = entries.into_iter().filter_map(entry).collect();
    split
}

/// Returns where the line after the header of a reference starts, if an argument follows.
fn header_end(text: &str) -> Option<usize> {
    const HEADERS: [&str; 6] = ["args", "arguments", "parameters", "params", "inputs", "input"];
    let mut offset = 0;
    let mut lines = text.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        offset += line.len();
        let word = line.trim().trim_matches(['#', '*', ':', ' ']);
        let follows = lines.peek().is_some_and(|next| next.trim().is_empty() || entry(next).is_some());
        if follows && HEADERS.iter().any(|header| word.eq_ignore_ascii_case(header)) {
            return Some(offset);
        }
    }
    None
}

/// Returns the name in a line such as "- `path` (string): the file", and where its description starts.
fn entry(line: &str) -> Option<(&str, usize)> {
    let text = line.trim_start_matches([' ', '\t', '-', '*', '•', '`']);
    if !text.starts_with(|ch: char| ch.is_ascii_lowercase() || ch == '_') {
        return None;
    }
    let length = text.find(|ch: char| !(ch.is_ascii_alphanumeric() || matches!(ch, '_' | '.')))?;
    let (name, rest) = text.split_at_checked(length).filter(|(name, _)| name.len() <= 40)?;
    let rest = rest.trim_start_matches(['`', '*', ' ']);
    let rest = match rest.strip_prefix('(') {
        Some(kind) => kind.split_once(')')?.1.trim_start_matches(['`', '*', ' ']),
        None => rest,
    };
    let description = rest.strip_prefix([':', '–']).or_else(|| rest.strip_prefix("- "))?;
    Some((name, line.len() - description.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_split_from_the_prose() {
        let text = "Reads a file.\n\nArgs:\n    path: the file\n    keep (bool): if false, the file\n        is deleted\n\nReturns:\n    The text. It is cut.";
        let split = split_description(text);
        assert_eq!(split.entries, [("path", "the file"), ("keep", "if false, the file\n        is deleted")]);
        assert_eq!(split.prose.len(), 2);
        assert!(split.prose.iter().any(|text| text.starts_with("Returns:")));
    }

    #[test]
    fn a_text_without_a_reference_is_prose() {
        for text in ["Reads a file.", "", "Parameters of a call.", "Args:", "Args:\nNone.", "é: b\nargs:\n"]
        {
            let split = split_description(text);
            assert!(split.entries.is_empty(), "{text}");
            assert!(split.prose.concat().len() + 6 >= text.len(), "{text}");
        }
        let bullets =
            split_description("Search.\n\n## Parameters\n\n- `query`: words\n- `limit` - a number\n\nDone.");
        assert_eq!(bullets.entries, [("query", "words"), ("limit", "a number")]);
        assert_eq!(bullets.prose.last(), Some(&"Done."));
    }
}
