//! Resolves the options of a run: flags override the configuration file, which overrides the defaults.
//!
//! Paths in the file are relative to the folder of the file.

use super::error::{GenerateError, GenerateErrorKind};
use crate::args::{self, ImportOptions, parse_language, parse_mode, parse_trust};
use crate::file;
use crate::openapi_files;
use mcpaql_core::catalog::AdapterSettings;
use mcpaql_core::diagnostic::{Diagnostic, capitalize};
use mcpaql_core::error::Code;
use mcpaql_core::naming;
use mcpaql_core::suggest;
use mcpaql_document::source::Source;
use mcpaql_gate::trust::TrustLevel;
use mcpaql_generate::{Language, ProjectOptions, license};
use serde_json::Value;
use std::path::{Path, PathBuf};
use url::Url;

/// Default folder of a project.
const DEFAULT_OUTPUT: &str = "./generated";

/// Keys with string values.
const STRING_KEYS: &[&str] = &[
    "schema",
    "openapi",
    "target",
    "output",
    "license",
    "copyright",
    "mode",
    "profile",
    "prefix",
    "policy",
    "runtime",
    "trust",
    "name",
    "overrides",
];
/// Keys with lists of strings.
const LIST_KEYS: &[&str] = &["include", "exclude"];
/// Keys with boolean values.
const BOOLEAN_KEYS: &[&str] = &["reproducible", "skip_unsupported", "strict"];

/// The resolved options of a run.
#[derive(Debug)]
pub(crate) struct GenerateRequest {
    pub(crate) source: GenerateSource,
    pub(crate) import_options: ImportOptions,
    pub(crate) output: PathBuf,
    pub(crate) options: ProjectOptions,
    /// The trust level, if the author chooses one.
    pub(crate) trust: Option<TrustLevel>,
    pub(crate) reproducible: bool,
    pub(crate) strict: bool,
}

/// The source of the adapter.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum GenerateSource {
    /// An adapter document, an OpenAPI description or the name of an adapter.
    Schema(String),
    /// An OpenAPI description.
    Openapi(String),
    /// An MCP server.
    Server,
}

/// The configuration file of the generator.
#[derive(Debug, Default)]
struct GenerateConfigFile {
    /// The folder of the file.
    folder: PathBuf,
    members: serde_json::Map<String, Value>,
    /// Its text, for error messages; `None` without a file.
    source: Option<Source>,
}

impl GenerateConfigFile {
    fn text(&self, key: &str) -> Option<&str> {
        self.members.get(key).and_then(Value::as_str)
    }

    fn list(&self, key: &str) -> Vec<String> {
        let items = self.members.get(key).and_then(Value::as_array);
        items.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
    }

    /// Returns the error for an invalid value: with its line if it is in the file, otherwise for the flag.
    fn invalid_value(&self, key: &'static str, problem: Problem) -> GenerateError {
        let Problem { text, hint } = problem;
        let Some(source) = self.source.as_ref().filter(|_| self.text(key).is_some()) else {
            let failure = GenerateError::new(
                GenerateErrorKind::Configuration,
                format!("invalid value for `{key}`: {text}"),
            );
            return match hint {
                Some(hint) => failure.hint(hint),
                None => failure,
            };
        };
        let message = format!("Field '{key}' has an invalid value: {text}");
        let problem = Diagnostic::error(Code::SchemaInvalidValue, format!("/{key}"), message);
        let mut problems = vec![match hint {
            Some(hint) => problem.suggest(hint),
            None => problem,
        }];
        source.locate(&mut problems);
        let message = format!("{} has errors", source.name);
        GenerateError::from_diagnostics(GenerateErrorKind::Configuration, message, source.clone(), problems)
    }

    fn switch(&self, key: &str) -> bool {
        self.members.get(key).and_then(Value::as_bool).unwrap_or_default()
    }

    fn path(&self, key: &str) -> Option<PathBuf> {
        self.text(key).map(|path| self.folder.join(path))
    }

    /// Returns a source: a URL unchanged, a file relative to the current folder.
    fn source_path(&self, key: &str) -> Option<String> {
        let text = self.text(key)?;
        if openapi_files::is_url(text) {
            return Some(text.to_owned());
        }
        let path = self.folder.join(text);
        // A plain word is the name of an adapter, not a file.
        Some(if path.is_file() || text.contains(['.', '/']) {
            path.display().to_string()
        } else {
            text.to_owned()
        })
    }
}

/// Why a value is invalid, and how to fix it.
struct Problem {
    text: String,
    hint: Option<String>,
}

impl From<String> for Problem {
    fn from(text: String) -> Problem {
        Problem { text, hint: None }
    }
}

/// Resolves the options from the arguments and the configuration file.
pub(crate) fn resolve_request(args: &args::GenerateArgs) -> Result<GenerateRequest, GenerateError> {
    let file = args.config.as_deref().map(read_config_file).transpose()?.unwrap_or_default();
    let source = choose_source(args, &file)?;
    let language = match (args.target, file.text("target")) {
        (Some(language), _) => language,
        (None, Some(word)) => {
            parse_language(word).map_err(|text| file.invalid_value("target", text.into()))?
        }
        (None, None) => {
            let hint = "pass --target rust, typescript or python";
            return Err(
                GenerateError::new(GenerateErrorKind::Configuration, "no target language given").hint(hint)
            );
        }
    };
    let import_options = ImportOptions {
        name: args.import_options.name.clone().or_else(|| file.text("name").map(str::to_owned)),
        overrides: args.import_options.overrides.clone().or_else(|| file.path("overrides")),
        include: first_non_empty(&args.import_options.include, file.list("include")),
        exclude: first_non_empty(&args.import_options.exclude, file.list("exclude")),
    };
    if let Some(key) =
        STRING_KEYS.iter().find(|key| file.text(key).is_some_and(|text| text.trim().is_empty()))
    {
        return Err(file.invalid_value(key, "it is empty".to_owned().into()));
    }
    Ok(GenerateRequest {
        source,
        import_options,
        output: args
            .output
            .clone()
            .or_else(|| file.path("output"))
            .unwrap_or_else(|| PathBuf::from(DEFAULT_OUTPUT)),
        options: options(args, &file, language)?,
        trust: match (args.trust, file.text("trust")) {
            (Some(level), _) => Some(level),
            (None, word) => {
                word.map(parse_trust).transpose().map_err(|text| file.invalid_value("trust", text.into()))?
            }
        },
        reproducible: args.reproducible || file.switch("reproducible"),
        strict: args.strict || file.switch("strict"),
    })
}

/// Returns the error for the invalid value of a flag.
fn invalid_flag(key: &'static str, problem: Problem) -> GenerateError {
    GenerateConfigFile::default().invalid_value(key, problem)
}

fn first_non_empty(flags: &[String], file: Vec<String>) -> Vec<String> {
    if flags.is_empty() { file } else { flags.to_vec() }
}

fn choose_source(
    args: &args::GenerateArgs,
    file: &GenerateConfigFile,
) -> Result<GenerateSource, GenerateError> {
    if let Some(schema) = &args.schema {
        return Ok(GenerateSource::Schema(schema.clone()));
    }
    if let Some(source) = &args.openapi {
        return Ok(GenerateSource::Openapi(source.clone()));
    }
    if args.tools.is_some() || args.url.is_some() || !args.command.is_empty() {
        return Ok(GenerateSource::Server);
    }
    match (file.source_path("schema"), file.source_path("openapi")) {
        (Some(schema), None) => Ok(GenerateSource::Schema(schema)),
        (None, Some(source)) => Ok(GenerateSource::Openapi(source)),
        (Some(_), Some(_)) => {
            let message = "the configuration has both `schema` and `openapi`";
            Err(GenerateError::new(GenerateErrorKind::Configuration, message).hint("remove one of them"))
        }
        (None, None) => {
            let hint = "pass a document with --schema, an OpenAPI description with --openapi, or the command of an MCP server after `--`";
            Err(GenerateError::new(GenerateErrorKind::Configuration, "no source to generate from").hint(hint))
        }
    }
}

fn options(
    args: &args::GenerateArgs,
    file: &GenerateConfigFile,
    language: Language,
) -> Result<ProjectOptions, GenerateError> {
    let chosen =
        |flag: &Option<String>, key: &str| flag.clone().or_else(|| file.text(key).map(str::to_owned));
    let by = |is_flag: bool, key: &'static str, problem: Problem| match is_flag {
        true => invalid_flag(key, problem),
        false => file.invalid_value(key, problem),
    };
    let mode = match (args.mode, file.text("mode")) {
        (Some(mode), _) => Some(mode),
        (None, word) => {
            word.map(parse_mode).transpose().map_err(|text| file.invalid_value("mode", text.into()))?
        }
    };
    let prefix = chosen(&args.prefix, "prefix");
    if let Some(prefix) = &prefix {
        naming::check_prefix(prefix)
            .map_err(|problem| by(args.prefix.is_some(), "prefix", problem.0.into()))?;
    }
    let settings = AdapterSettings {
        mode,
        profile: chosen(&args.profile, "profile"),
        prefix,
        policy: chosen(&args.policy, "policy"),
        ..AdapterSettings::default()
    };
    let license = chosen(&args.license, "license").unwrap_or_else(|| license::DEFAULT.to_owned());
    let license = license::parse(&license).map_err(|wrong| match args.license.is_some() {
        true => GenerateError::new(GenerateErrorKind::Configuration, wrong.message).hint(wrong.suggestion),
        false => file.invalid_value(
            "license",
            Problem { text: wrong.message, hint: Some(wrong.suggestion.to_string()) },
        ),
    })?;
    let usual = ProjectOptions::new(language);
    if language != Language::Rust && args.runtime.is_some() {
        let message = format!("--runtime has no effect on a {} project", language.name());
        return Err(GenerateError::new(GenerateErrorKind::Configuration, message).hint("remove it"));
    }
    let given = match (&args.runtime, file.text("runtime")) {
        _ if language != Language::Rust => None,
        (Some(spec), _) => {
            Some(dependency(spec, Path::new("")).map_err(|problem| invalid_flag("runtime", problem))?)
        }
        (None, Some(spec)) => {
            Some(dependency(spec, &file.folder).map_err(|problem| file.invalid_value("runtime", problem))?)
        }
        (None, None) => None,
    };
    let (runtime, runtime_flag) = match given {
        Some(RuntimeDependency { value, flag }) => (value, Some(flag)),
        None => (usual.runtime.clone(), None),
    };
    let copyright = chosen(&args.copyright, "copyright");
    let skip_unsupported = args.skip_unsupported || file.switch("skip_unsupported");
    Ok(ProjectOptions { runtime, runtime_flag, settings, license, copyright, skip_unsupported, ..usual })
}

/// The runtime library as a dependency.
struct RuntimeDependency {
    /// The value of a dependency in `Cargo.toml`.
    value: String,
    /// The value of `--runtime` that works in any folder.
    flag: String,
}

fn dependency(spec: &str, folder: &Path) -> Result<RuntimeDependency, Problem> {
    if let Some(path) = spec.strip_prefix("path:").filter(|path| !path.is_empty()) {
        let path = std::path::absolute(folder.join(path)).unwrap_or_else(|_| folder.join(path));
        let Some(shown) = path.to_str() else { return Err("the path is not UTF-8".to_owned().into()) };
        if !holds_runtime(&path) {
            let text = format!("{shown} does not contain the library mcpaql-runtime");
            let hint = "pass the folder with its Cargo.toml: crates/mcpaql-runtime in the repository";
            return Err(Problem { text, hint: Some(hint.to_owned()) });
        }
        return Ok(RuntimeDependency {
            value: format!("{{ path = {} }}", quoted(shown)),
            flag: format!("path:{shown}"),
        });
    }
    if let Some(url) = spec.strip_prefix("git:").filter(|url| !url.is_empty()) {
        let (address, revision) = match url.rsplit_once('#') {
            Some((address, revision)) => (address, Some(revision)),
            None => (url, None),
        };
        if !is_repository(address) {
            let text = format!("'{address}' is not the URL of a repository");
            let hint = "cargo needs a URL with a scheme, such as https://… or ssh://…";
            return Err(Problem { text, hint: Some(hint.to_owned()) });
        }
        let value = match revision {
            Some(revision) => format!("{{ git = {}, rev = {} }}", quoted(address), quoted(revision)),
            None => format!("{{ git = {} }}", quoted(address)),
        };
        return Ok(RuntimeDependency { value, flag: spec.to_owned() });
    }
    let is_requirement = !spec.is_empty()
        && spec.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-+=<>^~*, ".contains(&byte))
        && spec.bytes().any(|byte| byte.is_ascii_digit() || byte == b'*');
    if !is_requirement {
        return Err(format!("'{spec}' is neither a version nor path:DIR nor git:URL").into());
    }
    Ok(RuntimeDependency { value: quoted(spec), flag: spec.to_owned() })
}

/// Whether a folder contains the runtime library.
fn holds_runtime(folder: &Path) -> bool {
    let manifest = std::fs::read_to_string(folder.join("Cargo.toml"));
    manifest.is_ok_and(|text| text.lines().any(|line| line.trim() == "name = \"mcpaql-runtime\""))
}

/// Whether cargo can fetch this URL. `git@host:path` works only in git itself.
fn is_repository(address: &str) -> bool {
    Url::parse(address).is_ok_and(|url| match url.scheme() {
        "http" | "https" | "ssh" | "git" => url.has_host(),
        "file" => true,
        _ => false,
    })
}

/// Quotes a TOML string. TOML understands the escapes of JSON.
fn quoted(text: &str) -> String {
    Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}

fn read_config_file(path: &Path) -> Result<GenerateConfigFile, GenerateError> {
    let text =
        file::read_text(path).map_err(|error| GenerateError::from_error(GenerateErrorKind::Io, &error))?;
    let source = Source::new(path.display().to_string(), text);
    let folder = path.parent().map(Path::to_path_buf).unwrap_or_default();
    if source.text.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}').is_empty() {
        let message = format!("{} is empty", source.name);
        return Err(
            GenerateError::new(GenerateErrorKind::Configuration, message).hint("write `key: value` lines")
        );
    }
    let (value, mut problems) = match source.parse() {
        Ok(parsed) => (parsed.value, parsed.diagnostics),
        Err(problems) => (Value::Null, problems),
    };
    let members = match value {
        Value::Object(members) => members,
        Value::Null if problems.is_empty() => Default::default(),
        _ if !problems.is_empty() => Default::default(),
        _ => {
            let message = "The configuration must be an object";
            problems.push(
                Diagnostic::error(Code::SchemaInvalidType, "", message).suggest("write `key: value` lines"),
            );
            Default::default()
        }
    };
    problems.extend(members.iter().filter_map(|(key, value)| check_key(key, value)));
    if problems.is_empty() {
        return Ok(GenerateConfigFile { folder, members, source: Some(source) });
    }
    source.locate(&mut problems);
    Err(GenerateError::from_diagnostics(
        GenerateErrorKind::Configuration,
        format!("{} has errors", source.name),
        source,
        problems,
    ))
}

/// Checks a key and its value.
fn check_key(key: &str, value: &Value) -> Option<Diagnostic> {
    let pointer = format!("/{}", key.replace('~', "~0").replace('/', "~1"));
    let expected = if STRING_KEYS.contains(&key) {
        (!value.is_string()).then_some("a string")?
    } else if LIST_KEYS.contains(&key) {
        let is_list = value.as_array().is_some_and(|items| items.iter().all(Value::is_string));
        (!is_list).then_some("a list of strings")?
    } else if BOOLEAN_KEYS.contains(&key) {
        (!value.is_boolean()).then_some("true or false")?
    } else {
        let known = || [STRING_KEYS, LIST_KEYS, BOOLEAN_KEYS].concat();
        let nearest = suggest::nearest(key, known()).map_or_else(
            || format!("use one of {}", known().join(", ")),
            |nearest| format!("use `{nearest}`"),
        );
        let message = format!("Unknown key '{key}'");
        return Some(Diagnostic::error(Code::SchemaUnknownField, pointer, message).at_key().suggest(nearest));
    };
    let message = capitalize(&format!("field '{key}' expected {expected}"));
    Some(Diagnostic::error(Code::SchemaInvalidType, pointer, message).expected(expected))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_runtime_is_a_version_a_folder_or_a_repository() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("x\"y");
        std::fs::create_dir(&folder).unwrap();
        let parsed = |spec: &str| dependency(spec, place.path());
        let of = |spec: &str| parsed(spec).map_err(|problem| problem.text).unwrap().value;
        assert_eq!(of("0.1.0"), "\"0.1.0\"");
        assert_eq!(of("=0.1.0"), "\"=0.1.0\"");
        assert!(parsed("path:x\"y").is_err(), "the folder has no Cargo.toml");
        std::fs::write(folder.join("Cargo.toml"), "[package]\nname = \"another\"\n").unwrap();
        assert!(parsed("path:x\"y").is_err(), "the folder contains another library");
        std::fs::write(folder.join("Cargo.toml"), "[package]\nname = \"mcpaql-runtime\"\n").unwrap();
        let shown = folder.to_str().unwrap();
        assert_eq!(of("path:x\"y"), format!("{{ path = {} }}", quoted(shown)));
        assert_eq!(parsed("path:x\"y").ok().unwrap().flag, format!("path:{shown}"));
        assert_eq!(of("git:https://example.com/r"), "{ git = \"https://example.com/r\" }");
        assert_eq!(of("git:https://example.com/r#abc"), "{ git = \"https://example.com/r\", rev = \"abc\" }");
        assert_eq!(of("git:file:///srv/r"), "{ git = \"file:///srv/r\" }");
        for wrong in [
            "",
            "path:",
            "git:",
            "latest",
            "\"1\" }",
            "1\n[x]",
            "./folder",
            "git:nonsense",
            "git:git@example.com:r",
            "git:/srv/r",
            "path:nowhere",
        ] {
            assert!(parsed(wrong).is_err(), "{wrong}");
        }
    }
}
