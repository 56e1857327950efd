//! The command target with real programs.

use mcpaql_core::adapter::CommandTarget;
use mcpaql_core::error::{Code, OpError};
use mcpaql_core::facts::{self, Declared, Guard, Reach};
use mcpaql_core::operation::{
    Arg, Binding, Category, CommandBinding, Danger, ExitMeaning, Operation, Output, Param, ParamLocation,
    Segment, Stdin,
};
use mcpaql_core::response::Answer;
use mcpaql_runtime::caller::Caller;
use mcpaql_runtime::dispatch::call_target;
use mcpaql_runtime::target::command::{CommandRunner, CommandSetupError};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::Command;

fn target() -> CommandTarget {
    CommandTarget {
        cwd: None,
        env: Vec::new(),
        set_env: Default::default(),
        timeout_ms: 30_000,
        max_output_bytes: 1 << 20,
    }
}

fn env(name: &str) -> Option<String> {
    match name {
        "PATH" => std::env::var("PATH").ok(),
        "HOME" => Some("/home/somebody".into()),
        "API_TOKEN" => Some("token-from-operator".into()),
        "UNLISTED" => Some("unlisted".into()),
        _ => None,
    }
}

/// A runner with the environment above.
fn runner(target: &CommandTarget) -> CommandRunner {
    CommandRunner::new(target, env).expect("a runner")
}

fn segment(text: &str) -> Segment {
    match text.strip_prefix('{').and_then(|name| name.strip_suffix('}')) {
        Some(name) => Segment::Param(name.into()),
        None => Segment::Literal(text.into()),
    }
}

/// Commands like `sh -c SCRIPT sh {a} {b}`: each entry is a literal or one placeholder.
fn binding(argv: &[&str]) -> CommandBinding {
    CommandBinding {
        argv: argv.iter().map(|text| Arg::Template(vec![segment(text)])).collect(),
        stdin: Stdin::Closed,
        output: Output::Text,
        timeout_ms: None,
        exit: Default::default(),
    }
}

fn script(script: &str) -> CommandBinding {
    binding(&["sh", "-c", script])
}

fn operation(binding: CommandBinding) -> Operation {
    let binding = Binding::Command(binding);
    let facts = facts::infer(&Declared {
        category: Category::Execute,
        effect: None,
        idempotent: None,
        danger: Danger::Reversible,
        guard: Guard::None,
        reach: Reach::Process,
        binding: &binding,
    });
    Operation::new("run", Category::Execute, facts, binding)
}

fn param(name: &str, wire: &str, sensitive: bool) -> Param {
    Param { wire: wire.into(), sensitive, ..Param::new(name, ParamLocation::Body, json!({})) }
}

async fn run(runner: &CommandRunner, operation: &Operation, args: &Value) -> Result<Answer, OpError> {
    let args = args.as_object().expect("arguments");
    call_target(runner, operation, args, &Caller::nobody()).await
}

async fn call(target: &CommandTarget, binding: CommandBinding, args: Value) -> Result<Answer, OpError> {
    run(&runner(target), &operation(binding), &args).await
}

async fn ok(binding: CommandBinding, args: Value) -> Value {
    call(&target(), binding, args).await.unwrap_or_else(|error| panic!("{error:?}")).data.into_value()
}

async fn err(binding: CommandBinding, args: Value) -> OpError {
    call(&target(), binding, args).await.expect_err("a failure")
}

#[tokio::test]
async fn values_reach_the_program_unchanged() {
    let hostile = "a b; $(touch x) `id` 'q' \"d\" * \\ \n é";
    let answer =
        ok(binding(&["printf", "%s|", "{a}", "{list}"]), json!({"a": hostile, "list": ["1", ""]})).await;
    assert_eq!(answer, json!(format!("{hostile}|1||")));
}

#[tokio::test]
async fn an_option_like_value_never_reaches_the_program() {
    let error = err(binding(&["printf", "{a}"]), json!({"a": "-v"})).await;
    assert_eq!(error.code, Code::InvalidValue);
    assert_eq!(ok(binding(&["printf", "--", "{a}"]), json!({"a": "-v"})).await, json!("-v"));
}

#[tokio::test]
async fn only_listed_variables_are_passed_on() {
    let mut target = target();
    target.env = vec!["API_TOKEN".into()];
    target.set_env.insert("FIXED".into(), "one".into());
    target.set_env.insert("HOME".into(), "/nowhere".into());
    let shown =
        "echo ${API_TOKEN-none} ${FIXED-none} ${HOME-none} ${UNLISTED-none} ${CARGO_MANIFEST_DIR-none}";
    let answer = call(&target, script(shown), json!({})).await.expect("an answer").data.into_value();
    assert_eq!(answer, json!("[redacted] one /nowhere none none"), "the token arrives, and is masked");
}

#[tokio::test]
async fn the_working_directory_is_the_adapters() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().canonicalize().expect("its real name").to_str().expect("text").to_owned();
    let mut target = target();
    target.cwd = Some("${env:PLACE}".into());
    let here = path.clone();
    let runner =
        CommandRunner::new(&target, move |name| if name == "PLACE" { Some(here.clone()) } else { env(name) });
    let runner = runner.expect("a runner");
    let pwd = operation(binding(&["pwd"]));
    let answer = run(&runner, &pwd, &json!({})).await.expect("an answer").data.into_value();
    assert_eq!(answer, json!(path));

    drop(folder);
    let error = run(&runner, &pwd, &json!({})).await.expect_err("gone");
    assert_eq!(error.code, Code::Internal);
    assert!(error.message.contains("working directory") && !error.message.contains(&path), "{error}");
}

#[test]
fn a_runner_says_what_is_missing_before_the_first_call() {
    let with_cwd = |cwd: &str| {
        CommandRunner::new(&CommandTarget { cwd: Some(cwd.into()), ..target() }, env).expect_err(cwd)
    };
    assert_eq!(with_cwd("${env:NOT_SET}/x"), CommandSetupError::MissingVariable { name: "NOT_SET".into() });
    assert!(matches!(with_cwd("/does/not/exist"), CommandSetupError::MissingDirectory { .. }));
    let mut target = target();
    target.set_env.insert("A=B".into(), "x".into());
    assert!(matches!(CommandRunner::new(&target, env), Err(CommandSetupError::BadVariable { .. })));
}

#[test]
fn debug_output_shows_no_values_of_variables() {
    let mut target = target();
    target.env = vec!["API_TOKEN".into()];
    let shown = format!("{:?}", runner(&target));
    assert!(shown.contains("API_TOKEN") && !shown.contains("token-from-operator"), "{shown}");
}

#[tokio::test]
async fn standard_input_is_closed_or_has_what_the_operation_declares() {
    let cat = |stdin| CommandBinding { stdin, output: Output::Text, ..binding(&["cat"]) };
    assert_eq!(ok(cat(Stdin::Closed), json!({"a": "x"})).await, json!(""));
    assert_eq!(ok(cat(Stdin::Param("a".into())), json!({"a": "raw \"text\""})).await, json!("raw \"text\""));
    assert_eq!(ok(cat(Stdin::Param("a".into())), json!({"a": {"k": 1}})).await, json!(r#"{"k":1}"#));
    assert_eq!(ok(cat(Stdin::Param("gone".into())), json!({})).await, json!(""));
    let mut echo = operation(CommandBinding { output: Output::Json, ..cat(Stdin::Params) });
    echo.params = vec![param("a", "aWire", false)];
    let args = json!({"a": [1], "b": "x"});
    let answer = run(&runner(&target()), &echo, &args).await.expect("an answer");
    assert_eq!(answer.data.into_value(), json!({"aWire": [1], "b": "x"}));
}

#[tokio::test]
async fn a_program_may_ignore_a_large_input_or_answer_while_it_is_fed() {
    let large = "x".repeat(900_000);
    let input = |argv: &[&str]| CommandBinding { stdin: Stdin::Param("a".into()), ..binding(argv) };
    assert_eq!(ok(input(&["echo", "done"]), json!({"a": large})).await, json!("done"));
    assert_eq!(ok(input(&["cat"]), json!({"a": large})).await, json!(large));
}

#[tokio::test]
async fn output_is_read_as_declared() {
    let print = |output, text: &str| CommandBinding { output, ..binding(&["printf", text]) };
    assert_eq!(ok(print(Output::Json, r#"[{"a":1}]"#), json!({})).await, json!([{"a": 1}]));
    assert_eq!(ok(print(Output::JsonLines, "1\\n2\\n"), json!({})).await, json!([1, 2]));
    assert_eq!(ok(print(Output::Lines, "a\\nb\\n"), json!({})).await, json!(["a", "b"]));
    assert_eq!(err(print(Output::Json, "oops"), json!({})).await.code, Code::Internal);
}

#[tokio::test]
async fn an_exit_status_has_the_declared_meaning() {
    let exit = |number: i32| {
        let mut binding =
            script(&format!("echo out; echo 'first' >&2; echo 'the reason' >&2; exit {number}"));
        binding.exit.insert(1, ExitMeaning::Success);
        binding.exit.insert(2, ExitMeaning::Error(Code::NotFoundResource));
        binding
    };
    assert_eq!(ok(exit(0), json!({})).await, json!("out"));
    assert_eq!(ok(exit(1), json!({})).await, json!("out"));
    for (number, code) in [(2, Code::NotFoundResource), (3, Code::Internal)] {
        let error = err(exit(number), json!({})).await;
        assert_eq!(error.code, code);
        assert_eq!(error.message, format!("sh failed with exit status {number}: the reason"));
        assert_eq!(error.details["exit_status"], json!(number));
        assert_eq!(error.details["stderr"], json!("first\nthe reason"));
    }
    let error = err(script("kill -9 $$"), json!({})).await;
    assert_eq!((error.code, &error.details["signal"]), (Code::Internal, &json!(9)));
}

#[tokio::test]
async fn errors_hide_sensitive_values_secrets_of_the_operator_and_paths() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut target = target();
    target.env = vec!["API_TOKEN".into()];
    target.cwd = folder.path().to_str().map(str::to_owned);
    let words = "echo \"$1 $API_TOKEN $HOME $2/file\" >&2; exit 1";
    let mut echo_all = operation(binding(&["sh", "-c", words, "sh", "{password}", "{place}"]));
    echo_all.params = vec![param("password", "password", true)];
    let args = json!({"password": "hunter2", "place": target.cwd});
    let error = run(&runner(&target), &echo_all, &args).await.expect_err("a failure");
    assert_eq!(error.details["stderr"], json!("*** [redacted] ~ ./file"));
    assert!(!format!("{error:?}").contains("hunter2"), "{error:?}");
}

#[tokio::test]
async fn only_the_end_of_standard_error_is_kept() {
    let error = err(script("yes noise | head -c 100000 >&2; echo end >&2; exit 1"), json!({})).await;
    let stderr = error.details["stderr"].as_str().expect("text");
    assert!(stderr.ends_with("end") && stderr.len() <= 2048, "{}", stderr.len());
}

#[tokio::test]
async fn a_missing_program_is_named() {
    let error = err(binding(&["/opt/nowhere/no-such-program"]), json!({})).await;
    assert_eq!(error.code, Code::Internal);
    assert!(error.message.contains("'no-such-program'") && error.message.contains("install"), "{error}");
    assert!(!error.message.contains("/opt"), "{error}");
}

#[tokio::test]
async fn too_much_output_stops_the_program() {
    let mut target = target();
    target.max_output_bytes = 1000;
    let watch = Watch::new();
    let endless = script(&format!("exec 9>{}; echo ready >&9; yes", watch.path()));
    let events = watch.follow();
    let error = call(&target, endless, json!({})).await.expect_err("a failure");
    assert_eq!((error.code, &error.details["limit_value"]), (Code::PayloadTooLarge, &json!(1000)));
    events.until_all_gone().await;
    let exact = call(&target, binding(&["printf", "%01000d", "0"]), json!({})).await.expect("an answer");
    assert_eq!(exact.data.into_value().as_str().map(str::len), Some(1000));
}

#[tokio::test]
async fn a_program_that_takes_too_long_is_stopped_with_its_children() {
    let watch = Watch::new();
    let slow = CommandBinding { timeout_ms: Some(200), ..script(&watch.family()) };
    let events = watch.follow();
    let error = err(slow, json!({})).await;
    assert_eq!(error.code, Code::TransportTimeout);
    events.until_all_gone().await;
}

#[tokio::test]
async fn a_cancelled_call_ends_its_process_and_its_children() {
    for stubborn in ["", "trap '' TERM; "] {
        let watch = Watch::new();
        let run = script(&format!("{stubborn}{}", watch.family()));
        let mut events = watch.follow();
        let task = tokio::spawn(async move { call(&target(), run, json!({})).await });
        events.until_ready().await;
        task.abort();
        assert!(task.await.expect_err("no answer").is_cancelled());
        events.until_all_gone().await;
    }
}

#[test]
fn a_runtime_that_stops_leaves_no_process_behind() {
    let watch = Watch::new();
    let run = script(&format!("trap '' TERM; {}", watch.family()));
    let mut events = watch.follow();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.spawn(async move { call(&target(), run, json!({})).await });
    let other = tokio::runtime::Runtime::new().expect("a runtime");
    other.block_on(events.until_ready());
    drop(runtime);
    other.block_on(events.until_all_gone());
}

#[tokio::test]
async fn a_child_that_holds_the_output_open_does_not_delay_the_call() {
    let watch = Watch::new();
    let run = script(&format!("exec 9>{}; echo ready >&9; echo answer; sleep 600 & exit 0", watch.path()));
    let events = watch.follow();
    let answer = call(&target(), run, json!({})).await.expect("an answer");
    assert_eq!(answer.warnings[0].code, "OUTPUT_HELD_OPEN");
    assert_eq!(answer.data.into_value(), json!("answer"));
    events.until_all_gone().await;
}

#[tokio::test]
async fn a_call_leaves_no_zombie() {
    let pid = ok(script("echo $$"), json!({})).await;
    let pid: i32 = pid.as_str().expect("a number").parse().expect("a number");
    let pid = rustix::process::Pid::from_raw(pid).expect("a process number");
    // A zombie would still have its process id.
    assert!(rustix::process::test_kill_process(pid).is_err());
}

#[tokio::test]
async fn git_answers_about_a_real_repository() {
    if Command::new("git").arg("--version").output().is_err() {
        eprintln!("skipped: git is not installed");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let git = |args: &[&str]| {
        let mut command = Command::new("git");
        command
            .args(["-c", "user.name=A", "-c", "user.email=a@example.com"])
            .args(args)
            .current_dir(folder.path());
        assert!(command.output().expect("git").status.success(), "{args:?}");
    };
    git(&["init", "-q"]);
    git(&["commit", "-q", "--allow-empty", "-m", "First; $(whoami)"]);
    let target = CommandTarget { cwd: folder.path().to_str().map(str::to_owned), ..target() };
    let log = || CommandBinding { output: Output::Lines, ..binding(&["git", "log", "--format=%s", "{rev}"]) };
    let answer = call(&target, log(), json!({"rev": "HEAD"})).await.expect("an answer").data.into_value();
    assert_eq!(answer, json!(["First; $(whoami)"]));
    let error = call(&target, log(), json!({"rev": "nowhere"})).await.expect_err("no such revision");
    assert_eq!(error.details["exit_status"], json!(128));
    let error = call(&target, log(), json!({"rev": "--output=stolen"})).await.expect_err("an option");
    assert_eq!(error.code, Code::InvalidValue);
    assert!(!Path::new(&folder.path().join("stolen")).exists());
}

/// Reports when processes have ended: they hold a named pipe open, and its reader sees the end when the last one
/// ends.
pub(crate) struct Watch {
    folder: tempfile::TempDir,
}

impl Watch {
    pub(crate) fn new() -> Watch {
        let folder = tempfile::tempdir().expect("a folder");
        let made = Command::new("mkfifo").arg(folder.path().join("pipe")).status().expect("mkfifo");
        assert!(made.success());
        Watch { folder }
    }

    pub(crate) fn path(&self) -> String {
        self.folder.path().join("pipe").to_str().expect("text").to_owned()
    }

    /// A script whose shell and grandchild hold the pipe and never end.
    fn family(&self) -> String {
        format!("exec 9>{}; sh -c 'sleep 600; true' & sleep 600 & echo ready >&9; wait", self.path())
    }

    pub(crate) fn follow(self) -> WatchEvents {
        let (ready, on_ready) = tokio::sync::oneshot::channel();
        let (gone, on_gone) = tokio::sync::oneshot::channel();
        std::thread::spawn(move || {
            let mut pipe = BufReader::new(std::fs::File::open(self.path()).expect("the pipe"));
            let mut line = String::new();
            pipe.read_line(&mut line).expect("a line");
            let _ = ready.send(line);
            pipe.read_to_end(&mut Vec::new()).expect("the end");
            let _ = gone.send(());
        });
        WatchEvents { on_ready, on_gone }
    }
}

pub(crate) struct WatchEvents {
    on_ready: tokio::sync::oneshot::Receiver<String>,
    on_gone: tokio::sync::oneshot::Receiver<()>,
}

impl WatchEvents {
    pub(crate) async fn until_ready(&mut self) {
        assert_eq!((&mut self.on_ready).await.as_deref(), Ok("ready\n"));
    }

    pub(crate) async fn until_all_gone(self) {
        // Much longer than any grace period; only a process that was never ended reaches it.
        let limit = std::time::Duration::from_secs(60);
        tokio::time::timeout(limit, self.on_gone).await.expect("all processes end").expect("the watch");
    }
}

#[tokio::test]
async fn errors_on_standard_output_are_reported() {
    let error = err(script("echo nothing to commit; exit 1"), json!({})).await;
    assert_eq!(error.message, "sh failed with exit status 1: nothing to commit");
    assert_eq!(error.details["stdout"], json!("nothing to commit"));
    let error = err(script("echo half an answer; echo broken >&2; exit 1"), json!({})).await;
    assert_eq!(error.message, "sh failed with exit status 1: broken", "standard error comes first");
}
