//! Reads `pagination`: how the answers of an operation are split into pages.

use mcpaql_core::diagnostic::Diagnostic;
use mcpaql_core::error::Code;
use mcpaql_core::operation::{PageKind, Pagination, Param};
use mcpaql_core::reader::{DocumentObject, DocumentReader};
use mcpaql_core::suggest;

/// Keys of `pagination`. The last five are those of the specification.
pub(super) const PAGINATION_KEYS: &[&str] = &[
    "kind",
    "at",
    "size",
    "next",
    "items",
    "style",
    "param_name",
    "per_page_param",
    "default_limit",
    "max_limit",
];
/// The specification's word for pages by the `Link` header.
pub(super) const LINK_STYLE: &str = "link_header";

/// Reads `pagination`; the parameters it names must be declared.
pub(super) fn read(
    reader: &mut DocumentReader,
    operation: &DocumentObject<'_>,
    params: &[Param],
) -> Option<Pagination> {
    let object = reader.member(operation, "pagination")?;
    reader.check_keys(&object, PAGINATION_KEYS);
    let reason = "the page size is a parameter of the operation, with its own default and maximum";
    reader.warn_unsupported_keys(&object, &[("default_limit", reason), ("max_limit", reason)]);
    let either = |ours: &'static str, theirs: &'static str| {
        if object.get(ours).is_none() && object.get(theirs).is_some() { theirs } else { ours }
    };
    let words = PageKind::ALL.map(PageKind::as_str);
    let key = either("kind", "style");
    if object.get(key).is_none() {
        reader.missing(&object, key, &words.join(", "));
    }
    let kind = if key == "style" {
        let words: Vec<&str> = words.into_iter().chain([LINK_STYLE]).collect();
        let parse =
            |word: &str| if word == LINK_STYLE { Some(PageKind::Link) } else { PageKind::parse(word) };
        reader.choice(&object, key, &words, parse)
    } else {
        reader.choice(&object, key, &words, PageKind::parse)
    };
    let at = either("at", "param_name");
    let size = either("size", "per_page_param");
    Some(Pagination {
        at: param(reader, &object, at, params),
        size: param(reader, &object, size, params),
        next: reader.string(&object, "next"),
        items: reader.string(&object, "items"),
        kind: kind?,
    })
}

fn param(
    reader: &mut DocumentReader,
    object: &DocumentObject<'_>,
    key: &str,
    params: &[Param],
) -> Option<String> {
    let name = reader.string(object, key)?;
    if params.iter().any(|param| param.name == name) {
        return Some(name);
    }
    let mut diagnostic = Diagnostic::error(
        Code::SchemaUnresolvedRef,
        object.pointer_to(key),
        format!("'{name}' is not a declared parameter"),
    )
    .expected("a parameter under params")
    .found(name.as_str());
    if let Some(word) = suggest::nearest(&name, params.iter().map(|param| param.name.as_str())) {
        diagnostic = diagnostic.suggest(format!("did you mean `{word}`?"));
    }
    reader.push(diagnostic);
    None
}
