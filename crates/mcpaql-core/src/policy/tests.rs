//! Tests of each policy's table, and of policies that a team writes.

use super::*;

const T: Option<bool> = Some(true);
const F: Option<bool> = Some(false);
const U: Option<bool> = None;

fn facts(effect: Effect, repeat: Repeat, reach: Reach) -> Facts {
    let overwrites = matches!(effect, Effect::Update | Effect::Set | Effect::Move);
    Facts { effect, repeat, overwrites, reversible: true, guard: Guard::None, reach }
}

/// Returns the category and facts of each kind of tool in the tables, for a remote system.
fn kind(name: &str) -> (Category, Facts) {
    let (effect, repeat) = match name {
        "read" => (Effect::Read, Repeat::NoEffect),
        "create" => (Effect::Create, Repeat::Accumulates),
        "append" => (Effect::Append, Repeat::Accumulates),
        "patch" => (Effect::Update, Repeat::Unknown),
        "etag update" => (Effect::Update, Repeat::FailsWithoutEffect),
        "put" => (Effect::Set, Repeat::NoEffect),
        "delete" => (Effect::Delete, Repeat::FailsWithoutEffect),
        "run" => (Effect::Execute, Repeat::Unknown),
        "session" => (Effect::Session, Repeat::Accumulates),
        "send" => (Effect::Send, Repeat::Accumulates),
        other => panic!("{other}"),
    };
    let guard = if name == "etag update" { Guard::Etag } else { Guard::None };
    (effect.category(), Facts { guard, ..facts(effect, repeat, Reach::Open) })
}

/// Returns readOnly, destructive, idempotent and openWorld, as a tool of this kind states them.
fn row(policy: &str, name: &str) -> [Option<bool>; 4] {
    let (category, facts) = kind(name);
    let stated = Policy::named(policy).expect("a policy").tool_hints(category, &facts);
    Hint::ALL.map(|hint| stated.get(hint))
}

fn table(policy: &str, rows: &[(&str, [Option<bool>; 4])]) {
    for (name, expected) in rows {
        assert_eq!(row(policy, name), *expected, "{name} under {policy}");
    }
}

#[test]
fn every_policy_of_this_version_is_without_a_problem() {
    let mut reader = crate::reader::DocumentReader::default();
    for name in names() {
        let policy = load::read_builtin(&mut reader, name);
        assert_eq!(policy.name, *name);
        assert!(policy.about.ends_with('.'), "{name}");
        assert_eq!(Policy::named(name), Some(&policy));
    }
    assert_eq!(reader.diagnostics, []);
    assert_eq!(policies().count(), names().len());
    assert_eq!(Policy::named("strict"), None);
}

#[test]
fn a_policy_that_says_nothing_is_the_default() {
    let written = default();
    assert_eq!(written.name, DEFAULT_POLICY);
    assert_eq!(Policy { about: written.about.clone(), ..Policy::default() }, *written);
}

#[test]
fn the_default() {
    table(
        "mcpaql",
        &[
            ("create", [F, F, F, T]),
            ("append", [F, F, F, T]),
            ("read", [T, F, T, T]),
            ("patch", [F, T, F, T]),
            ("etag update", [F, T, F, T]),
            ("put", [F, T, T, T]),
            ("delete", [F, T, T, T]),
            ("run", [F, T, F, T]),
        ],
    );
}

#[test]
fn the_naming_proposal() {
    // readOnly: READ alone. destructive: DELETE and EXECUTE. idempotent: READ, and neither CREATE nor EXECUTE.
    table(
        "mcpaql-issue",
        &[
            ("create", [F, F, F, T]),
            ("read", [T, F, T, T]),
            ("patch", [F, F, F, T]),
            ("put", [F, F, T, T]),
            ("delete", [F, T, T, T]),
            ("run", [F, T, F, T]),
        ],
    );
    let policy = Policy::named("mcpaql-issue").unwrap();
    assert!(policy.title_in_annotations, "the title is an annotation there");
    for category in [Category::Create, Category::Execute] {
        let facts = facts(Effect::of(category), Repeat::NoEffect, Reach::Open);
        assert!(!policy.hints(category, &facts).idempotent, "{category} with any effect");
    }
    for (reach, open) in [(Reach::Open, true), (Reach::Backend, true), (Reach::Process, false)] {
        let facts = facts(Effect::Read, Repeat::NoEffect, reach);
        assert_eq!(policy.hints(Category::Read, &facts).open_world, open);
    }
}

#[test]
fn the_integration_chapter() {
    table(
        "mcpaql-spec",
        &[
            ("read", [T, F, U, U]),
            ("create", [F, F, U, U]),
            ("patch", [F, T, U, U]),
            ("put", [F, T, U, U]),
            ("delete", [F, T, U, U]),
            ("run", [F, T, U, U]),
        ],
    );
    assert!(!Policy::named("mcpaql-spec").unwrap().title_in_annotations);
}

#[test]
fn mcp_itself() {
    table(
        "mcp",
        &[
            ("read", [T, F, T, T]),
            ("create", [F, F, F, T]),
            ("append", [F, F, F, T]),
            ("send", [F, F, F, T]),
            ("patch", [F, T, F, T]),
            ("put", [F, T, T, T]),
            ("etag update", [F, T, T, T]),
            ("delete", [F, T, T, T]),
            ("run", [F, T, F, T]),
        ],
    );
}

#[test]
fn lightdash() {
    table("lightdash", &[("read", [T, U, U, F]), ("create", [F, U, U, F]), ("delete", [F, U, U, F])]);
    assert!(!Policy::named("lightdash").unwrap().title_in_annotations);
}

#[test]
fn nextcloud() {
    table(
        "nextcloud",
        &[
            ("read", [T, U, U, T]),
            ("create", [U, U, F, T]),
            ("append", [U, U, F, T]),
            ("etag update", [U, U, F, T]),
            ("put", [U, U, T, T]),
            ("delete", [U, T, T, T]),
            ("session", [F, U, F, T]),
        ],
    );
    let policy = Policy::named("nextcloud").unwrap();
    assert!(!policy.title_in_annotations);
    let local = facts(Effect::Read, Repeat::NoEffect, Reach::Process);
    assert_eq!(policy.tool_hints(Category::Read, &local).open_world, T, "for a local target, too");
}

#[test]
fn the_meanings_of_idempotent() {
    let meaning = |idempotent: Idempotence| {
        let policy = Policy { idempotent, ..Policy::default() };
        ["create", "patch", "etag update", "put", "delete"].map(|name| {
            let (category, facts) = kind(name);
            policy.hints(category, &facts).idempotent
        })
    };
    assert_eq!(meaning(Idempotence::Effect), [false, false, true, true, true]);
    assert_eq!(meaning(Idempotence::Outcome), [false, false, false, true, true]);
    assert_eq!(meaning(Idempotence::Retry), [false, false, false, true, false]);
    assert_eq!(meaning(Idempotence::Reads), [false, false, false, false, false]);
}

#[test]
fn what_is_left_unsaid_never_sounds_safer_than_it_is() {
    for policy in policies() {
        for name in
            ["read", "create", "append", "patch", "etag update", "put", "delete", "run", "session", "send"]
        {
            let (category, facts) = kind(name);
            let (actual, assumed) =
                (policy.hints(category, &facts), policy.tool_hints(category, &facts).effective());
            assert_eq!(actual.riskier(assumed), assumed, "{name} under {}", policy.name);
        }
    }
}
