use super::*;
use crate::fingerprint::canonical;
use proptest::prelude::*;
use serde_json::json;

const TIME: &str = "2026-01-02T03:04:05.678Z";

fn key() -> LogKey {
    LogKey::from_seed([7; 32])
}

fn record(number: u64) -> Map<String, Value> {
    LogRecord {
        caller: Some("alice".into()),
        operation: Some("delete_order".into()),
        duration_ms: Some(number),
        params: Some(json!({"id": number, "ratio": 1.5e30, "text": "ä\n"})),
        ..LogRecord::new(RecordKind::Call, TIME)
    }
    .into_map()
}

/// A log of some records, and a checkpoint after each second one and after the last.
fn log(records: u64) -> (Vec<String>, Vec<String>) {
    let (mut lines, mut checkpoints, mut prev) = (Vec::new(), Vec::new(), GENESIS.to_owned());
    for seq in 1..=records {
        let sealed = seal(record(seq), seq, &prev);
        if seq % 2 == 0 || seq == records {
            checkpoints.push(checkpoint(CheckpointKind::Reached, seq, &sealed.hash, &key()));
        }
        prev = sealed.hash;
        lines.push(sealed.line);
    }
    (lines, checkpoints)
}

fn checkpoint(kind: CheckpointKind, seq: u64, hash: &str, key: &LogKey) -> String {
    Checkpoint { kind, seq, hash: hash.to_owned(), time: TIME.to_owned() }.sign(key)
}

fn verify(lines: &[String], checkpoints: &[String]) -> VerifyReport {
    let bytes = |lines: &[String]| lines.iter().map(|line| line.clone().into_bytes()).collect::<Vec<_>>();
    verify_bytes(&bytes(lines).concat(), &bytes(checkpoints).concat())
}

/// The lines of a file, as they are read.
fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split_inclusive(|byte| *byte == b'\n')
}

fn verify_bytes(log: &[u8], checkpoints: &[u8]) -> VerifyReport {
    verify_log(lines(log), lines(checkpoints), [key().public()])
}

fn kind(report: &VerifyReport) -> Option<LogProblemKind> {
    report.problem.as_ref().map(|problem| problem.kind)
}

#[test]
fn a_whole_log_is_accepted_and_counted() {
    let (lines, checkpoints) = log(5);
    let report = verify(&lines, &checkpoints);
    assert_eq!(report.problem, None);
    assert_eq!((report.records, report.first_seq, report.last_seq), (5, Some(1), Some(5)));
    assert_eq!((report.checkpoints, report.unsigned), (3, 0));
    assert_eq!(report.last_hash, seq_and_hash(&lines[4]).map(|(_, hash)| hash));
    assert_eq!(verify(&[], &[]), VerifyReport::default());
    let report = verify(&lines, &checkpoints[..2]);
    assert_eq!((report.problem, report.unsigned), (None, 1));
}

#[test]
fn a_line_is_canonical_and_names_the_one_before() {
    let first = seal(record(1), 1, GENESIS);
    let second = seal(record(2), 2, &first.hash);
    let value: Value = serde_json::from_str(&second.line).unwrap();
    assert_eq!(value["prev"], first.hash.as_str());
    assert_eq!(value["seq"], 2);
    assert_eq!(second.line, canonical(&value) + "\n");
    assert_eq!(seq_and_hash(&second.line), Some((2, second.hash)));
    assert_eq!(seq_and_hash(second.line.trim_end()), None, "a line without its end");
    assert_eq!(seq_and_hash("{}\n"), None);
}

#[test]
fn members_of_the_chain_cannot_be_set_by_a_record() {
    let mut forged = record(1);
    forged.insert("seq".into(), json!(99));
    forged.insert("prev".into(), json!("x"));
    forged.insert("hash".into(), json!("x"));
    assert_eq!(seal(forged, 1, GENESIS), seal(record(1), 1, GENESIS));
}

#[test]
fn every_bit_flip_of_the_log_is_detected() {
    let (log, checkpoints) = log(3);
    let mut bytes = log.concat().into_bytes();
    let mut with_checkpoints = LogVerifier::new([key().public()]);
    checkpoints.iter().for_each(|line| with_checkpoints.checkpoint(line.as_bytes()));
    for bit in 0..bytes.len() * 8 {
        bytes[bit / 8] ^= 1 << (bit % 8);
        let mut verifier = with_checkpoints.clone();
        lines(&bytes).for_each(|line| verifier.line(line));
        let problem = verifier.finish().problem;
        assert!(problem.is_some_and(|problem| problem.line.is_some()), "bit {bit}");
        // The chain alone shows it, too.
        assert!(verify_bytes(&bytes, &[]).problem.is_some(), "bit {bit}");
        bytes[bit / 8] ^= 1 << (bit % 8);
    }
}

#[test]
fn every_bit_flip_of_the_checkpoints_is_detected() {
    let (log, checkpoints) = log(2);
    let (log, mut bytes) = (log.concat().into_bytes(), checkpoints.concat().into_bytes());
    for bit in 0..bytes.len() * 8 {
        bytes[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(kind(&verify_bytes(&log, &bytes)), Some(LogProblemKind::BadCheckpoint), "bit {bit}");
        bytes[bit / 8] ^= 1 << (bit % 8);
    }
}

#[test]
fn every_deletion_is_detected_and_that_of_the_end_by_the_checkpoints() {
    let (lines, checkpoints) = log(6);
    for start in 0..lines.len() {
        for end in start + 1..=lines.len() {
            let rest = [&lines[..start], &lines[end..]].concat();
            let expected = match (start, end == lines.len()) {
                (_, true) => LogProblemKind::MissingEnd,
                (0, false) => LogProblemKind::MissingStart,
                (_, false) => LogProblemKind::Gap,
            };
            assert_eq!(kind(&verify(&rest, &checkpoints)), Some(expected), "{start}..{end}");
        }
    }
}

#[test]
fn every_cut_inside_a_line_is_detected() {
    let (lines, checkpoints) = log(2);
    let (bytes, checkpoints) = (lines.concat().into_bytes(), checkpoints.concat().into_bytes());
    for length in 0..bytes.len() {
        assert!(verify_bytes(&bytes[..length], &checkpoints).problem.is_some(), "{length} bytes");
    }
    let first = lines[0].len();
    assert_eq!(kind(&verify_bytes(&bytes[..first + 9], &checkpoints)), Some(LogProblemKind::Incomplete));
}

#[test]
fn every_other_order_and_every_repetition_is_detected() {
    let (lines, checkpoints) = log(6);
    for a in 0..lines.len() {
        for b in 0..lines.len() {
            let mut swapped = lines.clone();
            swapped.swap(a, b);
            assert_eq!(verify(&swapped, &checkpoints).problem.is_some(), a != b, "{a} and {b}");
            let mut repeated = lines.clone();
            repeated.insert(b, lines[a].clone());
            assert!(verify(&repeated, &checkpoints).problem.is_some(), "{a} again, before {b}");
        }
    }
    let mut extended = lines;
    extended.push("\n".to_owned());
    assert_eq!(kind(&verify(&extended, &checkpoints)), Some(LogProblemKind::Malformed));
}

#[test]
fn a_number_that_was_left_out_is_a_gap_even_if_the_hashes_are_right() {
    let first = seal(record(1), 1, GENESIS);
    let third = seal(record(3), 3, &first.hash);
    assert_eq!(kind(&verify(&[first.line, third.line], &[])), Some(LogProblemKind::Gap));
    assert_eq!(kind(&verify(&[seal(record(2), 2, GENESIS).line], &[])), Some(LogProblemKind::MissingStart));
}

#[test]
fn a_checkpoint_has_no_further_members() {
    let (lines, checkpoints) = log(2);
    let mut forged: Value = serde_json::from_str(&checkpoints[0]).unwrap();
    forged["note"] = json!("not signed");
    let report = verify(&lines, &[canonical(&forged) + "\n"]);
    assert_eq!(kind(&report), Some(LogProblemKind::BadCheckpoint));
}

/// Writes a log again after one record changed, with right hashes.
fn rewritten(records: u64, changed: u64) -> Vec<String> {
    let (mut lines, mut prev) = (Vec::new(), GENESIS.to_owned());
    for seq in 1..=records {
        let mut record = record(seq);
        if seq == changed {
            record.insert("caller".into(), json!("mallory"));
        }
        let sealed = seal(record, seq, &prev);
        prev = sealed.hash;
        lines.push(sealed.line);
    }
    lines
}

#[test]
fn a_full_rewrite_with_right_hashes_is_detected_by_the_checkpoints() {
    let (lines, checkpoints) = log(6);
    for changed in 1..=6 {
        let forged = rewritten(6, changed);
        assert_ne!(forged, lines);
        assert_eq!(verify(&forged, &[]).problem, None, "the hashes are right");
        assert_eq!(kind(&verify(&forged, &checkpoints)), Some(LogProblemKind::Rewritten), "{changed}");
    }
    // A forger without the key cannot write the checkpoints again.
    let forged = rewritten(6, 1);
    let (seq, hash) = seq_and_hash(&forged[5]).unwrap();
    let own = checkpoint(CheckpointKind::Reached, seq, &hash, &LogKey::from_seed([8; 32]));
    assert_eq!(kind(&verify(&forged, &[own])), Some(LogProblemKind::BadCheckpoint));
    let renamed =
        checkpoints[0].replace(&seq_and_hash(&lines[1]).unwrap().1, &seq_and_hash(&forged[1]).unwrap().1);
    let problem = verify(&forged, &[renamed]).problem.unwrap();
    assert!(problem.message.contains("signature"), "{}", problem.message);
    assert_eq!(problem.checkpoint_line, Some(1));
}

#[test]
fn deleting_old_records_needs_a_signed_start() {
    let (lines, mut checkpoints) = log(6);
    let rest = &lines[3..];
    assert_eq!(kind(&verify(rest, &checkpoints)), Some(LogProblemKind::MissingStart));
    let (seq, hash) = seq_and_hash(&lines[2]).unwrap();
    // Having reached a record is no permission to delete it.
    checkpoints.push(checkpoint(CheckpointKind::Reached, seq, &hash, &key()));
    assert_eq!(kind(&verify(rest, &checkpoints)), Some(LogProblemKind::MissingStart));
    checkpoints.push(checkpoint(CheckpointKind::Start, seq, &hash, &key()));
    let report = verify(rest, &checkpoints);
    assert_eq!((report.problem, report.first_seq, report.records), (None, Some(4), 3));
    assert_eq!(kind(&verify(&lines[4..], &checkpoints)), Some(LogProblemKind::MissingStart));
    assert_eq!(kind(&verify(&lines[..3], &checkpoints)), Some(LogProblemKind::MissingEnd));
    assert_eq!(verify(&lines, &checkpoints).problem, None, "nothing was deleted yet");
    assert_eq!(kind(&verify(&[], &checkpoints)), Some(LogProblemKind::MissingEnd));
    let forged = checkpoint(CheckpointKind::Start, seq, &hash, &LogKey::from_seed([8; 32]));
    assert_eq!(kind(&verify(rest, &[forged])), Some(LogProblemKind::MissingStart));
}

#[test]
fn checkpoints_of_several_copies_and_keys_are_accepted_in_any_order() {
    let (lines, checkpoints) = log(6);
    let old = LogKey::from_seed([8; 32]);
    let (seq, hash) = seq_and_hash(&lines[0]).unwrap();
    let mut all = [checkpoints.clone(), checkpoints].concat();
    all.reverse();
    all.push(checkpoint(CheckpointKind::Reached, seq, &hash, &old));
    let report = verify_log(
        lines.iter().map(String::as_bytes),
        all.iter().map(String::as_bytes),
        [key().public(), old.public()],
    );
    assert_eq!((report.problem, report.checkpoints), (None, 7));
}

#[test]
fn a_problem_names_its_line() {
    let (mut lines, checkpoints) = log(4);
    lines[2] = lines[2].replace("alice", "mallory");
    let report = verify(&lines, &checkpoints);
    let problem = report.problem.unwrap();
    assert_eq!((problem.line, problem.kind, report.records), (Some(3), LogProblemKind::Changed, 2));
    lines[2] = lines[2].replace("\"seq\":", "\"seq\": ");
    assert_eq!(kind(&verify(&lines, &checkpoints)), Some(LogProblemKind::Malformed));
}

#[test]
fn the_key_is_never_printed_and_its_signatures_are_those_of_ed25519() {
    assert_eq!(format!("{:?}", key()), "LogKey(…)");
    // The first test of RFC 8032.
    let seed =
        crate::fingerprint::from_hex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60");
    let public = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";
    assert_eq!(LogKey::from_seed(seed.unwrap()).public(), public);
}

#[test]
fn a_record_is_read_back() {
    let record = LogRecord {
        call_id: Some("1".into()),
        caller: Some("alice".into()),
        client: Some("claude-code".into()),
        adapter: Some("shop".into()),
        endpoint: Some("delete".into()),
        category: Some("DELETE".into()),
        operation: Some("delete_order".into()),
        tags: vec!["orders".into()],
        danger: Some("destructive".into()),
        declared_danger: Some("reversible".into()),
        needs_confirmation: true,
        trust: Some("validated".into()),
        decision: Some("confirm".into()),
        decided_by: Some("matrix".into()),
        observed: Some("deny".into()),
        outcome: Some("ok".into()),
        duration_ms: Some(12),
        tokens: Some(34),
        params_hash: Some("ab".into()),
        params: Some(json!({"id": 1})),
        details: Map::from_iter([("x".to_owned(), json!(1))]),
        ..LogRecord::new(RecordKind::Decision, TIME)
    };
    let sealed = seal(record.clone().into_map(), 1, GENESIS);
    let line: Value = serde_json::from_str(&sealed.line).unwrap();
    assert_eq!(LogRecord::from_map(line.as_object().unwrap()), Some(record));
    let small = LogRecord::new(RecordKind::Pause, TIME);
    assert_eq!(small.clone().into_map().len(), 2, "nothing that is not known is written");
    assert_eq!(LogRecord::from_map(&small.clone().into_map()), Some(small));
    assert_eq!(LogRecord::from_map(&Map::new()), None);
    for kind in RecordKind::ALL {
        assert_eq!(RecordKind::parse(kind.as_str()), Some(*kind));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_record_of_any_content_verifies(
        texts in prop::collection::vec("\\PC{0,12}|[\\x00-\\x1f\"\\\\/]{0,4}", 1..6),
        numbers in prop::collection::vec(any::<f64>(), 1..6),
    ) {
        let (mut log, mut prev) = (String::new(), GENESIS.to_owned());
        for (seq, (text, number)) in texts.iter().zip(&numbers).enumerate() {
            let record = json!({"time": TIME, "kind": "call", "params": {text: [number, text]}});
            let sealed = seal(record.as_object().unwrap().clone(), seq as u64 + 1, &prev);
            prev = sealed.hash;
            log += &sealed.line;
        }
        prop_assert_eq!(verify_bytes(log.as_bytes(), &[]).problem, None);
    }
}
