//! The detector on sets of poisoned and innocent texts. Half of each set was never looked at while rules were written.

use super::*;
use proptest::prelude::*;

struct Case {
    kind: &'static str,
    language: &'static str,
    place: &'static str,
    text: String,
}

impl Case {
    fn found(&self) -> Vec<PoisonFinding> {
        let role = match self.place.split_once(':') {
            Some((_, name)) => TextRole::Parameter(name),
            None if self.place == "n" => TextRole::Name,
            None if self.place == "v" => TextRole::Value,
            None => TextRole::Description,
        };
        scan(&self.text, role, &|_| false)
    }

    /// The stable rule that splits a set: by a hash of the text.
    fn is_unseen(&self) -> bool {
        self.text
            .bytes()
            .fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
            >> 7
            & 1
            == 1
    }
}

fn cases(set: &'static str) -> Vec<Case> {
    let case = |line: &'static str| {
        let mut parts = line.splitn(4, '\t');
        let mut next = || parts.next().unwrap_or_else(|| panic!("{line}"));
        Case { kind: next(), language: next(), place: next(), text: unescaped(next()) }
    };
    set.lines().map(case).collect()
}

/// Replaces `\n`, `\\` and `\u{200b}`.
fn unescaped(text: &str) -> String {
    let mut parts = text.split('\\');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    while let Some(part) = parts.next() {
        if let Some((digits, rest)) = part.strip_prefix("u{").and_then(|code| code.split_once('}')) {
            plain.push(char::from_u32(u32::from_str_radix(digits, 16).unwrap()).unwrap());
            plain.push_str(rest);
        } else if let Some(rest) = part.strip_prefix('n') {
            plain.push('\n');
            plain.push_str(rest);
        } else {
            // Two backslashes in a row: the next part follows the second one.
            assert!(part.is_empty(), "{text}");
            plain.push('\\');
            plain.push_str(parts.next().unwrap_or_default());
        }
    }
    plain
}

/// Counts the cases that pass, and lists the others of the tuned half.
fn measure(name: &str, set: &'static str, passes: impl Fn(&Case) -> bool) -> [(usize, usize); 2] {
    let mut counts = [(0, 0); 2];
    for case in cases(set) {
        let count = &mut counts[usize::from(case.is_unseen())];
        count.1 += 1;
        if passes(&case) {
            count.0 += 1;
        } else if !case.is_unseen() || std::env::var("SHOW_UNSEEN").is_ok() {
            println!(
                "{name}: {} {} {}: {:?} {:?}",
                case.kind,
                case.language,
                case.place,
                case.text,
                case.found().first()
            );
        }
    }
    println!("{name}: tuned {:?}, unseen {:?}", counts[0], counts[1]);
    counts
}

#[test]
fn poisoned_texts_are_found_and_innocent_ones_are_not() {
    let poison = include_str!("../../tests/poison/poison.tsv");
    let innocent = include_str!("../../tests/poison/innocent.tsv");
    let [tuned, unseen] = measure("poison", poison, |case| !case.found().is_empty());
    assert!(tuned.0 * 100 >= tuned.1 * 90, "tuned: {tuned:?}");
    assert!(unseen.0 * 100 >= unseen.1 * 80, "unseen: {unseen:?}");
    let [tuned, unseen] = measure("innocent", innocent, |case| case.found().is_empty());
    assert!(tuned.0 * 100 >= tuned.1 * 95, "tuned: {tuned:?}");
    assert!(unseen.0 * 100 >= unseen.1 * 95, "unseen: {unseen:?}");
    let is_certain = |case: &Case| case.found().iter().any(|one| one.certainty == Certainty::Certain);
    let [tuned, unseen] = measure("certain", innocent, |case| !is_certain(case));
    assert_eq!((tuned.0, unseen.0), (tuned.1, unseen.1));
}

proptest! {
    #[test]
    fn every_range_is_part_of_the_text(text in any::<String>(), parts in prop::collection::vec(0_usize..352, 0..4)) {
        let sets = [include_str!("../../tests/poison/poison.tsv"), include_str!("../../tests/poison/innocent.tsv")];
        let all: Vec<String> = sets.into_iter().flat_map(cases).map(|case| case.text).collect();
        let text = parts.iter().filter_map(|part| all.get(*part)).fold(text, |text, part| text + part);
        for role in [TextRole::Description, TextRole::Parameter("note"), TextRole::Name, TextRole::Value] {
            for finding in scan(&text, role, &|_| false) {
                prop_assert!(text.get(finding.range.clone()).is_some(), "{finding:?}");
            }
        }
    }
}

#[test]
fn texts_that_were_written_after_the_rules() {
    let poison = include_str!("../../tests/poison/later_poison.tsv");
    let innocent = include_str!("../../tests/poison/later_innocent.tsv");
    let [tuned, unseen] = measure("later poison", poison, |case| !case.found().is_empty());
    assert!((tuned.0 + unseen.0) * 100 >= (tuned.1 + unseen.1) * 50, "{tuned:?} {unseen:?}");
    let [tuned, unseen] = measure("later innocent", innocent, |case| case.found().is_empty());
    assert!((tuned.0 + unseen.0) * 100 >= (tuned.1 + unseen.1) * 90, "{tuned:?} {unseen:?}");
}
