//! Checks values against compiled schemas. The path is kept on the stack until a violation is found, so a valid value
//! costs no allocation.

use super::integers;
use super::{
    AdditionalRule, ArrayRules, NumberRules, ObjectRules, PathPart, Rules, SchemaId, SchemaNode, SchemaSet,
    StringRules, TypeSet, Violation, ViolationKind, shorten, type_name,
};
use crate::suggest::nearest;
use serde_json::{Map, Number, Value, json};
use std::cmp::Ordering;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Maximum violations to report. More would not help to fix a call.
const MAX_VIOLATIONS: usize = 10;
/// Maximum nesting depth of a value.
const MAX_DEPTH: usize = 64;
/// Maximum nested schema checks. Larger than `MAX_DEPTH`, because variants and references check the same value again.
const MAX_FRAMES: usize = 192;
/// Maximum steps of a check, a few hundredths of a second. Recursive variants can take exponential time.
const MAX_STEPS: u32 = 1_000_000;
/// The largest integer up to which floats represent every integer exactly.
const MAX_EXACT: i64 = (1 << 53) - 1;
/// Maximum enum values in a message.
const MAX_LISTED_VALUES: usize = 10;

pub(super) fn check(schemas: &SchemaSet, id: SchemaId, value: &Value) -> Vec<Violation> {
    let mut checker = Checker {
        schemas,
        found: Vec::new(),
        limit: MAX_VIOLATIONS,
        failures: 0,
        probing: false,
        steps: 0,
        frames: 0,
        too_deep: false,
        sensitive: false,
    };
    checker.visit(id, value, &ValuePath::ROOT);
    // A check that gave up is not a result, and neither is anything that depends on it.
    let gave_up = match (checker.steps > MAX_STEPS, checker.too_deep) {
        (true, _) => ViolationKind::TooComplex,
        (false, true) => ViolationKind::TooDeep,
        (false, false) => return checker.found,
    };
    vec![Violation { path: Vec::new(), sensitive: false, kind: gave_up }]
}

/// The path of a visited value, as a linked list on the stack.
struct ValuePath<'t> {
    parent: Option<&'t ValuePath<'t>>,
    part: ValueStep<'t>,
    depth: usize,
}

#[derive(Clone, Copy)]
enum ValueStep<'t> {
    Root,
    Field(&'t str),
    Key(&'t str),
    Index(usize),
}

impl<'t> ValuePath<'t> {
    const ROOT: ValuePath<'static> = ValuePath { parent: None, part: ValueStep::Root, depth: 0 };

    fn to(&'t self, part: ValueStep<'t>) -> ValuePath<'t> {
        ValuePath { parent: Some(self), part, depth: self.depth + 1 }
    }

    fn path(&self) -> Vec<PathPart> {
        let mut parts = Vec::with_capacity(self.depth);
        let mut next = Some(self);
        while let Some(step) = next {
            match step.part {
                ValueStep::Root => {}
                ValueStep::Field(name) => parts.push(PathPart::Field(name.to_owned())),
                ValueStep::Key(name) => parts.push(PathPart::Key(name.to_owned())),
                ValueStep::Index(index) => parts.push(PathPart::Index(index)),
            }
            next = step.parent;
        }
        parts.reverse();
        parts
    }
}

struct Checker<'s> {
    schemas: &'s SchemaSet,
    found: Vec<Violation>,
    limit: usize,
    failures: usize,
    /// Only the result is needed, not the violations.
    probing: bool,
    steps: u32,
    frames: usize,
    too_deep: bool,
    sensitive: bool,
}

impl<'s> Checker<'s> {
    fn fail(&mut self, at: &ValuePath<'_>, kind: impl FnOnce() -> ViolationKind) {
        self.failures += 1;
        if !self.probing && self.found.len() < self.limit {
            self.found.push(Violation { path: at.path(), sensitive: self.sensitive, kind: kind() });
        }
    }

    /// Returns whether more violations would change nothing.
    fn settled(&self) -> bool {
        if self.probing { self.failures > 0 } else { self.found.len() >= self.limit }
    }

    fn visit(&mut self, id: SchemaId, value: &Value, at: &ValuePath<'_>) {
        let Some(node) = self.schemas.node(id) else { return };
        if at.depth > MAX_DEPTH || self.frames >= MAX_FRAMES {
            self.too_deep = true;
            return self.fail(at, || ViolationKind::TooDeep);
        }
        self.steps = self.steps.saturating_add(1);
        if self.steps > MAX_STEPS {
            return self.fail(at, || ViolationKind::TooComplex);
        }
        self.frames += 1;
        let outer = self.sensitive;
        self.sensitive |= node.sensitive;
        self.check_node(node, value, at);
        self.sensitive = outer;
        self.frames -= 1;
    }

    fn check_node(&mut self, node: &'s SchemaNode, value: &Value, at: &ValuePath<'_>) {
        if node.nullable && value.is_null() {
            return;
        }
        if !node.types.contains(TypeSet::of(value)) {
            let nullable = if node.nullable { TypeSet::NULL } else { TypeSet::NONE };
            return self.fail(at, || ViolationKind::Type {
                expected: node.types.union(nullable).label(),
                actual: type_name(value),
            });
        }
        if let Value::Number(number) = value
            && !node.types.intersects(TypeSet::FRACTION)
            && integers::is_inexact(number)
        {
            return self.fail(at, too_large);
        }
        let Some(rules) = node.rules.as_deref() else { return };
        if let Some(literals) = &rules.literals
            && !literals.iter().any(|literal| json_equal(literal, value))
        {
            return self.fail_literal(literals, value, at);
        }
        match value {
            Value::Number(number) => self.number(rules.number.as_ref(), number, at),
            Value::String(text) => self.string(rules.string.as_ref(), text, at),
            Value::Array(items) => self.array(rules.array.as_ref(), items, at),
            Value::Object(fields) => self.object(rules.object.as_ref(), fields, at),
            Value::Null | Value::Bool(_) => {}
        }
        self.check_combinators(rules, value, at);
    }

    fn check_combinators(&mut self, rules: &'s Rules, value: &Value, at: &ValuePath<'_>) {
        for &id in rules.reference.iter().chain(&rules.all_of) {
            if self.settled() {
                return;
            }
            self.visit(id, value, at);
        }
        for variants in &rules.choices {
            if self.settled() {
                return;
            }
            if !variants.iter().any(|&id| self.is_valid(id, value, at)) {
                self.fail_choice(variants, value, at);
            }
        }
        if let Some(id) = rules.not
            && self.is_valid(id, value, at)
        {
            self.fail(at, || value_violation("has a forbidden form".to_owned(), json!({"not": {}})));
        }
    }

    fn is_valid(&mut self, id: SchemaId, value: &Value, at: &ValuePath<'_>) -> bool {
        let outer = (std::mem::replace(&mut self.probing, true), std::mem::take(&mut self.failures));
        self.visit(id, value, at);
        let valid = self.failures == 0;
        (self.probing, self.failures) = outer;
        valid
    }

    fn fail_literal(&mut self, literals: &[Value], value: &Value, at: &ValuePath<'_>) {
        self.fail(at, || {
            let nearest = value.as_str().and_then(|text| {
                let texts = || literals.iter().filter_map(Value::as_str);
                let same_letters = texts().find(|literal| literal.eq_ignore_ascii_case(text));
                same_letters.or_else(|| nearest(text, texts())).map(str::to_owned)
            });
            let fragment = literals_message(literals);
            let allowed = json!({"enum": literals.iter().take(MAX_LISTED_VALUES * 5).collect::<Vec<_>>()});
            ViolationKind::Value { fragment, allowed, nearest }
        });
    }

    /// Reports the intended variant if it can be determined, otherwise all forms.
    fn fail_choice(&mut self, variants: &'s [SchemaId], value: &Value, at: &ValuePath<'_>) {
        if self.probing {
            return self.fail(at, || ViolationKind::TooComplex);
        }
        let given = TypeSet::of(value);
        let all = variants.iter().fold(TypeSet::NONE, |set, &id| set.union(self.schemas.types(id, 16)));
        if !all.contains(given) {
            let kind = ViolationKind::Type { expected: all.label(), actual: type_name(value) };
            return self.fail(at, || kind);
        }
        let mut intended: Vec<SchemaId> =
            variants.iter().copied().filter(|&id| self.schemas.types(id, 16).contains(given)).collect();
        let marked: Vec<SchemaId> =
            intended.iter().copied().filter(|&id| self.has_discriminator(id, value, 16)).collect();
        if !marked.is_empty() {
            intended = marked;
        }
        if let [only] = intended[..] {
            return self.visit(only, value, at);
        }
        let literals: Option<Vec<&[Value]>> = intended.iter().map(|&id| self.literals(id)).collect();
        if let Some(literals) = literals {
            return self.fail_literal(&literals.concat(), value, at);
        }
        let forms: Vec<Violation> = intended.iter().take(4).filter_map(|&id| self.first(id, value)).collect();
        let outer = self.sensitive;
        self.sensitive |= forms.iter().any(|form| form.sensitive);
        self.fail(at, || ViolationKind::NoVariant { forms });
        self.sensitive = outer;
    }

    /// The first violation of a schema, with a path relative to `value`.
    fn first(&mut self, id: SchemaId, value: &Value) -> Option<Violation> {
        let (found, limit, failures) = (std::mem::take(&mut self.found), self.limit, self.failures);
        self.limit = 1;
        self.visit(id, value, &ValuePath::ROOT);
        let first = std::mem::replace(&mut self.found, found).into_iter().next();
        (self.limit, self.failures) = (limit, failures);
        first
    }

    fn literals(&self, id: SchemaId) -> Option<&'s [Value]> {
        self.schemas.node(id)?.rules.as_ref()?.literals.as_deref()
    }

    /// Returns whether a field with only one possible value (`kind: {const: circle}`) selects this variant.
    fn has_discriminator(&self, id: SchemaId, value: &Value, fuel: u8) -> bool {
        let (Some(fields), Some(fuel)) = (value.as_object(), fuel.checked_sub(1)) else { return false };
        let Some(rules) = self.schemas.node(id).and_then(|node| node.rules.as_deref()) else { return false };
        let own = rules.object.iter().flat_map(|object| &object.properties).any(|(name, &property)| {
            matches!((self.literals(property), fields.get(name)), (Some([only]), Some(given)) if json_equal(only, given))
        });
        own || rules
            .reference
            .iter()
            .chain(rules.all_of.iter().take(8))
            .any(|&id| self.has_discriminator(id, value, fuel / 2))
    }

    fn number(&mut self, rules: Option<&NumberRules>, number: &Number, at: &ValuePath<'_>) {
        let Some(rules) = rules else { return };
        let too_low = rules.minimum.as_ref().is_some_and(|(bound, exclusive)| match compare(number, bound) {
            Ordering::Less => true,
            Ordering::Equal => *exclusive,
            Ordering::Greater => false,
        });
        let too_high =
            rules.maximum.as_ref().is_some_and(|(bound, exclusive)| match compare(number, bound) {
                Ordering::Greater => true,
                Ordering::Equal => *exclusive,
                Ordering::Less => false,
            });
        if too_low || too_high {
            self.fail(at, || bounds_violation(rules));
        }
        if let Some(step) = &rules.multiple_of
            && !is_multiple(number, step)
        {
            self.fail(at, || value_violation(multiple_message(step), json!({"multipleOf": step})));
        }
    }

    fn string(&mut self, rules: Option<&StringRules>, text: &str, at: &ValuePath<'_>) {
        let Some(rules) = rules else { return };
        // A text never has more characters than bytes, so most cases need no counting.
        let bytes = text.len() as u64;
        let short =
            rules.min.is_some_and(|min| bytes < min || (bytes < min.saturating_mul(4) && count(text) < min));
        let long = rules.max.is_some_and(|max| bytes > max && count(text) > max);
        if short || long {
            self.fail(at, || {
                count_violation(("minLength", rules.min), ("maxLength", rules.max), "character", count(text))
            });
        }
        if let Some(pattern) = &rules.pattern
            && !pattern.is_match(text)
        {
            self.fail(at, || {
                let fragment = format!("must match the pattern {}", shorten(&rules.pattern_text, 120));
                value_violation(fragment, json!({"pattern": rules.pattern_text}))
            });
        }
        if let Some(format) = rules.format
            && !format.accepts(text)
        {
            self.fail(at, || value_violation(format.fragment().to_owned(), json!({"format": format.name()})));
        }
    }

    fn array(&mut self, rules: Option<&'s ArrayRules>, items: &[Value], at: &ValuePath<'_>) {
        let Some(rules) = rules else { return };
        let length = items.len() as u64;
        if rules.min.is_some_and(|min| length < min) || rules.max.is_some_and(|max| length > max) {
            self.fail(at, || {
                count_violation(("minItems", rules.min), ("maxItems", rules.max), "item", length)
            });
        }
        if rules.unique
            && let Some(index) = duplicate(items)
        {
            self.fail(&at.to(ValueStep::Index(index)), || {
                value_violation(
                    "repeats an earlier item of the list".to_owned(),
                    json!({"uniqueItems": true}),
                )
            });
        }
        for (index, item) in items.iter().enumerate() {
            if self.settled() {
                return;
            }
            if let Some(id) = rules.prefix.get(index).copied().or(rules.items) {
                self.visit(id, item, &at.to(ValueStep::Index(index)));
            }
        }
    }

    fn object(&mut self, rules: Option<&'s ObjectRules>, fields: &Map<String, Value>, at: &ValuePath<'_>) {
        let Some(rules) = rules else { return };
        for name in &rules.required {
            if !fields.contains_key(name) {
                self.fail(at, || ViolationKind::Missing { field: name.clone() });
            }
        }
        let length = fields.len() as u64;
        if rules.min.is_some_and(|min| length < min) || rules.max.is_some_and(|max| length > max) {
            let (min, max) = (("minProperties", rules.min), ("maxProperties", rules.max));
            self.fail(at, || count_violation(min, max, "field", length));
        }
        for (name, value) in fields {
            if self.settled() {
                return;
            }
            self.field(rules, name, value, at);
        }
    }

    fn field(&mut self, rules: &'s ObjectRules, name: &str, value: &Value, at: &ValuePath<'_>) {
        let mut declared = false;
        if let Some(&id) = rules.properties.get(name) {
            declared = true;
            self.visit(id, value, &at.to(ValueStep::Field(name)));
        }
        for (_, id) in rules.patterns.iter().filter(|(pattern, _)| pattern.is_match(name)) {
            declared = true;
            self.visit(*id, value, &at.to(ValueStep::Key(name)));
        }
        match rules.additional {
            AdditionalRule::Schema(id) if !declared => self.visit(id, value, &at.to(ValueStep::Key(name))),
            AdditionalRule::None if !declared => self.fail(at, || ViolationKind::UnknownField {
                field: name.to_owned(),
                valid: rules.properties.keys().cloned().collect(),
                nearest: nearest(name, rules.properties.keys().map(String::as_str)).map(str::to_owned),
            }),
            _ => {}
        }
    }
}

/// Writes the allowed values: `must be one of 'open', 'closed'`.
pub(super) fn literals_message(literals: &[Value]) -> String {
    let mut fragment = match literals {
        [only] => format!("must be {}", literal_text(only)),
        several => {
            let listed: Vec<String> = several.iter().take(MAX_LISTED_VALUES).map(literal_text).collect();
            format!("must be one of {}", listed.join(", "))
        }
    };
    if literals.len() > MAX_LISTED_VALUES {
        fragment.push_str(&format!(" and {} more", literals.len() - MAX_LISTED_VALUES));
    }
    fragment
}

fn too_large() -> ViolationKind {
    let fragment = "is too large to be kept exactly; send it as a string if the operation allows one";
    value_violation(fragment.to_owned(), json!({"minimum": -MAX_EXACT, "maximum": MAX_EXACT}))
}

fn value_violation(fragment: String, allowed: Value) -> ViolationKind {
    ViolationKind::Value { fragment, allowed, nearest: None }
}

fn bounds_violation(rules: &NumberRules) -> ViolationKind {
    let mut allowed = Map::new();
    if let Some((bound, exclusive)) = &rules.minimum {
        allowed
            .insert(if *exclusive { "exclusiveMinimum" } else { "minimum" }.to_owned(), bound.clone().into());
    }
    if let Some((bound, exclusive)) = &rules.maximum {
        allowed
            .insert(if *exclusive { "exclusiveMaximum" } else { "maximum" }.to_owned(), bound.clone().into());
    }
    value_violation(bounds_message(rules), allowed.into())
}

/// Writes the bounds of a number. It uses "or more" and "or less", because leak checks treat "at" and a word as a stack
/// frame.
pub(super) fn bounds_message(rules: &NumberRules) -> String {
    if let (Some((low, false)), Some((high, false))) = (&rules.minimum, &rules.maximum) {
        return format!("must be between {low} and {high}");
    }
    let low = rules.minimum.as_ref().map(|(bound, exclusive)| {
        if *exclusive { format!("greater than {bound}") } else { format!("{bound} or more") }
    });
    let high = rules.maximum.as_ref().map(|(bound, exclusive)| {
        if *exclusive { format!("less than {bound}") } else { format!("{bound} or less") }
    });
    format!("must be {}", low.into_iter().chain(high).collect::<Vec<_>>().join(" and "))
}

pub(super) fn multiple_message(step: &Number) -> String {
    format!("must be a multiple of {step}")
}

type CountBound = (&'static str, Option<u64>);

fn count_violation(min: CountBound, max: CountBound, noun: &str, actual: u64) -> ViolationKind {
    let allowed: Map<String, Value> =
        [min, max].into_iter().filter_map(|(key, bound)| Some((key.to_owned(), bound?.into()))).collect();
    let plural = |count: u64| if count == 1 { "" } else { "s" };
    let wanted = match (min.1, max.1) {
        (Some(low), Some(high)) if low == high => format!("exactly {low} {noun}{}", plural(low)),
        (Some(low), Some(high)) => format!("between {low} and {high} {noun}s"),
        (Some(low), None) => format!("{low} {noun}{} or more", plural(low)),
        (None, high) => format!("no more than {} {noun}{}", high.unwrap_or(0), plural(high.unwrap_or(0))),
    };
    value_violation(format!("must have {wanted}, has {actual}"), allowed.into())
}

fn literal_text(value: &Value) -> String {
    match value {
        Value::String(text) => format!("'{}'", shorten(text, 64)),
        other => shorten(&other.to_string(), 64).into_owned(),
    }
}

fn count(text: &str) -> u64 {
    text.chars().count() as u64
}

/// Compares integers exactly, and other numbers as floats.
fn compare(a: &Number, b: &Number) -> Ordering {
    match (integer(a), integer(b)) {
        (Some(a), Some(b)) => a.cmp(&b),
        _ => a.as_f64().partial_cmp(&b.as_f64()).unwrap_or(Ordering::Equal),
    }
}

fn integer(number: &Number) -> Option<i128> {
    number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from))
}

fn is_multiple(number: &Number, step: &Number) -> bool {
    if let (Some(number), Some(step)) = (integer(number), integer(step)) {
        return number.checked_rem(step) == Some(0);
    }
    let (Some(number), Some(step)) = (number.as_f64(), step.as_f64()) else { return true };
    let quotient = number / step;
    !quotient.is_finite() || (quotient - quotient.round()).abs() <= 1e-9 * quotient.abs().max(1.0)
}

/// Compares JSON values: `1` equals `1.0`, and the order of fields does not matter.
fn json_equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => compare(a, b) == Ordering::Equal,
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| json_equal(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| json_equal(a, b)))
        }
        _ => a == b,
    }
}

/// Returns the index of the first item that equals an earlier one.
fn duplicate(items: &[Value]) -> Option<usize> {
    if items.len() < 2 {
        return None;
    }
    let mut seen: HashMap<u64, Vec<&Value>> = HashMap::with_capacity(items.len());
    items.iter().position(|item| {
        let bucket = seen.entry(fingerprint(item)).or_default();
        let repeated = bucket.iter().any(|earlier| json_equal(earlier, item));
        bucket.push(item);
        repeated
    })
}

/// Hashes a value. Equal values have equal fingerprints.
fn fingerprint(value: &Value) -> u64 {
    let mut hasher = DefaultHasher::new();
    type_name(value).hash(&mut hasher);
    match value {
        Value::Null => {}
        Value::Bool(flag) => flag.hash(&mut hasher),
        Value::Number(number) => (number.as_f64().unwrap_or(0.0) + 0.0).to_bits().hash(&mut hasher),
        Value::String(text) => text.hash(&mut hasher),
        Value::Array(items) => items.iter().for_each(|item| fingerprint(item).hash(&mut hasher)),
        Value::Object(fields) => {
            let sum = fields.iter().fold(0_u64, |sum, (key, value)| {
                let mut field = DefaultHasher::new();
                key.hash(&mut field);
                fingerprint(value).hash(&mut field);
                sum.wrapping_add(field.finish())
            });
            sum.hash(&mut hasher);
        }
    }
    hasher.finish()
}
