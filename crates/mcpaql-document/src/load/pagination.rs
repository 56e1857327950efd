//! Reads `pagination`: how the answers of an operation are split into pages.

use mcpaql_core::diagnostic::Diagnostic;
use mcpaql_core::error::Code;
use mcpaql_core::operation::{PageKind, Pagination, Param};
use mcpaql_core::reader::{DocumentObject, DocumentReader};
use mcpaql_core::suggest;

/// Keys of `pagination`.
pub(super) const PAGINATION_KEYS: &[&str] = &["kind", "at", "size", "next", "items"];

/// Reads `pagination`; the parameters it names must be declared.
pub(super) fn read(
    reader: &mut DocumentReader,
    operation: &DocumentObject<'_>,
    params: &[Param],
) -> Option<Pagination> {
    let object = reader.member(operation, "pagination")?;
    reader.check_keys(&object, PAGINATION_KEYS);
    let words = PageKind::ALL.map(PageKind::as_str);
    if object.get("kind").is_none() {
        reader.missing(&object, "kind", &words.join(", "));
    }
    let kind = reader.choice(&object, "kind", &words, PageKind::parse);
    Some(Pagination {
        at: param(reader, &object, "at", params),
        size: param(reader, &object, "size", params),
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
