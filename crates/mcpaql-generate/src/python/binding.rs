//! How an operation reaches its target, as Python writes the literal.

use super::expression::{Expression, string};
use crate::binding::BindingKind;
use serde_json::{Map, Value};

/// The literal of a request or a command line.
pub(super) fn literal(kind: BindingKind, value: &Value) -> Expression {
    let Value::Object(members) = value else { return Expression::word("None") };
    let mut items = Vec::new();
    for (name, member) in members {
        match (name.as_str(), member) {
            ("params", Value::Object(params)) if params.is_empty() => {}
            ("params", Value::Object(params)) => {
                let params = params.iter().map(|(name, about)| (string(name), param(about)));
                items.push(("params=".to_owned(), Expression::dict(params.collect())));
            }
            ("argv", Value::Array(argv)) => {
                items.push(("argv=".to_owned(), Expression::tuple(argv.iter().map(argument).collect())));
            }
            ("stdin", Value::Object(stdin)) => {
                let param = stdin.get("param").map(Expression::value);
                items.extend(param.map(|param| ("stdin_param=".to_owned(), param)));
            }
            ("exit", Value::Object(meanings)) => {
                let meanings =
                    meanings.iter().map(|(status, meaning)| (status.clone(), Expression::value(meaning)));
                items.push(("exit=".to_owned(), Expression::dict(meanings.collect())));
            }
            // Not authenticated at all, which is not the same as the target's way.
            ("auth", Value::Null) => items.push(("auth=".to_owned(), Expression::object(&Map::new()))),
            _ => items.push((format!("{name}="), Expression::value(member))),
        }
    }
    Expression::call(class(kind), items).one_per_line()
}

/// The class of a literal.
pub(super) const fn class(kind: BindingKind) -> &'static str {
    match kind {
        BindingKind::Http => "HttpRequest",
        BindingKind::Command => "CommandLine",
    }
}

fn param(about: &Value) -> Expression {
    let mut items = Vec::new();
    for (name, member) in about.as_object().into_iter().flatten() {
        let label = match name.as_str() {
            "in" => String::new(),
            "as" => "wire=".to_owned(),
            "file" if member.is_array() => "files=".to_owned(),
            other => format!("{other}="),
        };
        let item = match member {
            Value::Array(names) => Expression::tuple(names.iter().map(Expression::value).collect()),
            other => Expression::value(other),
        };
        items.push((label, item));
    }
    Expression::call("Param", items)
}

fn argument(argument: &Value) -> Expression {
    let group = |args: &Value| {
        let args = args.as_array().into_iter().flatten().map(Expression::value);
        Expression::tuple(args.collect())
    };
    match argument {
        Value::Array(_) => group(argument),
        Value::Object(when) => {
            let part = |name: &str| when.get(name).unwrap_or(&Value::Null);
            let items = [Expression::value(part("when")), group(part("args"))];
            Expression::call("When", items.map(|item| (String::new(), item)).into())
        }
        other => Expression::value(other),
    }
}
