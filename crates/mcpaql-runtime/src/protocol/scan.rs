//! Finds the id in a message that cannot be parsed, and counts its values.

use serde_json::Value;

/// Maximum length of an id, in bytes as written.
const ID_BYTES: usize = 256;

/// Finds the `id` among the top-level members of an invalid message. It reads piece by piece and needs little memory.
#[derive(Default)]
pub(crate) struct IdScan {
    found: Option<Value>,
    depth: usize,
    in_string: bool,
    escaped: bool,
    /// The top-level key or value that is being read, as written.
    token: Vec<u8>,
    is_id: bool,
    has_method: bool,
    values: usize,
}

impl IdScan {
    /// Returns whether the message has a `method`: it is a request or a notification, not an answer.
    pub(crate) fn has_method(&self) -> bool {
        self.has_method
    }

    /// The number of values, where an array or an object counts as two. It may be lower by one for each of these that is not
    /// empty.
    pub(crate) fn values(&self) -> usize {
        self.values
    }

    /// The id as a non-negative integer, like the ids of our own requests.
    pub(crate) fn number(&self) -> Option<u64> {
        self.found.as_ref()?.as_u64()
    }

    /// The id: a string or an integer.
    pub(crate) fn id(self) -> Option<Value> {
        self.found
    }

    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            if self.in_string {
                self.keep(byte);
                self.in_string = self.escaped || byte != b'"';
                self.escaped = !self.escaped && byte == b'\\';
                continue;
            }
            match byte {
                b'"' => {
                    self.in_string = true;
                    self.keep(byte);
                }
                b'{' | b'[' => {
                    self.keep(byte);
                    self.depth += 1;
                    self.values += 2;
                }
                b'}' | b']' => {
                    self.end_member();
                    self.depth = self.depth.saturating_sub(1);
                }
                b',' => {
                    self.values += 1;
                    self.end_member();
                }
                b':' if self.depth == 1 => {
                    self.is_id = self.token == br#""id""#;
                    self.has_method |= self.token == br#""method""#;
                    self.token.clear();
                }
                byte if byte.is_ascii_whitespace() => {}
                byte => self.keep(byte),
            }
        }
    }

    /// A token that is too long keeps one byte too many, and so is not accepted as an id.
    fn keep(&mut self, byte: u8) {
        if self.depth == 1 && self.token.len() <= ID_BYTES {
            self.token.push(byte);
        }
    }

    fn end_member(&mut self) {
        if self.depth != 1 {
            return;
        }
        if self.is_id && self.found.is_none() && self.token.len() <= ID_BYTES {
            let is_id = |id: &Value| id.is_string() || id.is_i64() || id.is_u64();
            self.found = serde_json::from_slice(&self.token).ok().filter(is_id);
        }
        self.is_id = false;
        self.token.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_scan_goes_piece_by_piece_and_remembers_little() {
        let mut scan = IdScan::default();
        for byte in br#"{"a":"\\","id":"x"}"# {
            scan.feed(&[*byte]);
        }
        assert_eq!(scan.found, Some(json!("x")));
        assert!(!scan.has_method());
        let mut scan = IdScan::default();
        scan.feed(format!(r#"{{"id":"{}","#, "x".repeat(100_000)).as_bytes());
        assert_eq!(scan.found, None);
        assert!(scan.token.capacity() <= 2 * ID_BYTES + 2);
    }

    #[test]
    fn values_are_counted_outside_of_texts() {
        let mut scan = IdScan::default();
        scan.feed(br#"{"method":"a,b:[{","params":[{},{},1,"x"]}"#);
        assert!(scan.has_method());
        // Four containers and four commas.
        assert_eq!(scan.values(), 4 * 2 + 4);
    }
}
