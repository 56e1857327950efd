//! Writes `oneOf` and `anyOf`.

use super::object::non_null_variants;
use super::{SchemaWriter, non_empty};
use serde_json::{Map, Value, json};

impl SchemaWriter<'_> {
    /// Writes the variants. A `null` variant becomes `nullable`, and a single remaining variant is written without a list.
    pub(super) fn variants(
        &mut self,
        key: &str,
        variants: &[Value],
        map: &Map<String, Value>,
        out: &mut Map<String, Value>,
        base: &str,
        nesting: usize,
    ) {
        let real = non_null_variants(variants);
        if real.len() < variants.len() {
            out.insert("nullable".into(), true.into());
            if real.is_empty() {
                out.entry("type").or_insert_with(|| "null".into());
                return;
            }
        }
        let written: Vec<Value> = real
            .iter()
            .map(|variant| {
                let written = self.written(variant, base, nesting + 1);
                self.with_discriminator(variant, written, map, base)
            })
            .collect();
        let mut distinct: Vec<Value> = Vec::with_capacity(written.len());
        for variant in written {
            if !distinct.contains(&variant) {
                distinct.push(variant);
            }
        }
        // An empty variant accepts every value.
        if distinct.iter().any(|variant| variant.as_object().is_some_and(Map::is_empty)) {
            return;
        }
        match (distinct.pop(), out.keys().all(|key| key == "nullable")) {
            (Some(Value::Object(only)), true)
                if distinct.is_empty() && non_empty(map, other_variant_key(key)).is_none() =>
            {
                for (key, value) in only {
                    out.entry(key).or_insert(value);
                }
            }
            (Some(last), _) => {
                distinct.push(last);
                out.insert(key.to_owned(), Value::Array(distinct));
            }
            (None, _) => {}
        }
    }

    /// Adds the value of the discriminator to a variant, if the document maps one to it.
    fn with_discriminator(
        &self,
        variant: &Value,
        written: Value,
        map: &Map<String, Value>,
        base: &str,
    ) -> Value {
        let mapping = map.get("discriminator").and_then(|discriminator| {
            let property = discriminator.get("propertyName").and_then(Value::as_str)?;
            Some((property, discriminator.get("mapping").and_then(Value::as_object)?))
        });
        let (Some((property, mapping)), Some(reference)) =
            (mapping, variant.get("$ref").and_then(Value::as_str))
        else {
            return written;
        };
        let last = |text: &str| text.rsplit('/').next().unwrap_or(text).to_owned();
        let leads_here = |target: &&Value| {
            target.as_str().is_some_and(|target| target == reference || last(target) == last(reference))
        };
        let values: Vec<&String> =
            mapping.iter().filter(|(_, target)| leads_here(target)).map(|(value, _)| value).collect();
        let has_value = self.cx.refs.resolve(base, reference).is_some_and(|target| {
            let field = target.value.get("properties").and_then(|fields| fields.get(property));
            field.is_some_and(|field| field.get("const").is_some() || field.get("enum").is_some())
        });
        let value = match values.as_slice() {
            _ if has_value => return written,
            [] => return written,
            [only] => json!({"const": only}),
            several => json!({"enum": several}),
        };
        json!({"allOf": [written, {"type": "object", "properties": {property: value}, "required": [property]}]})
    }
}

fn other_variant_key(key: &str) -> &'static str {
    if key == "oneOf" { "anyOf" } else { "oneOf" }
}
