//! Writes `src/source.rs`: the document and the settings that override it.

use crate::model::CodeWriter;
use crate::{DEFAULT_TRUST, Project, Unsupported};
use mcpaql_core::adapter::{ErrorPolicy, Mode};
use mcpaql_core::catalog::AdapterSettings;
use serde_json::Value;

pub(super) fn text(project: &Project<'_>) -> Result<String, Unsupported> {
    let file = project.document.file;
    let settings = members(&project.options.settings)?;
    let mut text = CodeWriter::new("    ");
    text.line(
        "//! The document and the settings that override it. Generated: edits in this file are lost.\n",
    );
    let mut used = vec!["AdapterSettings"];
    used.extend(settings.iter().any(|(_, value)| value.contains("ErrorPolicy::")).then_some("ErrorPolicy"));
    used.extend(settings.iter().any(|(_, value)| value.contains("ResultForm::")).then_some("ResultForm"));
    used.extend(settings.iter().any(|(_, value)| value.contains("Mode::")).then_some("Mode"));
    let trust = Some(project.options.trust).filter(|trust| *trust != DEFAULT_TRUST);
    used.extend(trust.map(|_| "TrustLevel"));
    used.sort_unstable();
    match used.as_slice() {
        [only] => text.line(format!("use mcpaql_runtime::document::{only};")),
        several => text.line(format!("use mcpaql_runtime::document::{{{}}};", several.join(", "))),
    };
    text.line("");
    text.line(formatted_constant("pub(crate) const FILE: &str =", &format!("{file:?}")));
    text.line(formatted_constant(
        "pub(crate) const TEXT: &str =",
        &format!("include_str!(\"../schema/{file}\")"),
    ));
    if let Some(trust) = trust {
        text.line("\n/// How far the author trusts the document. It decides which operations run at once.");
        text.line(format!("pub(crate) const TRUST: TrustLevel = TrustLevel::{trust:?};"));
    }
    text.line("\n/// Settings that override the document. Environment variables override both.");
    text.block("pub(crate) fn settings() -> AdapterSettings {", "}", |text| {
        if settings.is_empty() {
            text.line("AdapterSettings::default()");
            return;
        }
        text.block("AdapterSettings {", "}", |text| {
            for (name, value) in &settings {
                text.line(format!("{name}: {value},"));
            }
            text.line("..AdapterSettings::default()");
        });
    });
    Ok(text.finish())
}

/// Returns a constant with the line breaks of rustfmt.
fn formatted_constant(name: &str, value: &str) -> String {
    let line = format!("{name} {value};");
    if line.len() <= 100 { line } else { format!("{name}\n    {value};") }
}

/// Returns the settings that are set, as Rust expressions.
fn members(settings: &AdapterSettings) -> Result<Vec<(&'static str, String)>, Unsupported> {
    let AdapterSettings {
        mode,
        sharing,
        profile,
        pattern,
        prefix,
        policy,
        policies,
        operation_enum,
        errors,
        results,
        budget,
        allow_flagged,
        targets,
        hide,
        answer_budget,
    } = settings;
    if sharing.is_some() {
        return Err(unsupported("tools that all adapters share (`mode: unified`)"));
    }
    if !policies.is_empty() {
        return Err(unsupported("policies that are read from files"));
    }
    if !hide.is_empty() {
        return Err(unsupported("`hide` of the configuration; write it in the document"));
    }
    let text = |value: &Option<String>| value.as_ref().map(|value| format!("Some({value:?}.to_owned())"));
    let object = |value: &serde_json::Map<String, Value>| {
        let json = Value::Object(value.clone()).to_string();
        format!("serde_json::from_str({json:?}).ok()")
    };
    let names = |names: &[String]| {
        let owned: Vec<String> = names.iter().map(|name| format!("{name:?}.to_owned()")).collect();
        format!("vec![{}]", owned.join(", "))
    };
    let mode = mode.map(|mode| match mode {
        Mode::Semantic => "Some(Mode::Semantic)",
        Mode::Single => "Some(Mode::Single)",
        Mode::All => "Some(Mode::All)",
        Mode::Discrete => "Some(Mode::Discrete)",
    });
    let errors = errors.map(|errors| match errors {
        ErrorPolicy::Unrecoverable => "Some(ErrorPolicy::Unrecoverable)",
        ErrorPolicy::All => "Some(ErrorPolicy::All)",
    });
    let said = [
        ("mode", mode.map(str::to_owned)),
        ("profile", text(profile)),
        ("pattern", text(pattern)),
        ("prefix", text(prefix)),
        ("policy", text(policy)),
        ("operation_enum", operation_enum.map(|value| format!("Some({value})"))),
        ("errors", errors.map(str::to_owned)),
        ("results", results.map(|results| format!("Some(ResultForm::{results:?})"))),
        ("answer_budget", answer_budget.map(|value| format!("Some({value})"))),
        ("budget", budget.map(|value| format!("Some({value})"))),
        ("allow_flagged", (!allow_flagged.is_empty()).then(|| names(allow_flagged))),
        ("targets", targets.as_ref().map(object)),
    ];
    Ok(said.into_iter().filter_map(|(name, value)| Some((name, value?))).collect())
}

fn unsupported(what: &str) -> Unsupported {
    Unsupported {
        message: format!("a project in Rust does not support {what}"),
        suggestion: "generate without them, or serve the document with `mcpaql serve`",
    }
}
