//! Reads `types`: named schemas, as a map of schemas or as the generator's list of `{name, fields: […]}`.

use super::dialect::{self, PRIMITIVES};
use super::origins::Origins;
use indexmap::IndexMap;
use mcpaql_core::diagnostic::Diagnostic;
use mcpaql_core::error::Code;
use mcpaql_core::introspect::PROTOCOL_TYPES;
use mcpaql_core::reader::{DocumentObject, DocumentReader, child};
use mcpaql_core::signature::pascal_case;
use serde_json::{Map, Value};

/// A declared type before its schema is read. References need the names of all types, so names are read first.
enum DeclaredType<'a> {
    Schema(&'a Value, String),
    Fields(DocumentObject<'a>),
}

/// Reads all types; types with an invalid name are reported and left out.
pub(super) fn read(
    reader: &mut DocumentReader,
    document: &DocumentObject<'_>,
    origins: &mut Origins,
) -> IndexMap<String, Value> {
    let pointer = document.pointer_to("types");
    let mut declared: IndexMap<String, DeclaredType<'_>> = IndexMap::new();
    match document.get("types") {
        None => {}
        Some(Value::Object(map)) => {
            for (name, value) in map {
                let pointer = child(&pointer, name);
                if is_usable(reader, name, &pointer, true) {
                    declared.insert(name.clone(), DeclaredType::Schema(value, pointer));
                }
            }
        }
        Some(Value::Array(items)) => {
            for (index, item) in items.iter().enumerate() {
                let Some(object) = reader.object(item, &child(&pointer, index)) else { continue };
                reader.check_keys(&object, super::LISTED_TYPE_KEYS);
                let Some(name) = reader.required_string(&object, "name") else { continue };
                if !is_usable(reader, &name, &object.pointer_to("name"), false) {
                    continue;
                }
                if declared.contains_key(&name) {
                    reader.push(
                        Diagnostic::error(
                            Code::SchemaDuplicateName,
                            object.pointer_to("name"),
                            format!("Type '{name}' is declared twice"),
                        )
                        .found(name)
                        .suggest("rename or remove one"),
                    );
                    continue;
                }
                declared.insert(name, DeclaredType::Fields(object));
            }
        }
        Some(other) => reader.wrong_type(&pointer, "object", other),
    }
    let names: Vec<String> = declared.keys().cloned().collect();
    declared
        .into_iter()
        .map(|(name, declared)| {
            let schema = match declared {
                DeclaredType::Schema(value, pointer) => dialect::schema(reader, value, &pointer, &names),
                DeclaredType::Fields(object) => fields(reader, &name, &object, &names, origins),
            };
            (name, schema)
        })
        .collect()
}

/// Whether the name is valid: not a JSON type, not a type of the protocol, and usable in a reference without escapes.
/// Reports an invalid name.
fn is_usable(reader: &mut DocumentReader, name: &str, pointer: &str, at_key: bool) -> bool {
    let is_plain = |name: &str| {
        name.starts_with(|first: char| first.is_ascii_alphabetic())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
    };
    let taken = PRIMITIVES.contains(&name) || PROTOCOL_TYPES.contains(&name) || name == "any";
    if is_plain(name) && !taken {
        return true;
    }
    let message = if taken {
        format!("Type name '{name}' is reserved")
    } else {
        format!("Type name '{name}' must be letters, digits, '_' and '-', starting with a letter")
    };
    let better = if taken { format!("My{}", pascal_case(name)) } else { pascal_case(name) };
    let mut diagnostic = Diagnostic::error(Code::SchemaInvalidName, pointer, message)
        .expected("another name, such as Repository")
        .found(name);
    if is_plain(&better) {
        diagnostic = diagnostic.suggest(format!("rename it to `{better}`"));
    }
    reader.push(if at_key { diagnostic.at_key() } else { diagnostic });
    false
}

/// Converts `fields: [{name, type, required}]` to an object schema.
fn fields(
    reader: &mut DocumentReader,
    type_name: &str,
    object: &DocumentObject<'_>,
    names: &[String],
    origins: &mut Origins,
) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    origins.note(format!("/types/{type_name}"), object.pointer.clone());
    for (index, field) in reader.array(object, "fields").unwrap_or_default().iter().enumerate() {
        let Some(field) = reader.object(field, &child(&object.pointer_to("fields"), index)) else { continue };
        let Some(name) = reader.required_string(&field, "name") else { continue };
        if let Some(Value::Bool(true)) = field.get("required") {
            required.push(Value::from(name.as_str()));
        }
        let schema: Map<String, Value> =
            field.map.iter().filter(|(key, _)| *key != "name").map(|(k, v)| (k.clone(), v.clone())).collect();
        origins.note(format!("/types/{type_name}/properties/{name}"), field.pointer.clone());
        properties.insert(name, dialect::schema(reader, &Value::Object(schema), &field.pointer, names));
    }
    let mut schema = Map::new();
    schema.insert("type".into(), "object".into());
    if let Some(description) = reader.string(object, "description") {
        schema.insert("description".into(), description.into());
    }
    schema.insert("properties".into(), Value::Object(properties));
    if !required.is_empty() {
        schema.insert("required".into(), Value::Array(required));
    }
    Value::Object(schema)
}
