//! Projects in TypeScript, based on the official MCP SDK: the catalog as data, a small runtime, and a typed function per operation.
//!
//! What always holds: code that all projects share is in `templates/typescript`; the call of an operation is a readable literal
//! in the file of its endpoint.

mod literal;
mod operations;
mod types;

use crate::binding::UsedTargets;
use crate::model::{IdentifierCase, LanguageStyle, Model};
use crate::{FileOwner, Project, ProjectFile, Unsupported, catalog_data, license, templates};
use serde_json::Value;

/// Names that no function may have.
const RESERVED: &[&str] = &[
    "arguments",
    "async",
    "await",
    "break",
    "call",
    "case",
    "catch",
    "class",
    "const",
    "continue",
    "debugger",
    "default",
    "delete",
    "do",
    "else",
    "enum",
    "eval",
    "export",
    "extends",
    "false",
    "finally",
    "for",
    "function",
    "if",
    "implements",
    "import",
    "in",
    "instanceof",
    "interface",
    "let",
    "new",
    "null",
    "package",
    "params",
    "private",
    "protected",
    "public",
    "return",
    "static",
    "super",
    "switch",
    "this",
    "throw",
    "true",
    "try",
    "typeof",
    "undefined",
    "var",
    "void",
    "while",
    "with",
    "yield",
];

/// Types that generated files use, so that no type of an adapter may have their name.
const TYPES: &[&str] =
    &["Call", "CommandLine", "Handler", "Handlers", "HttpRequest", "Project", "Promise", "Record"];

const STYLE: LanguageStyle = LanguageStyle {
    functions: IdentifierCase::Camel,
    fields: IdentifierCase::Snake,
    reserved: RESERVED,
    types: TYPES,
    results: true,
};

const PACKAGE: &str = include_str!("../templates/typescript/package.json");
const TSCONFIG: &str = include_str!("../templates/typescript/tsconfig.json");
const ESLINT: &str = include_str!("../templates/typescript/eslint.config.js");
const GITIGNORE: &str = include_str!("../templates/typescript/.gitignore");
const INDEX: &str = include_str!("../templates/typescript/src/index.ts");
const TEST_CONFIG: &str = include_str!("../templates/typescript/tests/tsconfig.json");
const HANDLERS: &str = include_str!("../templates/typescript/src/handlers.ts");

/// Returns the source files of a project.
pub(crate) fn files(project: &Project<'_>) -> Result<Vec<ProjectFile>, Unsupported> {
    crate::supported(project)?;
    let model = Model::of(project.catalog, &STYLE);
    let kinds = UsedTargets::of(&project.catalog.adapter);
    let shared = templates::TYPESCRIPT.iter().filter(|(path, _)| is_needed(&kinds, path));
    let mut files: Vec<ProjectFile> =
        shared.map(|&(path, text)| ProjectFile::generated(path, text)).collect();
    // The lock file belongs to the author, so it is not ignored.
    files.push(ProjectFile::generated(".gitignore", GITIGNORE.replace("package-lock.json\n", "")));
    files.push(author("tsconfig.json", TSCONFIG.to_owned()));
    files.push(ProjectFile::generated("tests/tsconfig.json", TEST_CONFIG));
    files.push(ProjectFile::generated("eslint.config.js", ESLINT));
    files.push(author("package.json", package(project, &kinds)));
    files.push(ProjectFile::generated("src/index.ts", INDEX));
    files.push(author("src/handlers.ts", HANDLERS.to_owned()));
    files.push(ProjectFile::generated("src/catalog.json", catalog_data::text(project)));
    files.extend(types::file(&model));
    files.extend(operations::files(&kinds, &model)?);
    Ok(files)
}

/// Files that only projects with this kind of target need, by name.
const HTTP_FILES: &[&str] = &["/answer.ts", "/auth.ts", "/http.ts", "/request.ts", "/http.test.ts"];
const COMMAND_FILES: &[&str] = &["/command.ts", "/command.test.ts"];
/// Packages that only projects with HTTP need.
const HTTP_PACKAGES: &[&str] = &["\"undici\"", "\"ipaddr.js\""];

/// Returns whether a project with these kinds of targets needs a file.
fn is_needed(kinds: &UsedTargets, path: &str) -> bool {
    let is_of = |names: &[&str]| names.iter().any(|name| path.ends_with(name));
    (kinds.http || !is_of(HTTP_FILES)) && (kinds.command || !is_of(COMMAND_FILES))
}

fn author(path: &str, text: String) -> ProjectFile {
    ProjectFile { path: path.to_owned(), text, owner: FileOwner::Author }
}

/// Returns `package.json`. The author owns it, because handlers need dependencies.
fn package(project: &Project<'_>, kinds: &UsedTargets) -> String {
    let adapter = &project.catalog.adapter;
    let described = adapter.description.lines().next().map(str::trim).filter(|line| !line.is_empty());
    let license = match project.options.license.as_str() {
        license::NONE => "SEE LICENSE IN LICENSE",
        expression => expression,
    };
    let is_needed = |line: &&str| kinds.http || !HTTP_PACKAGES.iter().any(|name| line.contains(name));
    let lines: Vec<&str> = PACKAGE.lines().filter(is_needed).collect();
    // The last dependency is always present, so no trailing comma is left.
    format!("{}\n", lines.join("\n"))
        .replace("__PACKAGE_NAME__", &project.package())
        .replace("\"__PACKAGE_VERSION__\"", &Value::from(adapter.version.as_str()).to_string())
        .replace("\"__PACKAGE_LICENSE__\"", &Value::from(license).to_string())
        // Texts of the document come last, so that placeholders in them are not replaced.
        .replace("\"__PACKAGE_DESCRIPTION__\"", &Value::from(described.unwrap_or(&adapter.name)).to_string())
}

#[cfg(test)]
mod tests;
