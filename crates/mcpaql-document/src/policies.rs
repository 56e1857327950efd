//! Reads files of hint policies.
//!
//! ```
//! use mcpaql_document::{policies, source::Source};
//!
//! let policies = policies::parse(&Source::new("policies.yaml", "ours: {extends: mcp, open_world: never}")).unwrap();
//! assert_eq!(policies[0].name, "ours");
//! ```

use crate::source::Source;
use mcpaql_core::diagnostic::{Diagnostic, Severity};
use mcpaql_core::policy::{Policy, read_all};

/// Reads a file of policies: a mapping from names to policies.
///
/// # Errors
/// Returns all problems of the file with their positions, if one of them is an error.
pub fn parse(source: &Source) -> Result<Vec<Policy>, Vec<Diagnostic>> {
    let parsed = source.parse()?;
    let (policies, mut diagnostics) = read_all(&parsed.value, "");
    diagnostics.extend(parsed.diagnostics);
    if diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error) {
        source.locate(&mut diagnostics);
        return Err(diagnostics);
    }
    Ok(policies)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcpaql_core::facts::{Effect, Facts, Guard, Reach, Repeat};
    use mcpaql_core::operation::Category;
    use mcpaql_core::policy::{Hint, HintOverrides, Idempotence, OpenWorld, find};

    #[test]
    fn a_policy_extends_others() {
        let text = "ours:
  extends: nextcloud
  destructive: {effects: [send]}
  open_world: never
  writes: {read: [readOnlyHint]}
theirs:
  extends: [ours]
  writes: destructiveHint
";
        let found = parse(&Source::new("policies.yaml", text)).unwrap();
        let [ours, theirs] = found.as_slice() else { panic!("{found:?}") };
        let send = Facts {
            effect: Effect::Send,
            repeat: Repeat::Accumulates,
            overwrites: false,
            reversible: true,
            guard: Guard::None,
            reach: Reach::Open,
        };
        let category = Effect::Send.category();
        assert!(ours.hints(category, &send).destructive);
        assert_eq!(ours.destructive_categories, [Category::Delete], "of the base");
        assert_eq!(ours.written_hints(Category::Read), [Hint::ReadOnly].into_iter().collect());
        assert_eq!(
            ours.written_hints(Category::Delete),
            Policy::named("nextcloud").unwrap().written_hints(Category::Delete)
        );
        assert_eq!(theirs.open_world, OpenWorld::Never);
        assert_eq!(
            theirs.tool_hints(category, &send),
            HintOverrides { destructive: Some(true), ..HintOverrides::default() }
        );
        assert_eq!(find("ours", &found), Some(ours));
        assert_eq!(find("mcp", &found), Policy::named("mcp"));
        assert_eq!(find("hers", &found), None);
    }

    #[test]
    fn every_problem_has_a_position() {
        let text = "ours:
  extends: nextclout
  destructive: {categories: [updates], effect: [send]}
  idempotent: always
  never_idempotent: 3
  open_world: reach
  writes: {reads: [readOnlyHint], delete: [destructive]}
  titel: true
mcp: {open_world: never}
loop: {extends: pool}
pool: {extends: loop}
flat: 3
";
        let found = parse(&Source::new("policies.yaml", text)).unwrap_err();
        let pointers: Vec<&str> = found.iter().map(|diagnostic| diagnostic.pointer.as_str()).collect();
        assert_eq!(
            pointers,
            [
                "/ours/extends",
                "/ours/titel",
                "/ours/destructive/effect",
                "/ours/destructive/categories/0",
                "/ours/idempotent",
                "/ours/never_idempotent",
                "/ours/writes/reads",
                "/ours/writes/delete/0",
                "/mcp",
                "/loop/extends",
                "/flat",
            ]
        );
        assert!(found.iter().all(|diagnostic| diagnostic.span.is_some()));
        let helped = |index: usize| found[index].suggestion.as_deref().unwrap_or_default();
        assert_eq!(helped(0), "did you mean `nextcloud`?");
        assert_eq!(helped(3), "did you mean `update`?");
        assert_eq!(helped(8), "choose another name, and add `extends: mcp` to extend it");
        assert_eq!(found[9].message, "The policy 'loop' extends itself");
    }

    #[test]
    fn repeated_bases_cost_no_time_and_a_long_chain_is_refused() {
        let line = |bases: &dyn Fn(usize) -> String| -> String {
            (0..200).map(|index| format!("p{index}: {{extends: {}}}\n", bases(index))).collect()
        };
        let tangled = line(&|index| match index.checked_sub(1) {
            Some(before) => format!("[p{before}, p{before}, mcp]"),
            None => "mcp".into(),
        });
        let found = parse(&Source::new("policies.yaml", tangled)).unwrap();
        assert_eq!(found.last().unwrap().idempotent, Idempotence::Effect);
        let endless = line(&|index| format!("p{}", index + 1));
        let found = parse(&Source::new("policies.yaml", endless)).unwrap_err();
        assert!(found[0].message.ends_with("is too deep in a chain of `extends`"), "{}", found[0].message);
    }
}
