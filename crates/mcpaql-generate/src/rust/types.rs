//! Writes `src/operations/` and `src/types.rs`: the parameters of operations as structs that keep everything that a caller sent.
//!
//! What always holds: a valid value that a struct can read is written again with the same meaning. Missing fields stay missing, null
//! stays null, other keys of an open object are kept, and numbers do not change. A choice between types is a `Value`.

use super::module;
use crate::ProjectFile;
use crate::model::{
    CodeWriter, CommentStyle, Definition, DefinitionKind, IdentifierCase, IdentifierScope, Model, ModelField,
    Signature, Type, doc_lines, identifier, type_name,
};
use indexmap::IndexMap;
use mcpaql_core::catalog::Catalog;
use mcpaql_core::operation::{Arg, Binding, Operation, Segment};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// The default width of rustfmt.
const WIDTH: usize = 100;
/// Maximum width of a chain of calls; rustfmt breaks longer ones.
const MAX_CALL_CHAIN: usize = 60;

pub(super) fn files(catalog: &Catalog, model: &mut Model<'_>) -> Vec<ProjectFile> {
    let boxed = recursive(&model.types);
    let mut modules: IndexMap<String, RustFile<'_>> = IndexMap::new();
    let Model { operations, types, scope } = model;
    for endpoint in catalog.endpoints.keys() {
        let name = module(endpoint);
        for signature in operations.iter().filter(|signature| signature.operation.endpoint == *endpoint) {
            let unit = modules.entry(name.clone()).or_insert_with(|| RustFile::new(&boxed, "types::"));
            unit.signature(signature, scope);
        }
    }
    let mut named = RustFile::new(&boxed, "");
    types.iter().for_each(|definition| named.definition(definition, scope));
    let mut files = vec![
        ProjectFile::generated("src/operations/mod.rs", index(modules.keys())),
        ProjectFile::generated("src/types.rs", named.finish("The types of parameters.")),
    ];
    files.extend(modules.into_iter().map(|(name, unit)| {
        let text = unit.finish(&format!("The parameters of the operations of `{name}`."));
        ProjectFile::generated(format!("src/operations/{name}.rs"), text)
    }));
    files
}

/// Writes `src/operations/mod.rs`.
fn index<'n>(modules: impl Iterator<Item = &'n String>) -> String {
    let names: BTreeSet<&String> = modules.collect();
    let mut text = CodeWriter::new("    ");
    text.line("//! The parameters of each operation, by endpoint. Generated: edits in this file are lost.");
    if !names.is_empty() {
        text.line("");
        names.iter().for_each(|name| {
            text.line(format!("mod {name};"));
        });
        text.line("");
        names.iter().for_each(|name| {
            text.line(format!("pub use {name}::*;"));
        });
    }
    text.finish()
}

/// Names of enums, each with its texts.
type PendingChoices = Vec<(String, Vec<Value>)>;

/// A file that is being written.
struct RustFile<'b> {
    text: CodeWriter,
    /// Objects that contain themselves, so that they need a box.
    boxed: &'b HashSet<String>,
    /// The path of named types in this file.
    path: &'static str,
    /// Crate → used names.
    used: BTreeMap<&'static str, BTreeSet<&'static str>>,
}

impl<'b> RustFile<'b> {
    fn new(boxed: &'b HashSet<String>, path: &'static str) -> RustFile<'b> {
        RustFile { text: CodeWriter::new("    "), boxed, path, used: BTreeMap::new() }
    }

    fn uses(&mut self, from: &'static str, name: &'static str) {
        self.used.entry(from).or_default().insert(name);
    }

    fn finish(self, about: &str) -> String {
        let mut head = CodeWriter::new("    ");
        head.line(format!("//! {about} Generated: edits in this file are lost."));
        if !self.used.is_empty() {
            head.line("");
        }
        let mut lines: Vec<String> = Vec::new();
        for (from, names) in &self.used {
            let names: Vec<&str> = names.iter().copied().collect();
            match names.as_slice() {
                [only] => lines.push(format!("use {from}::{only};")),
                several => lines.push(format!("use {from}::{{{}}};", several.join(", "))),
            }
        }
        lines.sort_unstable();
        lines.iter().for_each(|line| {
            head.line(line);
        });
        head.finish() + &self.text.finish()
    }

    fn docs(&mut self, paragraphs: &[&str]) {
        let width = self.text.room(WIDTH).saturating_sub(4);
        let mut first = true;
        for paragraph in paragraphs {
            let lines = doc_lines(paragraph, CommentStyle::Line, width);
            if !lines.is_empty() && !first {
                self.text.line("///");
            }
            for line in lines {
                first = false;
                self.text.line(format!("/// {line}").trim_end());
            }
        }
    }

    fn signature(&mut self, signature: &Signature<'_>, scope: &mut IdentifierScope) {
        let Signature { operation, params, fields, .. } = signature;
        self.text.line("");
        let about = format!("Parameters of `{}`: {}.", operation.name, call_description(operation));
        self.docs(&[&operation.description, &about]);
        let owner = params.strip_suffix("Params").unwrap_or(params);
        let choices = self.object(params, owner, fields, None, scope);
        self.uses("mcpaql_runtime::document", "Params");
        self.text.block(format!("\nimpl Params for {params} {{"), "}", |text| {
            let name = format!("{:?};", operation.name);
            let line = format!("const OPERATION: &'static str = {name}");
            let fits = line.len() <= text.room(WIDTH);
            text.line(if fits { line } else { format!("const OPERATION: &'static str =\n    {name}") });
        });
        self.choices(choices);
    }

    fn definition(&mut self, definition: &Definition, scope: &mut IdentifierScope) {
        let Definition { ident, docs, shape } = definition;
        match shape {
            DefinitionKind::Object { fields, rest } => {
                self.text.line("");
                self.docs(&[docs]);
                let choices = self.object(ident, ident, fields, rest.as_ref(), scope);
                self.choices(choices);
            }
            DefinitionKind::Alias(Type::Literals(values)) if are_texts(values) => {
                self.text.line("");
                self.docs(&[docs]);
                self.choice(ident, values);
            }
            DefinitionKind::Alias(kind) => {
                let mut choices = Vec::new();
                let spelled = self.type_text(kind, ident, scope, &mut choices);
                self.text.line("");
                self.docs(&[docs]);
                self.write_fitted(&format!("pub type {ident} ="), &format!("{spelled};"));
                self.choices(choices);
            }
        }
    }

    /// Writes a struct. The enums of its fields are written later.
    fn object(
        &mut self,
        ident: &str,
        owner: &str,
        fields: &[ModelField],
        rest: Option<&Type>,
        scope: &mut IdentifierScope,
    ) -> PendingChoices {
        let secret = fields.iter().any(|field| field.sensitive);
        let mut derived = vec!["Clone", "Deserialize", "Serialize"];
        derived.extend((!secret).then_some("Debug"));
        derived.extend(fields.iter().all(|field| !field.required).then_some("Default"));
        derived.sort_unstable();
        self.uses("serde", "Deserialize");
        self.uses("serde", "Serialize");
        self.text.line(format!("#[derive({})]", derived.join(", ")));
        let mut choices = PendingChoices::new();
        if fields.is_empty() && rest.is_none() {
            self.text.line(format!("pub struct {ident} {{}}"));
        } else {
            self.text.line(format!("pub struct {ident} {{"));
            self.text.indent();
            for field in fields {
                self.field(field, owner, scope, &mut choices);
            }
            if let Some(rest) = rest {
                let taken = |name: &&str| fields.iter().any(|field| field.ident == **name);
                let name = ["rest", "other_keys", "further_keys"].into_iter().find(|name| !taken(name));
                let all = Type::Map(Box::new(rest.clone()));
                let spelled = self.type_text(&all, &format!("{owner}Rest"), scope, &mut choices);
                self.text.line("/// Other keys that the caller gave.");
                self.text.line("#[serde(flatten)]");
                self.text.line(format!("pub {}: {spelled},", name.unwrap_or("undeclared_keys")));
            }
            self.text.dedent();
            self.text.line("}");
        }
        if secret {
            self.redacting_debug(ident);
        }
        choices
    }

    /// Writes a `Debug` implementation that shows nothing, for types with secrets.
    fn redacting_debug(&mut self, ident: &str) {
        self.uses("std", "fmt");
        self.text.line("\n/// Shows nothing, because a field is secret.");
        self.text.block(format!("impl fmt::Debug for {ident} {{"), "}", |text| {
            text.block("fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {", "}", |text| {
                let line = format!("f.debug_struct({ident:?}).finish_non_exhaustive()");
                let broken = format!("f.debug_struct({ident:?})\n    .finish_non_exhaustive()");
                text.line(if line.len() <= MAX_CALL_CHAIN { line } else { broken });
            });
        });
    }

    fn field(
        &mut self,
        field: &ModelField,
        owner: &str,
        scope: &mut IdentifierScope,
        choices: &mut PendingChoices,
    ) {
        let hint = format!("{owner}{}", identifier(&field.name, IdentifierCase::Pascal));
        let base = self.type_text(&field.kind, &hint, scope, choices);
        // A `Value` can be null itself.
        let nullable = field.nullable && base != "Value";
        let default = field.default.as_ref().map(|default| format!("Default: `{default}`."));
        self.docs(&[&field.docs, default.as_deref().unwrap_or_default()]);
        if field.ident != field.name {
            self.attribute(&format!("rename = {:?}", field.name));
        }
        let spelled = match (field.required, nullable) {
            (true, false) => base,
            (true, true) => format!("Option<{base}>"),
            (false, false) if base != "Value" => {
                self.attribute("skip_serializing_if = \"Option::is_none\"");
                format!("Option<{base}>")
            }
            (false, _) => {
                self.uses("mcpaql_runtime::document", "given");
                self.attribute("default, deserialize_with = \"given\"");
                self.attribute("skip_serializing_if = \"Option::is_none\"");
                if nullable { format!("Option<Option<{base}>>") } else { format!("Option<{base}>") }
            }
        };
        self.write_fitted(&format!("pub {}:", field.ident), &format!("{spelled},"));
    }

    /// Writes a declaration and its type with the line breaks of rustfmt. If rustfmt would break the type itself, it is skipped.
    fn write_fitted(&mut self, declared: &str, kind: &str) {
        let room = self.text.room(WIDTH);
        if declared.len() + 1 + kind.len() <= room {
            self.text.line(format!("{declared} {kind}"));
            return;
        }
        if kind.len() + 4 > room {
            self.text.line("#[rustfmt::skip]");
        }
        self.text.line(format!("{declared}\n    {kind}"));
    }

    fn attribute(&mut self, arguments: &str) {
        let line = format!("#[serde({arguments})]");
        if line.chars().count() <= self.text.room(WIDTH) {
            self.text.line(line);
        } else {
            self.text.block("#[serde(", ")]", |text| {
                text.line(arguments);
            });
        }
    }

    /// Returns a type as Rust code. Choices between texts become enums, which are written after the current item.
    fn type_text(
        &mut self,
        kind: &Type,
        hint: &str,
        scope: &mut IdentifierScope,
        choices: &mut PendingChoices,
    ) -> String {
        match kind {
            Type::Null => "()".to_owned(),
            Type::Boolean => "bool".to_owned(),
            Type::Integer | Type::WideInteger => "i64".to_owned(),
            Type::String => "String".to_owned(),
            Type::Number => {
                self.uses("serde_json", "Number");
                "Number".to_owned()
            }
            Type::Literals(values) if are_texts(values) => {
                let name = scope.take(&type_name(hint));
                choices.push((name.clone(), values.clone()));
                name
            }
            Type::List(inner) => format!("Vec<{}>", self.within(inner, hint, scope, choices)),
            Type::Map(inner) if **inner == Type::Any => {
                self.uses("serde_json", "Map");
                self.uses("serde_json", "Value");
                "Map<String, Value>".to_owned()
            }
            Type::Map(inner) => {
                self.uses("std::collections", "BTreeMap");
                format!("BTreeMap<String, {}>", self.within(inner, hint, scope, choices))
            }
            Type::Named(name) if self.boxed.contains(name) => format!("Box<{}>", self.named(name)),
            Type::Named(name) => self.named(name),
            Type::Union(_) => match kind.clone().split_null() {
                (Type::Union(_), _) => self.value(),
                (one, _) => match self.type_text(&one, hint, scope, choices) {
                    value if value == "Value" => value,
                    other => format!("Option<{other}>"),
                },
            },
            Type::Any | Type::Literals(_) => self.value(),
        }
    }

    /// Returns the type of the items of a list or map, which need no box.
    fn within(
        &mut self,
        kind: &Type,
        hint: &str,
        scope: &mut IdentifierScope,
        choices: &mut PendingChoices,
    ) -> String {
        match kind {
            Type::Named(name) => self.named(name),
            other => self.type_text(other, hint, scope, choices),
        }
    }

    fn named(&mut self, name: &str) -> String {
        if !self.path.is_empty() {
            self.uses("crate", "types");
        }
        format!("{}{name}", self.path)
    }

    fn value(&mut self) -> String {
        self.uses("serde_json", "Value");
        "Value".to_owned()
    }

    fn choices(&mut self, choices: PendingChoices) {
        for (ident, values) in choices {
            self.text.line("");
            self.choice(&ident, &values);
        }
    }

    /// Writes an enum of texts.
    fn choice(&mut self, ident: &str, values: &[Value]) {
        self.uses("serde", "Deserialize");
        self.uses("serde", "Serialize");
        self.text.line("#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]");
        self.text.line(format!("pub enum {ident} {{"));
        self.text.indent();
        let mut variants = IdentifierScope::new(&["Self"]);
        for value in values.iter().filter_map(Value::as_str) {
            self.attribute(&format!("rename = {value:?}"));
            self.text.line(format!("{},", variants.take(&identifier(value, IdentifierCase::Pascal))));
        }
        self.text.dedent();
        self.text.line("}");
    }
}

fn are_texts(values: &[Value]) -> bool {
    values.iter().all(Value::is_string)
}

/// Returns the call of the operation, for a comment.
fn call_description(operation: &Operation) -> String {
    let joined = |segments: &[Segment]| {
        let piece = |segment: &Segment| match segment {
            Segment::Literal(text) => text.clone(),
            Segment::Param(name) => format!("{{{name}}}"),
        };
        segments.iter().map(piece).collect::<String>()
    };
    match &operation.binding {
        Binding::Http(http) => format!("`{} {}`", http.method, joined(&http.path)),
        Binding::Store(store) => format!("the store's `{}`", store.resource),
        Binding::Mcp(mcp) => format!("the tool `{}`", mcp.tool),
        Binding::Command(command) => {
            let words = command.argv.iter().map(|arg| match arg {
                Arg::Template(segments) => joined(segments),
                Arg::Group(words) | Arg::When(_, words) => {
                    let words = words.iter().map(|segments| joined(segments)).collect::<Vec<_>>();
                    format!("[{}]", words.join(" "))
                }
            });
            format!("`{}`", words.collect::<Vec<_>>().join(" "))
        }
        Binding::Introspect | Binding::Execution(_) | Binding::Code => "a function".to_owned(),
    }
}

/// Returns the objects that contain themselves without a list or map in between.
fn recursive(types: &[Definition]) -> HashSet<String> {
    let at: HashMap<&str, usize> =
        types.iter().enumerate().map(|(at, definition)| (definition.ident.as_str(), at)).collect();
    let held = |definition: &Definition| -> Vec<usize> {
        let mut names = Vec::new();
        match &definition.shape {
            DefinitionKind::Object { fields, .. } => {
                fields.iter().for_each(|field| collect_direct_names(&field.kind, &mut names))
            }
            DefinitionKind::Alias(kind) => collect_direct_names(kind, &mut names),
        }
        names.into_iter().filter_map(|name| at.get(name).copied()).collect()
    };
    let edges: Vec<Vec<usize>> = types.iter().map(held).collect();
    let reaches_itself = |start: usize| {
        let mut seen = HashSet::new();
        let mut waiting = edges.get(start).cloned().unwrap_or_default();
        while let Some(next) = waiting.pop() {
            if next == start {
                return true;
            }
            if seen.insert(next) {
                waiting.extend(edges.get(next).into_iter().flatten());
            }
        }
        false
    };
    let objects = types
        .iter()
        .enumerate()
        .filter(|(_, definition)| matches!(definition.shape, DefinitionKind::Object { .. }));
    let circular = objects.filter(|(at, _)| reaches_itself(*at));
    circular.map(|(_, definition)| definition.ident.clone()).collect()
}

/// Collects the names that a type contains directly.
fn collect_direct_names<'t>(kind: &'t Type, names: &mut Vec<&'t str>) {
    match kind {
        Type::Named(name) => names.push(name),
        // A choice is a `Value`, except one between a type and null.
        Type::Union(variants) => {
            if let [one, Type::Null] = variants.as_slice() {
                collect_direct_names(one, names);
            }
        }
        _ => {}
    }
}
