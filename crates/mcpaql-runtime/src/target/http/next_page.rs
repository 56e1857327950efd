//! The address of the next page of a list, as an API names it.

use super::request::OutgoingRequest;
use crate::target::auth::ReservedNames;
use mcpaql_core::error::{Code, OpError};
use reqwest::Method;
use reqwest::header::{HeaderMap, LINK};

/// Returns the address with `rel="next"` in the `Link` headers of a response.
pub(super) fn linked(headers: &HeaderMap) -> Option<String> {
    let values = headers.get_all(LINK).into_iter().filter_map(|value| value.to_str().ok());
    values.flat_map(links).find(|(_, parameters)| is_next(parameters)).map(|(address, _)| address.to_owned())
}

/// Splits `<address>; a="b", <address>; …`. Addresses may have commas.
fn links(header: &str) -> impl Iterator<Item = (&str, &str)> {
    header.split('<').skip(1).filter_map(|link| link.split_once('>'))
}

fn is_next(parameters: &str) -> bool {
    let rel = parameters.split(';').find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("rel").then_some(value)
    });
    let words = rel.unwrap_or_default().trim_matches([' ', ',', '"', '\t']);
    words.split([' ', ',']).any(|word| word.trim_matches('"').eq_ignore_ascii_case("next"))
}

/// Points a request to the next page. The address must have the request's own origin, because the request gets the same
/// credentials.
pub(super) fn follow(
    outgoing: &mut OutgoingRequest<'_>,
    address: &str,
    reserved: &ReservedNames,
) -> Result<(), OpError> {
    let own = &outgoing.url;
    let next = own.join(address).ok().filter(|next| {
        next.origin() == own.origin()
            && next.username().is_empty()
            && next.password().is_none()
            && outgoing.method == Method::GET
    });
    let Some(mut next) = next else {
        let message =
            "The next page of this list is on another host, so it was not requested; tell the user.";
        return Err(OpError::new(Code::Internal, message));
    };
    next.set_fragment(None);
    let is_reserved = |name: &str| reserved.query.iter().any(|reserved| *reserved == name);
    if next.query_pairs().any(|(name, _)| is_reserved(&name)) {
        let kept: Vec<(String, String)> = next
            .query_pairs()
            .filter(|(name, _)| !is_reserved(name))
            .map(|(name, value)| (name.into_owned(), value.into_owned()))
            .collect();
        next.query_pairs_mut().clear().extend_pairs(kept);
    }
    outgoing.url = next;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use reqwest::Url;
    use reqwest::header::HeaderValue;

    #[test]
    fn the_next_link_is_found() {
        for (value, expected) in [
            (
                r#"<https://a/x?page=1>; rel="prev", <https://a/x?page=3,4>; rel="next""#,
                Some("https://a/x?page=3,4"),
            ),
            (r#"</x?page=2>; title="b"; rel=next"#, Some("/x?page=2")),
            (r#"<https://a>; rel="last next""#, Some("https://a")),
            (r#"<https://a>; rel="nextish", <https://b>; rel="last""#, None),
            ("broken", None),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(LINK, HeaderValue::from_static(value));
            assert_eq!(linked(&headers).as_deref(), expected, "{value}");
        }
        assert_eq!(linked(&HeaderMap::new()), None);
    }

    #[test]
    fn a_next_page_stays_on_its_host() {
        let reserved = ReservedNames { query: vec!["key".into()], ..ReservedNames::default() };
        let follow = |address: &str| {
            let url = Url::parse("https://api.example.com/v1/items?page=1").unwrap();
            let mut outgoing =
                OutgoingRequest { method: Method::GET, url, headers: HeaderMap::new(), body: None };
            super::follow(&mut outgoing, address, &reserved).map(|()| outgoing.url.to_string())
        };
        assert_eq!(follow("/v2/items?after=b#c").unwrap(), "https://api.example.com/v2/items?after=b");
        assert_eq!(follow("?page=2&key=s").unwrap(), "https://api.example.com/v1/items?page=2");
        for foreign in [
            "https://evil.example/x",
            "http://api.example.com/x",
            "//evil.example",
            "https://u:p@api.example.com/",
            "https://",
        ] {
            assert!(follow(foreign).is_err(), "{foreign}");
        }
    }
}
