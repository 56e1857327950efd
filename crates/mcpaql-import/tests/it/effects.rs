//! Traps for the classifier: writes that look like reads, and reads that look like writes.
//!
//! Half of the traps were written and kept aside while the classifier was tuned with the other half. The limits are the
//! measured numbers: they may fall, but not rise.

use mcpaql_core::evidence;
use mcpaql_lexicon::Category;
use mcpaql_lexicon::classify::{Evidence, ToolAnnotations, classify};
use serde_json::Value;

/// Returns whether a tool is served as a read.
fn reads(tool: &Value, with_annotations: bool) -> bool {
    let text = |key: &str| tool[key].as_str().unwrap_or_default();
    let read_only = tool["annotations"]["readOnlyHint"].as_bool().filter(|_| with_annotations);
    let (params, answer) =
        (evidence::of_schema(tool.get("inputSchema")), evidence::of_schema(tool.get("outputSchema")));
    let decision = classify(&Evidence {
        name: text("name"),
        description: text("description"),
        params: &params,
        answer: &answer,
        annotations: ToolAnnotations { read_only, ..ToolAnnotations::default() },
        ..Evidence::default()
    });
    assert!(
        decision.served_category() == Category::Read || !decision.reasons.is_empty(),
        "every decision has a reason: {}",
        text("name")
    );
    decision.served_category() == Category::Read
}

/// A set of traps with its limits: (tuned with, with annotations) → at most this many writes as READ, and reads not as
/// READ.
struct TrapSet {
    json: &'static str,
    tools: usize,
    writes: usize,
    limits: [(bool, bool, usize, usize); 4],
}

const TRAP_SETS: [TrapSet; 4] = [
    TrapSet {
        json: include_str!("../fixtures/effects.json"),
        tools: 320,
        writes: 160,
        limits: [(true, false, 7, 13), (true, true, 7, 10), (false, false, 13, 30), (false, true, 15, 26)],
    },
    TrapSet {
        json: include_str!("../fixtures/effects_2.json"),
        tools: 223,
        writes: 111,
        limits: [(true, false, 3, 4), (true, true, 5, 3), (false, false, 9, 7), (false, true, 11, 5)],
    },
    TrapSet {
        json: include_str!("../fixtures/effects_3.json"),
        tools: 161,
        writes: 82,
        limits: [(true, false, 6, 16), (true, true, 6, 9), (false, false, 4, 1), (false, true, 5, 1)],
    },
    TrapSet {
        json: include_str!("../fixtures/effects_4.json"),
        tools: 150,
        writes: 75,
        limits: [(true, false, 1, 0), (true, true, 1, 0), (false, false, 8, 9), (false, true, 8, 9)],
    },
];

#[test]
fn traps_are_judged_as_well_as_before() {
    for set in TRAP_SETS {
        let tools: Vec<Value> = serde_json::from_str(set.json).unwrap();
        let writes = tools.iter().filter(|tool| tool["read"] == false).count();
        assert_eq!((tools.len(), writes), (set.tools, set.writes));
        for (tuned, with_annotations, writes_as_read, missed_reads) in set.limits {
            let half = || tools.iter().filter(|tool| tool["tuned"] == tuned);
            let count = |read: bool| {
                half().filter(|tool| tool["read"] == read && reads(tool, with_annotations) != read).count()
            };
            let (wrong, missed) = (count(false), count(true));
            assert!(
                wrong <= writes_as_read && missed <= missed_reads,
                "{} {tuned} {with_annotations}: {wrong} {missed}",
                set.tools
            );
        }
    }
}
