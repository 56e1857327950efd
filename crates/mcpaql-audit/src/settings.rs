//! The settings for audits in `mcpaql.yaml`: `conventions` and `audit`.
//!
//! ```
//! use mcpaql_audit::convention::RuleLevel;
//! use mcpaql_audit::settings;
//! use serde_json::json;
//!
//! let config = json!({"audit": {"rules": {"TITLE-001": "error", "DESC-002": "off"}}});
//! let (settings, problems) = settings::read(&config, &[]);
//! assert!(problems.is_empty());
//! assert_eq!(settings.rules["TITLE-001"], Some(RuleLevel::Error));
//! assert_eq!(settings.rules["DESC-002"], None);
//! ```

use crate::convention::{CLIENTS, Convention, RuleLevel};
use crate::load::{levels, names, read_all};
use indexmap::IndexMap;
use mcpaql_core::diagnostic::Diagnostic;
use mcpaql_core::policy::Policy;
use mcpaql_core::reader::{DocumentObject, DocumentReader, child};
use mcpaql_document::config::{check_policy_exists, read_policy_name};
use serde_json::Value;

const KEYS: &[&str] = &["policy", "conventions", "rules"];

/// The audit settings of a configuration file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AuditSettings {
    /// Conventions defined in the file.
    pub defined: Vec<Convention>,
    /// Name of the policy, built-in or defined in the file.
    pub policy: Option<String>,
    /// Names of the selected conventions, built-in or defined in the file; [`CLIENTS`] stands for all known clients.
    pub conventions: Vec<String>,
    /// Levels of rules by code; `None` turns a rule off.
    pub rules: IndexMap<String, Option<RuleLevel>>,
}

/// Reads the audit settings from the untyped configuration; `policies` are those defined in it.
#[must_use]
pub fn read(config: &Value, policies: &[Policy]) -> (AuditSettings, Vec<Diagnostic>) {
    let mut reader = DocumentReader::default();
    let Value::Object(map) = config else { return (AuditSettings::default(), Vec::new()) };
    let object = DocumentObject { map, pointer: String::new() };
    let mut defined = Vec::new();
    if let Some(value) = object.get("conventions") {
        let (conventions, diagnostics) = read_all(value, &object.pointer_to("conventions"));
        reader.diagnostics.extend(diagnostics);
        defined = conventions;
    }
    for (convention, named) in defined.iter().filter_map(|own| Some((own, own.policy.as_deref()?))) {
        let pointer = child(&child(&object.pointer_to("conventions"), &convention.name), "policy");
        check_policy_exists(&mut reader, &pointer, named, policies);
    }
    let settings = match reader.member(&object, "audit") {
        Some(audit) => chosen(&mut reader, &audit, policies, defined),
        None => AuditSettings { defined, ..AuditSettings::default() },
    };
    (settings, reader.diagnostics)
}

fn chosen(
    reader: &mut DocumentReader,
    object: &DocumentObject<'_>,
    policies: &[Policy],
    defined: Vec<Convention>,
) -> AuditSettings {
    reader.check_keys(object, KEYS);
    let policy = read_policy_name(reader, object, policies);
    let conventions = {
        let mut known: Vec<&str> = defined.iter().map(|convention| convention.name.as_str()).collect();
        names().chain([CLIENTS]).for_each(|name| known.push(name));
        reader.choices(object, "conventions", &known, |name| known.contains(&name).then(|| name.to_owned()))
    };
    AuditSettings { policy, conventions, rules: levels(reader, object), defined }
}
