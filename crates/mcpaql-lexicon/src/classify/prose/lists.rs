//! The words and phrases by which prose is read.

use crate::word_set::WordSet;

/// Verbs that say only that the operation returns something.
pub(super) static RETURNING: WordSet = WordSet::of("return give output provide report yield respond answer");
/// Verbs that read or compute, although the table of verbs has another meaning of them or does not have them.
pub(super) static READING: WordSet = WordSet::of(
    "access aggregate analyse analyze assess browse calculate categorize classify compare compute count decode derive \
     describe detect determine diagnose display encode enumerate estimate examine explain explore extract filter find gather \
     identify illustrate infer inspect interpret know learn list locate look measure monitor obtain parse plot predict print \
     query rank read recommend resolve review scan score search see show suggest sum summarise summarize tell tokenize trace \
     traverse understand validate verify view visualize",
);
/// Texts that are made for the answer: "generates a slug".
pub(in crate::classify) static TEXTS: WordSet = WordSet::of(
    "command diff embedding explanation expression hash locator outline preview query regex schema slug snippet summary type uuid",
);
/// Verbs that turn arguments into an answer.
pub(super) static COMPUTING: WordSet = WordSet::of(
    "abbreviate beautify compress concatenate deduplicate escape format hyphenate minify normalise normalize prettify round \
     simplify transliterate transpose trim unescape",
);
/// Verbs that say nothing about an effect: "uses", "includes", "supports".
pub(super) static HARMLESS: WordSet = WordSet::of(
    "accept allow be break call collect combine contain convert cover deliver dig do drill evaluate expand fall follow \
     group handle have help highlight include leverage like limit map match need offer order page paginate rate require \
     affect apply become begin belong carry come depend differ end equal exceed exist go hide hold indicate keep lack last lead \
     let live make mean mirror omit point refer reflect remain represent sit skip sort span split stand stay support surface take \
     track transform translate use vary wait walk watch work",
);
/// Words before a noun. After a possible verb they show that it is one: "posts it", "close the".
pub(super) static DETERMINERS: WordSet = WordSet::of(
    "a all an another any both each every existing her his it its multiple my new old one our previous several some \
     specified the their them these this those your",
);
/// Words that start a subordinate clause.
pub(super) static SUBORDINATORS: WordSet = WordSet::of(
    "although as because before after how if once since so that though unless until when whenever where wherever \
     whether which while who whom whose why",
);
/// Words that negate the next verb.
pub(super) static NEGATIONS: WordSet = WordSet::of(
    "aren cannot don doesn didn except instead isn neither never no nor not nothing rather won without wouldn",
);
/// Words between the parts of a verb phrase that do not change its meaning.
pub(super) static ADVERBS: WordSet =
    WordSet::of("also always again already back first just now only once simply soon then thereby too will");
/// Words of sentences that address the reader: what these can do is done by other means.
pub(super) static READERS: WordSet =
    WordSet::of("agents callers clients developers i models people users we you");
/// Verbs that open advice: "Use `x` to …", "See also …".
pub(super) static ADVISING: WordSet =
    WordSet::of("call combine consider follow invoke pair prefer refer run see try use chain start");
/// Words after an advising verb that show that the sentence says when or how to call something.
pub(super) static ADVICE: WordSet = WordSet::of(
    "after alongside also another as before cautiously either first for if in instead it like other sparingly that these \
     those together when whenever with only",
);
/// Words before the verb of a first statement.
pub(super) static SUBJECTS: WordSet = WordSet::of(
    "a allow allows an api app be can client clients command endpoint enables enable feature for function helper helps \
     interface is it lets let mcp method offers operation perform performs plugin provides query request resource server \
     service skill that the this to tool tools us use used useful user users utility which will wrapper you your able \
     agent agents ability action call currently designed meant intended made",
);
/// States that a participle names as often as an event: "is archived".
pub(super) static STATES: WordSet = WordSet::of(
    "activate approve archive assign associate attach block book bound cancel close complete configure connect deactivate \
     disable enable expire favorite follow grant hide install label link lock map merge mute open order pause pin post \
     protect publish register reserve schedule select set share sort star store subscribe suspend sync tag take test type \
     request route scale extend upgrade process run return do make call build draft issue record track",
);
/// Participles that say nothing about an effect, of verbs that the table of verbs does not have.
pub(super) static PLAIN_PARTICIPLES: WordSet = WordSet::of(
    "abbreviated accepted affected aligned allowed anonymized applied approximated averaged backed based bundled calculated \
     called capped chosen cleaned closed combined compared composed computed considered connected contained converted \
     counted covered created cut dated decoded deduplicated defined delayed delivered denoted derived described designed \
     denied determined discouraged displayed divided documented encoded encouraged enriched escaped estimated excluded expected expressed fetched filled \
     filtered flattened formatted found gathered given grouped guaranteed handled hosted identified ignored implemented \
     included indexed indicated inferred inlined intended interleaved joined known labelled left licensed limited listed loaded located \
     logged marked masked matched meant measured mentioned merged named needed nested normalised normalized numbered \
     obtained omitted optimised optimized ordered organized owned paged paginated parsed passed performed permitted placed \
     powered preferred prefixed presented preserved printed processed produced provided published quoted ranked rated read \
     recognised recognized recommended redacted reduced refused rejected related rendered repeated reported represented requested \
     required resolved respected restricted retrieved returned rounded sampled scored scoped searched seen selected \
     separated served set shared shortened shown signed sorted sourced specified spelled split stated stored stripped \
     structured suggested summarised summarized summed supplied supported taken tied tolerated translated treated trimmed \
     truncated understood used validated verified versioned viewed weighted worded wrapped written",
);
/// Nouns after a verb that runs or makes something that only reads: "runs a search", "sends a request".
pub(super) static READING_OBJECTS: WordSet = WordSet::of(
    "analysis browse calculation check checks comparison computation diff filter filters get healthcheck http inspection limit \
     lookup match order pagination ping preview queries query read reads request requests retrieval scan search searches semantic \
     sort sorting traversal",
);
/// Query languages that cannot write.
pub(in crate::classify) static READING_LANGUAGES: WordSet =
    WordSet::of("jmespath jq jql jsonpath kql logql lucene metricsql promql regex traceql xpath");
/// Verbs that need such a noun.
pub(super) static RUNNING: WordSet =
    WordSet::of("apply call conduct do execute invoke issue make perform process run send set submit");
/// Things that are handed out: getting one makes it.
pub(super) static ISSUED: WordSet = WordSet::of(
    "captcha certificate code codes cookie credential credentials key lease link nonce otp passcode password secret session ticket token tokens url",
);
/// Adjectives of things that are made for the caller.
pub(super) static FRESH: WordSet = WordSet::of(
    "disposable ephemeral fresh new one-time presigned pre-signed short-lived signed single-use temporary unique",
);
/// Participles of verbs that the table does not have, or that are irregular.
pub(super) const PARTICIPLES: [(&str, &str); 38] = [
    ("sent", "send"),
    ("written", "write"),
    ("overwritten", "overwrite"),
    ("paid", "pay"),
    ("made", "make"),
    ("taken", "take"),
    ("put", "put"),
    ("set", "set"),
    ("reset", "reset"),
    ("bought", "purchase"),
    ("sold", "transfer"),
    ("withdrawn", "withdraw"),
    ("spent", "charge"),
    ("hidden", "hide"),
    ("forgotten", "forget"),
    ("left", "leave"),
    ("undone", "undo"),
    ("rerun", "rerun"),
    ("invalidated", "revoke"),
    ("deducted", "charge"),
    ("billed", "charge"),
    ("debited", "charge"),
    ("credited", "deposit"),
    ("emptied", "empty"),
    ("advanced", "update"),
    ("bumped", "update"),
    ("lowered", "update"),
    ("raised", "update"),
    ("incremented", "update"),
    ("decremented", "update"),
    ("flagged", "mark"),
    ("recalled", "cancel"),
    ("switched", "set"),
    ("turned", "set"),
    ("regenerated", "create"),
    ("kept", "store"),
    ("persisted", "save"),
    ("refreshed", "refresh"),
];
/// Base forms of changing verbs that only prose uses, with a verb of the table that has the same effect.
pub(super) const PROSE_VERBS: [(&str, &str); 20] = [
    ("invalidate", "revoke"),
    ("persist", "save"),
    ("bill", "charge"),
    ("deduct", "charge"),
    ("debit", "charge"),
    ("advance", "update"),
    ("bump", "update"),
    ("flag", "mark"),
    ("switch", "set"),
    ("turn", "set"),
    ("mutate", "update"),
    ("stamp", "update"),
    ("spend", "charge"),
    ("buy", "purchase"),
    ("cc", "send"),
    ("page", "notify"),
    ("ack", "acknowledge"),
    ("wake", "start"),
    ("roll", "update"),
    ("drain", "delete"),
];
/// Phrases that say that a call uses something up or changes what later calls get.
pub(super) const USING_UP: [&str; 24] = [
    " used up",
    " thrown away",
    " handed out once",
    " returned once",
    " returned only once",
    " shown once",
    " shown only once",
    " delivered once",
    " delivered only once",
    " read only once",
    " only be read once",
    " only be viewed once",
    " not come again",
    " not be returned again",
    " not be shown again",
    " stop working",
    " stops working",
    " no longer valid",
    " no longer work",
    " becomes invalid",
    " become invalid",
    " cannot be undone",
    " becomes the default",
    " becomes the active",
];
/// Phrases that say that nothing is changed.
pub(super) const DENIALS: [&str; 14] = [
    "read-only",
    "read only",
    "readonly",
    "only select",
    "select only",
    "select statements only",
    "select queries only",
    "no side effect",
    "non-destructive",
    "does not modify",
    "doesn't modify",
    "nothing is changed",
    "without executing",
    "without running",
];
/// Nouns for an action: "Creation of …".
pub(super) static ACTION_NOUNS: WordSet = WordSet::of(
    "activation addition booking cancellation creation deletion execution invocation modification payment posting publication \
     registration removal reset restart sending start submission subscription transfer update upload",
);
