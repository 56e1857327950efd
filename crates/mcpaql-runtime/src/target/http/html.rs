//! HTML pages in place of an API's answer: maintenance pages, sign-in pages, pages of proxies. Servers often send them
//! with status 200.

use super::failure::strip_tags;
use crate::secret::Mask;
use crate::target::upstream_text::{MAX_SHOWN_BYTES, quotable, truncate};
use mcpaql_core::error::{Code, OpError};
use mcpaql_core::syntax::is_html_page;
use reqwest::StatusCode;
use serde_json::json;

/// Maximum bytes in which a page begins; comments may precede it.
const MAX_HEAD_BYTES: usize = 1024;

/// Returns whether a body is a whole HTML page, by its first bytes. A fragment of HTML is not a page.
pub(super) fn is_page(media_type: &str, body: &[u8]) -> bool {
    let may_be_page = matches!(media_type, "" | "text/html" | "application/xhtml+xml" | "text/plain")
        || media_type.ends_with("json");
    // Most answers are JSON, which does not start like a page.
    let starts_json = body.first().is_some_and(|byte| matches!(byte, b'{' | b'['));
    if !may_be_page || starts_json {
        return false;
    }
    is_html_page(&String::from_utf8_lossy(body.get(..MAX_HEAD_BYTES).unwrap_or(body)))
}

/// The error for a page that nobody asked for.
pub(super) fn unexpected_page(status: StatusCode, body: &[u8], mask: &Mask) -> OpError {
    let page = String::from_utf8_lossy(body);
    let title = title(&page).and_then(|title| quotable(&mask.apply(&title)));
    let title = title.map(|title| format!(" ('{title}')")).unwrap_or_default();
    let number = status.as_u16();
    let mut text = mask.apply(&strip_tags(&page)).into_owned();
    truncate(&mut text, MAX_SHOWN_BYTES);
    OpError::new(
        Code::Internal,
        format!(
            "The API answered {number} with an HTML page{title} instead of data; it may be down or require a sign-in. Try later or tell the user."
        ),
    )
    .with_detail("upstream", json!({"status": number, "body": text}))
    .for_operator(
        format!("The API answered {number} with an HTML page{title}"),
        "check `base_url` and the credentials; if the operation returns HTML, declare `returns: string`",
    )
}

/// The title of a page, or its first heading.
fn title(page: &str) -> Option<String> {
    let lower = page.to_ascii_lowercase();
    ["title", "h1"].into_iter().find_map(|tag| {
        let start = lower.find(&format!("<{tag}"))?;
        let start = start + lower.get(start..)?.find('>')? + 1;
        let end = start + lower.get(start..)?.find('<')?;
        let text = page.get(start..end)?.split_whitespace().collect::<Vec<_>>().join(" ");
        (!text.is_empty()).then_some(text)
    })
}

#[cfg(test)]
mod tests {
    use super::super::fixture::operation;
    use super::*;
    use mcpaql_core::exchange::expects_page;
    use mcpaql_core::operation::{Operation, Returns};

    const PAGE: &str = "\n<!-- cached -->\n<!DOCTYPE html>\n<html><head><title>Down for\n maintenance</title></head><body><p>Back soon</p></body></html>";

    #[test]
    fn a_page_is_recognised_whatever_its_media_type() {
        for media_type in ["text/html", "application/json", "application/problem+json", "text/plain", ""] {
            assert!(is_page(media_type, PAGE.as_bytes()), "{media_type}");
        }
        for (media_type, body) in [
            ("text/html", "<p>A fragment</p>"),
            ("application/xml", "<html/>"),
            ("application/json", "\"<html>\""),
            ("text/plain", "About <html>"),
            ("text/html", "<!-- only a comment"),
        ] {
            assert!(!is_page(media_type, body.as_bytes()), "{media_type} {body}");
        }
    }

    #[test]
    fn a_page_is_expected_only_where_the_document_says_so() {
        assert!(!expects_page(&operation("GET", "/things", vec![])));
        assert!(expects_page(&operation("GET", "/pages/index.html?raw=1", vec![])));
        for (schema, expected) in [
            (json!({"type": "string"}), true),
            (json!({"type": ["null", "string"]}), true),
            (json!({"anyOf": [{"type": "object"}, {"type": "string"}]}), true),
            (json!({"type": "object"}), false),
            (json!({}), false),
        ] {
            let returns = Some(Returns { schema: schema.clone(), description: String::new() });
            let operation = Operation { returns, ..operation("GET", "/things", vec![]) };
            assert_eq!(expects_page(&operation), expected, "{schema}");
        }
    }

    #[test]
    fn the_error_quotes_the_title_and_has_the_text() {
        let error = unexpected_page(StatusCode::OK, PAGE.as_bytes(), &Mask::default());
        assert_eq!(error.code, Code::Internal);
        assert!(error.message.starts_with("The API answered 200 with an HTML page ('Down for maintenance')"));
        assert_eq!(error.details["upstream"]["body"], "Down for maintenance Back soon");
    }
}
