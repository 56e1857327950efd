//! Exports compiled schemas as standard JSON Schema (2020-12), for validators in other languages.
//!
//! If only one variant has a type, it is exported with `if` and `then` on the type of the value. A validator can then
//! report the problems of the intended variant. The other variants become `anyOf`.
//!
//! What always holds:
//!
//! - The exported schema accepts the same values as the check here, with two exceptions: whole floats beyond 2^53 pass
//!   as integers, and a repetition in a pattern counts up to 1000.
//! - The output has no dialect (`nullable`, tuples in `items`, `required: true`) and no keyword that is not checked
//!   here.
//! - Formats are exported as patterns, and patterns are for engines of the RE2 family, which take linear time.
//! - A named type is `#/$defs/NAME`.

use super::{
    AdditionalRule, ArrayRules, NumberRules, ObjectRules, Rules, SchemaId, SchemaNode, SchemaSet, StringRules,
};
use super::{TypeSet, format::StringFormat};
use indexmap::IndexMap;
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Capture, Hir, HirKind, Repetition};
use serde_json::{Map, Number, Value, json};

/// Maximum references that are followed to find the types of a variant.
const MAX_REFERENCES: u8 = 16;
/// Maximum count of a repetition in engines of the RE2 family.
const MAX_REPEAT: u32 = 1000;

impl SchemaSet {
    /// Returns a schema as standard JSON Schema. Named types are references.
    #[must_use]
    pub fn to_json_schema(&self, id: SchemaId) -> Value {
        if let Some((name, _)) = self.names.get_index(id.0 as usize) {
            return json!({"$ref": format!("#/$defs/{}", pointer_part(name))});
        }
        self.definition(id)
    }

    /// Returns a named type as standard JSON Schema.
    #[must_use]
    pub fn type_to_json_schema(&self, name: &str) -> Option<Value> {
        self.named(name).map(|id| self.definition(id))
    }

    fn definition(&self, id: SchemaId) -> Value {
        let node = self.node(id).unwrap_or(&SchemaNode::ANY);
        if node.types == TypeSet::NONE && !node.nullable {
            return false.into();
        }
        let mut out = Map::new();
        let null = if node.nullable { TypeSet::NULL } else { TypeSet::NONE };
        let types = node.types.union(null);
        if types != TypeSet::ANY {
            out.insert("type".into(), type_value(types));
        }
        if node.sensitive {
            out.insert("writeOnly".into(), true.into());
        }
        let Some(rules) = node.rules.as_deref() else { return out.into() };
        self.rules(rules, node.nullable, &mut out);
        let applies_to_null = rules.reference.is_some()
            || !rules.all_of.is_empty()
            || !rules.choices.is_empty()
            || rules.not.is_some();
        match node.nullable && applies_to_null {
            true => json!({"if": {"not": {"type": "null"}}, "then": out}),
            false => out.into(),
        }
    }

    fn rules(&self, rules: &Rules, nullable: bool, out: &mut Map<String, Value>) {
        if let Some(literals) = &rules.literals {
            let mut literals = literals.clone();
            if nullable && !literals.contains(&Value::Null) {
                literals.push(Value::Null);
            }
            out.insert("enum".into(), literals.into());
        }
        // Keywords that one schema cannot have twice.
        let mut all_of = Vec::new();
        if let Some(rules) = &rules.number {
            number(rules, out);
        }
        if let Some(rules) = &rules.string {
            string(rules, out, &mut all_of);
        }
        if let Some(rules) = &rules.array {
            self.array(rules, out);
        }
        if let Some(rules) = &rules.object {
            self.object(rules, out);
        }
        if let Some(Value::Object(reference)) = rules.reference.map(|id| self.to_json_schema(id)) {
            out.extend(reference);
        }
        all_of.extend(rules.all_of.iter().map(|id| self.to_json_schema(*id)));
        all_of.extend(rules.choices.iter().map(|variants| self.choice(variants)));
        if !all_of.is_empty() {
            out.insert("allOf".into(), all_of.into());
        }
        if let Some(id) = rules.not {
            out.insert("not".into(), self.to_json_schema(id));
        }
    }

    /// Exports a choice between variants as a rule for each type of value.
    fn choice(&self, variants: &[SchemaId]) -> Value {
        const TYPES: [(&str, TypeSet); 6] = [
            ("string", TypeSet::STRING),
            ("number", TypeSet::NUMBER),
            ("boolean", TypeSet::BOOLEAN),
            ("array", TypeSet::ARRAY),
            ("object", TypeSet::OBJECT),
            ("null", TypeSet::NULL),
        ];
        let mut all = TypeSet::NONE;
        let mut by_variants: IndexMap<Vec<SchemaId>, Vec<&str>> = IndexMap::new();
        for (name, one) in TYPES {
            let fits: Vec<SchemaId> = variants
                .iter()
                .copied()
                .filter(|id| self.types(*id, MAX_REFERENCES).intersects(one))
                .collect();
            all =
                fits.iter().fold(all, |set, id| set.union(self.types(*id, MAX_REFERENCES).intersection(one)));
            if !fits.is_empty() {
                by_variants.entry(fits).or_default().push(name);
            }
        }
        let mut out = Map::new();
        if all != TypeSet::ANY {
            out.insert("type".into(), type_value(all));
        }
        let is_one = by_variants.len() == 1;
        let mut parts: Vec<Value> = Vec::new();
        for (fits, types) in by_variants {
            let then = self.one_of(&fits);
            match then.as_object().is_some_and(Map::is_empty) {
                true => {}
                false if is_one => parts.push(then),
                false => parts.push(json!({"if": {"type": types}, "then": then})),
            }
        }
        if !parts.is_empty() {
            out.insert("allOf".into(), parts.into());
        }
        out.into()
    }

    /// Exports a choice between variants of the same type. If a field has a single allowed value in each variant, and
    /// another one in each, that field selects the variant.
    fn one_of(&self, variants: &[SchemaId]) -> Value {
        if let [only] = variants {
            return self.to_json_schema(*only);
        }
        let discriminators: Option<Vec<(String, Value)>> =
            variants.iter().map(|id| self.discriminator(*id, MAX_REFERENCES)).collect();
        let Some(discriminators) = discriminators.filter(|found| are_exclusive(found)) else {
            return json!({"anyOf": self.to_json_schemas(variants)});
        };
        let matches = |(name, literal): &(String, Value)| json!({"properties": {name: {"enum": [literal]}}, "required": [name]});
        let mut rest = json!({"anyOf": self.to_json_schemas(variants)});
        for (id, discriminator) in variants.iter().zip(&discriminators).rev() {
            rest = json!({"if": matches(discriminator), "then": self.to_json_schema(*id), "else": rest});
        }
        rest
    }

    /// Returns a field that has only one allowed value.
    fn discriminator(&self, id: SchemaId, fuel: u8) -> Option<(String, Value)> {
        let (node, fuel) = (self.node(id)?, fuel.checked_sub(1)?);
        let rules = node.rules.as_deref()?;
        let literal = |id: SchemaId| match self.node(id)?.rules.as_ref()?.literals.as_deref()? {
            [only] => Some(only.clone()),
            _ => None,
        };
        let mut own = rules.object.iter().flat_map(|object| &object.properties);
        let own = own.find_map(|(name, property)| Some((name.clone(), literal(*property)?)));
        own.or_else(|| {
            rules
                .reference
                .iter()
                .chain(rules.all_of.iter().take(8))
                .find_map(|id| self.discriminator(*id, fuel / 2))
        })
    }

    fn to_json_schemas(&self, ids: &[SchemaId]) -> Value {
        ids.iter().map(|id| self.to_json_schema(*id)).collect()
    }

    fn array(&self, rules: &ArrayRules, out: &mut Map<String, Value>) {
        if !rules.prefix.is_empty() {
            out.insert("prefixItems".into(), self.to_json_schemas(&rules.prefix));
        }
        if let Some(items) = rules.items {
            out.insert("items".into(), self.to_json_schema(items));
        }
        bounds(out, ("minItems", rules.min), ("maxItems", rules.max));
        if rules.unique {
            out.insert("uniqueItems".into(), true.into());
        }
    }

    fn object(&self, rules: &ObjectRules, out: &mut Map<String, Value>) {
        if !rules.properties.is_empty() {
            let properties: Map<String, Value> =
                rules.properties.iter().map(|(name, id)| (name.clone(), self.to_json_schema(*id))).collect();
            out.insert("properties".into(), properties.into());
        }
        if !rules.required.is_empty() {
            out.insert("required".into(), rules.required.clone().into());
        }
        if !rules.patterns.is_empty() {
            let patterns: Map<String, Value> = rules
                .patterns
                .iter()
                .map(|(pattern, id)| (portable_pattern(pattern.translated()), self.to_json_schema(*id)))
                .collect();
            out.insert("patternProperties".into(), patterns.into());
        }
        match rules.additional {
            AdditionalRule::Any => {}
            AdditionalRule::None => {
                out.insert("additionalProperties".into(), false.into());
            }
            AdditionalRule::Schema(id) => {
                out.insert("additionalProperties".into(), self.to_json_schema(id));
            }
        }
        bounds(out, ("minProperties", rules.min), ("maxProperties", rules.max));
    }
}

/// Returns whether no value can match two of these fields: they have the same name and different values.
fn are_exclusive(discriminators: &[(String, Value)]) -> bool {
    discriminators.iter().enumerate().all(|(index, (name, literal))| {
        discriminators.iter().take(index).all(|(other, earlier)| other == name && earlier != literal)
    })
}

/// Returns the `type` keyword for a set of types.
fn type_value(types: TypeSet) -> Value {
    let names: Vec<&str> = ["string", "number", "integer", "boolean", "array", "object", "null"]
        .into_iter()
        .filter(|name| TypeSet::named(name).is_some_and(|one| types.contains(one)))
        .filter(|name| *name != "integer" || !types.contains(TypeSet::NUMBER))
        .collect();
    match names.as_slice() {
        [one] => (*one).into(),
        several => several.into(),
    }
}

/// Escapes a name for a JSON Pointer in a URI fragment.
fn pointer_part(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for byte in name.replace('~', "~0").replace('/', "~1").bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-' | b'.' | b'~' => out.push(byte.into()),
            other => out.push_str(&format!("%{other:02X}")),
        }
    }
    out
}

fn bounds(out: &mut Map<String, Value>, min: (&str, Option<u64>), max: (&str, Option<u64>)) {
    for (key, bound) in [min, max] {
        if let Some(bound) = bound {
            out.insert(key.into(), bound.into());
        }
    }
}

fn number(rules: &NumberRules, out: &mut Map<String, Value>) {
    let mut bound = |bound: &Option<(Number, bool)>, inclusive: &str, exclusive: &str| {
        if let Some((number, excluded)) = bound {
            out.insert(if *excluded { exclusive } else { inclusive }.into(), number.clone().into());
        }
    };
    bound(&rules.minimum, "minimum", "exclusiveMinimum");
    bound(&rules.maximum, "maximum", "exclusiveMaximum");
    if let Some(step) = &rules.multiple_of {
        out.insert("multipleOf".into(), step.clone().into());
    }
}

fn string(rules: &StringRules, out: &mut Map<String, Value>, all_of: &mut Vec<Value>) {
    bounds(out, ("minLength", rules.min), ("maxLength", rules.max));
    if let Some(pattern) = &rules.pattern {
        out.insert("pattern".into(), portable_pattern(pattern.translated()).into());
    }
    if let Some(format) = rules.format {
        let pattern = format!("^(?:{})$", format_pattern(format));
        match out.contains_key("pattern") {
            true => all_of.push(json!({"format": format.name(), "pattern": pattern})),
            false => {
                out.insert("format".into(), format.name().into());
                out.insert("pattern".into(), pattern.into());
            }
        }
    }
}

/// Returns a pattern that means the same in all engines. Shorthands are written out; `\b` is ASCII in RE2 anyway.
fn portable_pattern(translated: &str) -> String {
    match ParserBuilder::new().build().parse(translated) {
        Ok(parsed) => {
            cap_repetitions(&parsed).to_string().replace(r"(?-u:\b)", r"\b").replace(r"(?-u:\B)", r"\B")
        }
        // Unreachable: the pattern was parsed before.
        Err(_) => String::new(),
    }
}

/// Caps repetitions to the engines' limit. A higher maximum is removed.
fn cap_repetitions(pattern: &Hir) -> Hir {
    let all = |parts: &[Hir]| parts.iter().map(cap_repetitions).collect();
    match pattern.kind() {
        HirKind::Repetition(repeated) => {
            let sub = match cap_repetitions(&repeated.sub) {
                // Without a group, `(?:a+)+` would become `a++`, which engines reject.
                sub if matches!(sub.kind(), HirKind::Repetition(_)) => {
                    Hir::capture(Capture { index: 1, name: None, sub: Box::new(sub) })
                }
                sub => sub,
            };
            Hir::repetition(Repetition {
                min: repeated.min.min(MAX_REPEAT),
                max: repeated.max.filter(|max| *max <= MAX_REPEAT),
                greedy: repeated.greedy,
                sub: Box::new(sub),
            })
        }
        HirKind::Capture(group) => cap_repetitions(&group.sub),
        HirKind::Concat(parts) => Hir::concat(all(parts)),
        HirKind::Alternation(parts) => Hir::alternation(all(parts)),
        _ => pattern.clone(),
    }
}

/// Returns the pattern of a format.
fn format_pattern(format: StringFormat) -> String {
    const DATE: &str = "(?:(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29\
        |[0-9]{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)\
        |02-(?:0[1-9]|1[0-9]|2[0-8])))";
    const TIME: &str = r"(?:[01][0-9]|2[0-3]):[0-5][0-9]:(?:[0-5][0-9]|60)(?:\.[0-9]+)?(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])";
    const LABEL: &str = r"[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?";
    const BYTE: &str = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])";
    let host = || format!(r"{LABEL}(?:\.{LABEL})*\.?");
    let ipv4 = || format!(r"{BYTE}(?:\.{BYTE}){{3}}");
    match format {
        StringFormat::Date => DATE.to_owned(),
        StringFormat::DateTime => format!("{DATE}[Tt]{TIME}"),
        StringFormat::Time => TIME.to_owned(),
        StringFormat::Email => format!(r"[^\s\p{{Z}}\p{{Cc}}]{{1,64}}@(?:{}|\[[^\n]*\])", host()),
        StringFormat::Uri => r#"[A-Za-z][A-Za-z0-9+.-]*:[^\s\p{Z}\p{Cc}<>"]+"#.to_owned(),
        StringFormat::Uuid => "[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}".to_owned(),
        StringFormat::Ipv4 => ipv4(),
        StringFormat::Ipv6 => ipv6(&ipv4()),
        StringFormat::Hostname => host(),
        StringFormat::Byte => "(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?".to_owned(),
    }
}

/// Returns the pattern of an IPv6 address: eight groups, of which the last two may be an IPv4 address and any number
/// may be `::`.
fn ipv6(ipv4: &str) -> String {
    const GROUP: &str = "[0-9A-Fa-f]{1,4}";
    let tail = format!("(?:{GROUP}:{GROUP}|{ipv4})");
    let mut forms = vec![format!("(?:{GROUP}:){{6}}{tail}")];
    for before in 0..=7_usize {
        let head = match before {
            0 => String::new(),
            before => format!("{GROUP}(?::{GROUP}){{{}}}", before - 1),
        };
        let after = 7 - before;
        let mut ends = vec![String::new()];
        if after > 0 {
            ends.push(format!("{GROUP}(?::{GROUP}){{0,{}}}", after - 1));
        }
        if after > 1 {
            ends.push(format!("(?:{GROUP}:){{0,{}}}{ipv4}", after - 2));
        }
        forms.push(format!("{head}::(?:{})", ends.join("|")));
    }
    forms.join("|")
}

#[cfg(test)]
mod tests {
    use super::*;
    use indexmap::IndexMap;
    use regex::Regex;

    fn exported(schema: &Value) -> Value {
        let types = IndexMap::from([("Node".to_owned(), json!({"type": "object"}))]);
        let (mut schemas, _) = SchemaSet::compile(&types);
        let (id, _) = schemas.add(schema, "");
        schemas.to_json_schema(id)
    }

    #[test]
    fn a_repeated_repetition_keeps_its_group() {
        for (given, expected) in [("^(a+)+$", r"(?:\A(a+)+\z)"), ("(?:[a-c]{2,3}){4}", "([a-c]{2,3}){4}")] {
            assert_eq!(portable_pattern(given), expected);
        }
    }

    #[test]
    fn dialects_become_the_standard() {
        for (given, expected) in [
            (json!({}), json!({})),
            (json!({"type": "string", "nullable": true}), json!({"type": ["string", "null"]})),
            (json!({"enum": ["a"], "nullable": true}), json!({"enum": ["a", null]})),
            (
                json!({"type": "integer", "minimum": 1, "exclusiveMinimum": true}),
                json!({"type": "integer", "exclusiveMinimum": 1}),
            ),
            (
                json!({"properties": {"a": {"type": "string", "required": true}}}),
                json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}),
            ),
            (
                json!({"items": [{"type": "string"}], "type": "array"}),
                json!({"type": "array", "prefixItems": [{"type": "string"}]}),
            ),
            (
                json!({"$ref": "#/types/Node", "nullable": true}),
                json!({"if": {"not": {"type": "null"}}, "then": {"$ref": "#/$defs/Node"}}),
            ),
            (
                json!({"oneOf": [{"type": "string"}, {"type": "number"}]}),
                json!({"allOf": [{"type": ["string", "number"], "allOf": [
                    {"if": {"type": ["string"]}, "then": {"type": "string"}},
                    {"if": {"type": ["number"]}, "then": {"type": "number"}}]}]}),
            ),
            (
                json!({"type": "string", "pattern": r"^\d+\b$"}),
                json!({"type": "string", "pattern": r"(?:\A[0-9]+\b\z)"}),
            ),
            (json!({"type": "string", "pattern": "(?=a)"}), json!({"type": "string"})),
        ] {
            assert_eq!(exported(&given), expected, "{given}");
        }
    }

    #[test]
    fn a_field_selects_a_variant_only_if_no_value_matches_two() {
        let variant =
            |field: &str, value: &str| json!({"type": "object", "properties": {field: {"const": value}}});
        for (second, selects) in [(("kind", "b"), true), (("kind", "a"), false), (("type", "b"), false)] {
            let choice = json!({"oneOf": [variant("kind", "a"), variant(second.0, second.1)]});
            let text = exported(&choice).to_string();
            assert_eq!(text.contains("\"else\""), selects, "{text}");
        }
    }

    #[test]
    fn formats_are_patterns_that_accept_the_same_texts() {
        let texts = [
            "2024-02-29",
            "1999-12-31",
            "2023-02-29",
            "2024-13-01",
            "1900-02-29",
            "2000-02-29",
            "2024-04-31",
            "24-1-1",
            "",
            "2025-01-31T09:30:00Z",
            "2025-01-31t09:30:00.123+02:00",
            "1990-12-31T23:59:60Z",
            "2025-01-31 09:30:00Z",
            "2025-01-31T25:00:00Z",
            "09:30:00Z",
            "23:59:59.5-01:30",
            "9:30",
            "09:30:00",
            "09:30:00.Z",
            "09:60:00Z",
            "a@b.c",
            "a+b@example.com",
            "a@localhost",
            "a",
            "@b.c",
            "a@",
            "a b@c.d",
            "a@-b.c",
            "a@[1.2.3.4]",
            "https://x.y/z?q#f",
            "mailto:a@b.c",
            "urn:x",
            "x",
            "/a/b",
            "://x",
            "http:",
            "http://a b",
            "http://a\u{a0}b",
            "123e4567-e89b-12d3-a456-426614174000",
            "123e4567e89b12d3a456426614174000",
            "192.0.2.1",
            "192.0.2.256",
            "1.2.3",
            "01.2.3.4",
            "::1",
            "2001:db8::1",
            "::",
            ":::",
            "1:2:3:4:5:6:7:8",
            "1:2:3:4:5:6:7::",
            "::2:3:4:5:6:7:8",
            "1::2:3:4:5:6:7:8",
            "::ffff:1.2.3.4",
            "1:2:3:4:5:6:1.2.3.4",
            "1:2:3:4:5:6:7:1.2.3.4",
            "12345::",
            "1::2::3",
            "example.com",
            "xn--p1ai",
            "example.com.",
            "a..b",
            "-a",
            "a_b",
            "müller.de",
            "aGVsbG8=",
            "QUJD",
            "aGVsbG8",
            "a===",
            "&&&&",
        ];
        for format in StringFormat::ALL {
            let pattern = Regex::new(&format!("^(?:{})$", format_pattern(format))).unwrap();
            for text in texts {
                assert_eq!(pattern.is_match(text), format.accepts(text), "{} {text:?}", format.name());
            }
        }
    }
}
