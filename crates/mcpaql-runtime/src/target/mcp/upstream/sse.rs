//! Parses server-sent events piece by piece, and holds no more than a limit.

use crate::protocol::IdScan;
use std::time::Duration;

/// Maximum delay that a server may request before reconnecting.
const MAX_RETRY_DELAY: Duration = Duration::from_secs(60);
/// Maximum length of lines other than data.
const MAX_FIELD_BYTES: usize = 4096;

/// The data of one event.
pub(super) enum SseEvent {
    Whole(Vec<u8>),
    /// The data exceeded the limit; the id that was found in it.
    TooLong(IdScan),
}

/// Splits a stream into events.
pub(super) struct SseParser {
    limit: usize,
    /// The current line, unless it is data.
    line: Vec<u8>,
    in_data: bool,
    /// The first byte of data may be a space that is part of the syntax.
    data_begins: bool,
    after_return: bool,
    data: Vec<u8>,
    has_data: bool,
    too_long: Option<IdScan>,
    /// The id of the last event that had one, to resume from there.
    pub(super) last_id: Option<String>,
    /// The reconnection delay that the server requests.
    pub(super) retry: Option<Duration>,
}

impl SseParser {
    pub(super) fn new(limit: usize) -> SseParser {
        SseParser {
            limit,
            line: Vec::new(),
            in_data: false,
            data_begins: false,
            after_return: false,
            data: Vec::new(),
            has_data: false,
            too_long: None,
            last_id: None,
            retry: None,
        }
    }

    /// Reads a piece of the stream. Each event that ends in it is passed to `take`.
    pub(super) fn feed(&mut self, bytes: &[u8], mut take: impl FnMut(SseEvent)) {
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            let (part, from_end) = rest.split_at(end);
            self.part(part);
            let returned = from_end.first() == Some(&b'\r');
            // The second character of a CRLF line end.
            let doubled = !returned && part.is_empty() && self.after_return;
            self.after_return = returned;
            if !doubled {
                take_some(self.end_line(), &mut take);
            }
            rest = from_end.get(1..).unwrap_or_default();
        }
        if !rest.is_empty() {
            self.after_return = false;
            self.part(rest);
        }
    }

    fn part(&mut self, mut part: &[u8]) {
        if !self.in_data {
            let room = MAX_FIELD_BYTES.saturating_sub(self.line.len());
            let (kept, rest) = part.split_at(part.len().min(room));
            self.line.extend_from_slice(kept);
            let Some(data) = self.line.strip_prefix(b"data:") else { return };
            // The part of the value that arrived together with the name.
            let start = data.to_vec();
            (self.in_data, self.data_begins) = (true, true);
            if self.has_data {
                self.keep(b"\n");
            }
            self.has_data = true;
            self.value(&start);
            part = rest;
        }
        self.value(part);
    }

    fn value(&mut self, mut part: &[u8]) {
        if let (true, Some(first)) = (self.data_begins, part.first()) {
            self.data_begins = false;
            if *first == b' ' {
                part = part.get(1..).unwrap_or_default();
            }
        }
        self.keep(part);
    }

    fn keep(&mut self, part: &[u8]) {
        if self.too_long.is_none() && self.data.len() + part.len() > self.limit {
            let mut scan = IdScan::default();
            scan.feed(&self.data);
            self.data = Vec::new();
            self.too_long = Some(scan);
        }
        match &mut self.too_long {
            Some(scan) => scan.feed(part),
            None => self.data.extend_from_slice(part),
        }
    }

    fn end_line(&mut self) -> Option<SseEvent> {
        let line = std::mem::take(&mut self.line);
        if std::mem::take(&mut self.in_data) {
            return None;
        }
        if line.is_empty() {
            let data = std::mem::take(&mut self.data);
            let has_data = std::mem::take(&mut self.has_data);
            return match self.too_long.take() {
                Some(scan) => Some(SseEvent::TooLong(scan)),
                None => (has_data && !data.is_empty()).then_some(SseEvent::Whole(data)),
            };
        }
        let line = String::from_utf8_lossy(&line);
        let (field, value) = line.split_once(':').unwrap_or((&line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field.trim_start_matches('\u{feff}') {
            "id" if !value.contains('\0') => {
                self.last_id = Some(value.to_owned()).filter(|id| !id.is_empty());
            }
            "retry" => {
                let requested = value.parse().ok().map(Duration::from_millis);
                self.retry = requested.map(|retry| retry.min(MAX_RETRY_DELAY)).or(self.retry);
            }
            _ => {}
        }
        None
    }
}

fn take_some(data: Option<SseEvent>, take: &mut impl FnMut(SseEvent)) {
    if let Some(data) = data {
        take(data);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(pieces: &[&[u8]]) -> (Vec<String>, SseParser) {
        let mut events = SseParser::new(32);
        let mut seen = Vec::new();
        for piece in pieces {
            events.feed(piece, |data| {
                seen.push(match data {
                    SseEvent::Whole(data) => String::from_utf8(data).unwrap(),
                    SseEvent::TooLong(scan) => format!("too long: {:?}", scan.number()),
                });
            });
        }
        (seen, events)
    }

    #[test]
    fn events_are_read_whatever_the_pieces() {
        let stream = b": hello\r\nid: 7\r\nretry: 15\r\ndata: {\"a\":\r\ndata:1}\r\n\r\nevent: message\ndata: 2\n\ndata:\n\nid\rdata:  3\r\rdata: cut";
        let whole = events(&[stream]);
        assert_eq!(whole.0, ["{\"a\":\n1}", "2", " 3"]);
        assert_eq!(whole.1.retry, Some(Duration::from_millis(15)));
        assert_eq!(whole.1.last_id, None, "an empty id forgets the last one");
        let bytes: Vec<&[u8]> = stream.chunks(1).collect();
        assert_eq!(events(&bytes).0, whole.0);
    }

    #[test]
    fn an_event_that_is_too_long_is_not_held_and_does_not_affect_the_next() {
        let long =
            format!("id: a\ndata: {{\"result\":\"{}\",\"id\":42}}\n\ndata: next\n\n", "x".repeat(10_000));
        let (seen, events) = events(&[long.as_bytes()]);
        assert_eq!(seen, ["too long: Some(42)", "next"]);
        assert_eq!(events.last_id.as_deref(), Some("a"));
        assert!(events.data.capacity() < 10_000);
        let (seen, _) = super::tests::events(&["y".repeat(100_000).as_bytes(), b"\n\ndata: ok\n\n"]);
        assert_eq!(seen, ["ok"]);
    }
}
