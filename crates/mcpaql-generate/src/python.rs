//! Projects in Python, based on the official MCP SDK.
//!
//! What always holds: generated code has the layout of the language's formatter; bindings are in the code of operations, and
//! all other data of the runtime is in `catalog.json`.

mod binding;
mod expression;
mod operations;
mod types;

use crate::binding::UsedTargets;
use crate::model::{
    CodeWriter, CommentStyle, IdentifierCase, IdentifierScope, LanguageStyle, Model, doc_lines, identifier,
};
use crate::{FileOwner, Project, ProjectFile, Unsupported, VERSION, catalog_data, templates};
use expression::WIDTH;
use operations::Module;
use types::TypeAnnotations;

/// Keywords of the language.
const KEYWORDS: [&str; 35] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def",
    "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is",
    "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
];

/// Names that no function or field of an adapter may have: keywords, names in annotations, and imports of the modules of
/// operations.
const RESERVED: &[&str] = &[
    "False",
    "None",
    "True",
    "and",
    "annotations",
    "as",
    "assert",
    "async",
    "await",
    "bool",
    "break",
    "call",
    "class",
    "continue",
    "def",
    "del",
    "dict",
    "elif",
    "else",
    "except",
    "finally",
    "float",
    "for",
    "from",
    "global",
    "if",
    "import",
    "in",
    "int",
    "is",
    "lambda",
    "list",
    "nonlocal",
    "not",
    "or",
    "params",
    "pass",
    "raise",
    "return",
    "str",
    "try",
    "types",
    "while",
    "with",
    "yield",
];

/// Types that generated files use, so that no type of an adapter may have their name.
const TYPES: &[&str] = &[
    "Call",
    "CommandLine",
    "Final",
    "Handler",
    "Handlers",
    "HttpRequest",
    "Json",
    "Literal",
    "None",
    "NotRequired",
    "Param",
    "True",
    "False",
    "TypeAlias",
    "TypedDict",
    "When",
];

const STYLE: LanguageStyle = LanguageStyle {
    functions: IdentifierCase::Snake,
    fields: IdentifierCase::Snake,
    reserved: RESERVED,
    types: TYPES,
    results: true,
};

/// Files that every project has besides the runtime, by path.
const PROJECT_FILES: [(&str, &str); 9] = [
    (
        "src/adapter_template/__init__.py",
        include_str!("../templates/python/src/adapter_template/__init__.py"),
    ),
    (
        "src/adapter_template/__main__.py",
        include_str!("../templates/python/src/adapter_template/__main__.py"),
    ),
    ("src/adapter_template/py.typed", include_str!("../templates/python/src/adapter_template/py.typed")),
    ("tests/test_command.py", include_str!("../templates/python/tests/test_command.py")),
    ("tests/test_confirmations.py", include_str!("../templates/python/tests/test_confirmations.py")),
    ("tests/test_controls.py", include_str!("../templates/python/tests/test_controls.py")),
    ("tests/test_http.py", include_str!("../templates/python/tests/test_http.py")),
    ("tests/test_runtime.py", include_str!("../templates/python/tests/test_runtime.py")),
    ("tests/test_server.py", include_str!("../templates/python/tests/test_server.py")),
];

/// Files that the author owns after the first run.
const AUTHOR_FILES: [(&str, &str); 2] = [
    ("pyproject.toml", include_str!("../templates/python/pyproject.toml")),
    (
        "src/adapter_template/handlers.py",
        include_str!("../templates/python/src/adapter_template/handlers.py"),
    ),
];

/// The code that a project needs for one kind of target only.
struct TargetCode {
    /// The ends of the paths of its files.
    files: &'static [&'static str],
    /// The parts of `dispatch.py` that refer to these files.
    lines: [&'static str; 2],
}

const COMMAND: TargetCode = TargetCode {
    files: &["/command.py", "/test_command.py"],
    lines: ["from .command import CommandRunner\n", ", \"command\": CommandRunner"],
};
const HTTP: TargetCode = TargetCode {
    files: &["/auth.py", "/http_client.py", "/http_messages.py", "/test_http.py"],
    lines: ["from .http_client import HttpClient\n", "\"http\": HttpClient, "],
};

impl TargetCode {
    fn remove_from(&self, files: &mut Vec<ProjectFile>) {
        files.retain(|file| !self.files.iter().any(|name| file.path.ends_with(name)));
        for file in files.iter_mut().filter(|file| file.path.ends_with("/dispatch.py")) {
            for line in self.lines {
                file.text = file.text.replace(line, "");
            }
        }
    }
}

/// Returns the source files of a project.
pub(crate) fn files(project: &Project<'_>) -> Result<Vec<ProjectFile>, Unsupported> {
    crate::supported(project)?;
    let package = format!("src/{}", project.module());
    let file = |owner: FileOwner| {
        move |(path, text): &(&str, &str)| ProjectFile {
            path: path.replace("adapter_template", &project.module()),
            text: filled(project, text),
            owner,
        }
    };
    let used = UsedTargets::of(&project.catalog.adapter);
    let mut files: Vec<ProjectFile> =
        PROJECT_FILES.iter().chain(templates::PYTHON).map(file(FileOwner::Generator)).collect();
    for (is_used, code) in [(used.command, COMMAND), (used.http, HTTP)] {
        if !is_used {
            code.remove_from(&mut files);
        }
    }
    files.extend(AUTHOR_FILES.iter().map(file(FileOwner::Author)));
    files.push(ProjectFile::generated(".gitignore", include_str!("../templates/python/gitignore")));
    files.push(ProjectFile::generated(format!("{package}/catalog.json"), catalog_data::text(project)));
    let model = Model::of(project.catalog, &STYLE);
    let mut annotations = TypeAnnotations::new(&model, TYPES);
    let modules = modules(&model);
    for module in &modules {
        let text = operations::module(module, &mut annotations)?;
        files.push(ProjectFile::generated(format!("{package}/operations/{}.py", module.name), text));
    }
    files.push(ProjectFile::generated(
        format!("{package}/operations/__init__.py"),
        operations::index(&modules),
    ));
    files.push(ProjectFile::generated(format!("{package}/types.py"), types::file(&model, &mut annotations)));
    Ok(files)
}

/// Replaces the placeholders of a template.
fn filled(project: &Project<'_>, template: &str) -> String {
    let adapter = &project.catalog.adapter;
    let about = |text: &str| {
        let line = doc_lines(text, CommentStyle::Triple, usize::MAX).into_iter().next().unwrap_or_default();
        line.trim().to_owned()
    };
    template
        .replace("adapter_template", &project.module())
        .replace("adapter-template", &project.package())
        .replace("__ADAPTER_DISPLAY_NAME__", &about(&adapter.display_name))
        .replace("__ADAPTER_DESCRIPTION__", &about(&adapter.description))
        .replace("__GENERATOR_VERSION__", VERSION)
        .replace("version = \"0.0.0\"", &format!("version = \"{}\"", release(&adapter.version)))
}

/// Returns the part of a version that every package manager accepts.
fn release(version: &str) -> String {
    let numbers: Vec<&str> = version
        .split(|ch: char| !ch.is_ascii_digit() && ch != '.')
        .next()
        .unwrap_or_default()
        .split('.')
        .filter(|number| !number.is_empty())
        .take(3)
        .collect();
    if numbers.is_empty() { "0.0.0".to_owned() } else { numbers.join(".") }
}

fn modules<'m>(model: &'m Model<'m>) -> Vec<Module<'m>> {
    let mut scope = IdentifierScope::new(RESERVED);
    let mut modules: Vec<Module<'m>> = Vec::new();
    for signature in &model.operations {
        let endpoint = &signature.operation.endpoint;
        match modules.iter_mut().find(|module| module.endpoint == *endpoint) {
            Some(module) => module.operations.push(signature),
            None => modules.push(Module {
                name: scope.take(&identifier(endpoint, IdentifierCase::Snake)),
                endpoint: endpoint.clone(),
                operations: vec![signature],
            }),
        }
    }
    modules
}

/// Returns whether a key can be a field of a class.
fn is_plain_name(name: &str) -> bool {
    let mut chars = name.chars();
    let begins = chars.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_');
    begins
        && chars.all(|ch| ch.is_ascii_alphanumeric() || ch == '_')
        // Python mangles such names inside a class.
        && !name.starts_with("__")
        && !KEYWORDS.contains(&name)
}

/// Writes a docstring, unless the text is empty.
fn docstring(text: &mut CodeWriter, about: &str) {
    let room = text.room(WIDTH).saturating_sub(3);
    let mut lines = doc_lines(about, CommentStyle::Triple, room);
    // The closing quotes need room as well.
    if matches!(lines.as_slice(), [only] if only.chars().count() + 3 > room) {
        lines = doc_lines(about, CommentStyle::Triple, room.saturating_sub(3));
    }
    match lines.as_slice() {
        [] => {}
        [only] => {
            text.line(format!("\"\"\"{only}\"\"\""));
        }
        [first, rest @ ..] => {
            text.line(format!("\"\"\"{first}"));
            for line in rest {
                text.line(line);
            }
            text.line("\"\"\"");
        }
    }
}

#[cfg(test)]
mod tests;
