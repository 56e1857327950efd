//! XML as data, in both directions.
//!
//! | XML | data |
//! |---|---|
//! | an element with elements or attributes | an object |
//! | an element with only text | a string |
//! | an empty element, or one with `xsi:nil="true"` | null |
//! | repeated elements | an array |
//! | an attribute `a` | the member `@a` |
//! | the text of an element that also has elements or attributes | the member `#text` |
//!
//! When XML is read, prefixes of namespaces and their declarations are removed. When it is written, they are written as
//! in the data. What always holds: nothing outside the document is read, and entities of the document are not expanded.

use super::request::unusable_document;
use mcpaql_core::error::{Code, OpError};
use quick_xml::escape::{escape, resolve_predefined_entity};
use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::{Reader, XmlVersion};
use serde_json::{Map, Value};

/// Maximum depth of elements; deeper documents are not read.
const MAX_DEPTH: usize = 128;

/// Reads a document; `None` if it is not well-formed.
pub(super) fn read(text: &str) -> Option<Value> {
    let mut reader = Reader::from_str(text);
    let mut open: Vec<(String, Element)> = Vec::new();
    let mut root = Map::new();
    loop {
        match reader.read_event().ok()? {
            Event::Start(start) => {
                if open.len() == MAX_DEPTH || (open.is_empty() && !root.is_empty()) {
                    return None;
                }
                open.push((local_name(&start), Element::new(&start)?));
            }
            Event::Empty(start) => {
                if open.is_empty() && !root.is_empty() {
                    return None;
                }
                let (name, value) = (local_name(&start), Element::new(&start)?.finish());
                add(open.last_mut().map_or(&mut root, |(_, parent)| &mut parent.members), name, value);
            }
            Event::End(_) => {
                let (name, element) = open.pop()?;
                add(
                    open.last_mut().map_or(&mut root, |(_, parent)| &mut parent.members),
                    name,
                    element.finish(),
                );
            }
            Event::Text(part) => {
                let part = part.xml10_content();
                match open.last_mut() {
                    Some((_, element)) => element.text.push_str(&part),
                    None if part.trim().is_empty() => {}
                    None => return None,
                }
            }
            Event::CData(part) => open.last_mut()?.1.text.push_str(&part.xml10_content()),
            Event::GeneralRef(entity) => open.last_mut()?.1.text.push_str(&resolved(&entity)?),
            Event::Eof => return (open.is_empty() && !root.is_empty()).then_some(Value::Object(root)),
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
        }
    }
}

/// The text of `&amp;`, `&#65;` and the like. An entity of the document stays as it is written.
fn resolved(entity: &BytesRef<'_>) -> Option<String> {
    if let Some(character) = entity.resolve_char_ref().ok()? {
        return Some(character.to_string());
    }
    let name: &str = entity;
    Some(resolve_predefined_entity(name).map_or_else(|| format!("&{name};"), str::to_owned))
}

/// An element while it is read.
#[derive(Default)]
struct Element {
    members: Map<String, Value>,
    text: String,
    is_nil: bool,
}

impl Element {
    fn new(start: &BytesStart<'_>) -> Option<Element> {
        let mut element = Element::default();
        for attribute in start.attributes() {
            let attribute = attribute.ok()?;
            let name = attribute.key.into_inner();
            if name == "xmlns" || name.starts_with("xmlns:") {
                continue;
            }
            let value = attribute.normalized_value(XmlVersion::Implicit1_0).ok()?.into_owned();
            let local = name.rsplit(':').next().unwrap_or(name);
            if name.contains(':') && local == "nil" {
                element.is_nil = matches!(value.as_str(), "true" | "1");
            } else {
                element.members.insert(format!("@{local}"), value.into());
            }
        }
        Some(element)
    }

    fn finish(self) -> Value {
        let Element { mut members, text, is_nil } = self;
        let has_text = !text.trim().is_empty();
        match (members.is_empty(), has_text) {
            (true, false) if is_nil || text.is_empty() => Value::Null,
            (true, _) => Value::String(text),
            (false, true) => {
                members.insert("#text".to_owned(), text.trim().into());
                Value::Object(members)
            }
            (false, false) => Value::Object(members),
        }
    }
}

/// Adds a member. A second one with the same name makes an array.
fn add(members: &mut Map<String, Value>, name: String, value: Value) {
    match members.get_mut(&name) {
        None => drop(members.insert(name, value)),
        Some(Value::Array(items)) => items.push(value),
        Some(first) => *first = Value::Array(vec![first.take(), value]),
    }
}

fn local_name(start: &BytesStart<'_>) -> String {
    start.local_name().into_inner().to_owned()
}

/// Writes an object with one member, the root element.
pub(super) fn write(value: &Value) -> Result<String, OpError> {
    let root = value.as_object().filter(|root| root.len() == 1).and_then(|root| root.iter().next());
    let Some((name, content)) = root.filter(|(_, content)| !content.is_array()) else {
        return Err(unusable_document().with_cause("the body is not an object with the root element"));
    };
    let mut text = r#"<?xml version="1.0" encoding="UTF-8"?>"#.to_owned();
    write_element(&mut text, name, content)?;
    Ok(text)
}

fn write_element(out: &mut String, name: &str, value: &Value) -> Result<(), OpError> {
    if !is_name(name) {
        return Err(invalid(format!("'{}' is not a valid name of an XML element", name.escape_debug())));
    }
    if let Value::Array(items) = value {
        return items.iter().try_for_each(|item| match item {
            Value::Array(_) => {
                Err(invalid(format!("'{name}' is a list inside a list, which XML cannot express")))
            }
            item => write_element(out, name, item),
        });
    }
    out.push('<');
    out.push_str(name);
    let Value::Object(members) = value else {
        out.push('>');
        write_text(out, name, value)?;
        out.push_str(&format!("</{name}>"));
        return Ok(());
    };
    for (attribute, value) in members.iter().filter_map(|(key, value)| Some((key.strip_prefix('@')?, value)))
    {
        if !is_name(attribute) {
            return Err(invalid(format!(
                "'{}' is not a valid name of an XML attribute",
                attribute.escape_debug()
            )));
        }
        out.push_str(&format!(" {attribute}=\""));
        write_text(out, attribute, value)?;
        out.push('"');
    }
    out.push('>');
    for (key, value) in members.iter().filter(|(key, _)| !key.starts_with('@')) {
        match key.as_str() {
            "#text" => write_text(out, name, value)?,
            key => write_element(out, key, value)?,
        }
    }
    out.push_str(&format!("</{name}>"));
    Ok(())
}

fn write_text(out: &mut String, name: &str, value: &Value) -> Result<(), OpError> {
    let text = match value {
        Value::Null => return Ok(()),
        Value::String(text) => text.clone(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::Array(_) | Value::Object(_) => {
            return Err(invalid(format!("'{name}' must be a text or a number")));
        }
    };
    let is_allowed =
        |c: char| matches!(c, '\t' | '\n' | '\r') || (c >= ' ' && !matches!(c, '\u{fffe}' | '\u{ffff}'));
    if !text.chars().all(is_allowed) {
        return Err(OpError::new(
            Code::InvalidEncoding,
            format!("'{name}' contains a control character, which XML cannot express; remove it."),
        ));
    }
    out.push_str(&escape(text.as_str()));
    Ok(())
}

fn invalid(problem: String) -> OpError {
    OpError::new(Code::InvalidValue, format!("{problem}; correct the value."))
}

/// Returns whether a text is a name in XML, perhaps with a prefix.
fn is_name(name: &str) -> bool {
    let mut parts = name.split(':');
    let is_part = |part: &str| {
        let mut chars = part.chars();
        chars.next().is_some_and(|first| first == '_' || first.is_alphabetic())
            && chars.all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '\u{b7}'))
    };
    parts.clone().count() <= 2 && parts.all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn elements_become_members() {
        let text = r#"<?xml version="1.0"?><!-- a --><s:Envelope xmlns:s="http://x" xmlns:xsi="http://i"><s:Body>
            <Order id="7" s:kind="a&amp;b"><Item>One &lt; &#50;</Item><Item><![CDATA[<two>]]></Item>
            <Note xsi:nil="true"/><Empty></Empty>text</Order></s:Body></s:Envelope>"#;
        let order = json!({
            "@id": "7", "@kind": "a&b", "Item": ["One < 2", "<two>"], "Note": null, "Empty": null, "#text": "text",
        });
        assert_eq!(read(text).unwrap(), json!({"Envelope": {"Body": {"Order": order}}}));
        for wrong in ["", "text", "<a>", "<a></b>", "<a/><b/>", "<a b=c/>", "</a>", "<a/>x"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn entities_and_depth_are_limited() {
        let bomb =
            r#"<!DOCTYPE a [<!ENTITY x "xxxxxxxx"><!ENTITY f SYSTEM "file:///etc/passwd">]><a>&x;&f;</a>"#;
        assert_eq!(read(bomb).unwrap(), json!({"a": "&x;&f;"}));
        let deep = |depth: usize| "<a>".repeat(depth) + &"</a>".repeat(depth);
        assert!(read(&deep(MAX_DEPTH)).is_some());
        assert_eq!(read(&deep(100_000)), None);
    }

    #[test]
    fn members_become_elements() {
        let body = json!({"s:Envelope": {"@xmlns:s": "http://x", "s:Body": {"Get": {
            "Id": 7, "Name": "a<b>&\"'", "Tag": ["x", "y"], "None": null, "On": true, "#text": "t"}}}});
        assert_eq!(
            write(&body).unwrap(),
            r#"<?xml version="1.0" encoding="UTF-8"?><s:Envelope xmlns:s="http://x"><s:Body><Get><Id>7</Id><Name>a&lt;b&gt;&amp;&quot;&apos;</Name><Tag>x</Tag><Tag>y</Tag><None></None><On>true</On>t</Get></s:Body></s:Envelope>"#
        );
        for wrong in [
            json!({}),
            json!([]),
            json!({"a": 1, "b": 2}),
            json!({"a": [1]}),
            json!({"a b": 1}),
            json!({"a": {"x><y": 1}}),
            json!({"a": {"@x y": 1}}),
            json!({"a": {"@x": {}}}),
            json!({"a": "\u{1}"}),
            json!({"a": {"b": [[1]]}}),
        ] {
            assert!(write(&wrong).is_err(), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn a_value_cannot_leave_its_element(value in "[^\u{0}-\u{1f}\u{fffe}\u{ffff}]*", attribute in "[ -~é]*") {
            let written = write(&json!({"a": {"@x": attribute, "b": value, "c": 1}})).unwrap();
            let found = read(&written).unwrap();
            let expected = if value.is_empty() { Value::Null } else { value.into() };
            prop_assert_eq!(found, json!({"a": {"@x": attribute, "b": expected, "c": "1"}}));
        }

        #[test]
        fn no_text_causes_a_panic(text in "[<>/a&;\"=!\\[\\]?-]{0,40}") {
            let _ = read(&text);
        }
    }
}
