//! Tests of decisions through dispatch: danger and trust, tokens, persons, rules, pauses.

use super::*;
use crate::caller::{Ability, AskError, Caller, CallerName, ClientConnection, EntryPoint};
use crate::dispatch::ServedAdapter;
use crate::operator::Clock;
use crate::protocol::LogFilter;
use crate::target::{Args, Target, TargetCall};
use futures_util::future::{BoxFuture, join_all};
use mcpaql_core::catalog::AdapterSettings;
use mcpaql_core::error::Code;
use mcpaql_core::gate::decision::{UnknownHistory, decide};
use mcpaql_core::operation::Danger;
use mcpaql_core::response::Answer;
use mcpaql_document::check;
use mcpaql_document::source::Source;
use serde_json::{Value, json};
use std::cell::RefCell;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};

thread_local! {
    /// The decisions on this thread since the last call of `decided`.
    static DECIDED: RefCell<Vec<EntryPoint>> = const { RefCell::new(Vec::new()) };
}

pub(super) fn record(entry: EntryPoint) {
    DECIDED.with_borrow_mut(|decided| decided.push(entry));
}

/// Takes the decisions on this thread since the last call.
pub(crate) fn decided() -> Vec<EntryPoint> {
    DECIDED.with_borrow_mut(std::mem::take)
}

/// Counts the calls that reach it.
#[derive(Debug, Default)]
struct Counting(AtomicUsize);

impl Target for Counting {
    fn perform<'a>(&'a self, _: TargetCall<'a>) -> BoxFuture<'a, Result<Answer, OpError>> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Box::pin(async { Ok(Answer::new(json!("done"))) })
    }
}

/// An adapter with an operation of each level of danger.
struct Shop {
    served: ServedAdapter,
    target: Arc<Counting>,
    gate: Gate,
}

const OPERATIONS: [(&str, Danger); 5] = [
    ("get_book", Danger::Safe),
    ("create_book", Danger::Reversible),
    ("delete_book", Danger::Destructive),
    ("purge_books", Danger::Dangerous),
    ("wipe_books", Danger::Forbidden),
];

fn document(trust: Option<&str>) -> Value {
    let params = json!({"id": {"type": "integer"}, "pin_code": {"type": "string", "sensitive": true}});
    let mut document = json!({
        "name": "shop", "type": "adapter", "version": "1.0.0", "description": "Books.",
        "target": {"transport": "native", "protocol": "code"},
        "operations": {
            "read": [{"name": "get_book", "params": params}],
            "create": [{"name": "create_book", "params": params}],
            "update": [{"name": "update_book", "params": params, "requires_confirmation": true}],
            "delete": [
                {"name": "delete_book", "params": params, "danger": {"level": "safe", "reasons": ["readers may miss it"]}},
                {"name": "purge_books"}, {"name": "wipe_books"},
            ],
        },
    });
    if let Some(trust) = trust {
        document["trust"] = trust.into();
    }
    document
}

impl Shop {
    fn new(gate: Gate, trust: Option<&str>) -> Shop {
        let source = Source::new("shop.json", document(trust).to_string());
        let checked = check::check(&source, &AdapterSettings::default());
        let catalog = checked.catalog.unwrap_or_else(|| panic!("{:?}", checked.diagnostics));
        let target = Arc::new(Counting::default());
        let served = ServedAdapter::new(catalog, Arc::clone(&target) as _, "shop.json").with_gate(&gate);
        Shop { served, target, gate }
    }

    fn with_config(config: Value) -> Shop {
        let (config, problems) = GateConfig::load(&config);
        assert!(problems.is_empty(), "{problems:?}");
        let mut options = GateOptions::new(OperatorState::in_memory());
        options.config = config;
        Shop::new(Gate::new(options), None)
    }

    async fn call_as(&self, caller: &Caller, operation: &str, params: Value) -> Result<Value, OpError> {
        let params: Args = params.as_object().cloned().unwrap();
        let answer = self.served.call_operation(operation, params, caller).await?;
        Ok(answer.data.into_value())
    }

    async fn call(&self, operation: &str, params: Value) -> Result<Value, OpError> {
        self.call_as(&Caller::nobody(), operation, params).await
    }

    /// Returns the code of a refused call.
    async fn code(&self, operation: &str, params: Value) -> Code {
        self.call(operation, params).await.unwrap_err().code
    }

    fn reached(&self) -> usize {
        self.target.0.load(Ordering::Relaxed)
    }

    async fn token(&self, operation: &str, params: Value) -> String {
        let error = self.call(operation, params).await.unwrap_err();
        assert_eq!(error.code, Code::ConfirmationRequired, "{error:?}");
        error.details["confirmation_token"].as_str().unwrap().to_owned()
    }
}

fn named(name: &str) -> Caller {
    Caller::nobody().named(CallerName::new(name).unwrap())
}

/// A client with this name that answers every question in the same way, and keeps the questions.
struct AnsweringClient {
    name: &'static str,
    answer: Value,
    asked: Mutex<Vec<(Ability, Value)>>,
}

impl ClientConnection for AnsweringClient {
    fn is_able(&self, _: Ability) -> bool {
        true
    }

    fn ask(&self, ability: Ability, params: Value) -> BoxFuture<'_, Result<Value, AskError>> {
        self.asked.lock().unwrap().push((ability, params));
        let answer = self.answer.clone();
        Box::pin(async { Ok(answer) })
    }

    fn notify(&self, _: &str, _: Value) -> BoxFuture<'_, ()> {
        Box::pin(async {})
    }

    fn log_filter(&self) -> LogFilter {
        LogFilter::default()
    }

    fn name(&self) -> Option<String> {
        Some(self.name.to_owned())
    }

    fn is_same(&self, _: &dyn ClientConnection) -> bool {
        false
    }
}

/// Calls a dangerous operation through a client, and returns the outcome with the client's questions.
async fn ask_client(
    name: &'static str,
    answer: Value,
    page: bool,
) -> (Result<Value, Code>, Vec<(Ability, Value)>) {
    let mut options = GateOptions::new(OperatorState::in_memory());
    options.config = GateConfig::load(&json!({"form_clients": ["listed-*"]})).0;
    options.approval_page =
        page.then(|| ApprovalPageAddress::new(|| Some("http://127.0.0.1:7777".to_owned())));
    let gate = Gate::new(options);
    gate.set_trust("shop", TrustLevel::CommunityReviewed);
    let client = Arc::new(AnsweringClient { name, answer, asked: Mutex::default() });
    let (caller, _progress) = Caller::for_client(Arc::clone(&client) as _, None, None);
    let outcome = Shop::new(gate, None).call_as(&caller, "purge_books", json!({})).await;
    let asked = std::mem::take(&mut *client.asked.lock().unwrap());
    (outcome.map_err(|error| error.code), asked)
}

#[tokio::test(start_paused = true)]
async fn a_form_counts_only_for_clients_that_the_operator_lists() {
    let yes = json!({"action": "accept", "content": {"approve": true}});
    let (outcome, asked) = ask_client("listed-client", yes.clone(), false).await;
    assert_eq!(outcome.unwrap(), "done");
    assert_eq!(asked[0].0, Ability::Elicitation);
    assert!(asked[0].1["message"].as_str().unwrap().contains("purge_books"));
    let (outcome, asked) = ask_client("other-client", yes, false).await;
    assert_eq!((outcome, asked.len()), (Err(Code::ConfirmationRequired), 0));
    for no in [json!({"action": "decline"}), json!({"action": "accept", "content": {"approve": false}})] {
        assert_eq!(ask_client("listed-client", no, false).await.0, Err(Code::PermissionDenied));
    }
    for unclear in [json!({"action": "cancel"}), json!({}), json!({"action": "accept"})] {
        let code = ask_client("listed-client", unclear.clone(), false).await.0.unwrap_err();
        let expected =
            if unclear["action"] == "accept" { Code::PermissionDenied } else { Code::ConfirmationRequired };
        assert_eq!(code, expected, "{unclear}");
    }
}

#[tokio::test(start_paused = true)]
async fn other_clients_get_the_address_of_the_page_and_their_answer_approves_nothing() {
    let (outcome, asked) = ask_client("other-client", json!({"action": "accept"}), true).await;
    assert_eq!(outcome, Err(Code::ConfirmationRequired));
    assert_eq!((asked.len(), asked[0].0), (1, Ability::UrlElicitation));
    assert_eq!(asked[0].1["mode"], "url");
    assert!(asked[0].1["url"].as_str().unwrap().starts_with("http://127.0.0.1:7777/approvals/"));
}

#[tokio::test]
async fn each_cell_of_the_table_decides_what_reaches_the_target() {
    for trust in TrustLevel::ALL {
        let gate = Gate::in_memory();
        gate.set_trust("shop", trust);
        gate.set_config(GateConfig::load(&json!({"confirm": {"wait_seconds": 0}})).0);
        let shop = Shop::new(gate, None);
        assert!(shop.call("introspect", json!({})).await.is_ok(), "{trust:?}");
        for (operation, danger) in OPERATIONS {
            let before = shop.reached();
            let outcome = shop.call(operation, json!({})).await.map_err(|error| error.code);
            let expected = match mcpaql_core::gate::trust::matrix(danger, trust) {
                mcpaql_core::gate::trust::Verdict::Allow => Ok(json!("done")),
                mcpaql_core::gate::trust::Verdict::Confirm if danger >= Danger::Dangerous => {
                    // A person is asked, and does not answer in this test.
                    Err(Code::ConfirmationRequired)
                }
                mcpaql_core::gate::trust::Verdict::Confirm => Err(Code::ConfirmationRequired),
                mcpaql_core::gate::trust::Verdict::Deny if trust <= TrustLevel::Generated => {
                    Err(Code::PermissionTrust)
                }
                mcpaql_core::gate::trust::Verdict::Deny => Err(Code::PermissionDanger),
            };
            assert_eq!(outcome, expected, "{operation} {trust:?}");
            assert_eq!(shop.reached() - before, usize::from(expected.is_ok()), "{operation} {trust:?}");
        }
    }
}

#[tokio::test]
async fn a_document_can_only_lower_its_trust_and_raise_its_danger() {
    let shop = Shop::new(Gate::in_memory(), Some("generated"));
    assert_eq!(shop.code("create_book", json!({})).await, Code::PermissionTrust);
    assert_eq!(shop.call("get_book", json!({})).await.unwrap(), "done");
    let shop = Shop::new(Gate::in_memory(), Some("certified"));
    // The document says that deleting is safe.
    let error = shop.call("delete_book", json!({"id": 1})).await.unwrap_err();
    assert_eq!(error.code, Code::ConfirmationRequired);
    assert_eq!(error.details["danger_level"], "destructive");
    assert_eq!(error.details["reasons"], json!(["delete_book is destructive", "readers may miss it"]));
    assert_eq!(shop.code("update_book", json!({})).await, Code::ConfirmationRequired);
    assert_eq!(shop.reached(), 0);
}

#[tokio::test]
async fn a_token_lets_exactly_the_confirmed_call_through_once() {
    let shop = Shop::new(Gate::in_memory(), None);
    let token = shop.token("delete_book", json!({"id": 1})).await;
    assert!(token.starts_with("conf_") && token.len() == 48, "{token}");
    let with = |token: &str, id: i64| json!({"id": id, "confirmation_token": token});
    assert_eq!(shop.code("delete_book", with(&token, 2)).await, Code::TokenScopeMismatch);
    assert_eq!(shop.code("update_book", with(&token, 1)).await, Code::TokenScopeMismatch);
    let other = shop.call_as(&named("bob"), "delete_book", with(&token, 1)).await.unwrap_err();
    assert_eq!(other.code, Code::TokenScopeMismatch);
    assert_eq!(shop.code("delete_book", with("conf_wrong", 1)).await, Code::TokenInvalid);
    assert_eq!(shop.reached(), 0);
    assert_eq!(shop.call("delete_book", json!({"id": 1, "_confirmation": token})).await.unwrap(), "done");
    assert_eq!(shop.code("delete_book", with(&token, 1)).await, Code::TokenAlreadyUsed);
    assert_eq!(shop.reached(), 1);
}

#[tokio::test]
async fn of_many_calls_with_one_token_one_runs() {
    let shop = Shop::new(Gate::in_memory(), None);
    let token = shop.token("delete_book", json!({"id": 1})).await;
    let calls = (0..64).map(|_| shop.call("delete_book", json!({"id": 1, "confirmation_token": token})));
    let outcomes = join_all(calls).await;
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1);
    assert_eq!(shop.reached(), 1);
}

#[tokio::test]
async fn a_token_expires_even_if_the_clock_is_set_back() {
    let now = Arc::new(AtomicI64::new(1_800_000_000_000));
    let clock = Clock::new({
        let now = Arc::clone(&now);
        move || now.load(Ordering::SeqCst)
    });
    let state = OperatorState::open_with_clock(None, clock).await.unwrap();
    let shop = Shop::new(Gate::new(GateOptions::new(state)), None);
    let token = shop.token("delete_book", json!({})).await;
    now.fetch_add(301_000, Ordering::SeqCst);
    assert_eq!(shop.code("delete_book", json!({"confirmation_token": token})).await, Code::TokenExpired);
    now.fetch_sub(301_000, Ordering::SeqCst);
    assert_eq!(shop.code("delete_book", json!({"confirmation_token": token})).await, Code::TokenExpired);
    assert_eq!(shop.reached(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_person_approves_a_dangerous_call_and_no_token_reaches_the_model() {
    let gate = Gate::in_memory();
    gate.set_trust("shop", TrustLevel::CommunityReviewed);
    let shop = Shop::new(gate.clone(), None);
    let error = shop.call("purge_books", json!({})).await.unwrap_err();
    assert_eq!(error.code, Code::ConfirmationRequired);
    assert!(error.details.get("confirmation_token").is_none(), "{error:?}");
    let id = error.details["approval_id"].as_str().unwrap();
    let open = gate.state().pending(None).await.unwrap();
    assert_eq!((open.len(), open[0].id.as_str()), (1, id));
    assert_eq!(open[0].request["operation"], "purge_books");
    // An agent that sends the id, or any other text, approves nothing.
    for claim in [id, "conf_", "true"] {
        assert_eq!(
            shop.code("purge_books", json!({"confirmation_token": claim})).await,
            Code::ConfirmationRequired
        );
    }
    gate.state().decide(id, true, "ann").await.unwrap();
    assert_eq!(shop.call("purge_books", json!({})).await.unwrap(), "done");
    assert_eq!(shop.code("purge_books", json!({})).await, Code::ConfirmationRequired);
    let again = gate.state().pending(None).await.unwrap();
    gate.state().decide(&again[0].id, false, "ann").await.unwrap();
    assert_eq!(shop.code("purge_books", json!({})).await, Code::PermissionDenied);
    assert_eq!(shop.reached(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_waiting_call_continues_when_a_person_approves_it() {
    let gate = Gate::in_memory();
    gate.set_trust("shop", TrustLevel::CommunityReviewed);
    let shop = Shop::new(gate.clone(), None);
    let approve = async {
        loop {
            if let [open] = gate.state().pending(None).await.unwrap().as_slice() {
                gate.state().decide(&open.id, true, "ann").await.unwrap();
                break;
            }
            tokio::task::yield_now().await;
        }
    };
    let (outcome, ()) = tokio::join!(shop.call("purge_books", json!({})), approve);
    assert_eq!(outcome.unwrap(), "done");
}

#[tokio::test]
async fn secrets_are_not_shown_to_the_person_who_approves() {
    let config = json!({"rules": [{"match": {"operation": "create_book"}, "decision": "confirm", "confirm": "person"}], "confirm": {"wait_seconds": 0}});
    let shop = Shop::with_config(config);
    assert_eq!(
        shop.code("create_book", json!({"id": 5, "pin_code": "s3cret-pin"})).await,
        Code::ConfirmationRequired
    );
    let open = shop.gate.state().pending(None).await.unwrap();
    assert_eq!(open[0].request["params"]["id"], 5);
    assert!(!format!("{open:?}").contains("s3cret-pin"));
}

#[tokio::test]
async fn rules_tighten_and_loosen_the_table() {
    let shop = Shop::with_config(json!({"rules": [
        {"name": "drafts", "match": {"operation": "delete_book", "params": {"id": {"lt": 10}}}, "decision": "allow"},
        {"name": "no-nine", "match": {"params": {"id": 9}}, "decision": "deny", "reason": "Nine stays"},
        {"match": {"operation": "create_book"}, "at_most": {"calls": 2, "per": "hour"}},
        {"match": {"operation": "wipe_books"}, "decision": "allow", "after": {"operation": "get_book", "within": "5m"}},
    ]}));
    assert_eq!(shop.call("delete_book", json!({"id": 3})).await.unwrap(), "done");
    assert_eq!(shop.code("delete_book", json!({"id": 30})).await, Code::ConfirmationRequired);
    assert_eq!(shop.code("delete_book", json!({"id": 9})).await, Code::PermissionDenied);
    for _ in 0..2 {
        assert_eq!(shop.call("create_book", json!({})).await.unwrap(), "done");
    }
    let error = shop.call("create_book", json!({})).await.unwrap_err();
    assert_eq!(error.code, Code::RateLimitExceeded);
    assert!(error.details["retry_after_seconds"].as_u64().unwrap() > 0);
    assert!(shop.call("wipe_books", json!({})).await.is_err());
    assert_eq!(shop.call("get_book", json!({})).await.unwrap(), "done");
    assert_eq!(shop.call("wipe_books", json!({})).await.unwrap(), "done");
    // The success belongs to the caller who made the call.
    assert!(shop.call_as(&named("bob"), "wipe_books", json!({})).await.is_err());
}

#[tokio::test]
async fn a_dry_run_tells_the_decision_and_leaves_no_trace() {
    let config =
        json!({"rules": [{"match": {"operation": "create_book"}, "at_most": {"calls": 1, "per": "hour"}}]});
    let shop = Shop::with_config(config);
    for _ in 0..3 {
        let shown = shop.call("create_book", json!({"dry_run": true})).await.unwrap();
        assert_eq!(shown["decision"], "allow");
        let shown = shop.call("delete_book", json!({"dry_run": true})).await.unwrap();
        assert_eq!(shown["decision"], "confirm");
        assert!(!shown.to_string().contains("conf_"), "{shown}");
    }
    assert_eq!(shop.call("create_book", json!({})).await.unwrap(), "done");
}

#[tokio::test]
async fn a_pause_stops_calls_until_it_ends_and_may_spare_reads() {
    let shop = Shop::new(Gate::in_memory(), None);
    let state = shop.gate.state().clone();
    assert_eq!(shop.call("get_book", json!({})).await.unwrap(), "done");
    state.pause(Some("shop"), true, "ann").await.unwrap();
    assert_eq!(shop.code("create_book", json!({})).await, Code::PermissionDenied);
    assert_eq!(shop.call("get_book", json!({})).await.unwrap(), "done");
    state.pause(None, false, "ann").await.unwrap();
    assert_eq!(shop.code("get_book", json!({})).await, Code::PermissionDenied);
    assert!(shop.call("introspect", json!({})).await.is_ok());
    state.resume(None).await.unwrap();
    state.resume(Some("shop")).await.unwrap();
    assert_eq!(shop.call("create_book", json!({})).await.unwrap(), "done");
}

#[tokio::test]
async fn a_gate_that_only_reads_refuses_everything_else() {
    let mut options = GateOptions::new(OperatorState::in_memory());
    options.is_read_only = true;
    let shop = Shop::new(Gate::new(options), None);
    assert_eq!(shop.call("get_book", json!({})).await.unwrap(), "done");
    for operation in ["create_book", "update_book", "delete_book", "wipe_books"] {
        assert_eq!(shop.code(operation, json!({})).await, Code::PermissionDenied, "{operation}");
    }
    assert_eq!(shop.reached(), 1);
}

#[tokio::test]
async fn messages_to_models_pass_the_leak_check() {
    for trust in TrustLevel::ALL {
        let gate = Gate::in_memory();
        gate.set_trust("shop", trust);
        gate.set_config(GateConfig::load(&json!({"confirm": {"wait_seconds": 0}})).0);
        let shop = Shop::new(gate, None);
        for (operation, _) in OPERATIONS {
            let Err(error) = shop.call(operation, json!({})).await else { continue };
            assert!(!mcpaql_core::error::looks_internal(&error.message), "{}", error.message);
        }
    }
}

#[test]
fn without_a_history_a_limit_denies() {
    let (config, _) = GateConfig::load(&json!({"rules": [{"at_most": {"calls": 5, "per": "day"}}]}));
    let args = Args::new();
    let call = mcpaql_core::gate::call::GatedCall {
        adapter: "shop",
        endpoint: "read",
        category: mcpaql_core::operation::Category::Read,
        operation: "get_book",
        tags: &[],
        danger: Danger::Safe,
        needs_confirmation: false,
        caller: "ann",
        args: &args,
        continued_quotas: &[],
    };
    let decision = decide(&call, TrustLevel::Certified, &config, &UnknownHistory);
    assert_eq!(decision.verdict, mcpaql_core::gate::trust::Verdict::Deny);
}

#[tokio::test]
async fn a_quota_warns_then_asks_then_stops() {
    let quota = json!({"name": "daily", "match": {"operation": "get_book"}, "by": ["caller"], "per": "day", "warn": 1, "pause": 2, "stop": 4});
    let shop = Shop::with_config(json!({"quotas": [quota]}));
    let read = || async {
        let answer = shop.served.call_operation("get_book", Args::new(), &Caller::nobody()).await?;
        Ok::<usize, OpError>(answer.warnings.len())
    };
    assert_eq!(read().await.unwrap(), 0);
    assert_eq!(read().await.unwrap(), 1);
    let paused = read().await.unwrap_err();
    assert_eq!(paused.code, Code::QuotaPause);
    let token = paused.details["confirmation_token"].as_str().unwrap();
    assert!(token.starts_with("quota_continue_"), "{token}");
    // The token of one caller is nothing for another, who has a count of its own.
    assert_eq!(shop.call_as(&named("bob"), "get_book", json!({})).await.unwrap(), "done");
    assert_eq!(shop.call("get_book", json!({"_confirmation": token})).await.unwrap(), "done");
    // The decision holds for the rest of the window.
    assert!(read().await.is_ok());
    assert_eq!(read().await.unwrap_err().code, Code::QuotaExhausted);
    assert_eq!(shop.code("get_book", json!({"_confirmation": token})).await, Code::QuotaExhausted);
}

#[tokio::test]
async fn the_reason_of_a_rule_is_in_the_message() {
    let rule = json!({"match": {"operation": "create_book"}, "decision": "confirm", "reason": "New books cost money"});
    let error = Shop::with_config(json!({"rules": [rule]})).call("create_book", json!({})).await.unwrap_err();
    let expected = "'create_book' needs a confirmation. New books cost money. Ask the user, then send the same call again with confirmation_token in params.";
    assert_eq!(error.message, expected);
}

#[tokio::test]
async fn a_rule_sees_the_fields_inside_the_input_of_an_update() {
    let rule = json!({"match": {"params": {"id": 9}}, "decision": "deny"});
    let shop = Shop::with_config(json!({"rules": [rule, {"decision": "allow"}]}));
    for params in [json!({"id": 9}), json!({"input": {"id": 9}})] {
        let outcome = shop.call("update_book", params.clone()).await;
        assert_ne!(outcome.map_err(|error| error.code), Ok(json!("done")), "{params}");
    }
    assert_eq!(shop.reached(), 0);
}
