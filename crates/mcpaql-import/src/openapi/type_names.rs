//! Names types by the components of a document.
//!
//! What always holds: every component has one name, and one more for its form in requests. All names are distinct and in
//! PascalCase. They depend only on the set of components, not on their order or on what is read first.

use super::document::unescaped;
use mcpaql_core::introspect::PROTOCOL_TYPES;
use mcpaql_core::signature::pascal_case;
use std::collections::{HashMap, HashSet};

/// Maximum length of a name.
const MAX_NAME: usize = 72;
/// The sections of schemas in the versions of OpenAPI and in JSON Schema.
const SCHEMA_SECTIONS: [&str; 3] = ["/components/schemas/", "/definitions/", "/$defs/"];

/// The names of all types of a document.
#[derive(Debug, Clone, Default)]
pub(crate) struct TypeNames {
    /// Component → type.
    names: HashMap<String, String>,
    /// Type → component, and whether it is the form in requests.
    components: HashMap<String, (String, bool)>,
    /// The types, in the order of the document.
    order: Vec<String>,
}

impl TypeNames {
    /// Creates the names for the components of the main document.
    #[must_use]
    pub(crate) fn new<'c>(components: impl IntoIterator<Item = &'c str>) -> TypeNames {
        let written: Vec<&str> = components.into_iter().collect();
        let mut sorted: Vec<&str> = written.clone();
        sorted.sort_unstable();
        let namespace = namespace(&sorted);
        let short = |component: &str| -> String {
            let inner = component.strip_prefix(namespace.as_str()).unwrap_or(component);
            type_name(inner)
        };
        // A component whose name is already a type name keeps it; the others get another name.
        sorted.sort_by_key(|component| (short(component) != *component, *component));
        sorted.dedup();
        let mut taken: HashSet<String> = PROTOCOL_TYPES.iter().map(|name| (*name).to_owned()).collect();
        let mut names = HashMap::with_capacity(sorted.len());
        let mut types = HashMap::with_capacity(sorted.len() * 2);
        for component in &sorted {
            let name = unique_name(short(component), &taken);
            taken.insert(name.clone());
            types.insert(name.clone(), ((*component).to_owned(), false));
            names.insert((*component).to_owned(), name);
        }
        for component in &sorted {
            if let Some(name) = names.get(*component) {
                let input = unique_name(format!("{name}Input"), &taken);
                taken.insert(input.clone());
                types.insert(input, ((*component).to_owned(), true));
            }
        }
        let order = written.iter().filter_map(|component| names.get(*component).cloned()).collect();
        let mut out = TypeNames { names, components: types, order };
        out.order.dedup();
        out
    }

    /// Returns all types in the order of the document, without the forms in requests.
    #[must_use]
    pub(crate) fn all(&self) -> &[String] {
        &self.order
    }

    /// Returns the component of a type, and whether the type is its form in requests.
    #[must_use]
    pub(crate) fn component(&self, name: &str) -> Option<(&str, bool)> {
        self.components.get(name).map(|(component, input)| (component.as_str(), *input))
    }

    /// Returns the name of the schema at a pointer of a document ("" is the main document); `input` selects its form in requests.
    pub(super) fn name(&self, base: &str, pointer: &str, input: bool) -> String {
        let component = SCHEMA_SECTIONS
            .iter()
            .find_map(|section| pointer.strip_prefix(section))
            .map(|name| unescaped(name).into_owned());
        let own = component.as_ref().filter(|_| base.is_empty()).and_then(|name| self.names.get(name));
        let name = match own {
            Some(name) if !input => return name.clone(),
            Some(name) => {
                // The form in requests was named together with all others.
                let wanted = format!("{name}Input");
                let mine = |candidate: &String| {
                    self.components
                        .get(candidate)
                        .is_some_and(|(of, input)| *input && Some(of) == component.as_ref())
                };
                return std::iter::once(wanted.clone())
                    .chain((2..100).map(|n| format!("{wanted}{n}")))
                    .find(mine)
                    .unwrap_or(wanted);
            }
            None => self.foreign_name(base, pointer, component.as_deref()),
        };
        if input { format!("{name}Input") } else { name }
    }

    /// Returns the name of a schema that is not a component of the main document: the name of its document and its position.
    fn foreign_name(&self, base: &str, pointer: &str, component: Option<&str>) -> String {
        let position = match component {
            Some(component) => component.to_owned(),
            None => unescaped(pointer.trim_start_matches('/'))
                .replace("components/schemas/", "")
                .replace("definitions/", "")
                .replace("properties/", ""),
        };
        let file = base.rsplit_once("://").map_or(base, |(_, rest)| rest);
        let file = file.rsplit_once('.').filter(|(_, ext)| ext.len() <= 5).map_or(file, |(stem, _)| stem);
        let name = type_name(&format!("{file} {position}"));
        let taken = self.components.contains_key(&name) || PROTOCOL_TYPES.contains(&name.as_str());
        if taken { format!("{name}{}", short_hash(&format!("{base}#{pointer}"))) } else { name }
    }
}

/// Returns the dotted prefix that nearly all components share and that is therefore left out.
fn namespace(components: &[&str]) -> String {
    let Some(middle) = components.get(components.len() / 2) else { return String::new() };
    let ends = middle.match_indices('.').map(|(at, _)| at + 1);
    let shared = |prefix: &&str| {
        let count = components.iter().filter(|component| component.starts_with(*prefix)).count();
        components.len() > 3 && count * 10 >= components.len() * 8
    };
    let mut prefixes = ends.filter_map(|end| middle.get(..end)).filter(shared);
    prefixes.next_back().unwrap_or_default().to_owned()
}

/// Converts a text to a valid name: PascalCase, ASCII, starting with a letter, not too long.
pub(crate) fn type_name(text: &str) -> String {
    let mut name = pascal_case(text);
    name.retain(|ch| ch.is_ascii_alphanumeric());
    if !name.starts_with(|ch: char| ch.is_ascii_uppercase()) {
        name.insert_str(0, if name.is_empty() { "Type" } else { "T" });
    }
    if name.len() > MAX_NAME {
        let head: String = name.chars().take(MAX_NAME - 4).collect();
        name = format!("{head}{}", short_hash(text));
    }
    name
}

/// Returns a hash of four characters.
fn short_hash(text: &str) -> String {
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{:04X}", (hash ^ (hash >> 32)) & 0xffff)
}

pub(crate) fn unique_name(name: String, taken: &HashSet<String>) -> String {
    if !taken.contains(&name) {
        return name;
    }
    (2_usize..).map(|n| format!("{name}{n}")).find(|name| !taken.contains(name)).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_get_distinct_pascal_case_names_whatever_their_order() {
        let components =
            ["issue", "Issue", "issue-event", "2fa", "größe", "OperationResult", "IssueInput", "!!"];
        let names = TypeNames::new(components);
        let name =
            |component: &str, input| names.name("", &format!("/components/schemas/{component}"), input);
        assert_eq!(name("Issue", false), "Issue");
        assert_eq!(name("issue", false), "Issue2");
        assert_eq!(name("Issue", true), "IssueInput2");
        assert_eq!(name("IssueInput", false), "IssueInput");
        assert_eq!(name("issue-event", false), "IssueEvent");
        assert_eq!(name("2fa", false), "T2fa");
        assert_eq!(name("größe", false), "Gre");
        assert_eq!(name("OperationResult", false), "OperationResult2");
        assert_eq!(name("!!", false), "Type");
        let mut reversed = components;
        reversed.reverse();
        assert_eq!(TypeNames::new(reversed).names, names.names);
        for type_name in names.components.keys() {
            let (component, input) = names.component(type_name).unwrap();
            assert_eq!(name(component, input), *type_name);
        }
    }

    #[test]
    fn a_namespace_that_all_share_is_left_out() {
        let names = TypeNames::new([
            "microsoft.graph.user",
            "microsoft.graph.group",
            "microsoft.graph.site",
            "microsoft.graph.ca.policy",
        ]);
        assert_eq!(names.name("", "/components/schemas/microsoft.graph.user", false), "User");
        assert_eq!(names.name("", "/components/schemas/microsoft.graph.ca.policy", false), "CaPolicy");
        assert_eq!(names.all(), ["User", "Group", "Site", "CaPolicy"]);
    }

    #[test]
    fn types_of_other_documents_are_named_after_them() {
        let names = TypeNames::new(["CommonError"]);
        assert_eq!(names.name("models/pet.yaml", "", false), "ModelsPet");
        assert_eq!(names.name("errors.yaml", "/components/schemas/Error", true), "ErrorsErrorInput");
        assert_eq!(names.name("", "/paths/~1a/get/schema", false), "PathsAGetSchema");
        let clash = names.name("common.yaml", "/Error", false);
        assert!(clash.starts_with("CommonError") && clash.len() > "CommonError".len(), "{clash}");
        assert!(
            names
                .name(
                    "https://example.com/a/very/long/address/that/goes/on/and/on/and/on/for/ever.json",
                    "/X",
                    false
                )
                .len()
                <= MAX_NAME
        );
    }
}
