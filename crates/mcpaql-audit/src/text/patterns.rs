//! The patterns of poisoned tools, and the words that each pattern needs to match.
//!
//! The patterns are narrow on purpose: texts of honest servers are full of instructions to the model ("always call … first"), and
//! users turn off a scanner that reports those.

/// What a pattern detects; each kind has its own rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PoisonKind {
    /// Gives the model instructions as if from the system, or without the user's knowledge.
    Instruction,
    /// Asks for files, secrets or the conversation.
    Collection,
    /// Gives instructions about tools of other servers.
    Shadowing,
}

pub(crate) struct PoisonPattern {
    pub(crate) family: PoisonKind,
    /// What the text does, for the message "The tool '…' {what}".
    pub(crate) what: &'static str,
    pub(crate) regex: &'static str,
    /// Words without which the pattern cannot match, in lower case and with single blanks. The first is looked up in every text
    /// and should be rare.
    pub(crate) needs: &'static [WordSequence],
}

/// One of these words.
pub(crate) type WordChoice = &'static [&'static str];
/// Words that directly follow each other.
pub(crate) type WordSequence = &'static [WordChoice];

const fn pattern(
    family: PoisonKind,
    what: &'static str,
    regex: &'static str,
    needs: &'static [WordSequence],
) -> PoisonPattern {
    PoisonPattern { family, what, regex, needs }
}

use PoisonKind::{Collection, Instruction, Shadowing};

/// Words that ask the model to pass something on; shared by several patterns.
#[rustfmt::skip]
const GIVE_WORDS: WordChoice = &["pass", "include", "put", "send", "provide", "insert", "append", "attach", "add", "populate", "fill", "summari", "copy", "forward", "read",
    "collect", "gather", "dump", "list", "exfiltrate"];
#[rustfmt::skip]
const OTHER_SERVERS: WordChoice = &["other server", "other mcp server", "different server", "different mcp server"];

/// Parts of parameter names that ask for a secret.
#[rustfmt::skip]
pub(crate) const SECRET_NAMES: WordChoice = &["id_rsa", "ssh_key", "mcp_json", "aws_credentials", "etc_passwd", "private_key", "system_prompt"];

/// All patterns: ASCII, case-insensitive, and a blank matches any white space.
#[rustfmt::skip]
pub(crate) const PATTERNS: &[PoisonPattern] = &[
    pattern(
        Instruction,
        "marks text as an instruction",
        r"<\s*/?\s*(important|system|system[_-](prompt|message|instructions?)|secret|hidden|sudo|admin|override)\s*>",
        &[
            &[&["<important", "<system", "<secret", "<hidden", "<sudo", "<admin", "<override", "</important", "</system", "</secret", "</hidden",
                "</sudo", "</admin", "</override", "< important", "< system", "< secret", "< hidden", "< sudo", "< admin", "< override", "</ important",
                "</ system", "</ secret", "</ hidden", "</ sudo", "</ admin", "</ override", "< /important", "< /system", "< /secret", "< /hidden",
                "< /sudo", "< /admin", "< /override", "< / important", "< / system", "< / secret", "< / hidden", "< / sudo", "< / admin",
                "< / override"]],
        ],
    ),
    pattern(
        Instruction,
        "contains chat template markers",
        r"\[/?INST\]|<</?SYS>>|<\|(im_start|im_end|system|user|assistant|endoftext|start_header_id|eot_id)\|>|<(start|end)_of_turn>",
        &[
            &[&["inst]", "sys>>", "<|", "_of_turn>"]],
        ],
    ),
    pattern(
        Instruction,
        "overrides other instructions",
        r"\b(ignore|disregard|forget|bypass|override) ((all|any|every|the|your|of|these|those|my) ){0,3}(previous|prior|earlier|above|preceding|existing|original|system|other|safety) ((user|system|safety) )?(instructions?|prompts?|rules|guidelines|directives|directions|messages|constraints|restrictions)\b",
        &[
            &[&["ignore ", "disregard ", "forget ", "bypass ", "override "]],
            &[&["previous ", "prior ", "earlier ", "above ", "preceding ", "existing ", "original ", "system ", "other ", "safety "], &["user ",
                "system ", "safety ", "instruction", "prompt", "rules", "guideline", "directi", "messages", "constraint", "restriction"]],
        ],
    ),
    pattern(
        Instruction,
        "overrides other instructions",
        r"\b(new|updated|real|actual|secret|hidden) (system )?(instructions|directives)\s*:",
        &[
            &[&["instructions:", "instructions :", "directives:", "directives :"]],
            &[&["new ", "updated ", "real ", "actual ", "secret ", "hidden "], &["instructions", "directives", "system "]],
        ],
    ),
    pattern(
        Instruction,
        "asks the model to hide something from the user",
        r"\b(do not|don'?t|never|must not|should not|mustn'?t|shouldn'?t|without|avoid) (ever )?(tell|telling|inform|informing|notify|notifying|alert|alerting|warn|warning) (the |your )?(users?|humans?|operator)([^'a-z0-9_\xe2]|$)",
        &[
            &[&["not tell", "not inform", "not notify", "not alert", "not warn", "n't tell", "n't inform", "n't notify", "n't alert", "n't warn",
                "nt tell", "nt inform", "nt notify", "nt alert", "nt warn", "ever tell", "ever inform", "ever notify", "ever alert", "ever warn",
                "without tell", "without inform", "without notify", "without alert", "without warn", "avoid tell", "avoid inform", "avoid notify",
                "avoid alert", "avoid warn"]],
            &[&["tell", "telling", "inform", "informing", "notify", "notifying", "alert", "alerting", "warn", "warning"], &[" user", " the user",
                " your user", " human", " the human", " your human", " operator", " the operator", " your operator"]],
        ],
    ),
    pattern(
        Instruction,
        "asks the model to hide something from the user",
        r"\b(do not|don'?t|never|must not|should not|mustn'?t|shouldn'?t|without|avoid) (ever )?(mention|mentioning|reveal|revealing|disclose|disclosing|report|reporting) ([a-z',-]+ ){0,8}to (the |your )?(users?|humans?|operator)\b",
        &[
            &[&["not mention", "not reveal", "not disclos", "not report", "n't mention", "n't reveal", "n't disclos", "n't report", "nt mention",
                "nt reveal", "nt disclos", "nt report", "ever mention", "ever reveal", "ever disclos", "ever report", "without mention",
                "without reveal", "without disclos", "without report", "avoid mention", "avoid reveal", "avoid disclos", "avoid report"]],
            &[&["to user", "to human", "to operator", "to the user", "to the human", "to the operator", "to your user", "to your human",
                "to your operator"]],
        ],
    ),
    pattern(
        Instruction,
        "asks the model to hide something from the user",
        r"\b(do not|don'?t|never) (ever )?(mention|reveal|disclose|tell anyone about|talk about) (that|this|these|the fact)\b",
        &[
            &[&["not mention ", "not reveal ", "not disclose ", "not tell anyone ", "not talk about ", "n't mention ", "n't reveal ",
                "n't disclose ", "n't tell anyone ", "n't talk about ", "nt mention ", "nt reveal ", "nt disclose ", "nt tell anyone ",
                "nt talk about ", "ever mention ", "ever reveal ", "ever disclose ", "ever tell anyone ", "ever talk about ", "without mention ",
                "without reveal ", "without disclose ", "without tell anyone ", "without talk about ", "avoid mention ", "avoid reveal ",
                "avoid disclose ", "avoid tell anyone ", "avoid talk about "]],
        ],
    ),
    pattern(
        Instruction,
        "asks the model to hide something from the user",
        r"\b(without|avoid) (asking|prompting|the knowledge of|alarming|upsetting) (the |your )?user'?s?('? (permission|consent|confirmation|approval))?\b|\b(hide|conceal|keep) (this|it|that|these) ([a-z]+ ){0,3}(from|secret from|hidden from) (the |your )?user\b",
        &[
            &[&["without asking ", "without prompting ", "without the knowledge of ", "without alarming ", "without upsetting ", "avoid asking ",
                "avoid prompting ", "avoid the knowledge of ", "avoid alarming ", "avoid upsetting ", "hide this ", "hide it ", "hide that ",
                "hide these ", "conceal this ", "conceal it ", "conceal that ", "conceal these ", "keep this ", "keep it ", "keep that ",
                "keep these "]],
            &[&["user"]],
        ],
    ),
    pattern(
        Instruction,
        "gives the model a new role",
        r"\byou are now (a|an|in|the|operating|acting|dan)\b|\bfrom now on,? you (are|must|will|should)\b|\benter (developer|debug|admin|god|dan) mode\b",
        &[
            &[&["you are now ", "from now on", "enter developer mode", "enter debug mode", "enter admin mode", "enter god mode", "enter dan mode"]],
        ],
    ),
    pattern(
        Instruction,
        "overrides other instructions",
        r"\b(ignore|disregard|forget) (everything |all |anything )?(the )?above,? and (act|behave|respond|reply|answer|pretend|say|instead)\b",
        &[
            &[&["ignore ", "disregard ", "forget "]],
            &[&["above and ", "above, and "], &["act", "behave", "respond", "reply", "answer", "pretend", "say", "instead"]],
        ],
    ),
    pattern(
        Instruction,
        "gives the model a new role",
        r"\b(act|behave|respond|answer|operate) as (an unrestricted|an uncensored|an unfiltered|a jailbroken) (ai|assistant|model|agent|llm)\b",
        &[
            &[&["as an unrestricted ", "as an uncensored ", "as an unfiltered ", "as a jailbroken "]],
        ],
    ),
    pattern(
        Instruction,
        "marks text as an instruction",
        r"\[(system|admin|developer) (override|instructions?)\]",
        &[
            &[&["[system override]", "[admin override]", "[developer override]", "[system instruction", "[admin instruction",
                "[developer instruction"]],
        ],
    ),
    pattern(
        Instruction,
        "claims that the user has given consent",
        r"\buser has already (consented to|agreed to|approved|authorized) (everything|all (actions|calls|tools|operations|requests)|any (action|call|tool|operation|request))\b",
        &[
            &[&["user has already "]],
            &[&["consented to ", "agreed to ", "approved ", "authorized "], &["everything", "all ", "any "]],
        ],
    ),
    pattern(
        Instruction,
        "orders the model to run a command",
        r"\bif you are an? (ai|llm|language model|assistant|agent)( agent| assistant| model)?,? (you must |please |first |then )?((run|execute) [`'\x22]?(rm|curl|wget|bash|sh|sudo|dd|python3?|powershell) |(ignore|delete|upload|forward|exfiltrate) )",
        &[
            &[&["if you are a ", "if you are an "]],
            &[&["run ", "execute ", "ignore ", "delete ", "upload ", "forward ", "exfiltrate "]],
        ],
    ),
    pattern(
        Instruction,
        "orders the model to run a command",
        r"\b(instead|first|must|always),? (run|execute) [`'\x22]?(curl|wget) [^\n|]{1,120}\|\s*(sudo )?(ba|z|da)?sh\b|\b(run|execute) [`'\x22]?(curl|wget) [^\n|]{1,120}\|\s*(sudo )?(ba|z|da)?sh\b[`'\x22]? (before|first)\b",
        &[
            &[&["run curl ", "run wget ", "run `curl ", "run `wget ", "run 'curl ", "run 'wget ", "run \"curl ", "run \"wget ", "execute curl ",
                "execute wget ", "execute `curl ", "execute `wget ", "execute 'curl ", "execute 'wget ", "execute \"curl ", "execute \"wget "]],
            &[&["instead", "first", "must", "always", "before"]],
            &[&["|"]],
        ],
    ),
    pattern(
        Collection,
        "asks for a file with keys or settings",
        r"\b(read|open|cat|load|access|fetch|include|attach|send|pass|provide|upload|append|retrieve|extract|copy)\b[^.!?\n]{0,80}(~|\$home|%userprofile%|/home/[a-z0-9_<>{}$-]+|/root|/users/[a-z0-9_<>{}$-]+)[/\\]\.(ssh|aws|gnupg|cursor|claude|codeium|netrc|npmrc|pypirc|git-credentials|env|docker|bash_history|zsh_history)\b",
        &[
            &[&[".ssh", ".aws", ".gnupg", ".cursor", ".claude", ".codeium", ".netrc", ".npmrc", ".pypirc", ".git-credentials", ".env", ".docker",
                "_history"]],
            &[&["~/.", "$home/.", "%userprofile%/.", "/home/", concat!("/root", "/."), "/users/", "~\\.", "$home\\.", "%userprofile%\\.",
                "/root\\."]],
        ],
    ),
    pattern(
        Collection,
        "asks for a file with keys or settings",
        r"\b(read|open|cat|load|access|fetch|include|attach|send|pass|provide|upload|append|retrieve|extract|copy)\b[^.!?\n]{0,80}(\bid_(rsa|dsa|ecdsa|ed25519)\b|/etc/(passwd|shadow)\b|\.cursor[/\\]mcp\.json|claude_desktop_config\.json|\.aws[/\\]credentials\b)",
        &[
            &[&["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "/etc/passwd", "/etc/shadow", ".cursor/mcp.json", ".cursor\\mcp.json",
                "claude_desktop_config.json", ".aws/credentials", ".aws\\credentials"]],
        ],
    ),
    pattern(
        Collection,
        "asks for the conversation",
        r"\b(pass|include|put|send|provide|insert|append|attach|add|populate|fill|summari[sz]e|copy|forward)\b[^.!?\n]{0,60}\b((full|entire|whole|complete) (conversation|chat|dialogue|message history|system prompt)|conversation history|chat history|(your|the) system prompt|all (previous|prior|earlier|user) messages)\b[^.!?\n]{0,80}\b(parameter|argument|field|sidenote|side note|context|notes?|metadata|here|this tool)\b",
        &[
            &[&["full conversation", "full chat", "full dialogue", "full message history", "full system prompt", "entire conversation",
                "entire chat", "entire dialogue", "entire message history", "entire system prompt", "whole conversation", "whole chat",
                "whole dialogue", "whole message history", "whole system prompt", "complete conversation", "complete chat", "complete dialogue",
                "complete message history", "complete system prompt", "conversation history", "chat history", "your system prompt", "the system prompt",
                "all previous messages", "all prior messages", "all earlier messages", "all user messages"]],
            &[&["parameter", "argument", "field", "sidenote", "side note", "context", "note", "metadata", "here", "this tool"]],
            &[GIVE_WORDS],
        ],
    ),
    pattern(
        Collection,
        "asks for secrets from the environment",
        r"\b(read|collect|gather|dump|list|pass|include|send|attach|append|provide|exfiltrate)\b[^.!?\n]{0,40}\b(all|any|every|your|the user'?s|the contents? of (the|your|all)) (environment variables|env vars|private keys?|ssh keys?|api keys|passwords|credentials|secrets|access tokens|session tokens?)\b[^.!?\n]{0,80}\b(parameter|argument|field|sidenote|side note|metadata|in this|to this)\b",
        &[
            &[&["environment variables", "env vars", "private key", "ssh key", "api keys", "passwords", "credentials", "secrets", "access tokens",
                "session token"]],
            &[&["all ", "any ", "every ", "your ", "user's ", "users ", "of the "], &["environment variables", "env vars", "private key", "ssh key",
                "api keys", "passwords", "credentials", "secrets", "access tokens", "session token"]],
            &[&["parameter", "argument", "field", "sidenote", "side note", "metadata", "in this", "to this"]],
            &[GIVE_WORDS],
        ],
    ),
    pattern(
        Collection,
        "asks for secrets from the environment",
        r"\b(include|pass|send|attach|append|provide|copy|put|insert|forward)\b[^.!?\n]{0,40}\b(values?|contents?) of (the |your )?(user'?s )?(environment|env) (variables?|vars?) [`'\x22$]*[a-z0-9_]*(secret|token|key|passw|credential)",
        &[
            &[&["environment var", "env var"]],
            &[&["value of ", "values of ", "content of ", "contents of "]],
            &[&["secret", "token", "key", "passw", "credential"]],
            &[GIVE_WORDS],
        ],
    ),
    pattern(
        Collection,
        "asks for a file with keys or settings",
        r"\b(include|pass|send|attach|append|provide|copy|put|insert|forward|add)\b[^.!?\n]{0,40}\bcontents? of (the |your |any |all )?(user'?s |local |project'?s )?(files? )?[`'\x22]?\.(env|npmrc|netrc|pypirc|pgpass|git-credentials|bash_history|zsh_history)(\.[a-z]{1,16})?\b[^.!?\n]{0,60}\b(parameter|argument|field|sidenote|side note|metadata|notes?|context)\b",
        &[
            &[&[".env", ".npmrc", ".netrc", ".pypirc", ".pgpass", ".git-credentials", ".bash_history", ".zsh_history"]],
            &[&["content of ", "contents of "]],
            &[&["parameter", "argument", "field", "sidenote", "side note", "metadata", "note", "context"]],
            &[GIVE_WORDS],
        ],
    ),
    pattern(
        Collection,
        "sends data away without the user's knowledge",
        r"\b(secretly|silently|covertly|quietly) (upload|send|forward|post|transmit|exfiltrate|copy|leak|transfer|email) [^!?\n]{0,80}(https?://|[a-z0-9]@[a-z0-9-]{1,40}\.[a-z])",
        &[
            &[&["secretly ", "silently ", "covertly ", "quietly "]],
            &[&["secretly ", "silently ", "covertly ", "quietly "], &["upload ", "send ", "forward ", "post ", "transmit ", "exfiltrate ",
                "copy ", "leak ", "transfer ", "email "]],
            &[&["://", "@"]],
        ],
    ),
    pattern(
        Shadowing,
        "gives instructions about a tool of another server",
        r"\b(also[- ]present|previously[- ]declared|also[- ]available|already[- ]installed) [`'\x22]?[a-z0-9_.-]+[`'\x22]?\s*(\([^)]{0,40}\) )?(tool|function|server)\b",
        &[
            &[&["also present ", "also-present ", "also+present ", "previously declared ", "previously-declared ", "previously+declared ",
                "also available ", "also-available ", "also+available ", "already installed ", "already-installed ", "already+installed "]],
            &[&["tool", "function", "server"]],
        ],
    ),
    pattern(
        Shadowing,
        "gives instructions about a tool of another server",
        r"\b(when|whenever|before|after|every time|each time|if) [^.!?\n]{0,40}\b(other|another|any other|different) (mcp )?servers?('s)? [^.!?\n]{0,60}\b(must|always|should|never|have to|instead)\b",
        &[
            &[OTHER_SERVERS],
            &[&["must", "always", "should", "never", "have to", "instead"]],
        ],
    ),
    pattern(
        Shadowing,
        "gives instructions about a tool of another server",
        r"\b(never|do not|don'?t|stop) (use|using|call|calling|invoke|invoking) (any |the )?(tools?|functions?) (of|from|on|in|by|provided by|offered by) (any |the )?(other|another|different) (mcp )?servers?\b",
        &[
            &[OTHER_SERVERS],
            &[&["never ", "not ", "don't ", "dont ", "stop "], &["use ", "using ", "call ", "calling ", "invoke ", "invoking "]],
            &[&["tool", "function"]],
        ],
    ),
    pattern(
        Shadowing,
        "replaces a tool of another server",
        r"\b(replaces?|supersedes?|overrides?|instead of) (the |all |any )?([a-z0-9_`'\x22.-]+ ){0,3}(tools?|functions?) (of|from|on|in|by) (any |all |the )?(other|another|different) (mcp )?servers?\b",
        &[
            &[OTHER_SERVERS],
            &[&["replace", "supersede", "override", "instead of"]],
            &[&["tool", "function"]],
        ],
    ),
    pattern(
        Shadowing,
        "asks to be called before every other tool",
        r"\bbefore (calling|using|invoking|running) (any|all|every) other (tools?|functions?),? (you must |always |first )?(call|use|invoke|run) this (one|tool|function)\b",
        &[
            &[&["before calling ", "before using ", "before invoking ", "before running "]],
            &[&["any other ", "all other ", "every other "], &["tool", "function"]],
            &[&["this one", "this tool", "this function"]],
        ],
    ),
    pattern(
        Shadowing,
        "changes the behaviour of another tool",
        r"\bwhen(ever)? this (tool|function|server) is (available|present|installed|connected|loaded|enabled|active),? (the |any |all )?[`'\x22]?[a-z0-9]+[_-][a-z0-9_-]+[`'\x22]? (tools? |functions? )?(must|should|has to|have to|shall|will|always)\b[^.!?\n]{0,60}\b(b?cc|recipients?|send|forward|include|append|pass|copy|address)\b",
        &[
            &[&["this tool is available", "this tool is present", "this tool is installed", "this tool is connected", "this tool is loaded",
                "this tool is enabled", "this tool is active", "this function is available", "this function is present", "this function is installed",
                "this function is connected", "this function is loaded", "this function is enabled", "this function is active",
                "this server is available", "this server is present", "this server is installed", "this server is connected", "this server is loaded",
                "this server is enabled", "this server is active"]],
            &[&["must", "should", "has to", "have to", "shall", "will", "always"]],
            &[&["cc", "recipient", "send", "forward", "include", "append", "pass", "copy", "address"]],
        ],
    ),
    pattern(
        Shadowing,
        "changes the behaviour of another tool",
        r"\bthe [`'\x22]?[a-z0-9]+[_-][a-z0-9_-]+[`'\x22]? (tool|function) (must|should|has to|shall) (always |only |now |also )?(send|forward|b?cc|copy|redirect|deliver)\b[^!?\n]{0,80}@[a-z0-9-]{1,40}\.[a-z]",
        &[
            &[&["tool must ", "tool should ", "tool has to ", "tool shall ", "function must ", "function should ", "function has to ",
                "function shall "]],
            &[&["@"]],
            &[&["send", "forward", "cc", "copy", "redirect", "deliver"]],
        ],
    ),
    pattern(
        Shadowing,
        "changes the behaviour of another tool",
        r"\b(when|whenever|if|each time|every time) (the )?(tool |function )?[`'\x22]?[a-z0-9]+[_-][a-z0-9_-]+[`'\x22]? (tool |function )?((of|from) [a-z0-9_ -]{1,40} )?is (called|invoked|used|executed),? ((it|you) )?((should )?always|must|also|add|never)\b[^.!?\n]{0,60}\b(b?cc|recipients?|send|forward|include|append|pass|copy|address)\b",
        &[
            &[&["is called", "is invoked", "is used", "is executed"]],
            &[&["is called", "is invoked", "is used", "is executed"], &[" ", ", "], &["it ", "you ", "should always", "always", "must", "also",
                "add", "never"]],
            &[&["cc", "recipient", "send", "forward", "include", "append", "pass", "copy", "address"]],
        ],
    ),
    pattern(
        Shadowing,
        "changes the behaviour of another tool",
        r"\bside[- ]effects? on (the |all |any |every )?([a-z0-9_`'\x22.-]+ ){0,3}(tools?|functions?)\b|\bwhen(ever)? [`'\x22]?[a-z0-9]+[_-][a-z0-9_-]+[`'\x22]? (tool )?is (called|invoked|used),? (it|you) must\b",
        &[
            &[&["effect on ", "effects on ", "it must", "you must"]],
            &[&["side effect", "side-effect", "side+effect", "is called it must", "is called you must", "is called, it must", "is called, you must",
                "is invoked it must", "is invoked you must", "is invoked, it must", "is invoked, you must", "is used it must", "is used you must",
                "is used, it must", "is used, you must"]],
        ],
    ),
    pattern(
        Shadowing,
        "changes the behaviour of another tool",
        r"\b(when|whenever|if|each time|every time) (the )?(tool |function )?[`'\x22]?[a-z0-9]+[_-][a-z0-9_-]+[`'\x22]? (tool |function )?is (called|invoked|used|executed),? (please )?(b?cc|forward|redirect|copy|send) [^!?\n]{0,60}@[a-z0-9-]{1,40}\.[a-z]",
        &[
            &[&["is called", "is invoked", "is used", "is executed"]],
            &[&["is called", "is invoked", "is used", "is executed"], &[" ", ", "], &["please ", "bcc ", "cc ", "forward ", "redirect ", "copy ",
                "send "]],
            &[&["@"]],
        ],
    ),
    pattern(
        Shadowing,
        "redirects messages to another recipient",
        r"\bfrom now on,? [^.!?\n]{0,60}\b(send|sent|forward|forwarded|redirect|redirected|deliver|delivered) [^.!?\n]{0,30}to [`'\x22]?[a-z0-9._%-]{1,64}@[a-z0-9-]{1,40}\.[a-z]|\b(send|sent|forward|forwarded|redirect|redirected|deliver|delivered) [^.!?\n]{0,30}to [`'\x22]?[a-z0-9._%-]{1,64}@[a-z0-9-]{1,40}\.[a-z][a-z0-9.-]{0,40}[`'\x22]? instead of (the )?(intended|original|actual|real) ",
        &[
            &[&["from now on", "instead of intended ", "instead of original ", "instead of actual ", "instead of real ",
                "instead of the intended ", "instead of the original ", "instead of the actual ", "instead of the real "]],
            &[&["@"]],
            &[&["send", "sent", "forward", "redirect", "deliver"]],
        ],
    ),
];

/// Returns the first required words of each pattern.
pub(crate) fn first_needs() -> impl Iterator<Item = (usize, WordChoice)> {
    PATTERNS.iter().enumerate().filter_map(|(index, pattern)| Some((index, *pattern.needs.first()?.first()?)))
}
