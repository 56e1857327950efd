//! Texts as a model reads them: without invisible characters, with look-alike letters as the letters they look like, in lower case,
//! without accents.

use crate::unicode;

/// A folded text, with the position of each byte in the original.
#[derive(Debug, Default)]
pub(super) struct NormalText {
    pub(super) text: String,
    /// The position in the original of each byte; empty if the positions are equal.
    offsets: Vec<usize>,
    /// Letters of another script were replaced in words of Latin letters.
    pub(super) has_look_alikes: bool,
}

impl NormalText {
    pub(super) fn of(text: &str) -> NormalText {
        if text.is_ascii() {
            return NormalText { text: text.to_ascii_lowercase(), ..NormalText::default() };
        }
        let mut normal = NormalText::default();
        let mut word: Vec<(usize, char)> = Vec::new();
        for (position, c) in text.char_indices() {
            if unicode::is_invisible(c) {
                continue;
            }
            if c.is_alphanumeric() {
                word.push((position, c));
            } else {
                normal.push_word(&mut word);
                normal.push(position, c);
            }
        }
        normal.push_word(&mut word);
        normal
    }

    fn push_word(&mut self, word: &mut Vec<(usize, char)>) {
        let has_latin = word.iter().any(|(_, c)| c.is_ascii_alphabetic());
        for (position, c) in word.drain(..) {
            let is_styled = matches!(u32::from(c), 0xff10..=0xff5a | 0x1d400..=0x1d7ff);
            match unicode::homoglyph(c).filter(|_| has_latin || is_styled) {
                Some(ascii) => {
                    self.has_look_alikes = true;
                    self.push(position, ascii);
                }
                None => self.push(position, c),
            }
        }
    }

    fn push(&mut self, position: usize, c: char) {
        let from = self.text.len();
        fold_char(c, &mut self.text);
        self.offsets.resize(self.offsets.len() + self.text.len() - from, position);
    }

    /// Returns the position in the original of a byte of the folded text.
    pub(super) fn original(&self, position: usize, text: &str) -> usize {
        if self.offsets.is_empty() && self.text.len() == text.len() {
            return position;
        }
        self.offsets.get(position).copied().unwrap_or(text.len())
    }
}

/// Returns a text in lower case and without accents.
pub(super) fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    text.chars().for_each(|c| fold_char(c, &mut folded));
    folded
}

fn fold_char(c: char, folded: &mut String) {
    if c.is_ascii() {
        folded.push(c.to_ascii_lowercase());
        return;
    }
    match c {
        '’' | '‘' | 'ʼ' => folded.push('\''),
        '“' | '”' | '«' | '»' => folded.push('"'),
        '\u{300}'..='\u{36f}' => {}
        c if c.is_whitespace() => folded.push(' '),
        c => {
            for lower in c.to_lowercase() {
                match base_letters(lower) {
                    Some(base) => folded.push_str(base),
                    None if matches!(lower, '\u{300}'..='\u{36f}') => {}
                    None => folded.push(lower),
                }
            }
        }
    }
}

/// Returns the letters without accent of an accented Latin letter.
fn base_letters(c: char) -> Option<&'static str> {
    Some(match c {
        'à' | 'á' | 'â' | 'ã' | 'ä' | 'å' | 'ā' | 'ă' | 'ą' => "a",
        'ç' | 'ć' | 'č' | 'ĉ' => "c",
        'ď' | 'đ' => "d",
        'è' | 'é' | 'ê' | 'ë' | 'ē' | 'ė' | 'ę' | 'ě' => "e",
        'ğ' | 'ģ' => "g",
        'ì' | 'í' | 'î' | 'ï' | 'ī' | 'į' | 'ı' => "i",
        'ł' | 'ľ' | 'ļ' => "l",
        'ñ' | 'ń' | 'ň' => "n",
        'ò' | 'ó' | 'ô' | 'õ' | 'ö' | 'ø' | 'ő' | 'ō' => "o",
        'ř' => "r",
        'ś' | 'š' | 'ş' | 'ș' => "s",
        'ß' => "ss",
        'ť' | 'ț' | 'ţ' => "t",
        'ù' | 'ú' | 'û' | 'ü' | 'ů' | 'ű' | 'ū' | 'ų' => "u",
        'ý' | 'ÿ' => "y",
        'ź' | 'ż' | 'ž' => "z",
        'æ' => "ae",
        'œ' => "oe",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn look_alikes_accents_and_invisible_characters_are_folded() {
        let text = "Ignоrе\u{200b} Über ’straße’ ｆｕｌｌ Правила";
        let normal = NormalText::of(text);
        assert_eq!(normal.text, "ignore uber 'strasse' full правила");
        assert!(normal.has_look_alikes);
        let at = normal.text.find("full").unwrap();
        assert!(text.get(normal.original(at, text)..).unwrap().starts_with('ｆ'));
        assert_eq!(normal.original(normal.text.len(), text), text.len());
    }
}
