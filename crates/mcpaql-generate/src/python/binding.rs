//! How an operation reaches its target, as a literal.

use super::expression::{Expression, string};
use mcpaql_core::adapter::Auth;
use mcpaql_core::operation::{
    Arg, BodyForm, Category, CommandBinding, ExitMeaning, HttpBinding, McpBinding, Operation, Param, Place,
    Segment, Stdin, StoreBinding, Style,
};
use mcpaql_core::schema::is_file;
use serde_json::Value;

/// Items of a call with names.
struct Items(Vec<(String, Expression)>);

impl Items {
    fn add(&mut self, name: &str, item: Expression) {
        self.0.push((format!("{name}="), item));
    }

    fn add_where(&mut self, condition: bool, name: &str, item: impl FnOnce() -> Expression) {
        if condition {
            self.add(name, item());
        }
    }
}

pub(super) fn http(operation: &Operation, binding: &HttpBinding) -> Expression {
    let mut items = Items(Vec::new());
    items.add("method", Expression::text(&binding.method));
    items.add("path", Expression::text(&path(&binding.path)));
    let sent = |param: &&Param| param.place != Place::Target;
    let params: Vec<Expression> = operation
        .params
        .iter()
        .filter(sent)
        .map(|param| request_param(param, binding.body_param.as_deref() == Some(param.name.as_str())))
        .collect();
    items.add_where(!params.is_empty(), "params", || Expression::tuple(params));
    items.add_where(binding.body != BodyForm::Json, "body", || Expression::text(binding.body.as_str()));
    if let Some(name) = &binding.body_param {
        items.add("body_param", Expression::text(name));
    }
    if let Some(kind) = &binding.content_type {
        items.add("content_type", Expression::text(kind));
    }
    if let Some(url) = &binding.base_url {
        items.add("base_url", Expression::text(url));
    }
    if let Some(own) = &binding.auth {
        items.add("auth", auth(own));
    }
    items.add_where(operation.may_repeat(), "repeatable", || Expression::flag(true));
    items.add_where(operation.category == Category::Delete, "removes", || Expression::flag(true));
    Expression::call("HttpRequest", items.0).spread()
}

/// A brace of a literal is encoded on its way anyway.
fn path(segments: &[Segment]) -> String {
    segments
        .iter()
        .map(|segment| match segment {
            Segment::Literal(text) => text.replace('{', "%7B").replace('}', "%7D"),
            Segment::Param(name) => format!("{{{name}}}"),
        })
        .collect()
}

fn request_param(param: &Param, is_whole: bool) -> Expression {
    let mut items = Items(vec![
        (String::new(), Expression::text(&param.name)),
        (String::new(), Expression::text(param.place.as_str())),
    ]);
    items.add_where(param.wire != param.name, "wire", || Expression::text(&param.wire));
    items.add_where(param.style != Style::default_for(param.place), "style", || style(param.style));
    items.add_where(param.sensitive, "sensitive", || Expression::flag(true));
    items.add_where(is_file(&param.schema), "file", || Expression::flag(true));
    let properties = param.schema.get("properties").and_then(Value::as_object).filter(|_| is_whole);
    let files: Vec<Expression> = properties
        .into_iter()
        .flatten()
        .filter(|(_, schema)| is_file(schema))
        .map(|(name, _)| Expression::text(name))
        .collect();
    items.add_where(!files.is_empty(), "files", || Expression::tuple(files));
    Expression::call("Param", items.0)
}

fn style(style: Style) -> Expression {
    let mut items = Items(vec![(String::new(), Expression::text(style.form.as_str()))]);
    items.add("explode", Expression::flag(style.explode));
    items.add_where(style.reserved, "reserved", || Expression::flag(true));
    Expression::call("Style", items.0)
}

fn auth(own: &Auth) -> Expression {
    let mut items = Items(Vec::new());
    match own {
        Auth::None => Expression::call("NoAuth", Vec::new()),
        Auth::Bearer { token_env, header, prefix } => {
            items.add("token_env", Expression::text(token_env));
            items.add_where(header != "Authorization", "header", || Expression::text(header));
            items.add_where(prefix != "Bearer ", "prefix", || Expression::text(prefix));
            Expression::call("Bearer", items.0)
        }
        Auth::ApiKey { key_env, place, prefix } => {
            let (place, name) = place.parts();
            items.add("key_env", Expression::text(key_env));
            items.add("place", Expression::text(place));
            items.add("name", Expression::text(name));
            items.add_where(!prefix.is_empty(), "prefix", || Expression::text(prefix));
            Expression::call("ApiKey", items.0)
        }
        Auth::Basic { username_env, password_env } => {
            items.add("username_env", Expression::text(username_env));
            items.add("password_env", Expression::text(password_env));
            Expression::call("Basic", items.0)
        }
        Auth::OAuth2(oauth) => {
            items.add("token_url", Expression::text(&oauth.token_url));
            items.add("client_id_env", Expression::text(&oauth.client_id_env));
            for (name, variable) in [
                ("client_secret_env", &oauth.client_secret_env),
                ("refresh_token_env", &oauth.refresh_token_env),
            ] {
                if let Some(variable) = variable {
                    items.add(name, Expression::text(variable));
                }
            }
            items.add_where(!oauth.scopes.is_empty(), "scopes", || texts(&oauth.scopes));
            Expression::call("OAuth2", items.0)
        }
        Auth::All(several) => several_of("AllOf", several),
        Auth::Any(several) => several_of("AnyOf", several),
    }
}

fn several_of(name: &str, several: &[Auth]) -> Expression {
    Expression::call(name, vec![(String::new(), Expression::tuple(several.iter().map(auth).collect()))])
}

fn texts(texts: &[String]) -> Expression {
    Expression::tuple(texts.iter().map(|text| Expression::text(text)).collect())
}

pub(super) fn store(binding: &StoreBinding) -> Expression {
    let items = [binding.resource.as_str(), binding.action.as_str()]
        .map(|text| (String::new(), Expression::text(text)));
    Expression::call("StoreAction", items.into())
}

pub(super) fn command(operation: &Operation, binding: &CommandBinding) -> Expression {
    let mut items = Items(Vec::new());
    items.add("argv", Expression::tuple(binding.argv.iter().map(argument).collect()));
    match &binding.stdin {
        Stdin::Closed => {}
        Stdin::Params => items.add("stdin", Expression::text("*")),
        Stdin::Param(name) => items.add("stdin", Expression::text(name)),
    }
    items.add("output", Expression::text(binding.output.as_str()));
    if let Some(limit) = binding.timeout_ms {
        items.add("timeout_ms", Expression::word(limit.to_string()));
    }
    let meanings = binding.exit.iter().map(|(status, meaning)| {
        let meaning = match meaning {
            ExitMeaning::Success => Expression::text("success"),
            ExitMeaning::Error(code) => {
                Expression::call("Code", vec![(String::new(), Expression::text(code.as_str()))])
            }
        };
        (status.to_string(), meaning)
    });
    let meanings: Vec<_> = meanings.collect();
    items.add_where(!meanings.is_empty(), "exit", || Expression::dict(meanings));
    let renamed =
        operation.params.iter().filter(|param| param.wire != param.name && binding.stdin == Stdin::Params);
    let wires: Vec<_> = renamed.map(|param| (string(&param.name), Expression::text(&param.wire))).collect();
    items.add_where(!wires.is_empty(), "wires", || Expression::dict(wires));
    let sensitive = operation.params.iter().filter(|param| param.sensitive);
    let sensitive: Vec<_> = sensitive.map(|param| Expression::text(&param.name)).collect();
    items.add_where(!sensitive.is_empty(), "sensitive", || Expression::tuple(sensitive));
    Expression::call("Command", items.0).spread()
}

pub(super) fn tool(operation: &Operation, binding: &McpBinding) -> Expression {
    let mut items = Items(Vec::new());
    items.add("tool", Expression::text(&binding.tool));
    let renamed = operation.params.iter().filter(|param| param.wire != param.name);
    let names: Vec<_> = renamed.map(|param| (string(&param.name), Expression::text(&param.wire))).collect();
    items.add_where(!names.is_empty(), "names", || Expression::dict(names));
    items.add_where(!binding.fixed.is_empty(), "fixed", || Expression::object(&binding.fixed));
    let sensitive = operation.params.iter().filter(|param| param.sensitive);
    let sensitive: Vec<_> = sensitive.map(|param| Expression::text(&param.name)).collect();
    items.add_where(!sensitive.is_empty(), "sensitive", || Expression::tuple(sensitive));
    Expression::call("ToolCall", items.0)
}

fn argument(argument: &Arg) -> Expression {
    let template = |pieces: &Vec<Segment>| Expression::text(&pieces.iter().map(piece).collect::<String>());
    let group = |group: &[Vec<Segment>]| Expression::tuple(group.iter().map(template).collect());
    match argument {
        Arg::Template(pieces) => template(pieces),
        Arg::Group(args) => Expression::call("Group", vec![(String::new(), group(args))]),
        Arg::When(param, args) => Expression::call(
            "When",
            vec![(String::new(), Expression::text(param)), (String::new(), group(args))],
        ),
    }
}

fn piece(segment: &Segment) -> String {
    match segment {
        Segment::Literal(text) => text.replace('{', "{{").replace('}', "}}"),
        Segment::Param(name) => format!("{{{name}}}"),
    }
}
