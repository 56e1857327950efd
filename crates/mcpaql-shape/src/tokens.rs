//! Estimates the tokens of answers as closely as possible: within 10 % of o200k for JSON of APIs. Texts in other languages
//! than English cost up to a fifth more than the estimate.
//!
//! A tokenizer first splits a text into words, numbers of three digits and runs of punctuation. This module does the
//! same, and knows what such a piece costs on average. Surfaces use the other estimate, which is on the high side.

/// Returns whether a text has at most `budget` tokens. Short and very long texts are not read: a token has at least one
/// byte, and texts of APIs have fewer than 16 bytes per token.
#[must_use]
pub fn fits(text: &str, budget: usize) -> bool {
    text.len() <= budget || (text.len() / 16 <= budget && answer_tokens(text) <= budget)
}

/// Estimates the tokens of a text.
#[must_use]
pub fn answer_tokens(text: &str) -> usize {
    let mut reader =
        PieceReader { rest: text, eighths: 0, run: AlphanumericRun::default(), has_prefix: false };
    while !reader.rest.is_empty() {
        reader.piece();
    }
    reader.end_run();
    reader.eighths.div_ceil(8)
}

/// Costs are in eighths of a token.
const TOKEN: usize = 8;
/// The cost of a word in lower case, by length.
const WORD_COSTS: [usize; 10] = [0, 8, 8, 8, 8, 8, 9, 9, 10, 11];
/// The cost of such a word with a mark before it, such as `_at`.
const MARKED_WORD_COSTS: [usize; 10] = [0, 8, 8, 8, 9, 10, 10, 13, 13, 15];
/// Long runs of punctuation in JSON that are one token.
const COMMON_MARKS: [&str; 5] = ["\":\"\",\"", "\":{\"", "\":[\"", "},{\"", "\"},{\""];

/// Letters and digits without anything between them. With digits and several pieces, it is an identifier or a hash, whose
/// letters form no words.
#[derive(Debug, Default)]
struct AlphanumericRun {
    as_words: usize,
    as_identifier: usize,
    pieces: usize,
    has_digits: bool,
}

#[derive(Debug)]
struct PieceReader<'t> {
    rest: &'t str,
    eighths: usize,
    run: AlphanumericRun,
    /// The word that follows has a mark before it.
    has_prefix: bool,
}

impl<'t> PieceReader<'t> {
    /// Takes the characters for which `is_part` holds.
    fn take(&mut self, is_part: impl Fn(u8) -> bool) -> &'t str {
        let end = self.rest.bytes().position(|byte| !is_part(byte)).unwrap_or(self.rest.len());
        let (piece, rest) = self.rest.split_at_checked(end).unwrap_or((self.rest, ""));
        self.rest = rest;
        piece
    }

    fn piece(&mut self) {
        match self.rest.bytes().next() {
            Some(b'a'..=b'z' | b'A'..=b'Z') => self.word(),
            Some(b'0'..=b'9') => {
                let digits = self.take(|byte| byte.is_ascii_digit()).len();
                let cost = TOKEN * digits.div_ceil(3);
                self.add(cost, cost);
                self.run.has_digits = true;
            }
            Some(byte) if byte.is_ascii_whitespace() => {
                self.end_run();
                let blanks = self.take(|byte| byte.is_ascii_whitespace()).len();
                let joins_next =
                    blanks == 1 && self.rest.bytes().next().is_some_and(|byte| !byte.is_ascii_digit());
                self.eighths += if joins_next { 0 } else { TOKEN };
            }
            Some(byte) if byte.is_ascii() => self.marks(),
            Some(_) => self.other_script(),
            None => {}
        }
    }

    fn word(&mut self) {
        let capitals = self.take(|byte| byte.is_ascii_uppercase()).len();
        let length = capitals + self.take(|byte| byte.is_ascii_lowercase()).len();
        let (as_word, as_identifier) = match capitals {
            0 => {
                let costs = if self.has_prefix { MARKED_WORD_COSTS } else { WORD_COSTS };
                let long = || {
                    if length < 14 {
                        costs.last().map_or(0, |last| last + length - 9)
                    } else {
                        2 * length - 12
                    }
                };
                let cost = costs.get(length).copied().unwrap_or_else(long);
                (cost, if length <= 2 { TOKEN } else { 4 * length })
            }
            1 => {
                let cost = match length {
                    ..=6 => 8,
                    7..=8 => 9,
                    _ => 12,
                };
                let in_identifier = match length {
                    ..=2 => 9,
                    3 => 14,
                    _ => 4 * length,
                };
                (cost, in_identifier)
            }
            _ if capitals == length => {
                (if length <= 3 { TOKEN } else { 4 * length }, if length <= 2 { TOKEN } else { 5 * length })
            }
            _ => (5 * length, 5 * length),
        };
        self.add(as_word, as_identifier);
    }

    fn marks(&mut self) {
        self.end_run();
        let is_mark =
            |byte: u8| byte.is_ascii() && !byte.is_ascii_alphanumeric() && !byte.is_ascii_whitespace();
        let marks = self.take(is_mark);
        // One mark before a word belongs to the word.
        self.has_prefix =
            marks.len() == 1 && self.rest.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic());
        if !self.has_prefix {
            self.eighths += match marks.len() {
                ..=3 => TOKEN,
                _ if COMMON_MARKS.contains(&marks) => TOKEN,
                4..=5 => 2 * TOKEN,
                length => 4 * length - 5,
            };
        }
    }

    /// Counts characters outside ASCII. In scripts without spaces, each is about one token.
    fn other_script(&mut self) {
        self.end_run();
        self.has_prefix = false;
        let text = self.take(|byte| !byte.is_ascii());
        let costs = text.chars().map(|c| match c {
            '\u{1f000}'..='\u{1ffff}' => 16,
            '\u{2e80}'.. => 6,
            _ => 4,
        });
        self.eighths += 4 + costs.sum::<usize>();
    }

    fn add(&mut self, as_words: usize, as_identifier: usize) {
        self.run.as_words += as_words;
        self.run.as_identifier += as_identifier;
        self.run.pieces += 1;
        self.has_prefix = false;
    }

    fn end_run(&mut self) {
        let run = std::mem::take(&mut self.run);
        let is_identifier = run.has_digits && run.pieces >= 3;
        self.eighths += if is_identifier { run.as_identifier } else { run.as_words };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ANSWERS: [&str; 4] = [
        r#"[{"id":1347,"number":42,"state":"open","title":"Found a bug in the parser","user":{"login":"octocat","id":1,"type":"User","site_admin":false},"labels":[{"id":208045946,"name":"bug","color":"f29513","default":true}],"comments":3,"created_at":"2026-04-22T13:33:48Z","updated_at":"2026-05-02T07:10:12Z","closed_at":null,"html_url":"https://github.com/octocat/Hello-World/issues/42"}]"#,
        r#"{"object":"list","data":[{"id":"ch_3MmlLrLkdIwHu7ix0snN0B15","amount":1099,"amount_captured":1099,"currency":"usd","captured":true,"customer":"cus_NffrFeUfNV2Hib","description":"Subscription creation","metadata":{},"paid":true,"payment_method":"pm_1MmlLrLkdIwHu7ixIJwEWSNR","receipt_email":null,"status":"succeeded"}],"has_more":false,"url":"/v1/charges"}"#,
        r#"{"ok":true,"channels":[{"id":"C012AB3CD","name":"general","is_channel":true,"is_archived":false,"created":1449252889,"creator":"U012A3CDE","topic":{"value":"Company-wide announcements and work-based matters","creator":"","last_set":0},"num_members":4}],"response_metadata":{"next_cursor":"dGVhbTpDMDYxRkE1UEI="}}"#,
        r#"{"city":"Lisbon","temperature":21.5,"unit":"celsius","forecast":[{"day":"Monday","high":24,"low":16,"summary":"Sunny with a light breeze from the north"},{"day":"Tuesday","high":22,"low":15,"summary":"Cloudy in the morning, rain in the evening"}]}"#,
    ];

    #[test]
    fn estimates_of_answers_are_within_ten_percent() {
        let tokenizer = tiktoken_rs::o200k_base().unwrap();
        for text in ANSWERS {
            let (exact, estimate) = (tokenizer.encode_ordinary(text).len(), answer_tokens(text));
            assert!(exact.abs_diff(estimate) * 10 <= exact, "{estimate} instead of {exact}: {text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_causes_a_panic_and_a_short_one_fits(text in ".{0,200}") {
            let tokens = answer_tokens(&text);
            prop_assert!(fits(&text, tokens.max(text.len())));
            prop_assert_eq!(tokens == 0, text.is_empty());
        }
    }
}
