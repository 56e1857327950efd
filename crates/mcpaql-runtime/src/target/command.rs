//! Local programs: one process per call, built from an argv template, never through a shell.
//!
//! What always holds: programs see only the environment variables that the document names and a few standard ones;
//! they run in the adapter's working directory; time and output are limited; a call that ends early kills its process
//! and all child processes.

mod argv;
mod output;

use super::program::{self, StartError, file_name};
use super::{Args, Target, TargetCall, TargetKind, preview};
use crate::process::{self, ProcessEnd, ProcessOutput, ProcessSpec, STDERR_TAIL_BYTES};
use crate::secret::{Mask, is_credential};
use futures_util::future::BoxFuture;
use mcpaql_core::adapter::{self, CommandTarget};
use mcpaql_core::error::{Code, LimitType, OpError};
use mcpaql_core::operation::{Binding, CommandBinding, ExitMeaning, Operation, Stdin};
use mcpaql_core::response::{Answer, Warning};
use mcpaql_core::template::{self, EnvTemplate};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

/// Runs the programs of one adapter.
pub struct CommandRunner {
    cwd: Option<PathBuf>,
    env: Vec<(String, String)>,
    /// Texts that errors must not show, and their replacements.
    hidden: Vec<(String, &'static str)>,
    /// Credentials, which answers must not show either.
    credentials: Mask,
    timeout: Duration,
    max_output: usize,
}

impl fmt::Debug for CommandRunner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Values of variables may be secrets.
        let names: Vec<&str> = self.env.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("CommandRunner").field("cwd", &self.cwd).field("env", &names).finish_non_exhaustive()
    }
}

/// Why the programs of an adapter cannot be run. For the operator: the message may contain paths.
#[non_exhaustive]
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum CommandSetupError {
    /// The working directory names a variable that is not set.
    #[error("the working directory needs the environment variable {name}; set it")]
    MissingVariable {
        /// The variable.
        name: String,
    },
    /// The working directory has a `${` that is not `${env:NAME}`.
    #[error("invalid '${{' in the working directory '{text}'; write '${{env:NAME}}'")]
    BadReference {
        /// The text as written.
        text: String,
    },
    /// The working directory does not exist.
    #[error("the working directory {} does not exist or is not a directory", path.display())]
    MissingDirectory {
        /// The directory.
        path: PathBuf,
    },
    /// A fixed variable cannot be set.
    #[error(
        "the environment variable '{name}' cannot be set: '=' and NUL are not allowed in names, NUL not in values"
    )]
    BadVariable {
        /// The variable.
        name: String,
    },
}

impl CommandRunner {
    /// Prepares to run the programs of a target. `env` looks up variables of the server's environment.
    ///
    /// # Errors
    /// When the working directory does not exist or needs a variable that is not set, or when a fixed variable is
    /// invalid.
    pub fn new(
        target: &CommandTarget,
        env: impl Fn(&str) -> Option<String>,
    ) -> Result<CommandRunner, CommandSetupError> {
        let cwd = target.cwd.as_deref().map(|text| expand(text, &env)).transpose()?.map(PathBuf::from);
        if let Some(path) = cwd.as_ref().filter(|path| !path.is_dir()) {
            return Err(CommandSetupError::MissingDirectory { path: path.clone() });
        }
        let mut set = Vec::with_capacity(target.set_env.len());
        for (name, value) in &target.set_env {
            if !template::is_variable_name(name) || value.contains('\0') {
                return Err(CommandSetupError::BadVariable { name: name.clone() });
            }
            set.push((name.clone(), value.clone()));
        }
        let variables = program::variables(&target.env, set, &env);
        // A fixed value is often a setting, such as a language.
        let is_setting =
            |name: &str, value: &str| target.set_env.contains_key(name) && !is_credential(name, value);
        let secrets = || {
            let given = variables.iter().filter(|(name, value)| program::is_secret(name, value));
            given.filter(|(name, value)| !is_setting(name, value))
        };
        let mut credentials = Mask::default();
        let given = secrets().filter(|(name, value)| is_credential(name, value));
        given.for_each(|(_, value)| credentials.add(value));
        let mut hidden: Vec<(String, &'static str)> =
            secrets().map(|(_, value)| (value.clone(), "***")).collect();
        let paths =
            [(cwd.as_ref().and_then(|path| path.to_str()).map(str::to_owned), "."), (env("HOME"), "~")];
        hidden
            .extend(paths.into_iter().filter_map(|(path, mask)| Some((path.filter(|p| p.len() > 1)?, mask))));
        Ok(CommandRunner {
            cwd,
            env: variables,
            hidden,
            credentials,
            timeout: Duration::from_millis(target.timeout_ms),
            max_output: usize::try_from(target.max_output_bytes).unwrap_or(usize::MAX),
        })
    }

    async fn call(&self, operation: &Operation, args: &Args) -> Result<Answer, OpError> {
        let Binding::Command(binding) = &operation.binding else {
            return Err(OpError::new(Code::Internal, "The operation is not usable; tell the user.")
                .with_cause("the operation is not bound to a command"));
        };
        let (program, arguments) = argv::argv(&binding.argv, args)?;
        let background = operation.lifecycle.map(|lifecycle| lifecycle.limit_ms());
        let timeout = binding.timeout_ms.or(background).map_or(self.timeout, Duration::from_millis);
        let spec = ProcessSpec {
            program: &program,
            args: &arguments,
            env: &self.env,
            cwd: self.cwd.as_deref(),
            stdin: stdin(&binding.stdin, operation, args),
            max_output: self.max_output,
            timeout,
        };
        let output = process::run(spec).await.map_err(|error| self.cannot_run(&program, &error))?;
        self.check_exit(&program, operation, binding, args, output, timeout)
    }

    fn check_exit(
        &self,
        program: &str,
        operation: &Operation,
        binding: &CommandBinding,
        args: &Args,
        output: ProcessOutput,
        timeout: Duration,
    ) -> Result<Answer, OpError> {
        let name = file_name(program);
        let (status, held) = match output.ending {
            ProcessEnd::Exited(status) => (status, false),
            ProcessEnd::Held(status) => (status, true),
            ProcessEnd::TooLarge => {
                let max = self.max_output;
                let message =
                    format!("{name} wrote more than {max} bytes and was stopped; request less data.");
                return Err(OpError::too_large(message, LimitType::ResponseSize, None, max));
            }
            ProcessEnd::TimedOut => {
                let limit = timeout.as_millis();
                let message = format!(
                    "{name} did not finish within {limit} ms and was stopped; request less data or try later."
                );
                return Err(OpError::new(Code::TransportTimeout, message));
            }
        };
        let code = match status.code().map(|code| (code, binding.exit.get(&code))) {
            Some((0, None) | (_, Some(ExitMeaning::Success))) => None,
            Some((_, Some(ExitMeaning::Error(code)))) => Some(*code),
            Some((_, None)) | None => Some(Code::Internal),
        };
        if let Some(code) = code {
            let hidden = self.hidden_values(operation, args);
            let stderr = output::clean(&self.without_credentials(output.stderr), STDERR_TAIL_BYTES, &hidden);
            if !stderr.is_empty() {
                return Err(failed(code, name, status, ("stderr", &stderr)));
            }
            // Some programs write errors to standard output.
            let stdout = output::clean(&self.without_credentials(output.stdout), STDERR_TAIL_BYTES, &hidden);
            return Err(failed(code, name, status, ("stdout", &stdout)));
        }
        let mut answer = output::answer(binding.output, self.without_credentials(output.stdout))?;
        if held {
            let message = format!(
                "{name} left a child process running, which kept the output open; the child process was stopped."
            );
            answer.warnings.push(Warning::new("OUTPUT_HELD_OPEN", message));
        }
        Ok(answer)
    }

    /// Describes the program that a call would start: its arguments, the names of its variables, its standard input.
    fn preview_command(&self, operation: &Operation, args: &Args) -> Result<Value, OpError> {
        let Binding::Command(binding) = &operation.binding else {
            return Err(OpError::new(Code::Internal, "The operation is not usable; tell the user.")
                .with_cause("the operation is not bound to a command"));
        };
        let args = preview::redacted(operation, args);
        let (program, arguments) = argv::argv(&binding.argv, &args)?;
        let hidden = self.hidden_values(operation, &Args::new());
        let shown =
            |text: String| hidden.iter().fold(text, |text, (value, mask)| text.replace(value.as_str(), mask));
        let argv: Vec<String> = std::iter::once(program).chain(arguments).map(shown).collect();
        let env: Vec<&str> = self.env.iter().map(|(name, _)| name.as_str()).collect();
        let mut out = Map::from_iter([("argv".to_owned(), argv.into()), ("env".to_owned(), env.into())]);
        if let Some(stdin) = stdin(&binding.stdin, operation, &args) {
            let text = shown(String::from_utf8_lossy(&stdin).into_owned());
            out.insert("stdin".into(), serde_json::from_str(&text).unwrap_or_else(|_| text.into()));
        }
        Ok(Value::Object(out))
    }

    /// Returns an output without the credentials that the program was given.
    fn without_credentials(&self, stdout: Vec<u8>) -> Vec<u8> {
        if self.credentials.is_empty() {
            return stdout;
        }
        match self.credentials.apply(&String::from_utf8_lossy(&stdout)) {
            Cow::Borrowed(_) => stdout,
            Cow::Owned(masked) => masked.into_bytes(),
        }
    }

    /// The values that errors of this call must not show: sensitive arguments, secrets and paths of the operator.
    fn hidden_values(&self, operation: &Operation, args: &Args) -> Vec<(String, &str)> {
        let mut hidden = Vec::new();
        for param in operation.params.iter().filter(|param| param.sensitive) {
            if let Some(value) = args.get(&param.name) {
                collect_values(value, &mut hidden);
            }
        }
        hidden.extend(self.hidden.iter().cloned());
        // Longest first, so that masking one value never leaves parts of a longer one.
        hidden.sort_by_key(|(value, _)| std::cmp::Reverse(value.len()));
        hidden
    }

    fn cannot_run(&self, program: &str, error: &io::Error) -> OpError {
        let name = file_name(program);
        let internal = |message: String| OpError::new(Code::Internal, message);
        match StartError::of(error, self.cwd.as_deref()) {
            StartError::NoDirectory => {
                internal("The adapter's working directory no longer exists; tell the user.".to_owned())
                    .for_operator(
                        "the working directory of the adapter does not exist",
                        "check `cwd` in the document",
                    )
            }
            StartError::NotInstalled => internal(format!(
                "The program '{name}' is not installed on the server; tell the user to install it."
            ))
            .for_operator(
                format_args!("the program '{program}' was not found"),
                "install it, or correct `command` in the document",
            ),
            StartError::NotAllowed => internal(format!(
                "The program '{name}' cannot be run by the server (permission denied); tell the user."
            ))
            .for_operator(
                format_args!("cannot run '{program}': permission denied"),
                "check that the file is executable",
            ),
            StartError::ArgumentsTooLong => {
                let message =
                    format!("The parameters are too long for the arguments of '{name}'; send less.");
                OpError::new(Code::PayloadTooLarge, message)
                    .with_detail("limit", "argument list")
                    .with_cause(error)
            }
            StartError::Other => {
                internal(format!("The program '{name}' could not be run; tell the user.")).with_cause(error)
            }
        }
    }
}

impl Target for CommandRunner {
    fn perform<'a>(&'a self, call: TargetCall<'a>) -> BoxFuture<'a, Result<Answer, OpError>> {
        Box::pin(self.call(call.operation, call.args))
    }

    fn preview<'a>(
        &'a self,
        operation: &'a Operation,
        args: &'a Args,
    ) -> BoxFuture<'a, Result<Value, OpError>> {
        Box::pin(std::future::ready(self.preview_command(operation, args)))
    }
}

impl CommandSetupError {
    /// The message without paths.
    fn user_message(&self) -> String {
        match self {
            CommandSetupError::MissingVariable { .. } | CommandSetupError::BadVariable { .. } => {
                self.to_string()
            }
            CommandSetupError::BadReference { .. } | CommandSetupError::MissingDirectory { .. } => {
                "its working directory cannot be used; see the log".to_owned()
            }
        }
    }
}

/// The kind of local programs.
pub(super) const TARGET_KIND: TargetKind = TargetKind {
    name: "command",
    open: |request| match request.target {
        adapter::TargetConfig::Command(target) => Some(Box::pin(async move {
            match CommandRunner::new(target, request.lookup()) {
                Ok(runner) => Ok(Arc::new(runner) as Arc<dyn Target>),
                Err(error) => {
                    let user_message = error.user_message();
                    Err(request.error(error, user_message))
                }
            }
        })),
        _ => None,
    },
};

fn failed(code: Code, name: &str, status: ExitStatus, (stream, text): (&str, &str)) -> OpError {
    let how = match status.code() {
        Some(number) => format!("failed with exit status {number}"),
        None => "was ended by a signal".to_owned(),
    };
    let message = match output::last_line(text) {
        Some(line) => format!("{name} {how}: {line}"),
        None if text.is_empty() => format!("{name} {how} without output; tell the user."),
        None => format!("{name} {how}; see details.{stream}."),
    };
    let mut error = OpError::new(code, message);
    if let Some(number) = status.code() {
        error = error.with_detail("exit_status", number);
    }
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        error = error.with_detail("signal", signal);
    }
    if text.is_empty() { error } else { error.with_detail(stream, text) }
}

fn stdin(form: &Stdin, operation: &Operation, args: &Args) -> Option<Vec<u8>> {
    match form {
        Stdin::Closed => None,
        Stdin::Params => {
            let wire = |name: &String| operation.param(name).map_or(name, |param| &param.wire).clone();
            let params: Map<String, Value> =
                args.iter().map(|(name, value)| (wire(name), value.clone())).collect();
            Some(Value::Object(params).to_string().into_bytes())
        }
        Stdin::Param(name) => match args.get(name)? {
            Value::Null => None,
            Value::String(text) => Some(text.clone().into_bytes()),
            value => Some(value.to_string().into_bytes()),
        },
    }
}

fn collect_values(value: &Value, out: &mut Vec<(String, &str)>) {
    match value {
        Value::String(text) if !text.is_empty() => {
            // Programs often print a value line by line.
            out.extend(text.lines().filter(|line| !line.is_empty()).map(|line| (line.to_owned(), "***")));
            out.push((text.clone(), "***"));
        }
        Value::Number(number) => out.push((number.to_string(), "***")),
        Value::Array(items) => items.iter().for_each(|item| collect_values(item, out)),
        Value::Object(map) => map.values().for_each(|item| collect_values(item, out)),
        Value::String(_) | Value::Bool(_) | Value::Null => {}
    }
}

/// Returns the working directory with the values of its variables.
fn expand(text: &str, env: &impl Fn(&str) -> Option<String>) -> Result<String, CommandSetupError> {
    let template =
        EnvTemplate::parse(text).ok_or_else(|| CommandSetupError::BadReference { text: text.to_owned() })?;
    template.fill(env).map_err(|name| CommandSetupError::MissingVariable { name: name.to_owned() })
}
