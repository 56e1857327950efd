//! The questions of `init`: at most three, and none that a flag answers.

use crate::args::{InitArgs, InitKind};
use crate::output::{HintedError, error_with_hint, messages, sanitize_line};
use crate::servers::check_variable_name;
use anyhow::{Context, Result};
use clap::ValueEnum;
use std::io::{BufRead, Write};
use std::path::Path;

/// Maximum number of invalid answers to one question.
const MAX_ATTEMPTS: usize = 3;
/// Files that are usually OpenAPI descriptions.
const DESCRIPTION_FILES: &[&str] =
    &["openapi.json", "openapi.yaml", "openapi.yml", "swagger.json", "swagger.yaml", "swagger.yml"];

/// The answers, from flags, defaults and the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct InitAnswers {
    pub(super) kind: InitKind,
    pub(super) source: String,
    /// `None`: derived from the source.
    pub(super) name: Option<String>,
    pub(super) token_env: Option<String>,
    /// The source was typed as the answer to a question.
    pub(super) is_source_asked: bool,
}

impl InitAnswers {
    /// Returns the name of the source for messages.
    pub(super) fn source_label(&self) -> &'static str {
        if self.is_source_asked { "the answer" } else { "--source" }
    }
}

/// Checks answers. Without an error, `init` can write an adapter for them.
pub(super) type AnswerCheck<'a> = &'a dyn Fn(&InitAnswers) -> Result<()>;

/// A terminal to ask on.
pub(super) struct Terminal<R, W> {
    pub(super) input: R,
    pub(super) output: W,
}

impl InitKind {
    fn title(self) -> &'static str {
        match self {
            InitKind::Http => "an HTTP API",
            InitKind::Openapi => "an OpenAPI description",
            InitKind::Mcp => "an MCP server",
            InitKind::Command => "a program on this machine",
            InitKind::Store => "records in a store, without an API",
        }
    }

    /// Returns the name on the command line.
    pub(super) fn id(self) -> &'static str {
        match self {
            InitKind::Http => "http",
            InitKind::Openapi => "openapi",
            InitKind::Mcp => "mcp",
            InitKind::Command => "command",
            InitKind::Store => "store",
        }
    }

    fn source_question(self) -> &'static str {
        match self {
            InitKind::Http => "URL of the API, such as https://api.example.com/v1",
            InitKind::Openapi => "File or URL of the description",
            InitKind::Mcp => "URL of the server, or the command that starts it, such as npx -y @acme/server",
            InitKind::Command => "Command to run, with parameters in braces, such as git log --grep={text}",
            InitKind::Store => "Name of one record, such as task",
        }
    }

    fn default_source(self, folder: &Path) -> Option<&'static str> {
        match self {
            InitKind::Store => Some("task"),
            InitKind::Openapi => DESCRIPTION_FILES.iter().copied().find(|name| folder.join(name).is_file()),
            InitKind::Http | InitKind::Mcp | InitKind::Command => None,
        }
    }

    /// Returns the question about the credential, if there may be one.
    fn credential_question(self) -> Option<&'static str> {
        match self {
            InitKind::Http => {
                Some("Environment variable with the API's bearer token, or press Enter for none")
            }
            InitKind::Openapi => Some(
                "Environment variable with the bearer token, or press Enter to use the authentication in the description",
            ),
            InitKind::Mcp => {
                Some("Environment variable with the server's credential, or press Enter for none")
            }
            InitKind::Command | InitKind::Store => None,
        }
    }
}

/// Returns the answers. Without a terminal, everything without a default must be in the flags. `folder` is where the user is.
/// A typed answer that `check` refuses is asked for again.
pub(super) fn answers<R: BufRead, W: Write>(
    args: &InitArgs,
    folder: &Path,
    terminal: Option<Terminal<R, W>>,
    check: AnswerCheck<'_>,
) -> Result<InitAnswers> {
    let mut terminal = terminal.filter(|_| !args.yes);
    let has_terminal = terminal.is_some();
    let kind = match (args.kind, &mut terminal) {
        (Some(kind), _) => kind,
        (None, Some(terminal)) => terminal.ask_kind()?,
        (None, None) if args.yes && args.source.is_none() => InitKind::Store,
        (None, None) => return Err(missing("--kind", "http, openapi, mcp, command or store")),
    };
    let default = kind.default_source(folder);
    let with_source = |source: &str, is_source_asked: bool| InitAnswers {
        kind,
        source: source.trim().to_owned(),
        name: args.name.clone(),
        token_env: None,
        is_source_asked,
    };
    let mut answers = match (&args.source, &mut terminal, default) {
        (Some(source), ..) => with_source(source, false),
        (None, Some(terminal), default) => {
            let typed = |answer: &str| with_source(answer, true);
            terminal.ask_checked(kind.source_question(), default, true, &typed, check)?
        }
        (None, None, Some(default)) => with_source(default, false),
        (None, None, None) => return Err(missing("--source", kind.source_question())),
    };
    // With the kind and the source as flags, the command is complete: the credential is optional.
    let asks_credential = has_terminal && (args.kind.is_none() || args.source.is_none());
    match (&args.token_env, &mut terminal, kind.credential_question()) {
        (Some(name), ..) => answers.token_env = Some(name.clone()),
        (None, Some(terminal), Some(question)) if asks_credential => {
            let typed = |answer: &str| {
                let token_env = Some(answer.to_owned()).filter(|answer| !answer.is_empty());
                InitAnswers { token_env, ..answers.clone() }
            };
            let is_name = |answers: &InitAnswers| match &answers.token_env {
                Some(name) => check_variable_name("the answer", name).map(drop),
                None => Ok(()),
            };
            answers = terminal.ask_checked(question, None, false, &typed, &is_name)?;
        }
        _ => {}
    }
    Ok(answers)
}

fn missing(flag: &str, expected: &str) -> anyhow::Error {
    error_with_hint(
        format!("{flag} is missing, and there is no terminal to ask on"),
        format!("pass {flag} ({expected}); for example: mcpaql init --kind store --source task"),
    )
}

impl<R: BufRead, W: Write> Terminal<R, W> {
    fn ask_kind(&mut self) -> Result<InitKind> {
        let kinds = InitKind::value_variants();
        let mut question = "What do you want to serve?\n".to_owned();
        for (index, kind) in kinds.iter().enumerate() {
            question.push_str(&format!("  {}  {}\n", index + 1, kind.title()));
        }
        question.push_str("Number");
        for _ in 0..MAX_ATTEMPTS {
            let answer = self.ask(&question, None, true)?;
            let number = answer.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
            let kind = number.and_then(|index| kinds.get(index).copied());
            if let Some(kind) = kind.or_else(|| kinds.iter().copied().find(|kind| kind.id() == answer)) {
                return Ok(kind);
            }
            question = format!("Type a number from 1 to {}", kinds.len());
        }
        Err(error_with_hint("no valid answer", "pass --kind: http, openapi, mcp, command or store"))
    }

    /// Asks a question until `check` accepts the answers with the typed one.
    fn ask_checked(
        &mut self,
        question: &str,
        default: Option<&str>,
        is_required: bool,
        typed: &dyn Fn(&str) -> InitAnswers,
        check: AnswerCheck<'_>,
    ) -> Result<InitAnswers> {
        let mut attempts = 1;
        loop {
            let answers = typed(&self.ask(question, default, is_required)?);
            let error = match check(&answers) {
                Ok(()) => return Ok(answers),
                Err(error) if attempts == MAX_ATTEMPTS => return Err(error),
                Err(error) => error,
            };
            attempts += 1;
            let mut problem = sanitize_line(&messages(&error).join(": "));
            if let Some(hinted) = error.downcast_ref::<HintedError>() {
                problem.push_str(&format!("; {}", sanitize_line(&hinted.hint)));
            }
            writeln!(self.output, "{problem}").context("cannot write to the terminal")?;
        }
    }

    /// Asks a question and returns the answer. An empty answer means the default.
    fn ask(&mut self, question: &str, default: Option<&str>, is_required: bool) -> Result<String> {
        for _ in 0..MAX_ATTEMPTS {
            let shown = default.map(|default| format!(" [{default}]")).unwrap_or_default();
            write!(self.output, "{question}{shown}: ")
                .and_then(|()| self.output.flush())
                .context("cannot write to the terminal")?;
            let mut line = String::new();
            if self.input.read_line(&mut line).context("cannot read the answer")? == 0 {
                return Err(error_with_hint(
                    "no answer: the input has ended",
                    "answer, or pass flags; see --help",
                ));
            }
            match (line.trim(), default) {
                ("", Some(default)) => return Ok(default.to_owned()),
                ("", None) if is_required => {}
                (answer, _) => return Ok(answer.to_owned()),
            }
        }
        Err(error_with_hint(format!("no answer to \"{question}\""), "pass flags instead; see --help"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(kind: Option<InitKind>, source: Option<&str>, yes: bool) -> InitArgs {
        InitArgs {
            file: None,
            kind,
            source: source.map(str::to_owned),
            name: None,
            token_env: None,
            yes,
            force: false,
        }
    }

    /// Returns the answers of a user who types these lines, and how many questions were asked.
    fn typed(args: &InitArgs, lines: &str) -> (Result<InitAnswers>, usize) {
        let folder = tempfile::tempdir().unwrap();
        let mut shown = Vec::new();
        let terminal = Terminal { input: lines.as_bytes(), output: &mut shown };
        let check = |answers: &InitAnswers| match answers.source.contains('\'') {
            true => Err(error_with_hint("an unclosed quote", "close it")),
            false => Ok(()),
        };
        let answers = answers(args, folder.path(), Some(terminal), &check);
        (answers, String::from_utf8(shown).unwrap().matches(": ").count())
    }

    fn expected(kind: InitKind, source: &str, token_env: Option<&str>) -> InitAnswers {
        let token_env = token_env.map(str::to_owned);
        InitAnswers { kind, source: source.into(), name: None, token_env, is_source_asked: true }
    }

    #[test]
    fn at_most_three_questions_are_asked() {
        for (lines, answers, questions) in [
            ("1\nhttps://a.b\nTOKEN\n", expected(InitKind::Http, "https://a.b", Some("TOKEN")), 3),
            ("openapi\n shop.json \n\n", expected(InitKind::Openapi, "shop.json", None), 3),
            ("3\nnpx x\n\n", expected(InitKind::Mcp, "npx x", None), 3),
            ("4\ngit log\n", expected(InitKind::Command, "git log", None), 2),
            ("5\n\n", expected(InitKind::Store, "task", None), 2),
        ] {
            let (found, asked) = typed(&args(None, None, false), lines);
            assert_eq!((found.unwrap(), asked), (answers, questions), "{lines}");
        }
    }

    #[test]
    fn flags_answer_questions() {
        let (found, asked) = typed(&args(Some(InitKind::Http), Some("https://a.b"), false), "");
        let flag = |answers| InitAnswers { is_source_asked: false, ..answers };
        assert_eq!((found.unwrap(), asked), (flag(expected(InitKind::Http, "https://a.b", None)), 0));
        let (found, asked) = typed(&args(Some(InitKind::Http), None, false), "https://a.b\n\n");
        assert_eq!((found.unwrap(), asked), (expected(InitKind::Http, "https://a.b", None), 2));
        let (found, asked) = typed(&args(None, None, true), "1\n");
        assert_eq!(
            (found.unwrap(), asked),
            (flag(expected(InitKind::Store, "task", None)), 0),
            "--yes asks nothing"
        );
    }

    #[test]
    fn invalid_answers_are_asked_again_but_not_for_ever() {
        let (found, _) = typed(&args(None, None, false), "9\nshop\n5\nbook\n");
        assert_eq!(found.unwrap(), expected(InitKind::Store, "book", None));
        let (found, asked) = typed(&args(None, None, false), "4\ngit 'x\ngit x\n");
        assert_eq!((found.unwrap(), asked), (expected(InitKind::Command, "git x", None), 3));
        let (found, asked) = typed(&args(None, None, false), "1\nhttps://a.b\nmy token\nA_TOKEN\n");
        assert_eq!((found.unwrap(), asked), (expected(InitKind::Http, "https://a.b", Some("A_TOKEN")), 4));
        for lines in ["4\n'\n'\n'\n'\n", "1\nhttps://a.b\na b\na b\na b\n"] {
            let error = typed(&args(None, None, false), lines).0.unwrap_err().to_string();
            assert!(!error.contains("--"), "no flag was typed: {error}");
        }
        for lines in ["9\n9\n9\n9\n", "\n\n\n\n\n", "1\n\n\n\n\n", "1\n", ""] {
            assert!(typed(&args(None, None, false), lines).0.is_err(), "{lines:?}");
        }
    }

    #[test]
    fn without_a_terminal_missing_answers_are_errors() {
        let folder = tempfile::tempdir().unwrap();
        let answers = |args: &InitArgs| answers::<&[u8], Vec<u8>>(args, folder.path(), None, &|_| Ok(()));
        assert!(answers(&args(None, None, false)).unwrap_err().to_string().contains("--kind is missing"));
        assert!(answers(&args(None, Some("x"), true)).is_err(), "a source without a kind means nothing");
        let error = answers(&args(Some(InitKind::Openapi), None, true)).unwrap_err();
        assert!(error.to_string().contains("--source is missing"), "{error}");
        std::fs::write(folder.path().join("openapi.yaml"), "openapi: 3.1.0").unwrap();
        let found = answers(&args(Some(InitKind::Openapi), None, false)).unwrap();
        let default = expected(InitKind::Openapi, "openapi.yaml", None);
        assert_eq!(found, InitAnswers { is_source_asked: false, ..default });
    }
}
