//! Decodes base64 parameters for files, one chunk at a time.
//!
//! What always holds: a [`Base64`] was checked completely, so decoding it while it is sent cannot fail. At most one
//! chunk is in memory both encoded and decoded.

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use bytes::Bytes;

/// Characters per chunk; a multiple of four, because four characters are three bytes.
const CHUNK: usize = 64 * 1024;

const LENIENT: GeneralPurposeConfig =
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
const STANDARD: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, LENIENT);
const URL_SAFE: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, LENIENT);

/// A text that is valid base64: either alphabet, with or without padding and line breaks.
#[derive(Clone, Copy)]
pub(super) struct Base64<'a> {
    text: &'a str,
    url_safe: bool,
    length: u64,
}

impl std::fmt::Debug for Base64<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Base64({} bytes)", self.length)
    }
}

impl<'a> Base64<'a> {
    /// Checks the whole text without storing the bytes; `None` if it is not base64.
    pub(super) fn check(text: &'a str) -> Option<Base64<'a>> {
        let mut base64 = Base64 { text, url_safe: text.contains(['-', '_']), length: 0 };
        let mut chunks = base64.chunks();
        let mut length = 0;
        for chunk in &mut chunks {
            length += u64::try_from(chunk.len()).ok()?;
        }
        base64.length = length;
        (!chunks.failed).then_some(base64)
    }

    /// The number of decoded bytes.
    pub(super) fn length(&self) -> u64 {
        self.length
    }

    /// The decoded bytes, in order.
    pub(super) fn chunks(&self) -> Chunks<'a> {
        Chunks {
            rest: self.text.as_bytes().iter(),
            engine: if self.url_safe { &URL_SAFE } else { &STANDARD },
            padded: false,
            failed: false,
        }
    }
}

/// Iterator over the decoded bytes; ends early if the text is not base64.
pub(super) struct Chunks<'a> {
    rest: std::slice::Iter<'a, u8>,
    engine: &'static GeneralPurpose,
    padded: bool,
    failed: bool,
}

impl Iterator for Chunks<'_> {
    type Item = Bytes;

    fn next(&mut self) -> Option<Bytes> {
        if self.failed {
            return None;
        }
        let capacity = self.rest.len().min(CHUNK);
        let mut quads = Vec::with_capacity(capacity);
        for &byte in self.rest.by_ref().filter(|byte| !byte.is_ascii_whitespace()).take(CHUNK) {
            // Nothing may follow padding. The decoder would not notice this across chunks.
            self.failed |= self.padded && byte != b'=';
            self.padded |= byte == b'=';
            quads.push(byte);
        }
        if quads.is_empty() || self.failed {
            return None;
        }
        match self.engine.decode(quads) {
            Ok(bytes) => Some(bytes.into()),
            Err(_) => {
                self.failed = true;
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(text: &str) -> Option<Vec<u8>> {
        let base64 = Base64::check(text)?;
        let bytes = base64.chunks().flatten().collect::<Vec<u8>>();
        assert_eq!(base64.length(), bytes.len() as u64);
        Some(bytes)
    }

    #[test]
    fn both_alphabets_with_or_without_padding_and_line_breaks() {
        for (text, bytes) in [
            ("", &b""[..]),
            ("aGk=", b"hi"),
            ("aGk", b"hi"),
            ("aG\r\nk=\n", b"hi"),
            ("-_-_", &[0xfb, 0xff, 0xbf]),
            ("+/+/", &[0xfb, 0xff, 0xbf]),
            (" ", b""),
        ] {
            assert_eq!(decoded(text).as_deref(), Some(bytes), "{text:?}");
        }
    }

    #[test]
    fn anything_else_is_refused() {
        let late = format!("{}aGk=aGk=", "AAAA".repeat(CHUNK / 4 - 1));
        for text in ["a", "aGk=aGk=", "=", "a===", "aGk\0", "a.b", "é", "-/-/", "data:text/plain,aGk=", &late]
        {
            assert_eq!(decoded(text), None, "{text:?}");
        }
    }

    #[test]
    fn decoding_restores_the_bytes_for_every_length() {
        let bytes_of_a_chunk = CHUNK / 4 * 3;
        for length in [
            0,
            1,
            2,
            3,
            1000,
            bytes_of_a_chunk - 1,
            bytes_of_a_chunk,
            bytes_of_a_chunk + 1,
            2 * bytes_of_a_chunk,
        ] {
            let bytes: Vec<u8> = (0..length).map(|n| (n as u8).wrapping_mul(31)).collect();
            let text = STANDARD.encode(&bytes);
            assert_eq!(decoded(&text), Some(bytes), "{length}");
            let broken = format!("{}!", text.strip_suffix('=').unwrap_or(&text));
            assert_eq!(decoded(&broken), None, "{length}");
        }
    }
}
