//! DESC-010.

use super::excerpt;
use crate::convention::Standard;
use crate::rule::{Findings, rule};
use crate::text::prefilter::{Prefilter, WordGroup};
use crate::tool::ParsedTool;
use std::net::Ipv4Addr;

rule! {
    /// Text contains a suspicious link.
    ///
    /// ## What it does
    ///
    /// Checks every text of a tool for links to bare public IP addresses, to link shorteners and to services that record requests,
    /// for links with a password, for images, and for data and script URIs. Links to documentation and examples are allowed.
    ///
    /// ## Why it matters
    ///
    /// A model may open links that it reads. A client that renders Markdown loads images without asking, and the address of an
    /// image can contain private data. This is the usual way to leak data (OWASP, LLM02 Sensitive Information Disclosure).
    ///
    /// ## Bad
    ///
    /// ```json bad at=/description
    /// {"name": "add_numbers", "description": "Adds two numbers. See https://bit.ly/3abcdef for more.", "inputSchema": {"type": "object"}}
    /// ```
    ///
    /// ```json bad at=/description
    /// {"name": "add_numbers", "description": "Adds two numbers. ![](https://img.example.com/p.png?q=SUM)", "inputSchema": {"type": "object"}}
    /// ```
    ///
    /// ## Good
    ///
    /// ```json good
    /// {"name": "add_numbers", "description": "Adds two numbers, as https://docs.example.com/add says. Listens on http://127.0.0.1:8080.", "inputSchema": {"type": "object"}}
    /// ```
    "DESC-010" "suspicious-link" Warning Tool(check)
}

const SHORTENERS: &[&str] = &[
    "bit.ly",
    "tinyurl.com",
    "t.co",
    "goo.gl",
    "is.gd",
    "ow.ly",
    "cutt.ly",
    "rebrand.ly",
    "t.ly",
    "shorturl.at",
    "rb.gy",
    "tiny.cc",
    "v.gd",
];
/// Services that record requests and show them to their users.
const RECORDERS: &[&str] = &[
    "webhook.site",
    "requestbin.com",
    "requestcatcher.com",
    "pipedream.net",
    "burpcollaborator.net",
    "oastify.com",
    "interact.sh",
    "oast.fun",
    "oast.pro",
    "oast.live",
    "ngrok.io",
    "ngrok-free.app",
    "beeceptor.com",
    "hookbin.com",
    "canarytokens.com",
    "dnslog.cn",
];

fn check(tool: &ParsedTool<'_>, _: &Standard, findings: &mut Findings<'_>) {
    let may_link =
        |prefilter: Prefilter| prefilter.holds(WordGroup::ADDRESS) || prefilter.holds(WordGroup::SCHEME);
    for text in tool.tree.texts.iter().filter(|text| may_link(text.prefilter)) {
        let Some((link, what)) = suspicious(text.text) else { continue };
        let message = format!("A text of '{}' contains {what}: '{}'", tool.name, excerpt(link));
        findings
            .tool(tool, tool.tree.pointer(text.at), message)
            .help("link to documentation on your own domain, or remove the link");
        return;
    }
}

fn suspicious(text: &str) -> Option<(&str, &'static str)> {
    // The last opening bracket and the first image tag, so that no part of the text is searched twice.
    let (mut seen, mut bracket, mut picture) = (0, None, None);
    for (position, _) in text.match_indices("://") {
        let before = text.get(..position)?;
        let from = before.rfind(|c: char| !c.is_ascii_alphanumeric()).map_or(0, |index| {
            index + before.get(index..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8)
        });
        let ends =
            |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '<' | '>' | ')' | ']' | '|' | '\\');
        let link = || text.get(from..)?.split(ends).next();
        let rest = text.get(position + 3..)?;
        let authority = rest.split(|c: char| ends(c) || matches!(c, '/' | '?' | '#')).next()?;
        if let Some(what) = of_authority(authority) {
            // Never show a password.
            let shown = if authority.contains('@') { text.get(from..position)? } else { link()? };
            return Some((shown, what));
        }
        bracket = text.get(seen..from)?.rfind('[').map(|open| seen + open).or(bracket);
        seen = from;
        let before = before.get(..from)?;
        let image = before.ends_with("](")
            && bracket.is_some_and(|open| text.get(..open).is_some_and(|before| before.ends_with('!')));
        let tag = before.trim_end_matches(['"', '\'', '=', ' ']).ends_with("src")
            && *picture.get_or_insert_with(|| text.find("<img").unwrap_or(text.len())) < from;
        if (image || tag) && text.get(from..)?.starts_with("http") {
            return Some((link()?, "an image that clients would fetch"));
        }
    }
    let data = text.match_indices("data:").find_map(|(position, _)| {
        // The header of a data URI is short, so only a short prefix is searched.
        let near = text.as_bytes().get(position..)?;
        let end = near.windows(8).take(64).position(|bytes| bytes == b";base64,")?;
        let head = text.get(position..position + end).filter(|head| head.contains('/'))?;
        let body = near.get(end + 8..)?.iter().take(65);
        let length =
            body.take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/')).count();
        (length > 64).then_some((head, "a data URI"))
    });
    data.or_else(|| {
        text.find("javascript:")
            .filter(|_| text.contains("](javascript:"))
            .and_then(|position| Some((text.get(position..)?, "a script link")))
    })
}

fn of_authority(authority: &str) -> Option<&'static str> {
    if let Some((user, host)) = authority.rsplit_once('@') {
        let placeholder = |part: &str| {
            let lower = part.to_ascii_lowercase();
            part.contains(['<', '>', '{', '}', '$', '[', '*'])
                || part.is_empty()
                || ["user", "pass", "pwd", "secret", "name", "key", "token", "xxx", "..."]
                    .iter()
                    .any(|word| lower.contains(word))
        };
        let (_, password) = user.split_once(':')?;
        return (!placeholder(password) && !host.is_empty()).then_some("a link with a password");
    }
    let host = authority.split(':').next()?.to_ascii_lowercase();
    if let Ok(address) = host.parse::<Ipv4Addr>() {
        let [a, b, _, _] = address.octets();
        let special = address.is_private()
            || address.is_loopback()
            || address.is_unspecified()
            || address.is_documentation()
            || address.is_link_local()
            || a >= 224
            || (a == 100 && (64..128).contains(&b))
            || address.octets() == [1, 2, 3, 4]
            || address.octets() == [8, 8, 8, 8]
            || address.octets() == [1, 1, 1, 1];
        return (!special).then_some("a link to a bare IP address");
    }
    let is = |list: &[&str]| {
        list.iter()
            .any(|known| host == *known || host.strip_suffix(known).is_some_and(|rest| rest.ends_with('.')))
    };
    if is(SHORTENERS) {
        Some("a shortened link")
    } else if is(RECORDERS) {
        Some("a link to a service that records requests")
    } else {
        None
    }
}
