//! What words mean to somebody who looks for an operation: which say nothing, which say what shall be done, and which say
//! the same. Plain data: general English and the nouns that APIs of all kinds share, never those of one API.

use super::stem::stem;
use crate::operation::Category;
use std::collections::HashMap;
use std::sync::LazyLock;

/// Words that tell operations apart no better than a coin would.
const EMPTY: &str = "a about able actually all also am an and another any anybody anyone anything are as at away be because been being between \
    both but by called can could dear did do does doing done dont down each else ever every everything few for from further \
    given had has have having he hello help her here hers hey hi him his how i id if im in into is it its itself just kind \
    know let like ll lot many may maybe me mine more most much must my need next no none nor not now of off ok on once one \
    ones only onto or other our ours out over own please possible prefer really re s same shall she should so some somebody \
    someone something such sure t tell than thank thanks that the their them then there these they thing things this those \
    through thus to together too under until up upon us using ve very via want was way we well were what when where whether \
    which while who whom whose why will with within without would yes you your yours";

/// Verbs that half of all operations start with: they say what kind of operation is meant, hardly which.
const COMMON: &str = "add change create delete edit fetch find get give have list look make mark modify new obtain open perform post \
    put read remove retrieve return see set show update use view write";

/// Verbs by what they do to the world.
const VERBS: [(Category, &str); 5] = [
    (
        Category::Create,
        "add append ask attach book compose copy create draft duplicate file fork generate insert invite make new open order post \
         publish record register reply report request reserve save schedule sign store submit subscribe tag upload write",
    ),
    (
        Category::Read,
        "browse check compare count describe display download explain fetch find get inspect know list look lookup preview \
         read recommend retrieve search see show suggest tell view",
    ),
    (
        Category::Update,
        "accept adjust alter approve archive assign block change close configure confirm correct customize dismiss disable \
         edit enable extend follow give grant increase link lock mark mark modify mute pin promote protect put reject rename reopen replace \
         resolve restore set star switch toggle turn unarchive unlock update",
    ),
    (
        Category::Delete,
        "clear decline delete deregister detach discard drop erase expel leave purge remove revoke unassign unblock undo unfollow \
         uninstall unlink unpin unstar unsubscribe wipe",
    ),
    (
        Category::Execute,
        "abort cancel convert deploy dispatch execute export import invoke launch merge ping redeliver refresh render rerun resend \
         restart resume retry run send start stop suspend sync synchronize test transfer trigger validate",
    ),
];

/// Turns of phrase: the words, what they mean to do, and the words that stand for them.
const PHRASES: &[(&str, Option<Category>, &str)] = &[
    ("bug report", None, "issue"),
    ("bring up to date", Some(Category::Update), "update"),
    ("carry out", Some(Category::Execute), "run"),
    ("get rid of", Some(Category::Delete), "delete"),
    ("give access", Some(Category::Update), "permission"),
    ("give me", Some(Category::Read), ""),
    ("hand over", Some(Category::Execute), "transfer"),
    ("how many", Some(Category::Read), ""),
    ("how much", Some(Category::Read), ""),
    ("kick off", Some(Category::Execute), "trigger"),
    ("kick out", Some(Category::Delete), "remove"),
    ("let me see", Some(Category::Read), ""),
    ("log in", None, "login"),
    ("logged in", None, "authenticated"),
    ("look at", Some(Category::Read), ""),
    ("look for", Some(Category::Read), "search"),
    ("look like", Some(Category::Read), "image"),
    ("look up", Some(Category::Read), "search"),
    ("looks like", Some(Category::Read), "image"),
    ("make sure", None, ""),
    ("my account", None, "authenticated"),
    ("on behalf of", None, ""),
    ("once more", None, "retry"),
    ("one more time", None, "retry"),
    ("put on hold", Some(Category::Execute), "suspend"),
    ("right now", None, "current"),
    ("set off", Some(Category::Execute), "trigger"),
    ("set up", Some(Category::Create), "create"),
    ("show me", Some(Category::Read), ""),
    ("shut down", Some(Category::Execute), "stop"),
    ("sign in", None, "login"),
    ("sign up", Some(Category::Create), "register"),
    ("spin up", Some(Category::Create), "start"),
    ("switch off", Some(Category::Update), "disable"),
    ("switch on", Some(Category::Update), "enable"),
    ("take away", Some(Category::Delete), "remove"),
    ("take down", Some(Category::Delete), "delete"),
    ("take off", Some(Category::Delete), "remove"),
    ("tell me", Some(Category::Read), ""),
    ("throw away", Some(Category::Delete), "delete"),
    ("throw out", Some(Category::Delete), "remove"),
    ("turn off", Some(Category::Update), "disable"),
    ("turn on", Some(Category::Update), "enable"),
    ("up to date", None, "update"),
];

/// Words a question starts with.
const QUESTIONS: &str = "am are can did do does is was were what when where which who whom whose why";

/// Words that mean the same thing.
const SAME: &[&str] = &[
    "admin administrator",
    "app application",
    "ask request",
    "attach upload",
    "auth authentication authorization",
    "avatar image photo picture pic img",
    "birthday birth birthdate born",
    "bug issue ticket",
    "cancel abort halt terminate stop",
    "cert certificate ssl tls",
    "compare diff difference",
    "config configuration setting preference",
    "convert transform render",
    "cover artwork poster image",
    "customer client buyer",
    "database db",
    "delete remove destroy erase discard",
    "detail info information",
    "dir directory folder",
    "dismiss ignore",
    "doc document documentation",
    "email mail",
    "employee staff worker",
    "enable activate",
    "disable deactivate",
    "env environment",
    "execute run trigger dispatch launch invoke",
    "film movie",
    "genre category",
    "hook webhook callback",
    "invoice bill",
    "lang language",
    "latest newest recent recently last",
    "license licence",
    "location place address",
    "logo image icon",
    "meeting appointment event",
    "message msg",
    "org organization organisation",
    "people person",
    "permission access right privilege",
    "phone telephone mobile",
    "picture photo image",
    "picture poster",
    "popular trending",
    "pr pull_request",
    "product item",
    "quota rate_limit limit",
    "rating score vote rated",
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
    "transfer move",
    "tv television series show",
    "user account",
    "variable env_var",
    "version release",
    "vulnerability vulnerable advisory",
];

/// Words that often go together: one may be said where the other is meant.
const NEAR: &[&str] = &[
    "action workflow build ci pipeline run job",
    "actor actress cast crew credit star role director directed",
    "album record",
    "alert finding vulnerability warning detected",
    "approve accept review",
    "artist singer musician band performer",
    "assign assignee",
    "author writer creator",
    "block ban spammer spam",
    "branch ref",
    "calendar schedule event",
    "charge payment pay",
    "chapter episode",
    "code source",
    "comment reply note respond conversation",
    "commit change history",
    "company firm business studio",
    "content file text",
    "country nation",
    "credential secret token password leak",
    "cart basket",
    "date day when",
    "dependency package library",
    "deploy release publish",
    "description overview summary plot",
    "employee user person",
    "founded founder",
    "file attachment asset binary",
    "follow subscribe watch",
    "folder collection",
    "headquarters address",
    "history past previous log",
    "invite invitation collaborator",
    "keyword tag topic",
    "label tag",
    "latest new",
    "lock restrict freeze prevent",
    "machine server host instance vm node",
    "member user people",
    "network channel",
    "notification inbox unread",
    "order purchase buy",
    "payment transaction",
    "playlist library",
    "popular top hot",
    "price cost fee",
    "protect protection",
    "publish release",
    "project repo",
    "reaction like thumb emoji",
    "release version tag",
    "role permission",
    "seat license assignment",
    "subscription plan",
    "top best highest",
    "traffic view visit clone",
    "upcoming soon future",
];

/// Words after which something's name or content follows.
const QUOTES: &str = "about called containing mentioning mention named saying says titled";

/// Words that ask for somebody, and the nouns that APIs have for people.
const SOMEBODY: &str = "who whom whose somebody someone anybody anyone people";
const PEOPLE: &str = "person people user member";

/// Words of somebody who means what is theirs, and the words that APIs have for them.
const MINE: &str = "my mine myself our ours";
const CALLER: &str = "authenticated me";

/// Words that start a clause, and words that start a circumstance: what follows says more about what was said before.
const CLAUSES: &str = "that which so because if while when";
const CIRCUMSTANCES: &str = "in on for from with to as under into between at by";

/// Second words of verbs that may enclose what they are about: `turn the lights off`.
const PARTICLES: &str = "away down off on out over up";

/// What a word said in a question may stand for.
pub(super) const SAME_WEIGHT: f32 = 0.8;
/// The same for words that only go together.
pub(super) const NEAR_WEIGHT: f32 = 0.4;

/// The tables above by stem.
pub(super) struct Vocabulary {
    empty: HashMap<String, ()>,
    common: HashMap<String, ()>,
    verbs: HashMap<String, Category>,
    questions: HashMap<String, ()>,
    quotes: HashMap<String, ()>,
    asides: HashMap<&'static str, f32>,
    particles: HashMap<String, ()>,
    /// Words that count a little for others, whatever else they say.
    hints: HashMap<&'static str, Vec<String>>,
    phrases: HashMap<&'static str, Vec<Phrase>>,
    alike: HashMap<String, Vec<(Vec<String>, f32)>>,
}

/// A turn of phrase.
pub(super) struct Phrase {
    /// Its words after the first, unstemmed.
    pub(super) rest: Vec<&'static str>,
    /// What it means to do.
    pub(super) category: Option<Category>,
    /// The stem that stands for it; empty where none does.
    pub(super) stands_for: String,
}

fn stemmed(word: &str) -> String {
    let mut word = word.to_owned();
    stem(&mut word);
    word
}

fn set(words: &str, form: fn(&str) -> String) -> HashMap<String, ()> {
    words.split_whitespace().map(|word| (form(word), ())).collect()
}

impl Vocabulary {
    /// The one there is.
    pub(super) fn get() -> &'static Vocabulary {
        static ALL: LazyLock<Vocabulary> = LazyLock::new(Vocabulary::new);
        &ALL
    }

    fn new() -> Vocabulary {
        let mut verbs = HashMap::new();
        for (category, words) in VERBS {
            for word in words.split_whitespace() {
                verbs.entry(stemmed(word)).or_insert(category);
            }
        }
        let mut phrases: HashMap<&'static str, Vec<Phrase>> = HashMap::new();
        for (words, category, stands_for) in PHRASES {
            let mut words = words.split(' ');
            let first = words.next().unwrap_or_default();
            let phrase =
                Phrase { rest: words.collect(), category: *category, stands_for: stemmed(stands_for) };
            phrases.entry(first).or_default().push(phrase);
        }
        for several in phrases.values_mut() {
            several.sort_by_key(|phrase| std::cmp::Reverse(phrase.rest.len()));
        }
        Vocabulary {
            empty: set(EMPTY, str::to_owned),
            common: set(COMMON, stemmed),
            verbs,
            questions: set(QUESTIONS, str::to_owned),
            quotes: set(QUOTES, str::to_owned),
            asides: asides(),
            particles: set(PARTICLES, str::to_owned),
            hints: hints(),
            phrases,
            alike: alike(),
        }
    }

    /// Whether an unstemmed word says nothing.
    pub(super) fn is_empty(&self, word: &str) -> bool {
        self.empty.contains_key(word)
    }

    /// Whether a stem is that of a verb that half of all operations start with.
    pub(super) fn is_common(&self, stem: &str) -> bool {
        self.common.contains_key(stem)
    }

    /// What the verb of that stem does to the world.
    pub(super) fn verb(&self, stem: &str) -> Option<Category> {
        self.verbs.get(stem).copied()
    }

    /// Whether an unstemmed word starts a question.
    pub(super) fn asks(&self, word: &str) -> bool {
        self.questions.contains_key(word)
    }

    /// Whether something's name or content follows an unstemmed word.
    pub(super) fn quotes(&self, word: &str) -> bool {
        self.quotes.contains_key(word)
    }

    /// How much less counts what follows an unstemmed word.
    pub(super) fn turns_aside(&self, word: &str) -> f32 {
        self.asides.get(word).copied().unwrap_or(1.0)
    }

    /// Whether an unstemmed word may end a verb at a distance.
    pub(super) fn is_particle(&self, word: &str) -> bool {
        self.particles.contains_key(word)
    }

    /// Stems that an unstemmed word hints at.
    pub(super) fn hints(&self, word: &str) -> &[String] {
        self.hints.get(word).map_or(&[], Vec::as_slice)
    }

    /// Turns of phrase that start with an unstemmed word, the longest first.
    pub(super) fn phrases(&self, first: &str) -> &[Phrase] {
        self.phrases.get(first).map_or(&[], Vec::as_slice)
    }

    /// What else the word of that stem may stand for, as stems of one or more words, with how much it weighs.
    pub(super) fn alike(&self, stem: &str) -> &[(Vec<String>, f32)] {
        self.alike.get(stem).map_or(&[], Vec::as_slice)
    }
}

fn asides() -> HashMap<&'static str, f32> {
    let clauses = CLAUSES.split_whitespace().map(|word| (word, 0.8));
    let circumstances = CIRCUMSTANCES.split_whitespace().map(|word| (word, 0.9));
    clauses.chain(circumstances).collect()
}

fn hints() -> HashMap<&'static str, Vec<String>> {
    let mut all = HashMap::new();
    for (words, meant) in [(SOMEBODY, PEOPLE), (MINE, CALLER)] {
        for word in words.split_whitespace() {
            all.insert(word, meant.split_whitespace().map(stemmed).collect());
        }
    }
    all
}

fn alike() -> HashMap<String, Vec<(Vec<String>, f32)>> {
    let mut all: HashMap<String, Vec<(Vec<String>, f32)>> = HashMap::new();
    for (groups, weight) in [(SAME, SAME_WEIGHT), (NEAR, NEAR_WEIGHT)] {
        for group in groups {
            let members: Vec<Vec<String>> =
                group.split(' ').map(|member| member.split('_').map(stemmed).collect()).collect();
            for member in &members {
                let others = all.entry(member.join(" ")).or_default();
                for other in &members {
                    if other != member && !others.iter().any(|(known, _)| known == other) {
                        others.push((other.clone(), weight));
                    }
                }
            }
        }
    }
    all
}
