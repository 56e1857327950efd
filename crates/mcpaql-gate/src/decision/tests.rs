mod cases;
mod properties;

use super::*;
use mcpaql_lexicon::Category;
use serde_json::{Map, Value, json};
use std::cell::RefCell;

/// A state with one answer to every question, which remembers what it was asked.
#[derive(Default)]
struct FixedHistory {
    used: Option<u64>,
    succeeded: Option<bool>,
    asked: RefCell<Needs>,
}

impl FixedHistory {
    fn new(used: Option<u64>, succeeded: Option<bool>) -> FixedHistory {
        FixedHistory { used, succeeded, asked: RefCell::default() }
    }
}

impl History for FixedHistory {
    fn used(&self, key: &CounterKey) -> Option<Usage> {
        self.asked.borrow_mut().counters.push(key.clone());
        self.used.map(|used| Usage { used, resets_in_seconds: 30 })
    }

    fn succeeded(&self, key: &SuccessKey) -> Option<bool> {
        self.asked.borrow_mut().successes.push(key.clone());
        self.succeeded
    }
}

fn config(value: &Value) -> GateConfig {
    let (config, problems) = GateConfig::load(value);
    assert_eq!(problems, [], "{value}");
    config
}

/// A call of `shop.refund_order`, with parameters.
fn call<'a>(danger: Danger, args: &'a Map<String, Value>) -> GatedCall<'a> {
    GatedCall {
        adapter: "shop",
        endpoint: "execute",
        category: Category::Execute,
        operation: "refund_order",
        tags: &[],
        danger,
        needs_confirmation: false,
        caller: "alice",
        args,
        continued_quotas: &[],
    }
}
