//! The arguments of `introspect`.

use super::invalid;
use crate::error::OpError;
use crate::operation::Category;
use crate::response::Warning;
use serde_json::{Map, Value};

/// How much detail the answer has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DetailLevel {
    Names,
    Signature,
    Summary,
    Full,
}

impl DetailLevel {
    pub(crate) const ALL: [DetailLevel; 4] =
        [DetailLevel::Names, DetailLevel::Signature, DetailLevel::Summary, DetailLevel::Full];

    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            DetailLevel::Names => "names",
            DetailLevel::Signature => "signature",
            DetailLevel::Summary => "summary",
            DetailLevel::Full => "full",
        }
    }
}

/// The parsed arguments. A blank text counts as missing, because some callers fill in every parameter.
#[derive(Debug)]
pub(crate) struct IntrospectArgs<'a> {
    /// The question is about types, not operations.
    pub(crate) types: bool,
    pub(crate) names: Option<Vec<&'a str>>,
    /// The names were sent as a list.
    pub(crate) names_are_list: bool,
    pub(crate) search: Option<&'a str>,
    pub(crate) category: Option<Category>,
    pub(crate) endpoint: Option<&'a str>,
    pub(crate) tag: Option<&'a str>,
    pub(crate) detail: Option<DetailLevel>,
    pub(crate) first: Option<usize>,
    pub(crate) after: Option<&'a str>,
}

impl<'a> IntrospectArgs<'a> {
    pub(crate) fn read(args: &'a Map<String, Value>) -> Result<IntrospectArgs<'a>, OpError> {
        let text =
            |key: &str| args.get(key).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty());
        let types = match text("query") {
            None | Some("operations") => false,
            Some("types") => true,
            Some(_) => {
                let message = "Parameter 'query' must be 'operations' or 'types'.".to_owned();
                return Err(invalid("query", message));
            }
        };
        let names = match args.get("name") {
            Some(Value::Array(names)) => Some(names.iter().filter_map(Value::as_str).collect()),
            _ => text("name").map(|name| vec![name]),
        };
        let first = args
            .get("first")
            .and_then(Value::as_u64)
            .map(|first| usize::try_from(first).unwrap_or(usize::MAX));
        Ok(IntrospectArgs {
            types,
            names,
            names_are_list: matches!(args.get("name"), Some(Value::Array(_))),
            search: text("search"),
            category: text("category").and_then(Category::parse),
            endpoint: text("endpoint"),
            tag: text("tag"),
            detail: text("detail")
                .and_then(|word| DetailLevel::ALL.into_iter().find(|detail| detail.as_str() == word)),
            first,
            after: text("after"),
        })
    }

    /// Returns the names of the filters that are set.
    pub(crate) fn narrowed_by(&self) -> impl Iterator<Item = &'static str> {
        let given = [
            ("search", self.search.is_some()),
            ("category", self.category.is_some()),
            ("endpoint", self.endpoint.is_some()),
            ("tag", self.tag.is_some()),
        ];
        given.into_iter().filter(|(_, given)| *given).map(|(name, _)| name)
    }

    /// Returns whether the caller asks for one page.
    pub(crate) fn paged(&self) -> bool {
        self.first.is_some() || self.after.is_some()
    }

    /// Warns about parameters that have no effect because `name` is set.
    pub(crate) fn ignored_params_warning(&self) -> Option<Warning> {
        let paged = self.paged().then_some("first or after");
        let idle: Vec<&str> = self.narrowed_by().chain(paged).collect();
        (!idle.is_empty()).then(|| {
            Warning::new("IGNORED_PARAMS", format!("Ignored because 'name' is set: {}.", idle.join(", ")))
        })
    }
}
