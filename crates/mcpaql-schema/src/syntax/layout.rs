//! The white space of JSON text: none, or one line for each value. Reads no value, so that numbers, escapes and equal names stay
//! as they are written, at any depth.

/// Maximum depth of values on lines of their own. Deeper ones are on one line, because their indentation would be longer than they are.
const MAX_INDENTED_DEPTH: usize = 128;

/// Removes white space beside brackets, commas, colons and strings, because an agent pays for every character. The
/// tokens stay the same, so invalid JSON stays invalid.
#[must_use]
pub fn minified(json: &str) -> String {
    let mut kept = String::with_capacity(json.len());
    let mut rest = json;
    loop {
        let (solid, after) = rest.split_at(solid_length(rest));
        kept.push_str(solid);
        rest = after.trim_start_matches([' ', '\t', '\n', '\r']);
        if rest.is_empty() {
            return kept;
        }
        // `1 2` must not become `12`: between two words the space stays, and with it the error.
        if rest.starts_with(is_word) && kept.ends_with(is_word) {
            kept.push(' ');
        }
    }
}

/// The number of bytes before the first white space outside of strings.
fn solid_length(text: &str) -> usize {
    let (mut inside, mut escaped) = (false, false);
    let end = text.bytes().position(|byte| {
        if inside {
            inside = byte != b'"' || escaped;
            escaped = byte == b'\\' && !escaped;
            return false;
        }
        inside = byte == b'"';
        matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
    });
    end.unwrap_or(text.len())
}

fn is_word(c: char) -> bool {
    !matches!(c, '{' | '}' | '[' | ']' | ',' | ':' | '"')
}

/// Returns JSON text with a line for each item and member, as `serde_json::to_string_pretty` writes it.
#[must_use]
pub fn indented(json: &str) -> String {
    let compact = minified(json);
    let mut out = String::with_capacity(compact.len().saturating_mul(2));
    let mut rest = compact.chars().peekable();
    let (mut depth, mut inside, mut escaped) = (0_usize, false, false);
    while let Some(c) = rest.next() {
        if inside {
            inside = c != '"' || escaped;
            escaped = c == '\\' && !escaped;
            out.push(c);
            continue;
        }
        match c {
            '{' | '[' => {
                out.push(c);
                match rest.next_if(|next| matches!(next, '}' | ']')) {
                    Some(end) => out.push(end),
                    None => {
                        depth += 1;
                        start_line(&mut out, depth, depth);
                    }
                }
            }
            '}' | ']' => {
                start_line(&mut out, depth, depth.saturating_sub(1));
                depth = depth.saturating_sub(1);
                out.push(c);
            }
            ',' => {
                out.push(c);
                start_line(&mut out, depth, depth);
            }
            ':' if depth <= MAX_INDENTED_DEPTH => out.push_str(": "),
            _ => {
                inside = c == '"';
                out.push(c);
            }
        }
    }
    out
}

/// Starts a line in a list or an object of this depth, unless it is too deep.
fn start_line(out: &mut String, depth: usize, indentation: usize) {
    if depth <= MAX_INDENTED_DEPTH {
        out.push('\n');
        out.extend(std::iter::repeat_n("  ", indentation));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn every_token_stays_as_it_is_written() {
        let json = r#"{"d":1e400,"l":"\ud800 \"{,:}","n":123456789012345678901234567890,"e":1E5,"a":1,"a":[ ],"o":{ }}"#;
        let lines = [
            "{",
            r#"  "d": 1e400,"#,
            r#"  "l": "\ud800 \"{,:}","#,
            r#"  "n": 123456789012345678901234567890,"#,
            r#"  "e": 1E5,"#,
            r#"  "a": 1,"#,
            r#"  "a": [],"#,
            r#"  "o": {}"#,
            "}",
        ];
        assert_eq!(indented(json), lines.join("\n"));
        assert_eq!(minified(&indented(json)), minified(json));
        for scalar in ["1", "null", r#""a b""#, "", "[]"] {
            assert_eq!(indented(scalar), scalar);
        }
    }

    #[test]
    fn deep_values_do_not_grow_with_their_depth() {
        let depth = 100_000;
        let deep = format!("{}1,2{}", "[".repeat(depth), "]".repeat(depth));
        let text = indented(&deep);
        assert!(text.len() < 3 * deep.len(), "{}", text.len());
        assert_eq!(minified(&text), deep);
    }

    proptest::proptest! {
        #[test]
        fn white_space_changes_neither_validity_nor_value(text in "[]\\[{}:,\"\\\\ \n1e.truefals-]{0,24}") {
            let before = serde_json::from_str::<Value>(&text).ok();
            let after = serde_json::from_str::<Value>(&minified(&text)).ok();
            proptest::prop_assert_eq!(before, after);
        }
    }

    #[test]
    fn lines_are_those_of_serde_json() {
        for value in [
            json!({"a": [1, {"b": [[], {}, [{}]], "c": "x,y:{[\\\"]}"}], "": null, "d": [[true]]}),
            json!([[[]], [{"a": {"b": {}}}], "é\n", -1.5, {"k": [1, 2], "l": "\""}]),
        ] {
            assert_eq!(indented(&value.to_string()), serde_json::to_string_pretty(&value).unwrap());
        }
    }
}
