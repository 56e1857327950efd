//! What a record says.

use serde_json::{Map, Value};

macro_rules! kinds {
    ($($variant:ident $text:literal $meaning:literal;)*) => {
        /// What a record is about.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum RecordKind { $(#[doc = $meaning] $variant,)* }

        impl RecordKind {
            /// All of them.
            pub const ALL: &[RecordKind] = &[$(RecordKind::$variant,)*];

            /// The word in the log.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(RecordKind::$variant => $text,)* }
            }
        }
    };
}

kinds! {
    Decision "decision" "The gate decided about a call.";
    Call "call" "A call ended.";
    Issue "issue" "A confirmation was asked for.";
    Redeem "redeem" "A token or an approval was used, or could not be.";
    Approval "approval" "A person approved or denied a call.";
    Grant "grant" "The operator trusts an adapter, or no longer does.";
    Pin "pin" "Operations of an MCP server were approved.";
    Change "change" "A definition changed, so operations are withheld.";
    Pause "pause" "The operator paused calls.";
    Resume "resume" "The operator resumed calls.";
    Config "config" "The operator's configuration changed.";
    Rotation "rotation" "A new file of the log starts.";
    Loss "loss" "Records could not be written in time and are missing.";
    Retention "retention" "Old files of the log were deleted.";
    Restore "restore" "The state was restored from a backup.";
}

impl RecordKind {
    /// Parses the word.
    #[must_use]
    pub fn parse(text: &str) -> Option<RecordKind> {
        RecordKind::ALL.iter().copied().find(|kind| kind.as_str() == text)
    }
}

/// A record. Everything but the time and the kind is optional.
#[derive(Debug, Clone, PartialEq)]
pub struct LogRecord {
    /// When, as RFC 3339 in UTC.
    pub time: String,
    /// What it is about.
    pub kind: RecordKind,
    /// Joins the records of one call.
    pub call_id: Option<String>,
    /// Who called, or who decided.
    pub caller: Option<String>,
    /// The name that the client gave itself.
    pub client: Option<String>,
    /// The adapter.
    pub adapter: Option<String>,
    /// The endpoint.
    pub endpoint: Option<String>,
    /// The category, such as `DELETE`.
    pub category: Option<String>,
    /// The operation.
    pub operation: Option<String>,
    /// The tags of the operation.
    pub tags: Vec<String>,
    /// The danger, after the operator's overrides.
    pub danger: Option<String>,
    /// The danger before the operator's overrides, if it differs.
    pub declared_danger: Option<String>,
    /// Whether the document asks for a confirmation.
    pub needs_confirmation: bool,
    /// The trust level.
    pub trust: Option<String>,
    /// `allow`, `confirm` or `deny`.
    pub decision: Option<String>,
    /// What decided, such as `rule no-wipe`.
    pub decided_by: Option<String>,
    /// With `mode: observe`, what would have been decided.
    pub observed: Option<String>,
    /// `ok`, or the error code.
    pub outcome: Option<String>,
    /// How long the call took.
    pub duration_ms: Option<u64>,
    /// The tokens of the answer, estimated.
    pub tokens: Option<u64>,
    /// The hash of the parameters.
    pub params_hash: Option<String>,
    /// The parameters, without secrets, shortened.
    pub params: Option<Value>,
    /// Anything else that this kind of record has.
    pub details: Map<String, Value>,
}

impl LogRecord {
    /// Creates a record.
    pub fn new(kind: RecordKind, time: impl Into<String>) -> LogRecord {
        LogRecord {
            time: time.into(),
            kind,
            call_id: None,
            caller: None,
            client: None,
            adapter: None,
            endpoint: None,
            category: None,
            operation: None,
            tags: Vec::new(),
            danger: None,
            declared_danger: None,
            needs_confirmation: false,
            trust: None,
            decision: None,
            decided_by: None,
            observed: None,
            outcome: None,
            duration_ms: None,
            tokens: None,
            params_hash: None,
            params: None,
            details: Map::new(),
        }
    }

    /// Returns the members of the line, for [`seal`](super::seal).
    #[must_use]
    pub fn into_map(self) -> Map<String, Value> {
        let mut map = Map::new();
        map.insert("time".to_owned(), self.time.into());
        map.insert("kind".to_owned(), self.kind.as_str().into());
        let texts = [
            ("call_id", self.call_id),
            ("caller", self.caller),
            ("client", self.client),
            ("adapter", self.adapter),
            ("endpoint", self.endpoint),
            ("category", self.category),
            ("operation", self.operation),
            ("danger", self.danger),
            ("declared_danger", self.declared_danger),
            ("trust", self.trust),
            ("decision", self.decision),
            ("decided_by", self.decided_by),
            ("observed", self.observed),
            ("outcome", self.outcome),
            ("params_hash", self.params_hash),
        ];
        let texts = texts.into_iter().map(|(key, text)| (key, text.map(Value::from)));
        let rest = [
            ("tags", (!self.tags.is_empty()).then(|| self.tags.into())),
            ("needs_confirmation", self.needs_confirmation.then_some(Value::Bool(true))),
            ("duration_ms", self.duration_ms.map(Value::from)),
            ("tokens", self.tokens.map(Value::from)),
            ("params", self.params),
            ("details", (!self.details.is_empty()).then_some(Value::Object(self.details))),
        ];
        map.extend(texts.chain(rest).filter_map(|(key, value)| Some((key.to_owned(), value?))));
        map
    }

    /// Reads a record from the members of a line; `None` if it has no time or an unknown kind. Verifies nothing.
    #[must_use]
    pub fn from_map(map: &Map<String, Value>) -> Option<LogRecord> {
        let text = |key: &str| map.get(key).and_then(Value::as_str).map(str::to_owned);
        let kind = RecordKind::parse(map.get("kind")?.as_str()?)?;
        let tags = map.get("tags").and_then(Value::as_array).into_iter().flatten();
        Some(LogRecord {
            call_id: text("call_id"),
            caller: text("caller"),
            client: text("client"),
            adapter: text("adapter"),
            endpoint: text("endpoint"),
            category: text("category"),
            operation: text("operation"),
            tags: tags.filter_map(Value::as_str).map(str::to_owned).collect(),
            danger: text("danger"),
            declared_danger: text("declared_danger"),
            needs_confirmation: map.get("needs_confirmation") == Some(&Value::Bool(true)),
            trust: text("trust"),
            decision: text("decision"),
            decided_by: text("decided_by"),
            observed: text("observed"),
            outcome: text("outcome"),
            duration_ms: map.get("duration_ms").and_then(Value::as_u64),
            tokens: map.get("tokens").and_then(Value::as_u64),
            params_hash: text("params_hash"),
            params: map.get("params").cloned(),
            details: map.get("details").and_then(Value::as_object).cloned().unwrap_or_default(),
            ..LogRecord::new(kind, text("time")?)
        })
    }
}
