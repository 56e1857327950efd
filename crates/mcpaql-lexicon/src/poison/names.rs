//! Names of parameters that ask for secrets or for the conversation: `content_of_id_rsa`, `entire_conversation`.

use super::{Certainty, PoisonKind};

const ACTIONS: &[&str] = &[
    "content",
    "contents",
    "read",
    "reading",
    "paste",
    "dump",
    "leak",
    "steal",
    "copy",
    "exfiltrate",
    "value",
    "values",
    "full",
    "all",
    "raw",
    "text",
];
const WHOLE: &[&str] =
    &["entire", "full", "whole", "complete", "verbatim", "all", "everything", "copy", "dump", "raw"];

/// Returns the kind of a poisoned name.
pub(super) fn poisoned_name(name: &str) -> Option<(PoisonKind, Certainty)> {
    if name.len() < 8 || name.len() > 200 {
        return None;
    }
    let words = crate::words(name);
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    let joined = words.join("_");
    let files = [
        "id_rsa",
        "id_ed25519",
        "id_ed_25519",
        "ssh_key",
        "ssh_private_key",
        "mcp_json",
        "aws_credentials",
        "etc_passwd",
        "private_key",
        "dotenv",
        "env_file",
        "env_contents",
        "wallet_dat",
        "seed_phrase",
        "kubeconfig",
        "desktop_config",
        "ssh_config",
        "npmrc",
        "netrc",
        "bash_history",
    ];
    let is_path =
        has(&["path", "paths", "name", "filename", "location", "fingerprint", "count", "type", "format"]);
    if files.iter().any(|file| joined.contains(file)) && has(ACTIONS) && !is_path {
        return Some((PoisonKind::KeyFiles, Certainty::Suspected));
    }
    let texts = [
        "conversation",
        "chat_history",
        "chat_log",
        "system_prompt",
        "message_history",
        "user_messages",
        "system_message",
        "developer_message",
    ];
    let count = texts.iter().filter(|text| joined.contains(*text)).count();
    ((count > 0 && has(WHOLE) || count > 1) && !is_path && !has(&["id", "ids"]))
        .then_some((PoisonKind::Exfiltration, Certainty::Suspected))
}
