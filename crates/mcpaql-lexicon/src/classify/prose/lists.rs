//! The words and phrases by which prose is read.

use crate::word_set::WordSet;

/// Verbs that say only that the operation returns something.
pub(super) static RETURNING: WordSet = WordSet::of("return give output provide report yield respond answer");
/// Verbs that read or compute, although the table of verbs has another meaning of them or does not have them.
pub(super) static READING: WordSet = WordSet::of(
    "access aggregate analyse analyze appraise ascertain assess browse calculate catch categorize chart check cite \
     classify collate compare compute consult contrast correlate count crosscheck debug decipher decode decompose \
     deduce define delineate demonstrate derive describe detail detect determine diagnose diff differentiate discern \
     disclose discover display dissect elaborate elicit elucidate encode enumerate estimate evaluate examine explain \
     explore expose extract extrapolate filter find forecast foresee gather gauge geolocate glance glean grep guess \
     hint identify illustrate infer inquire inspect interpret interrogate introspect investigate itemise itemize \
     justify know learn lint list locate look lookup measure monitor observe obtain outline overview parse peek \
     perceive peruse pinpoint plot portray predict present print probe profile quantify query quote rank read recap \
     recite recognise recognize recommend resolve reveal review scan score scout scrutinise scrutinize search see \
     sense show showcase sift simulate skim sniff spot stat study suggest sum summarise summarize survey \
     tabulate tally tell tokenize trace traverse triangulate troubleshoot uncover understand unearth validate verify \
     view visualize weigh witness",
);
/// Texts that are made for the answer: "generates a slug".
pub(in crate::classify) static TEXTS: WordSet = WordSet::of(
    "barcode chart checksum command diagram diff embedding explanation expression graph hash heatmap histogram \
     identicon locator map outline plot preview qr query regex schema slug snippet summary treemap type uuid \
     visualisation visualization",
);
/// Verbs that turn arguments into an answer.
pub(super) static COMPUTING: WordSet = WordSet::of(
    "abbreviate beautify compress concatenate deduplicate escape format hyphenate minify normalise normalize prettify round \
     simplify transliterate transpose trim unescape",
);
/// Verbs that say nothing about an effect: "uses", "includes", "supports".
pub(super) static HARMLESS: WordSet = WordSet::of(
    "abide accept accommodate account achieve address adhere affect aid aim align allow anticipate appear apply \
     approach arise arrive ask assist assume assure attempt avoid be bear become begin believe belong benefit bias \
     bound break call care carry cater cause choose clarify collect combine come complement comply comprise concern \
     confine conform consider consist constitute constrain contain convert correspond cover deal define deliver \
     demand denote depend depict derive desire dictate differ dig discuss distinguish do drill ease embody emphasize \
     employ emulate encapsulate encompass encounter encourage enrich ensure entail equal error escape evaluate \
     exceed exclude exemplify exhibit exist expand expect experience explain express face facilitate fail fall favor \
     favour feature fit focus follow function gain generalize go govern group guarantee guide handle happen have help \
     hide highlight hold honor honour house imply include incur indicate inherit instruct intend interact interface \
     interpret involve keep know lack last lay lead lean let leverage lie like limit list live look loop make map \
     match matter maximize mean mention mimic minimize mirror model name necessitate need note obey observe occupy \
     occur offer omit order outweigh overlap own page paginate pair parallel participate pertain plan point precede \
     prefer presume proceed promise prompt prove range rate reach realize recognize refer reflect relate rely remain \
     repeat represent require resemble reside resort respect result retain sample satisfy say scope seem sequence \
     serve shape simplify sit size skew skip sort span speak specialise specialize specify spell split spread stand \
     state stay stem strive structure subject succeed suffice suit supplement supply support suppose surface surround \
     survive tackle tailor take target tend think throw tolerate track transform translate try use utilise utilize \
     value vary wait walk want watch weight wish work wrap",
);
/// Verbs that say nothing in a later clause, but are an action as the first statement: "retries failed requests".
pub(super) static ASIDES: WordSet = WordSet::of(
    "bring chunk communicate default enable enforce feed improve integrate introduce join maintain negotiate \
     normalize operate optimise optimize pass permit prevent prioritise prioritize process produce raise receive \
     reduce request restrict retry reverse round stream stress suppress throttle warn",
);
/// Words before a noun. After a possible verb they show that it is one: "posts it", "close the".
pub(super) static DETERMINERS: WordSet = WordSet::of(
    "a all an another any anything both each every everyone everything existing her his it its multiple my new old one our \
     previous several some specified the their them these this those what whatever whoever your",
);
/// Particles after a verb: "hands out", "puts away".
pub(super) static PARTICLES: WordSet = WordSet::of("apart aside away off out");
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
    "abbreviated accepted advised affected aligned allowed annotated anonymized applied approximated asked assumed attributed \
     authenticated averaged backed barred based bounded bracketed bundled cached calculated calibrated called \
     capitalized capped catalogued categorised categorized caused centered characterized checked chosen cited \
     classified cleaned clipped closed clustered coded collapsed collected combined compared compiled complemented \
     composed compressed computed concatenated conditioned confined confirmed connected considered constrained \
     constructed consulted contained continued controlled converted counted coupled covered created cropped cut dated \
     decided decoded decorated dedicated deduplicated deemed defaulted deferred defined delayed delimited delivered \
     demonstrated denied denoted depicted deployed deprecated derived described designed detailed detected determined \
     developed differentiated directed disclosed discouraged discussed dispersed displayed distinguished divided \
     documented drawn embedded emitted employed enclosed encoded encouraged enforced enriched entered entitled \
     enumerated equipped escaped estimated evaluated examined excluded expanded expected explained explored exposed \
     expressed extracted extrapolated faced featured fetched filled filtered fixed flattened focused followed forced \
     forecast formatted formed found framed funded gathered generalized geocoded geolocated given graded grounded \
     grouped guaranteed guided handled highlighted honored honoured hosted housed identified ignored illustrated \
     implemented imposed included incurred indexed indicated inferred informed inherited initialized inlined \
     inspected instructed integrated intended interested interleaved interpolated interpreted introduced involved \
     isolated itemized joined justified keyed known labelled laid left licensed limited linked listed loaded located \
     logged maintained managed mapped marked masked matched maximized meant measured mentioned merged minimized \
     missed modeled modelled monitored motivated multiplied named necessitated needed negotiated nested normalised \
     normalized noted numbered observed obtained occupied omitted operated optimised optimized ordered organized \
     overlaid owned packaged packed padded paged paginated paired parsed partitioned passed performed permitted \
     pinned placed planned plotted populated positioned powered precomputed predicted preferred prefixed prepared \
     presented preserved presumed prevented printed prioritised prioritized processed produced projected proposed \
     protected proven provided published purposed qualified quantified queried quoted randomised randomized ranked \
     rated reached read realized received recognised recognized recommended redacted reduced referenced referred \
     refined reflected refused registered regulated rejected related relied remembered rendered repeated replicated \
     reported represented requested required resampled resolved respected restricted retained retrieved returned \
     reused reversed reviewed rounded routed sampled sanitized satisfied scaled scanned scheduled scoped scored \
     scraped screened searched secured seen segmented selected sensed separated sequenced served set shared shortened \
     shown signed simplified simulated situated skipped smoothed sorted sourced specialised specialized specified \
     spelled split spread standardized stated stored streamed stressed stringified stripped structured subdivided \
     subjected suggested suited summarised summarized summed superseded supplied supported suppressed surfaced \
     surrounded tagged tailored taken targeted tested thought throttled tied timed tokenized tolerated touched traced \
     tracked trained transcribed transformed translated treated trimmed truncated tuned typed understood unified \
     unmasked unsupported upsampled used validated valued varied verified versioned viewed visited visualised \
     visualized wanted warned weighed weighted worded wrapped written zipped zoomed",
);
/// Nouns after a verb that runs or makes something that only reads: "runs a search", "sends a request".
pub(super) static READING_OBJECTS: WordSet = WordSet::of(
    "aggregation analysis audit browse calculation check checks classification comparison computation conversion \
     correction correlation detection diagnosis diagnostic diff estimate estimation evaluation examination extraction \
     forecast geocoding get health healthcheck inference inspection introspection investigation lemmatization lookup \
     matching measurement pagination ping prediction preview probe queries query read reads recognition request \
     requests retrieval review scan search searches semantic simulation sorting summarization summary tokenization \
     translation traversal validation verification",
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
pub(super) const PARTICIPLES: [(&str, &str); 31] = [
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
    ("emptied", "empty"),
    ("raised", "update"),
    ("kept", "store"),
    ("brought", "update"),
    ("cast", "vote"),
    ("rewound", "reset"),
    ("struck", "remove"),
    ("frozen", "lock"),
    ("burnt", "delete"),
    ("lost", "delete"),
    ("thrown", "delete"),
    ("shut", "stop"),
    ("begun", "start"),
];
/// Phrases that say that a call uses something up or changes what later calls get.
pub(super) const USING_UP: [&str; 44] = [
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
    " counts against",
    " count against",
    " counts towards",
    " counts toward",
    " counted against",
    " considered read",
    " considered handled",
    " considered seen",
    " considered done",
    " for single use",
    " are single use",
    " is single use",
    " gone for good",
    " gone forever",
    " on your behalf",
    " in your name",
    " can be used only once",
    " cannot be used again",
    " until you release",
    " until you give",
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
/// Subjects that stand for the operation: "each call moves the cursor".
pub(super) static TOOL_SUBJECTS: WordSet = WordSet::of(
    "access accessing api call calls check command download endpoint export fetch function get invocation it lookup \
     method opening operation poll preview query read reading reads request requests retrieval run scan search server \
     service this tool view viewing views visit",
);
/// Changing verbs whose third person is as often a plural noun: "updates and claims".
pub(super) static NOUNLIKE: WordSet = WordSet::of(
    "abort approve broadcast cancel change claim clone cost deploy duplicate grant increment install invite login \
     logout mark merge move mute order put rebuild register reject remind replace rerun reserve restart restore retry \
     save signup stop toggle trigger unlock update upload wipe write",
);
/// Things that are closed when they are resolved. A name or an address is only looked up.
pub(super) static TICKETS: WordSet = WordSet::of(
    "alert bug case comment complaint conversation discussion dispute error finding incident issue problem thread \
     ticket violation vulnerability",
);
/// Places that something is written to: "exports it to a folder".
pub(super) static PLACES: WordSet = WordSet::of(
    "bucket channel clipboard database desktop directory disk drive dropbox filesystem folder inbox mailbox path \
     printer s3 sheet slack spreadsheet storage system webhook workspace",
);
/// Parts of an answer that are cut or left out: "long lines are truncated".
pub(super) static ANSWER_NOUNS: WordSet = WordSet::of(
    "answer body character column content description document entry field footer header item key line list name \
     object output page property record response result row section snippet string suffix table tag text title value \
     whitespace",
);
/// Parts of an API: what happens to these is no effect of a call.
pub(super) static API_NOUNS: WordSet = WordSet::of(
    "api argument attribute endpoint feature field filter header method option output parameter prefix property query suffix \
     response result route search syntax version",
);
/// Adverbs of things that happen without the call.
pub(super) static HABITS: WordSet = WordSet::of(
    "annually commonly constantly continually continuously daily frequently generally hourly monthly nightly normally \
     often originally periodically previously regularly routinely typically usually weekly yearly",
);
/// Units of time.
pub(super) static TIME_UNITS: WordSet =
    WordSet::of("century day decade hour millisecond minute month ms night quarter second week year");
/// Those of `TEXTS` that are drawn.
pub(in crate::classify) static PICTURES: WordSet = WordSet::of(
    "barcode chart diagram graph heatmap histogram identicon map plot qr treemap visualisation visualization",
);
