//! The words of questions: stop words, phrases, synonyms and related words. Plain data: general English and nouns that
//! APIs of all kinds share, never those of one API.
//!
//! ```
//! use mcpaql_lexicon::questions::synonym;
//!
//! assert_eq!(synonym("fetch"), synonym("get"));
//! ```

use crate::effect::Category;
use crate::verbs::verb;
use crate::word_set::WordSet;

/// Words that do not distinguish operations.
pub static STOP_WORDS: WordSet = WordSet::of(
    "a about able actually all also am an and another any anybody anyone anything are as at away be because been being between \
    both but by called can could dear did do does doing done dont down each else ever every everything few for from further \
    given had has have having he hello help her here hers hey hi him his how i id if im in into is it its itself just kind \
    know let like ll lot many may maybe me mine more most much must my need no none nor not now of off ok on once one \
    ones only onto or other our ours out over own please possible prefer really re s same shall she should so some somebody \
    someone something such sure t tell than thank thanks that the their them then there these they thing things this those \
    through thus to together too under until up upon us using ve very via want was way we well were what when where whether \
    which while who whom whose why will with within without would yes you your yours",
);

/// Phrases: the words, the category that they ask for, and the word that replaces them.
pub const PHRASES: &[(&str, Option<Category>, &str)] = &[
    ("add up", Some(Category::Read), "sum"),
    ("ask for", Some(Category::Create), "request"),
    ("back up", Some(Category::Create), "backup"),
    ("bring back", Some(Category::Update), "restore"),
    ("bring up to date", Some(Category::Update), "update"),
    ("bug report", None, "issue"),
    ("call off", Some(Category::Execute), "cancel"),
    ("carry out", Some(Category::Execute), "run"),
    ("check out", Some(Category::Read), ""),
    ("clean up", Some(Category::Delete), "delete"),
    ("come up with", Some(Category::Create), "generate"),
    ("cut off", Some(Category::Delete), "revoke"),
    ("do away with", Some(Category::Delete), "delete"),
    ("figure out", Some(Category::Read), ""),
    ("fill in", Some(Category::Update), "update"),
    ("find out", Some(Category::Read), ""),
    ("get back", Some(Category::Update), "restore"),
    ("get rid of", Some(Category::Delete), "delete"),
    ("give access", Some(Category::Update), "permission"),
    ("give back", Some(Category::Execute), "refund"),
    ("give me", Some(Category::Read), ""),
    ("go live", Some(Category::Execute), "publish"),
    ("hand out", Some(Category::Update), "grant"),
    ("hand over", Some(Category::Execute), "transfer"),
    ("how big", Some(Category::Read), "size"),
    ("how large", Some(Category::Read), "size"),
    ("how long", Some(Category::Read), "duration"),
    ("how many", Some(Category::Read), ""),
    ("how much", Some(Category::Read), ""),
    ("how often", Some(Category::Read), "frequency"),
    ("keep track of", Some(Category::Read), "track"),
    ("kick off", Some(Category::Execute), "trigger"),
    ("kick out", Some(Category::Delete), "remove"),
    ("leave a", Some(Category::Create), ""),
    ("leave an", Some(Category::Create), ""),
    ("let go", Some(Category::Delete), "remove"),
    ("let me see", Some(Category::Read), ""),
    ("log in", None, "login"),
    ("log out", None, "logout"),
    ("logged in", None, "authenticated"),
    ("look at", Some(Category::Read), ""),
    ("look for", Some(Category::Read), "search"),
    ("look into", Some(Category::Read), ""),
    ("look like", Some(Category::Read), "image"),
    ("look up", Some(Category::Read), "search"),
    ("looks like", Some(Category::Read), "image"),
    ("make a copy", Some(Category::Create), "copy"),
    ("make sure", None, ""),
    ("money back", None, "refund"),
    ("my account", None, "authenticated"),
    ("no longer", None, ""),
    ("on behalf of", None, ""),
    ("once more", None, "retry"),
    ("one more time", None, "retry"),
    ("opt out", Some(Category::Delete), "unsubscribe"),
    ("pay back", Some(Category::Execute), "refund"),
    ("point out", Some(Category::Create), "report"),
    ("prevent people", Some(Category::Update), "lock"),
    ("put back", Some(Category::Update), "restore"),
    ("put on hold", Some(Category::Execute), "suspend"),
    ("put together", Some(Category::Create), "create"),
    ("right now", None, "current"),
    ("roll back", Some(Category::Execute), "revert"),
    ("send back", Some(Category::Execute), "return"),
    ("set aside", Some(Category::Update), "archive"),
    ("set off", Some(Category::Execute), "trigger"),
    ("set up", Some(Category::Create), "create"),
    ("show me", Some(Category::Read), ""),
    ("shut down", Some(Category::Execute), "stop"),
    ("sign in", None, "login"),
    ("sign out", None, "logout"),
    ("sign up", Some(Category::Create), "register"),
    ("spin up", Some(Category::Create), "start"),
    ("stop anybody", Some(Category::Update), "lock"),
    ("stop anyone", Some(Category::Update), "lock"),
    ("stop everyone", Some(Category::Update), "lock"),
    ("stop people", Some(Category::Update), "lock"),
    ("switch off", Some(Category::Update), "disable"),
    ("switch on", Some(Category::Update), "enable"),
    ("take away", Some(Category::Delete), "remove"),
    ("take down", Some(Category::Delete), "delete"),
    ("take off", Some(Category::Delete), "remove"),
    ("take offline", Some(Category::Delete), "delete"),
    ("take out", Some(Category::Delete), "remove"),
    ("tell me", Some(Category::Read), ""),
    ("throw away", Some(Category::Delete), "delete"),
    ("throw out", Some(Category::Delete), "remove"),
    ("thumbs down", Some(Category::Create), "reaction"),
    ("thumbs up", Some(Category::Create), "reaction"),
    ("turn off", Some(Category::Update), "disable"),
    ("turn on", Some(Category::Update), "enable"),
    ("up to date", None, "update"),
    ("who am i", Some(Category::Read), "authenticated"),
    ("wipe out", Some(Category::Delete), "delete"),
    ("work out", Some(Category::Read), "calculate"),
    ("write down", Some(Category::Create), "create"),
];

/// Words that a question starts with.
pub static QUESTION_WORDS: WordSet =
    WordSet::of("am are can did do does is was were what when where which who whom whose why");

/// First words of yes-or-no questions.
pub static YES_NO_WORDS: WordSet = WordSet::of("am are can could did do does has have is was were");

/// Words before a noun.
pub static DETERMINERS: WordSet = WordSet::of(
    "a an the my our your his her their this that these those all every someone somebody another",
);

/// Nouns with little meaning before `of`. The next noun counts instead.
pub static LIGHT_NOUNS: WordSet = WordSet::of(
    "amount body color count data description detail history info information kind list name number set state text title \
    type url value",
);

/// Words with the same meaning.
pub const SYNONYMS: &[&str] = &[
    "admin administrator",
    "app application",
    "article headline news",
    "ask request",
    "attach upload",
    "auth authentication authorization",
    "avatar image photo picture pic img",
    "birthday birth birthdate born",
    "bug issue ticket",
    "cancel abort halt terminate stop",
    "cert certificate ssl tls",
    "chart graph diagram plot",
    "compare diff difference",
    "config configuration setting preference",
    "convert transform render",
    "course class lesson",
    "cover artwork poster image",
    "customer client buyer",
    "database db",
    "delete remove destroy erase discard",
    "detail info information",
    "dir directory folder",
    "disable deactivate",
    "dismiss ignore",
    "doc document documentation",
    "email mail",
    "employee staff worker",
    "enable activate",
    "env environment",
    "execute run trigger dispatch launch invoke",
    "film movie",
    "genre category",
    "hook webhook callback",
    "hotel accommodation lodging",
    "invoice bill",
    "job career vacancy",
    "lang language",
    "latest newest recent recently last",
    "license licence",
    "location place address",
    "logo image icon",
    "meeting appointment event",
    "member teammate colleague coworker",
    "message msg",
    "org organization organisation",
    "pending waiting queued outstanding",
    "people person",
    "permission access right privilege",
    "phone telephone mobile",
    "picture photo image",
    "picture poster",
    "popular trending",
    "pr pull_request",
    "product item",
    "property real_estate house home",
    "quota rate_limit limit",
    "rating score vote rated",
    "recipe dish meal",
    "recommendation suggestion",
    "redeliver resend",
    "repo repository",
    "rerun re_run retry restart again",
    "review feedback",
    "search find query lookup",
    "shipment delivery shipping",
    "similar related",
    "song track music",
    "spec specification",
    "start begin",
    "statistic stat metric analytics",
    "store save",
    "team group",
    "ticker stock share",
    "transfer move",
    "trip travel journey vacation",
    "tv television series show",
    "user account",
    "variable env_var",
    "vehicle car automobile",
    "version release",
    "vulnerability vulnerable advisory",
    "weather forecast temperature",
];

/// Returns the first word of a verb's group of synonyms.
#[must_use]
pub fn synonym(word: &str) -> &str {
    let word = verb(word).map_or(word, |verb| verb.canonical);
    let mut groups = SYNONYMS.iter().map(|group| group.split(' '));
    let group = groups.find(|group| group.clone().any(|member| member == word));
    group.and_then(|mut group| group.next()).unwrap_or(word)
}

/// Words that often appear together. A question may use one of them for the other.
pub const RELATED_WORDS: &[&str] = &[
    "access collaborator permission",
    "action workflow build ci pipeline run job",
    "actor actress cast crew credit star role director directed",
    "album record",
    "alert finding vulnerability warning detected",
    "amount usage size total",
    "approve accept review",
    "approve approval",
    "artifact output result",
    "artist singer musician band performer",
    "assign assignee",
    "assign responsible",
    "authenticated me whoami profile current",
    "author writer creator",
    "bill billing spend cost usage",
    "block ban spammer spam",
    "book novel read",
    "branch ref",
    "calendar schedule event",
    "call request",
    "cart basket",
    "chapter episode",
    "charge payment pay",
    "code source",
    "comment reply note respond conversation",
    "commit change history",
    "company firm business studio",
    "company org",
    "content file text",
    "copy fork clone duplicate",
    "country nation",
    "credential secret token password leak",
    "crypto coin bitcoin",
    "currency exchange convert",
    "date day when",
    "dependency package library",
    "deploy release publish",
    "description overview summary plot",
    "duration usage time timing",
    "employee user person",
    "fail failure broken red",
    "file attachment asset binary",
    "fitness exercise workout",
    "flight airline airport",
    "folder collection",
    "follow subscribe watch",
    "food restaurant recipe cook",
    "founded founder",
    "frequency activity statistic",
    "game play",
    "gift present product",
    "headquarters address",
    "health medical doctor",
    "history past previous log",
    "image design logo draw",
    "install installation",
    "invite invitation collaborator",
    "keyword tag topic",
    "kick expel remove",
    "label tag",
    "language translate grammar",
    "latest new",
    "learn course tutorial",
    "legal law lawyer",
    "like heart reaction favorite bookmark",
    "limit restriction restrict",
    "lock restrict freeze prevent",
    "machine server host instance vm node",
    "math calculate equation solve",
    "member user people",
    "mute ignore unsubscribe",
    "network channel",
    "news article",
    "notification inbox unread",
    "notify remind ping request",
    "order purchase buy",
    "pause disable suspend",
    "payment transaction",
    "pdf document paper",
    "playlist library",
    "podcast episode audio",
    "popular top hot",
    "price cost fee",
    "project repo",
    "protect protection",
    "publish release",
    "reaction like thumb emoji",
    "rebuild build",
    "recent activity event",
    "refund return reimburse",
    "reject decline",
    "reject dismiss review",
    "release version tag",
    "remaining left quota",
    "rename name update",
    "resend send redeliver",
    "result status outcome conclusion",
    "role permission",
    "seat license assignment",
    "seo keyword website",
    "shop store",
    "shopping product price",
    "star stargazer favorite",
    "subscription plan",
    "success successful green passed",
    "tag ref",
    "timeline history event",
    "top best highest",
    "traffic view visit clone",
    "translate translation",
    "travel flight hotel",
    "upcoming soon future",
    "video clip watch",
    "visibility private public",
    "visitor referrer traffic",
    "visualize chart image",
    "watch subscription subscribe",
    "website site domain url",
];

/// Verbs that say when or how another one happens: `start following`.
pub static PHASE_VERBS: WordSet = WordSet::of("begin continue keep start try");

/// Words before a name or a quotation.
pub static QUOTE_OPENERS: WordSet =
    WordSet::of("about called containing mentioning mention named saying says titled");

/// Words that ask for a person.
pub static PERSON_PRONOUNS: WordSet = WordSet::of("who whom whose somebody someone anybody anyone people");
/// Nouns for people in APIs.
pub static PERSON_NOUNS: WordSet = WordSet::of("person people user member");

/// Words for the caller's own things.
pub static POSSESSIVES: WordSet = WordSet::of("my mine myself our ours");
/// Words for the caller in APIs.
pub static CALLER_WORDS: WordSet = WordSet::of("authenticated me");

/// Words that start a clause with further details.
pub static CLAUSE_OPENERS: WordSet = WordSet::of("that which so because if while when");

/// Particles of verbs that may be separated from them: `turn the lights off`.
pub static PARTICLES: WordSet = WordSet::of("aside back offline away down off on out over up");
