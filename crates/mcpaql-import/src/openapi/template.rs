//! Parses path templates into literals, placeholders and query parameters.

use mcpaql_core::host::is_dot_segment;
use mcpaql_core::operation::Segment;

/// A parsed path template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PathTemplate {
    /// The path; placeholders have the names of parameters in the document.
    pub(crate) path: Vec<Segment>,
    /// Fixed pairs after a question mark.
    pub(crate) query: Vec<(String, String)>,
}

/// Parses a path.
///
/// # Errors
///
/// Returns the reason if the path is invalid, as a part of a sentence.
pub(crate) fn read(path: &str) -> Result<PathTemplate, &'static str> {
    if path.contains("://") {
        return Err("its path is a complete URL");
    }
    let written = path.split('#').next().unwrap_or_default().trim();
    let (path, query) = split_query(written);
    if path.split('/').any(is_dot_segment) {
        return Err("its path contains '.' or '..' as a segment");
    }
    let mut pieces = Vec::new();
    let mut literal = String::new();
    if !path.starts_with('/') {
        literal.push('/');
    }
    let mut rest = path;
    while let Some((before, behind)) = rest.split_once('{') {
        push_literal(&mut literal, before);
        let (name, after) = behind.split_once('}').ok_or("a '{' of its path is never closed")?;
        rest = after;
        // `{?a,b}` only repeats the query parameters.
        if name.starts_with(['?', '&', ';', '#']) {
            continue;
        }
        if name.starts_with('/') {
            literal.push('/');
        }
        let name = name.trim_start_matches(['+', '/', '.']).trim_end_matches('*');
        let name = name.split(':').next().unwrap_or_default().trim();
        if name.is_empty() {
            return Err("a placeholder of its path has no name");
        }
        if !literal.is_empty() {
            pieces.push(Segment::Literal(std::mem::take(&mut literal)));
        }
        pieces.push(Segment::Param(name.to_owned()));
    }
    push_literal(&mut literal, rest);
    if !literal.is_empty() {
        pieces.push(Segment::Literal(literal));
    }
    Ok(PathTemplate { path: pieces, query })
}

/// Splits a path and its query. Pairs with placeholders are left out, because they are declared as parameters.
fn split_query(path: &str) -> (&str, Vec<(String, String)>) {
    // Not the question mark of `{?a,b}`.
    let mark = path.char_indices().find(|(index, letter)| {
        *letter == '?' && !path.get(..*index).is_some_and(|before| before.ends_with('{'))
    });
    let Some((path, query)) = mark.and_then(|(index, _)| Some((path.get(..index)?, path.get(index + 1..)?)))
    else {
        return (path, Vec::new());
    };
    let pairs = query.split('&').filter(|pair| !pair.is_empty() && !pair.contains('{'));
    let pairs = pairs.map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    (path, pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
}

/// Adds a literal and encodes characters that a URL cannot contain, because literals are sent unchanged.
fn push_literal(out: &mut String, text: &str) {
    for letter in text.chars() {
        if letter.is_ascii_graphic() && !matches!(letter, '"' | '<' | '>' | '\\' | '^' | '`' | '|' | '}') {
            out.push(letter);
        } else {
            for byte in letter.encode_utf8(&mut [0; 4]).bytes() {
                out.push('%');
                for half in [byte >> 4, byte & 15] {
                    out.push(char::from_digit(u32::from(half), 16).unwrap_or('0').to_ascii_uppercase());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(path: &str) -> String {
        let template = read(path).unwrap();
        let mut text: String = template
            .path
            .iter()
            .map(|piece| match piece {
                Segment::Literal(text) => text.clone(),
                Segment::Param(name) => format!("<{name}>"),
            })
            .collect();
        for (name, value) in template.query {
            text.push_str(&format!(" {name}={value}"));
        }
        text
    }

    #[test]
    fn paths_of_all_spellings_become_templates() {
        for (path, expected) in [
            ("/a/{b}/c", "/a/<b>/c"),
            ("a/{b}.json", "/a/<b>.json"),
            ("/v1/{+name}:cancel", "/v1/<name>:cancel"),
            ("/files/{path*}{?rev,raw}", "/files/<path>"),
            ("/x{id:[0-9]+}", "/x<id>"),
            ("/#Action=Run", "/"),
            ("/do?action=run&x={y}", "/do action=run"),
            ("/with space/\u{fc}", "/with%20space/%C3%BC"),
            ("/f(a={a},b='{b}')", "/f(a=<a>,b='<b>')"),
            ("/a}/{b}\\c", "/a%7D/<b>%5Cc"),
            ("", "/"),
        ] {
            assert_eq!(shown(path), expected, "{path}");
        }
    }

    #[test]
    fn an_invalid_path_is_refused() {
        for path in ["/a/{b", "/a/{}", "https://example.com/a", "/a/../{b}", "/a/%2E"] {
            assert!(read(path).is_err(), "{path}");
        }
    }
}
