//! Invisible characters, and characters that look like ASCII.
//!
//! What always holds: no ASCII character is invisible or a homoglyph, so plain text costs one comparison per character.

use std::borrow::Cow;

/// Returns whether a character is invisible: zero-width characters, bidirectional marks, tag characters, fillers and variation
/// selectors. Control characters such as a tab do not count.
#[must_use]
pub fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Returns whether a text has invisible characters.
#[must_use]
pub fn has_invisible(text: &str) -> bool {
    let mut rest = text;
    while let Some(at) = rest.bytes().position(|byte| !byte.is_ascii()) {
        let mut foreign = rest.get(at..).unwrap_or_default().chars();
        if foreign.next().is_some_and(is_invisible) {
            return true;
        }
        rest = foreign.as_str();
    }
    false
}

/// Returns the kind of an invisible character, for messages.
#[must_use]
pub fn describe_invisible(c: char) -> &'static str {
    match c {
        '\u{e0000}'..='\u{e007f}' => "a tag character",
        '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' | '\u{180b}'..='\u{180d}' | '\u{180f}' => {
            "a variation selector"
        }
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            "a bidirectional mark"
        }
        '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}' | '\u{180e}' => "a zero-width character",
        '\u{ad}' => "a soft hyphen",
        _ => "an invisible character",
    }
}

/// Returns the invisible characters of a text with their positions. Characters with a legitimate use are left out: parts of emoji
/// (variation selectors, joiners, tags of flags), bidirectional marks in texts with Arabic or Hebrew, and a single joiner between
/// letters of scripts that join them.
pub fn hidden_characters(text: &str) -> impl Iterator<Item = (usize, char)> + '_ {
    let mut pictured = false;
    let mut last = ' ';
    let mut flag_end = 0;
    text.char_indices().filter(move |(position, c)| {
        let before = std::mem::replace(&mut last, *c);
        if matches!(c, '\u{200c}' | '\u{200d}') && joining(before) {
            let next = text.get(position + c.len_utf8()..).and_then(|rest| rest.chars().next());
            // At the end of a word, a joiner shapes the letter before it.
            if next.is_none_or(|next| joining(next) || next.is_ascii_punctuation() || next == ' ') {
                return false;
            }
        }
        if c.is_ascii() {
            // A keycap is a digit, a variation selector and a combining frame.
            pictured = c.is_ascii_digit() || matches!(c, '#' | '*');
            return false;
        }
        if pictured && matches!(c, '\u{200d}' | '\u{fe0e}' | '\u{fe0f}') {
            return false;
        }
        if *position < flag_end {
            return false;
        }
        if *c == BLACK_FLAG {
            flag_end = position + flag(text.get(*position..).unwrap_or_default());
        }
        pictured = pictorial(*c);
        is_invisible(*c)
            && !(matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}') && text.chars().any(right_to_left))
    })
}

/// Returns a text without characters that people do not see: invisible ones, as [`hidden_characters`] returns them, control characters
/// other than white space, and characters for private use, which have no meaning of their own. A line separator becomes a line break.
#[must_use]
pub fn visible_text(text: &str) -> Cow<'_, str> {
    let is_dropped = |c: char| {
        c.is_control() && !matches!(c, '\n' | '\r' | '\t')
            || matches!(c, '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..='\u{10ffff}')
    };
    let is_plain = |byte: u8| (b' '..=b'~').contains(&byte) || matches!(byte, b'\n' | b'\r' | b'\t');
    if text.bytes().all(is_plain) || (!has_invisible(text) && !text.chars().any(is_dropped)) {
        return Cow::Borrowed(text);
    }
    let mut visible = String::with_capacity(text.len());
    let mut from = 0;
    let mut hidden = hidden_characters(text).peekable();
    for (position, c) in text.char_indices() {
        let is_hidden = hidden.next_if(|(next, _)| *next == position).is_some();
        if is_hidden || is_dropped(c) {
            visible.push_str(text.get(from..position).unwrap_or_default());
            from = position + c.len_utf8();
            if matches!(c, '\u{2028}' | '\u{2029}') {
                visible.push('\n');
            }
        }
    }
    visible.push_str(text.get(from..).unwrap_or_default());
    if visible.len() == text.len() { Cow::Borrowed(text) } else { Cow::Owned(visible) }
}

/// The start of the flags of England, Scotland and Wales; tag characters spell the region.
const BLACK_FLAG: char = '\u{1f3f4}';

/// Returns the length of the flag that a text starts with. Only three flags are known, so no other text can hide in tag characters.
fn flag(text: &str) -> usize {
    let spelled = |letters: &str| -> String {
        let tags = letters.bytes().filter_map(|letter| char::from_u32(0xe0000 + u32::from(letter)));
        [BLACK_FLAG].into_iter().chain(tags).chain(['\u{e007f}']).collect()
    };
    let flags = ["gbeng", "gbsct", "gbwls"].map(spelled);
    flags.iter().find(|flag| text.starts_with(flag.as_str())).map_or(0, String::len)
}

/// Returns whether a letter belongs to a right-to-left script, where bidirectional marks are normal.
fn right_to_left(c: char) -> bool {
    matches!(c, '\u{590}'..='\u{5ff}' | '\u{620}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}')
}

/// Returns whether a letter or mark belongs to a script whose letters change shape next to each other: Arabic, Syriac, N'Ko and
/// related scripts, those of India and its neighbours, Khmer, Mongolian and more.
fn joining(c: char) -> bool {
    let code = u32::from(c);
    let of_script = matches!(code,
        0x620..=0x8ff | 0x900..=0xdff | 0xf00..=0x109f | 0x1700..=0x18af | 0x1900..=0x1cff | 0xa800..=0xa82f
        | 0xa840..=0xa8ff | 0xa900..=0xaaff | 0xabc0..=0xabff | 0xfb50..=0xfdff | 0xfe70..=0xfefc | 0x10a00..=0x10aff
        | 0x11000..=0x11fff | 0x1e900..=0x1e95f);
    of_script && !is_invisible(c)
}

fn pictorial(c: char) -> bool {
    matches!(c, '\u{a9}' | '\u{ae}' | '\u{203c}'..='\u{3299}' | '\u{1f000}'..='\u{1faff}') && !is_invisible(c)
}

/// Returns the ASCII character that a character of another script looks like.
#[must_use]
pub fn homoglyph(c: char) -> Option<char> {
    if c.is_ascii() {
        return None;
    }
    let code = u32::from(c);
    let nth = |base: u8, offset: u32| u8::try_from(offset).ok().map(|offset| char::from(base + offset));
    match code {
        0xff10..=0xff19 => return nth(b'0', code - 0xff10),
        0xff21..=0xff3a => return nth(b'A', code - 0xff21),
        0xff41..=0xff5a => return nth(b'a', code - 0xff41),
        // Mathematical bold, italic, script and so on: one alphabet after the other.
        0x1d400..=0x1d6a3 => {
            let letter = (code - 0x1d400) % 52;
            return if letter < 26 { nth(b'A', letter) } else { nth(b'a', letter - 26) };
        }
        0x1d7ce..=0x1d7ff => return nth(b'0', (code - 0x1d7ce) % 10),
        _ => {}
    }
    let looks = LOOKALIKES.iter().find(|(_, others)| others.contains(c));
    looks.map(|(ascii, _)| *ascii)
}

/// ASCII characters with their look-alikes from Cyrillic, Greek, Armenian, Roman numerals and others.
const LOOKALIKES: &[(char, &str)] = &[
    ('a', "аɑα"),
    ('b', "Ьƅ"),
    ('c', "сϲⅽ"),
    ('d', "ԁⅾ"),
    ('e', "еҽ℮"),
    ('g', "ɡց"),
    ('h', "һհ"),
    ('i', "іıιⅰɩӏ"),
    ('j', "јϳ"),
    ('k', "κк"),
    ('l', "ⅼӀ"),
    ('m', "ⅿм"),
    ('n', "ոռ"),
    ('o', "оοօσ"),
    ('p', "рρ"),
    ('q', "ԛզ"),
    ('r', "гⲅ"),
    ('s', "ѕ"),
    ('t', "тτ"),
    ('u', "υսʋ"),
    ('v', "νѵⅴ"),
    ('w', "ԝѡω"),
    ('x', "хⅹχ"),
    ('y', "уγү"),
    ('z', "ᴢ"),
    ('A', "АΑᎪ"),
    ('B', "ВΒᏴ"),
    ('C', "СϹⅭᏟ"),
    ('D', "ⅮᎠ"),
    ('E', "ЕΕᎬ"),
    ('F', "Ϝ"),
    ('G', "ԌᏀ"),
    ('H', "НΗᎻ"),
    ('I', "ІΙⅠ"),
    ('J', "ЈᎫ"),
    ('K', "КΚᏦK"),
    ('L', "ⅬᏞ"),
    ('M', "МΜⅯᎷ"),
    ('N', "Ν"),
    ('O', "ОΟՕ"),
    ('P', "РΡᏢ"),
    ('S', "ЅՏᏚ"),
    ('T', "ТΤᎢ"),
    ('V', "ѴⅤᏙ"),
    ('W', "ԜᎳ"),
    ('X', "ХΧⅩ"),
    ('Y', "ҮΥУ"),
    ('Z', "ΖᏃ"),
    ('-', "‐‑‒–—−－"),
    ('_', "＿"),
    ('.', "․．"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_has_no_invisible_characters() {
        for c in '\0'..='\u{7f}' {
            assert!(!is_invisible(c) && homoglyph(c).is_none(), "{c:?}");
        }
        for c in "äéßñ日本語한국어ไทย—“”…→✓😀".chars().filter(|c| *c != '—') {
            assert!(!is_invisible(c) && homoglyph(c).is_none(), "{c:?}");
        }
    }

    #[test]
    fn invisible_characters_are_found_except_in_emoji() {
        let text = "Reads\u{200b} notes\u{202e}. 👩\u{200d}🚀 ❤\u{fe0f} 1\u{fe0f}\u{20e3} \u{e0041}\u{feff}";
        let found: Vec<char> = hidden_characters(text).map(|(_, c)| c).collect();
        assert_eq!(found, ['\u{200b}', '\u{202e}', '\u{e0041}', '\u{feff}']);
        assert_eq!(hidden_characters(text).next(), Some((5, '\u{200b}')));
        assert_eq!(describe_invisible('\u{e0041}'), "a tag character");
        assert_eq!(describe_invisible('\u{202e}'), "a bidirectional mark");
        assert_eq!(hidden_characters("word\u{fe0f}").count(), 1, "a selector without an emoji");
    }

    #[test]
    fn flags_and_bidirectional_marks_are_allowed_where_they_belong() {
        let flag = "\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}";
        assert_eq!(hidden_characters(&format!("News of {flag} and {flag}.")).count(), 0);
        assert_eq!(hidden_characters(&format!("{flag}\u{e0041}")).count(), 1, "after a flag");
        assert_eq!(hidden_characters("\u{1f3f4}\u{e0072}\u{e006d}\u{e007f}").count(), 3, "not a flag");
        assert_eq!(hidden_characters("يقرأ\u{200f} الملاحظات (API\u{200e})").count(), 0);
        assert_eq!(hidden_characters("קורא\u{200f}\u{202e}").count(), 1, "an override is reported");
        assert_eq!(hidden_characters("Reads\u{200f} notes").count(), 1);
    }

    #[test]
    fn joiners_are_allowed_only_between_letters_that_join() {
        for text in [
            "این ابزار فایل\u{200c}ها را می\u{200c}خواند.",
            "क्\u{200d}ष और क्\u{200c}ष",
            "ക്\u{200d}",
            "র\u{200d}্যাব",
            "ක්\u{200d}ෂ",
            "\u{1820}\u{200d} \u{182d}",
        ] {
            assert_eq!(hidden_characters(text).count(), 0, "{text}");
        }
        for (text, count) in [
            ("Reads\u{200c}notes", 1),
            ("1\u{200c}2 and 1a\u{200d}2", 2),
            ("می\u{200c}\u{200c}خواند", 2),
            ("می\u{200b}خواند", 1),
            ("می\u{200c}read", 1),
            ("read\u{200c}می", 1),
            ("ไทย\u{200d}ไทย", 1),
        ] {
            assert_eq!(hidden_characters(text).count(), count, "{text}");
        }
    }

    #[test]
    fn texts_are_shown_without_what_people_do_not_see() {
        for text in ["Adds.\n\tBoth.", "👩\u{200d}🚀 ❤\u{fe0f}", "می\u{200c}خواند", "äß日本"]
        {
            assert!(matches!(visible_text(text), Cow::Borrowed(_)), "{text}");
        }
        assert_eq!(
            visible_text("Ad\u{200b}ds\u{e0041}\u{202e} two\u{1b}[8m.\u{e001}\u{2028}End"),
            "Adds two[8m.\nEnd"
        );
    }

    #[test]
    fn look_alike_letters_are_mapped_to_ascii() {
        let read = |text: &str| text.chars().map(|c| homoglyph(c).unwrap_or(c)).collect::<String>();
        assert_eq!(read("dеlеtе_fіlе"), "delete_file", "Cyrillic");
        assert_eq!(read("ｇｅｔ＿ｎｏｔｅ１"), "get_note1", "fullwidth");
        assert_eq!(read("𝐠𝑒𝗍‐𝟏"), "get-1", "mathematics");
        assert_eq!(read("ΑΒΕ"), "ABE", "Greek");
    }
}
