//! Builds argv from a template and arguments. There is no shell: a value fills arguments, and is never split or
//! interpreted.
//!
//! What always holds: the program is literal, and no value becomes an option. An argument whose first character comes
//! from a value must not start with `-` unless a literal `--` comes before it. Negative numbers are no exception,
//! because a program may read `-1` as an option, regardless of the parameter's type. A template can allow them with
//! `--opt={param}` or `--`.
//!
//! An array in an argument with a single placeholder gives one argument per element (`{paths}` → `a` `b`,
//! `--label={labels}` → `--label=a` `--label=b`). A missing optional parameter, null or an empty array drops the
//! argument or its group.

use crate::target::Args;
use mcpaql_core::error::{Code, OpError};
use mcpaql_core::operation::{Arg, Segment};
use serde_json::Value;

/// Returns the program and its arguments.
pub(super) fn argv(template: &[Arg], args: &Args) -> Result<(String, Vec<String>), OpError> {
    let unusable = || {
        OpError::new(Code::Internal, "The operation's command is not usable; tell the user.")
            .with_cause("the first entry of argv must be a literal program")
    };
    let (program, rest) = template.split_first().ok_or_else(unusable)?;
    let program = literal(program).filter(|program| !program.is_empty()).ok_or_else(unusable)?;
    let mut builder = ArgvBuilder { args, argv: Vec::new(), past_options: false };
    for entry in rest {
        match entry {
            Arg::Template(pieces) => builder.push(pieces)?,
            Arg::Group(group) => {
                if group.iter().all(|pieces| builder.is_filled(pieces)) {
                    builder.push_all(group)?;
                }
            }
            Arg::When(param, group) => {
                if args.get(param) == Some(&Value::Bool(true)) {
                    builder.push_all(group)?;
                }
            }
        }
    }
    Ok((program, builder.argv))
}

fn literal(entry: &Arg) -> Option<String> {
    let Arg::Template(pieces) = entry else { return None };
    pieces
        .iter()
        .map(|piece| match piece {
            Segment::Literal(text) => Some(text.as_str()),
            Segment::Param(_) => None,
        })
        .collect()
}

struct ArgvBuilder<'a> {
    args: &'a Args,
    argv: Vec<String>,
    /// A literal `--` has been written, so no later argument can be an option.
    past_options: bool,
}

impl ArgvBuilder<'_> {
    fn push_all(&mut self, group: &[Vec<Segment>]) -> Result<(), OpError> {
        group.iter().try_for_each(|pieces| self.push(pieces))
    }

    fn value(&self, param: &str) -> Option<&Value> {
        self.args.get(param).filter(|value| match value {
            Value::Null => false,
            Value::Array(items) => !items.is_empty(),
            _ => true,
        })
    }

    fn is_filled(&self, pieces: &[Segment]) -> bool {
        pieces.iter().all(|piece| match piece {
            Segment::Literal(_) => true,
            Segment::Param(name) => self.value(name).is_some(),
        })
    }

    fn push(&mut self, pieces: &[Segment]) -> Result<(), OpError> {
        if !self.is_filled(pieces) {
            return Ok(());
        }
        let params = || {
            pieces.iter().filter_map(|piece| match piece {
                Segment::Param(name) => Some(name),
                Segment::Literal(_) => None,
            })
        };
        let only = params().next().filter(|_| params().count() == 1);
        match only.and_then(|name| self.value(name)) {
            Some(Value::Array(items)) => {
                let items: Vec<Value> = items.iter().filter(|item| !item.is_null()).cloned().collect();
                items.iter().try_for_each(|item| self.push_one(pieces, Some(item)))
            }
            _ => self.push_one(pieces, None),
        }
    }

    /// Adds one argument. `element` replaces the value of the only placeholder.
    fn push_one(&mut self, pieces: &[Segment], element: Option<&Value>) -> Result<(), OpError> {
        let mut argument = String::new();
        let mut leading: Option<&str> = None;
        let mut is_literal = true;
        for piece in pieces {
            match piece {
                Segment::Literal(text) => argument.push_str(text),
                Segment::Param(name) => {
                    is_literal = false;
                    let text = element.or_else(|| self.value(name)).map(text_of).unwrap_or_default();
                    if text.contains('\0') {
                        return Err(nul(name));
                    }
                    if argument.is_empty() && !text.is_empty() {
                        leading = Some(name);
                    }
                    argument.push_str(&text);
                }
            }
        }
        if let Some(name) = leading.filter(|_| argument.starts_with('-') && !self.past_options) {
            return Err(option_like(name));
        }
        self.past_options |= is_literal && argument == "--";
        self.argv.push(argument);
        Ok(())
    }
}

/// A value as the text of an argument: strings unchanged, anything else as JSON.
fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}

fn option_like(param: &str) -> OpError {
    let message =
        format!("Parameter '{param}' must not start with '-': the program would read it as an option.");
    OpError::new(Code::InvalidValue, message).with_detail("param_name", param)
}

fn nul(param: &str) -> OpError {
    let message = format!(
        "Parameter '{param}' contains a NUL character, which is not allowed in arguments; remove it."
    );
    OpError::new(Code::InvalidEncoding, message).with_detail("param_name", param)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Parses a template; `{name}` is a placeholder.
    fn pieces(text: &str) -> Vec<Segment> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some((literal, tail)) = rest.split_once('{') {
            let (name, tail) = tail.split_once('}').unwrap();
            if !literal.is_empty() {
                pieces.push(Segment::Literal(literal.into()));
            }
            pieces.push(Segment::Param(name.into()));
            rest = tail;
        }
        if !rest.is_empty() || pieces.is_empty() {
            pieces.push(Segment::Literal(rest.into()));
        }
        pieces
    }

    fn one(text: &str) -> Arg {
        Arg::Template(pieces(text))
    }

    fn several(texts: &[&str]) -> Vec<Vec<Segment>> {
        texts.iter().map(|text| pieces(text)).collect()
    }

    fn run(template: &[Arg], args: Value) -> Result<Vec<String>, OpError> {
        let mut whole = vec![one("prog")];
        whole.extend_from_slice(template);
        argv(&whole, args.as_object().unwrap()).map(|(_, argv)| argv)
    }

    #[test]
    fn values_fill_arguments_and_are_never_split() {
        let template =
            [one("log"), one("--author={who}"), one("{path}"), one("{n}"), one("{flag}"), one("{shape}")];
        let args = json!({"who": "A B; rm -rf / $(x)", "path": "a b\n*", "n": 5, "flag": false, "shape": {"k": [1]}});
        assert_eq!(
            run(&template, args).unwrap(),
            ["log", "--author=A B; rm -rf / $(x)", "a b\n*", "5", "false", r#"{"k":[1]}"#]
        );
    }

    #[test]
    fn arrays_give_an_argument_per_element() {
        let template = [one("--label={labels}"), one("{paths}")];
        let args = json!({"labels": ["a", "b"], "paths": ["x", 1, null, ["n"]]});
        assert_eq!(run(&template, args).unwrap(), ["--label=a", "--label=b", "x", "1", r#"["n"]"#]);
    }

    #[test]
    fn an_array_beside_another_placeholder_is_json() {
        let args = json!({"a": "k", "b": [1, 2]});
        assert_eq!(run(&[one("{a}={b}")], args).unwrap(), ["k=[1,2]"]);
    }

    #[test]
    fn a_missing_parameter_drops_its_argument_or_its_group() {
        let template = [
            one("{gone}"),
            one("--x={gone}"),
            Arg::Group(several(&["-n", "{gone}"])),
            Arg::Group(several(&["-m", "{there}"])),
            Arg::When("yes".into(), several(&["--all", "{there}", "{gone}"])),
            Arg::When("no".into(), several(&["--none"])),
            Arg::When("gone".into(), several(&["--none"])),
            Arg::When("word".into(), several(&["--none"])),
        ];
        for gone in [None, Some(json!(null)), Some(json!([]))] {
            let mut args = json!({"there": "t", "yes": true, "no": false, "word": "true"});
            if let Some(gone) = gone {
                args["gone"] = gone;
            }
            assert_eq!(run(&template, args).unwrap(), ["-m", "t", "--all", "t"]);
        }
    }

    #[test]
    fn an_empty_text_is_an_argument() {
        assert_eq!(run(&[one("{a}"), one("--a={a}")], json!({"a": ""})).unwrap(), ["", "--a="]);
    }

    #[test]
    fn a_value_never_becomes_an_option() {
        for (template, args) in [
            (vec![one("{a}")], json!({"a": "-x"})),
            (vec![one("{a}")], json!({"a": "--upload-pack=evil"})),
            (vec![one("{a}")], json!({"a": "--"})),
            (vec![one("{a}")], json!({"a": "-"})),
            (vec![one("{a}")], json!({"a": -5})),
            (vec![one("{a}")], json!({"a": ["ok", "-x"]})),
            (vec![one("{a}:{b}")], json!({"a": "-x", "b": "y"})),
            (vec![one("{a}{b}")], json!({"a": "", "b": "-x"})),
            (vec![Arg::Group(several(&["-m", "{a}"]))], json!({"a": "-x"})),
            (vec![Arg::When("b".into(), several(&["{a}"]))], json!({"a": "-x", "b": true})),
            (vec![Arg::Group(several(&["--", "{gone}"])), one("{a}")], json!({"a": "-x"})),
            (vec![one("--{b}"), one("{a}")], json!({"a": "-x", "b": ""})),
        ] {
            let error = run(&template, args.clone()).unwrap_err();
            assert_eq!(error.code, Code::InvalidValue, "{args}");
            assert!(!error.to_string().contains("evil"), "a value is not repeated");
        }
    }

    #[test]
    fn after_a_literal_double_dash_or_an_option_name_every_value_is_allowed() {
        let template = [one("--n={n}"), one("--"), one("{a}"), one("{n}")];
        assert_eq!(run(&template, json!({"a": "-x", "n": -5})).unwrap(), ["--n=-5", "--", "-x", "-5"]);
    }

    #[test]
    fn nul_is_refused() {
        assert_eq!(run(&[one("--a={a}")], json!({"a": "x\0y"})).unwrap_err().code, Code::InvalidEncoding);
    }

    #[test]
    fn the_program_is_literal() {
        for template in [
            vec![],
            vec![one("{a}")],
            vec![one("/bin/{a}")],
            vec![one("")],
            vec![Arg::When("a".into(), several(&["sh"]))],
        ] {
            let error = argv(&template, json!({"a": "sh"}).as_object().unwrap()).unwrap_err();
            assert_eq!(error.code, Code::Internal);
        }
    }
}
