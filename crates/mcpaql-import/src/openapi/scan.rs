//! Visits JSON text without building values. Only the members that a visitor asks for are read; the rest is skipped.
//!
//! What always holds: nothing here recurses deeper than the visitor. A value of the wrong type is skipped and reported to the
//! visitor. If a name occurs twice, the last one wins.

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, de};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// A range of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TextRange {
    start: u32,
    end: u32,
}

impl TextRange {
    /// Returns the range of `part`, which must be a part of `text`.
    pub(crate) fn of(text: &str, part: &str) -> TextRange {
        let start = (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
        let offset = |offset: usize| u32::try_from(offset).unwrap_or(u32::MAX);
        TextRange { start: offset(start), end: offset(start + part.len()) }
    }

    pub(crate) fn slice(self, text: &str) -> &str {
        text.get(self.start as usize..self.end as usize).unwrap_or_default()
    }

    pub(crate) fn start(self) -> usize {
        self.start as usize
    }

    pub(crate) fn end(self) -> usize {
        self.end as usize
    }
}

/// A string, borrowed from the text if it has no escapes.
#[derive(Debug, Clone)]
pub(crate) struct JsonString<'t>(pub(crate) Cow<'t, str>);

impl<'de> Deserialize<'de> for JsonString<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<JsonString<'de>, D::Error> {
        struct Strings;
        impl<'de> Visitor<'de> for Strings {
            type Value = JsonString<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<JsonString<'de>, E> {
                Ok(JsonString(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<JsonString<'de>, E> {
                Ok(JsonString(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(Strings)
    }
}

/// Visits the members of an object.
pub(crate) trait ObjectVisitor<'t> {
    /// Visits a member; it must read exactly one value from `access`.
    fn member<A: MapAccess<'t>>(&mut self, name: Cow<'t, str>, access: &mut A) -> Result<(), A::Error>;

    /// Called if the value is not an object.
    fn wrong_type(&mut self, found: &'static str);
}

/// Deserializes an object with a visitor.
pub(crate) struct VisitedObject<'w, W>(pub(crate) &'w mut W);

impl<'t, W: ObjectVisitor<'t>> DeserializeSeed<'t> for VisitedObject<'_, W> {
    type Value = ();

    fn deserialize<D: Deserializer<'t>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'t, W: ObjectVisitor<'t>> Visitor<'t> for VisitedObject<'_, W> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'t>>(self, mut access: A) -> Result<(), A::Error> {
        while let Some(JsonString(name)) = access.next_key()? {
            self.0.member(name, &mut access)?;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'t>>(self, mut access: A) -> Result<(), A::Error> {
        while access.next_element::<IgnoredAny>()?.is_some() {}
        self.0.wrong_type("an array");
        Ok(())
    }

    fn visit_unit<E: de::Error>(self) -> Result<(), E> {
        self.0.wrong_type("null");
        Ok(())
    }

    fn visit_bool<E: de::Error>(self, _: bool) -> Result<(), E> {
        self.0.wrong_type("a boolean");
        Ok(())
    }

    fn visit_i64<E: de::Error>(self, _: i64) -> Result<(), E> {
        self.0.wrong_type("a number");
        Ok(())
    }

    fn visit_u64<E: de::Error>(self, _: u64) -> Result<(), E> {
        self.0.wrong_type("a number");
        Ok(())
    }

    fn visit_f64<E: de::Error>(self, _: f64) -> Result<(), E> {
        self.0.wrong_type("a number");
        Ok(())
    }

    fn visit_str<E: de::Error>(self, _: &str) -> Result<(), E> {
        self.0.wrong_type("a string");
        Ok(())
    }
}

/// Visits the value of a text.
pub(crate) fn visit_value<'t, W: ObjectVisitor<'t>>(
    text: &'t str,
    visitor: &mut W,
) -> Result<(), serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    VisitedObject(visitor).deserialize(&mut deserializer)?;
    deserializer.end()
}

/// Returns the value of a member, as text.
pub(crate) fn raw<'t, A: MapAccess<'t>>(access: &mut A) -> Result<&'t str, A::Error> {
    access.next_value::<&RawValue>().map(RawValue::get)
}

/// Skips the value of a member.
pub(crate) fn skip<'t, A: MapAccess<'t>>(access: &mut A) -> Result<(), A::Error> {
    access.next_value::<IgnoredAny>().map(|_| ())
}

/// Returns the member of an object or the element of an array.
pub(crate) fn child<'t>(text: &'t str, token: &str) -> Option<&'t str> {
    if text.starts_with('[') {
        let index: usize = token.parse().ok()?;
        let items: Vec<&RawValue> = serde_json::from_str(text).ok()?;
        return items.get(index).map(|item| item.get());
    }
    let mut find = FindMember { name: token, found: None };
    visit_value(text, &mut find).ok()?;
    find.found
}

struct FindMember<'n, 't> {
    name: &'n str,
    found: Option<&'t str>,
}

impl<'t> ObjectVisitor<'t> for FindMember<'_, 't> {
    fn member<A: MapAccess<'t>>(&mut self, name: Cow<'t, str>, access: &mut A) -> Result<(), A::Error> {
        if name == self.name {
            self.found = Some(raw(access)?);
            return Ok(());
        }
        skip(access)
    }

    fn wrong_type(&mut self, _: &'static str) {}
}

/// Returns the members of an object in order; empty if the text is not an object.
pub(crate) fn members(text: &str) -> indexmap::IndexMap<Cow<'_, str>, &str> {
    let mut all = AllMembers(indexmap::IndexMap::new());
    let _ = visit_value(text, &mut all);
    all.0
}

struct AllMembers<'t>(indexmap::IndexMap<Cow<'t, str>, &'t str>);

impl<'t> ObjectVisitor<'t> for AllMembers<'t> {
    fn member<A: MapAccess<'t>>(&mut self, name: Cow<'t, str>, access: &mut A) -> Result<(), A::Error> {
        let value = raw(access)?;
        self.0.insert(name, value);
        Ok(())
    }

    fn wrong_type(&mut self, _: &'static str) {}
}

/// Returns the elements of an array; empty if the text is not an array.
pub(crate) fn items(text: &str) -> Vec<&str> {
    let items: Vec<&RawValue> = serde_json::from_str(text).unwrap_or_default();
    items.into_iter().map(RawValue::get).collect()
}

/// Returns the text as a string, if it is one.
pub(crate) fn string(text: &str) -> Option<Cow<'_, str>> {
    serde_json::from_str::<JsonString<'_>>(text).ok().map(|text| text.0)
}

/// Returns the JSON type of a text, with its article.
pub(crate) fn kind(text: &str) -> &'static str {
    match text.trim_start().bytes().next() {
        Some(b'{') => "an object",
        Some(b'[') => "an array",
        Some(b'"') => "a string",
        Some(b't' | b'f') => "a boolean",
        Some(b'n') | None => "null",
        Some(_) => "a number",
    }
}
