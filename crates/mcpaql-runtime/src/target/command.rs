//! Local programs: one process per call, from an argv template, never through a shell.
//!
//! What always holds: the environment is cleared but for named variables; the working directory is the adapter's; time and output are
//! bounded; a call that ends early, for whatever reason, takes its process and that process's children with it.

mod argv;
mod output;

use super::program::{self, StartError, file_name};
use super::{Args, Target, TargetCall, TargetKind};
use crate::environment::EnvTemplate;
use crate::limits;
use crate::process::{self, ProcessEnd, ProcessOutput, ProcessSpec, STDERR_TAIL_BYTES};
use futures_util::future::BoxFuture;
use mcpaql_core::adapter::{self, CommandTarget};
use mcpaql_core::error::{Code, OpError};
use mcpaql_core::operation::{Binding, CommandBinding, ExitMeaning, Operation, Stdin};
use mcpaql_core::response::{Answer, Warning};
use serde_json::{Map, Value};
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
    /// What errors must not show, and what they show instead.
    hidden: Vec<(String, &'static str)>,
    timeout: Duration,
    max_output: usize,
}

impl fmt::Debug for CommandRunner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Values of variables may be secrets.
        let names: Vec<&str> = self.env.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("Runner").field("cwd", &self.cwd).field("env", &names).finish_non_exhaustive()
    }
}

/// Why an adapter's programs cannot be run. For the operator: it may name paths.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum CommandSetupError {
    /// The working directory names a variable that is not set.
    #[error("the working directory needs the environment variable {name}; set it")]
    MissingVariable {
        /// The variable.
        name: String,
    },
    /// The working directory has a `${` that is not `${env:NAME}`.
    #[error("the working directory '{text}' has a '${{' that is not '${{env:NAME}}'")]
    BadReference {
        /// As written.
        text: String,
    },
    /// The working directory is not there.
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
    /// Prepares to run the programs of that target; `env` answers what the server's own environment holds.
    ///
    /// # Errors
    /// When the working directory is not there or names a variable that is not set, or when a fixed variable cannot be set.
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
            if !program::is_variable(name) || value.contains('\0') {
                return Err(CommandSetupError::BadVariable { name: name.clone() });
            }
            set.push((name.clone(), value.clone()));
        }
        let variables = program::variables(&target.env, set, &env);
        let is_set = |name: &str| target.set_env.contains_key(name);
        let secrets =
            variables.iter().filter(|(name, value)| !is_set(name) && program::is_secret(name, value));
        let mut hidden: Vec<(String, &'static str)> =
            secrets.map(|(_, value)| (value.clone(), "***")).collect();
        let places =
            [(cwd.as_ref().and_then(|path| path.to_str()).map(str::to_owned), "."), (env("HOME"), "~")];
        hidden.extend(
            places.into_iter().filter_map(|(path, mask)| Some((path.filter(|p| p.len() > 1)?, mask))),
        );
        Ok(CommandRunner {
            cwd,
            env: variables,
            hidden,
            timeout: Duration::from_millis(target.timeout_ms),
            max_output: usize::try_from(target.max_output_bytes).unwrap_or(usize::MAX),
        })
    }

    /// Runs one call.
    async fn call(&self, operation: &Operation, args: &Args) -> Result<Answer, OpError> {
        let Binding::Command(binding) = &operation.binding else {
            return Err(OpError::new(Code::Internal, "The operation is not usable; tell the user.")
                .with_cause("the operation is not bound to a command"));
        };
        let (program, arguments) = argv::argv(&binding.argv, args)?;
        let background = operation.lifecycle.map(|lifecycle| lifecycle.limit_ms());
        let timeout = binding.timeout_ms.or(background).map_or(self.timeout, Duration::from_millis);
        let job = ProcessSpec {
            program: &program,
            args: &arguments,
            env: &self.env,
            cwd: self.cwd.as_deref(),
            stdin: stdin(&binding.stdin, operation, args),
            max_output: self.max_output,
            timeout,
        };
        let finished = process::run(job).await.map_err(|error| self.cannot_run(&program, &error))?;
        self.check_exit(&program, operation, binding, args, finished, timeout)
    }

    fn check_exit(
        &self,
        program: &str,
        operation: &Operation,
        binding: &CommandBinding,
        args: &Args,
        finished: ProcessOutput,
        timeout: Duration,
    ) -> Result<Answer, OpError> {
        let name = file_name(program);
        let (status, held) = match finished.ending {
            ProcessEnd::Exited(status) => (status, false),
            ProcessEnd::Held(status) => (status, true),
            ProcessEnd::TooLarge => {
                let max = self.max_output;
                let message = format!("{name} wrote more than {max} bytes and was stopped; ask for less.");
                return Err(limits::too_large(message, "max_output_bytes", None, max));
            }
            ProcessEnd::TimedOut => {
                let limit = timeout.as_millis();
                let message = format!(
                    "{name} did not finish within {limit} ms and was stopped; ask for less or try later."
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
            let stderr = output::clean(&finished.stderr, STDERR_TAIL_BYTES, &hidden);
            if !stderr.is_empty() {
                return Err(failed(code, name, status, ("stderr", &stderr)));
            }
            // Some programs say on standard output why they refuse.
            let stdout = output::clean(&finished.stdout, STDERR_TAIL_BYTES, &hidden);
            return Err(failed(code, name, status, ("stdout", &stdout)));
        }
        let mut answer = output::answer(binding.output, finished.stdout)?;
        if held {
            let message = format!("{name} left a process behind that kept its output open; it was stopped.");
            answer.warnings.push(Warning { code: "OUTPUT_HELD_OPEN", message });
        }
        Ok(answer)
    }

    /// What no error of this call may show: sensitive arguments and the operator's own values and places.
    fn hidden_values(&self, operation: &Operation, args: &Args) -> Vec<(String, &str)> {
        let mut hidden = Vec::new();
        for param in operation.params.iter().filter(|param| param.sensitive) {
            if let Some(value) = args.get(&param.name) {
                collect_values(value, &mut hidden);
            }
        }
        hidden.extend(self.hidden.iter().cloned());
        // The longest first: a value inside another must not break its mask.
        hidden.sort_by_key(|(value, _)| std::cmp::Reverse(value.len()));
        hidden
    }

    fn cannot_run(&self, program: &str, error: &io::Error) -> OpError {
        let name = file_name(program);
        let message = match StartError::of(error, self.cwd.as_deref()) {
            StartError::NoDirectory => "The adapter's working directory is gone; tell the user.".to_owned(),
            StartError::NotInstalled => {
                format!("The program '{name}' is not installed on the server; tell the user to install it.")
            }
            StartError::NotAllowed => {
                format!("The program '{name}' may not be run by the server; tell the user.")
            }
            StartError::ArgumentsTooLong => {
                let message =
                    format!("The parameters are too long for the arguments of '{name}'; send less.");
                return OpError::new(Code::PayloadTooLarge, message)
                    .with_detail("limit", "argument list")
                    .with_cause(error);
            }
            StartError::Other => format!("The program '{name}' could not be run; tell the user."),
        };
        OpError::new(Code::Internal, message).with_cause(error)
    }
}

impl Target for CommandRunner {
    fn perform<'a>(&'a self, call: TargetCall<'a>) -> BoxFuture<'a, Result<Answer, OpError>> {
        Box::pin(self.call(call.operation, call.args))
    }
}

impl CommandSetupError {
    /// In words that anybody may read.
    fn user_message(&self) -> String {
        match self {
            CommandSetupError::MissingVariable { .. } | CommandSetupError::BadVariable { .. } => {
                self.to_string()
            }
            CommandSetupError::BadReference { .. } | CommandSetupError::MissingDirectory { .. } => {
                "its working directory cannot be used; the log says why".to_owned()
            }
        }
    }
}

/// Local programs.
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

fn failed(code: Code, name: &str, status: ExitStatus, (stream, said): (&str, &str)) -> OpError {
    let how = match status.code() {
        Some(number) => format!("failed with exit status {number}"),
        None => "was ended by a signal".to_owned(),
    };
    let message = match output::last_line(said) {
        Some(line) => format!("{name} {how}: {line}"),
        None if said.is_empty() => format!("{name} {how} and said nothing; tell the user."),
        None => format!("{name} {how}; details.{stream} says why."),
    };
    let mut error = OpError::new(code, message);
    if let Some(number) = status.code() {
        error = error.with_detail("exit_status", number);
    }
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        error = error.with_detail("signal", signal);
    }
    if said.is_empty() { error } else { error.with_detail(stream, said) }
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
            // Programs often repeat a value line by line.
            out.extend(text.lines().filter(|line| !line.is_empty()).map(|line| (line.to_owned(), "***")));
            out.push((text.clone(), "***"));
        }
        Value::Number(number) => out.push((number.to_string(), "***")),
        Value::Array(items) => items.iter().for_each(|item| collect_values(item, out)),
        Value::Object(map) => map.values().for_each(|item| collect_values(item, out)),
        Value::String(_) | Value::Bool(_) | Value::Null => {}
    }
}

/// The working directory with its variables filled in.
fn expand(text: &str, env: &impl Fn(&str) -> Option<String>) -> Result<String, CommandSetupError> {
    let template =
        EnvTemplate::parse(text).ok_or_else(|| CommandSetupError::BadReference { text: text.to_owned() })?;
    template.fill(env).map_err(|name| CommandSetupError::MissingVariable { name: name.to_owned() })
}
