//! Reads the body of a response, and decompresses it.
//!
//! What always holds: no more bytes than the limit are held in memory, regardless of the declared length and the
//! compression. All members of a gzip body are read, as `gzip -d` does.

use flate2::write::MultiGzDecoder;
use reqwest::header::{CONTENT_ENCODING, HeaderMap};
use std::io::{self, Write};

/// How reading a body ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum BodyEnd {
    /// The body is complete.
    Whole,
    /// The body is larger than the limit.
    Cut,
    /// The body is not valid gzip, or it ends too early.
    Corrupt,
}

/// Reads up to `limit` bytes, after decompression, into `body`. After an error `body` has the bytes before it.
pub(super) async fn read(
    response: &mut reqwest::Response,
    limit: usize,
    body: &mut Vec<u8>,
) -> Result<BodyEnd, reqwest::Error> {
    // A declared length is a claim: reserve only a harmless amount.
    let declared = response.content_length().and_then(|length| usize::try_from(length).ok());
    body.reserve(declared.unwrap_or(0).min(limit).min(256 * 1024));
    let mut decoder = BodyDecoder::new(response.headers(), limit, body);
    while let Some(chunk) = response.chunk().await? {
        if let Some(end) = decoder.push(&chunk) {
            return Ok(end);
        }
    }
    Ok(decoder.finish())
}

/// Decodes a body while it arrives.
enum BodyDecoder<'a> {
    Identity(LimitedBuffer<'a>),
    Gzip { decoder: Box<MultiGzDecoder<LimitedBuffer<'a>>>, is_empty: bool },
}

impl<'a> BodyDecoder<'a> {
    fn new(headers: &HeaderMap, limit: usize, bytes: &'a mut Vec<u8>) -> Self {
        let buffer = LimitedBuffer { bytes, limit, is_full: false };
        let encoding = headers.get(CONTENT_ENCODING).map_or(&b""[..], |value| value.as_bytes());
        if encoding.eq_ignore_ascii_case(b"gzip") || encoding.eq_ignore_ascii_case(b"x-gzip") {
            BodyDecoder::Gzip { decoder: Box::new(MultiGzDecoder::new(buffer)), is_empty: true }
        } else {
            BodyDecoder::Identity(buffer)
        }
    }

    /// Returns how the body ends if nothing more can be read.
    fn push(&mut self, chunk: &[u8]) -> Option<BodyEnd> {
        let written = match self {
            BodyDecoder::Identity(buffer) => buffer.write_all(chunk),
            BodyDecoder::Gzip { decoder, is_empty } => {
                *is_empty &= chunk.is_empty();
                decoder.write_all(chunk)
            }
        };
        written.err().map(|_| self.failure())
    }

    fn finish(mut self) -> BodyEnd {
        match &mut self {
            // A server may announce a compression and send nothing.
            BodyDecoder::Identity(_) | BodyDecoder::Gzip { is_empty: true, .. } => BodyEnd::Whole,
            BodyDecoder::Gzip { decoder, .. } => match decoder.try_finish() {
                Ok(()) => BodyEnd::Whole,
                Err(_) => self.failure(),
            },
        }
    }

    fn failure(&self) -> BodyEnd {
        let buffer = match self {
            BodyDecoder::Identity(buffer) => buffer,
            BodyDecoder::Gzip { decoder, .. } => decoder.get_ref(),
        };
        if buffer.is_full { BodyEnd::Cut } else { BodyEnd::Corrupt }
    }
}

/// Bytes up to a limit. Writing more is an error.
struct LimitedBuffer<'a> {
    bytes: &'a mut Vec<u8>,
    limit: usize,
    is_full: bool,
}

impl Write for LimitedBuffer<'_> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let room = self.limit.saturating_sub(self.bytes.len());
        match data.get(..room) {
            Some(fitting) if data.len() > room => {
                self.bytes.extend_from_slice(fitting);
                self.is_full = true;
                Err(io::Error::other("the body is larger than the limit"))
            }
            _ => {
                self.bytes.extend_from_slice(data);
                Ok(data.len())
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use reqwest::header::HeaderValue;

    fn member(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn decoded(body: &[u8], size: usize, limit: usize) -> (BodyEnd, Vec<u8>) {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        let mut bytes = Vec::new();
        let end = {
            let mut decoder = BodyDecoder::new(&headers, limit, &mut bytes);
            let early = body.chunks(size).find_map(|chunk| decoder.push(chunk));
            early.unwrap_or_else(|| decoder.finish())
        };
        (end, bytes)
    }

    #[test]
    fn every_member_of_a_gzip_body_is_read() {
        let body = [member(b"{\"a\":1,"), member(b""), member(b"\"b\":2}")].concat();
        for size in [1, 7, 1000] {
            assert_eq!(decoded(&body, size, 1000), (BodyEnd::Whole, b"{\"a\":1,\"b\":2}".to_vec()), "{size}");
        }
        assert_eq!(decoded(b"", 1, 1000), (BodyEnd::Whole, Vec::new()));
    }

    #[test]
    fn a_body_that_is_broken_or_too_large_is_recognised() {
        let body = [member(b"one"), member(b"two")].concat();
        assert_eq!(decoded(&body, 8, 4), (BodyEnd::Cut, b"onet".to_vec()));
        assert_eq!(decoded(&body[..body.len() - 3], 8, 1000).0, BodyEnd::Corrupt);
        for body in [&b"nope"[..], b"\x1f\x8b"] {
            assert_eq!(decoded(body, 8, 1000).0, BodyEnd::Corrupt);
        }
    }
}
