//! A pattern of our engine as one that JavaScript (flag `u`) and Python (`re`) read alike: no shorthand whose meaning
//! depends on the engine is left.

use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, Hir, HirKind, Look, Repetition};

/// What ends a text, whatever an engine's `$` means.
const END: &str = r"(?![\s\S])";

/// The pattern, written out; `None` where nothing elsewhere means the same.
pub(crate) fn portable(pattern: &str) -> Option<String> {
    let parsed = ParserBuilder::new().build().parse(pattern).ok()?;
    let mut out = String::with_capacity(pattern.len() + 16);
    write(&parsed, &mut out)?;
    Some(out)
}

/// Nobody asks what a group held.
fn bare(pattern: &Hir) -> &Hir {
    match pattern.kind() {
        HirKind::Capture(group) => bare(&group.sub),
        _ => pattern,
    }
}

fn write(pattern: &Hir, out: &mut String) -> Option<()> {
    let pattern = bare(pattern);
    match pattern.kind() {
        HirKind::Empty => {}
        HirKind::Literal(literal) => {
            std::str::from_utf8(&literal.0).ok()?.chars().for_each(|c| character(c, out));
        }
        HirKind::Class(Class::Unicode(class)) => write_class(class, out),
        HirKind::Class(Class::Bytes(class)) => write_class(&class.to_unicode_class()?, out),
        HirKind::Look(look) => write_look(*look, out)?,
        HirKind::Repetition(repetition) => write_repetition(repetition, out)?,
        HirKind::Capture(group) => write(&group.sub, out)?,
        HirKind::Concat(parts) => {
            for part in parts {
                let loose = matches!(bare(part).kind(), HirKind::Alternation(_));
                if loose { enclosed(part, out)? } else { write(part, out)? }
            }
        }
        HirKind::Alternation(parts) => {
            for (index, part) in parts.iter().enumerate() {
                if index > 0 {
                    out.push('|');
                }
                write(part, out)?;
            }
        }
    }
    Some(())
}

fn enclosed(pattern: &Hir, out: &mut String) -> Option<()> {
    out.push_str("(?:");
    write(pattern, out)?;
    out.push(')');
    Some(())
}

fn write_repetition(repetition: &Repetition, out: &mut String) -> Option<()> {
    let one = match bare(&repetition.sub).kind() {
        HirKind::Class(_) => true,
        HirKind::Literal(literal) => {
            std::str::from_utf8(&literal.0).is_ok_and(|text| text.chars().count() == 1)
        }
        _ => false,
    };
    if one {
        write(&repetition.sub, out)?
    } else {
        enclosed(&repetition.sub, out)?
    }
    match (repetition.min, repetition.max) {
        (0, None) => out.push('*'),
        (1, None) => out.push('+'),
        (0, Some(1)) => out.push('?'),
        (min, None) => out.push_str(&format!("{{{min},}}")),
        (min, Some(max)) if min == max => out.push_str(&format!("{{{min}}}")),
        (min, Some(max)) => out.push_str(&format!("{{{min},{max}}}")),
    }
    Some(())
}

fn write_class(class: &ClassUnicode, out: &mut String) {
    let mut others = class.clone();
    others.negate();
    match (class.ranges(), others.ranges()) {
        ([], _) => out.push_str(r"[^\s\S]"),
        (_, []) => out.push_str(r"[\s\S]"),
        (own, others) if others.len() < own.len() => ranges(true, others, out),
        ([only], _) if only.start() == only.end() => character(only.start(), out),
        (own, _) => ranges(false, own, out),
    }
}

fn ranges(negated: bool, ranges: &[ClassUnicodeRange], out: &mut String) {
    out.push_str(if negated { "[^" } else { "[" });
    for range in ranges {
        character(range.start(), out);
        if range.start() != range.end() {
            if u32::from(range.start()) + 1 < u32::from(range.end()) {
                out.push('-');
            }
            character(range.end(), out);
        }
    }
    out.push(']');
}

/// A character that stands for itself, within brackets and without.
fn character(c: char, out: &mut String) {
    match c {
        '^' | '$' | '\\' | '.' | '*' | '+' | '?' | '(' | ')' | '[' | ']' | '{' | '}' | '|' | '/' => {
            out.extend(['\\', c]);
        }
        '\n' => out.push_str(r"\n"),
        '\r' => out.push_str(r"\r"),
        '\t' => out.push_str(r"\t"),
        '0'..='9'
        | 'A'..='Z'
        | 'a'..='z'
        | ' '
        | '_'
        | '!'
        | '"'
        | '#'
        | '%'
        | '\''
        | ','
        | ':'
        | ';'
        | '<'
        | '='
        | '>'
        | '@'
        | '`' => out.push(c),
        // Neither language has the other's spelling of these.
        c if u32::from(c) > 0xffff => out.push(c),
        c => out.push_str(&format!("\\u{:04x}", u32::from(c))),
    }
}

fn write_look(look: Look, out: &mut String) -> Option<()> {
    match look {
        Look::Start => out.push('^'),
        Look::End => out.push_str(END),
        Look::StartLF => out.push_str(r"(?<![^\n])"),
        Look::EndLF => out.push_str(r"(?![^\n])"),
        Look::StartCRLF | Look::EndCRLF => return None,
        Look::WordAscii | Look::WordUnicode => boundary(look == Look::WordUnicode, true, out)?,
        Look::WordAsciiNegate | Look::WordUnicodeNegate => {
            boundary(look == Look::WordUnicodeNegate, false, out)?;
        }
        Look::WordStartAscii
        | Look::WordEndAscii
        | Look::WordStartUnicode
        | Look::WordEndUnicode
        | Look::WordStartHalfAscii
        | Look::WordEndHalfAscii
        | Look::WordStartHalfUnicode
        | Look::WordEndHalfUnicode => return None,
    }
    Some(())
}

/// Where a word begins or ends, or where none does.
fn boundary(unicode: bool, is: bool, out: &mut String) -> Option<()> {
    let word = ParserBuilder::new().build().parse(if unicode { r"\w" } else { "[0-9A-Za-z_]" }).ok()?;
    let mut class = String::new();
    write(&word, &mut class)?;
    let (inside, outside) = if is { ("!", "=") } else { ("=", "!") };
    out.push_str(&format!("(?:(?<={class})(?{inside}{class})|(?<!{class})(?{outside}{class}))"));
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_written_out() {
        for (pattern, expected) in [
            ("^[0-9]+$", r"^[0-9]+(?![\s\S])"),
            ("a|b{2,}", "a|b{2,}"),
            ("x(a|b)", "x[ab]"),
            ("x(ab|c)y", "x(?:ab|c)y"),
            ("(ab)?c{3}", "(?:ab)?c{3}"),
            (".", r"[^\n]"),
            (r"\s", r"[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]"),
            (r"[^\s]", r"[^\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]"),
            (r"[\-\]&~^]", r"[\u0026\u002d\]\^\u007e]"),
            (r"a\.b/c", r"a\.b\/c"),
            ("[😀-😎]é", r"[😀-😎]\u00e9"),
            ("(?i)k", r"[Kk\u212a]"),
            ("", ""),
        ] {
            assert_eq!(portable(pattern).as_deref(), Some(expected), "{pattern}");
        }
        assert_eq!(portable("(?mR)^a"), None);
    }
}
