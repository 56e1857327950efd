//! What a rule is, and how its doc comment becomes its documentation.

mod finding;

pub(crate) use finding::Findings;
pub use finding::{Finding, Fix};

use crate::convention::{RuleLevel, Standard};
use crate::tool::{ParsedServer, ParsedTool};

/// What a rule is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RuleGroup {
    /// `NAME`.
    Names,
    /// `TITLE`.
    Titles,
    /// `HINT`.
    Annotations,
    /// `DESC`.
    Descriptions,
    /// `SCHEMA`.
    Schemas,
    /// `COST`.
    Cost,
}

impl RuleGroup {
    /// In the order of reports.
    pub const ALL: [RuleGroup; 6] = [
        RuleGroup::Names,
        RuleGroup::Titles,
        RuleGroup::Annotations,
        RuleGroup::Descriptions,
        RuleGroup::Schemas,
        RuleGroup::Cost,
    ];

    /// The word in reports.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            RuleGroup::Names => "names",
            RuleGroup::Titles => "titles",
            RuleGroup::Annotations => "annotations",
            RuleGroup::Descriptions => "descriptions",
            RuleGroup::Schemas => "schemas",
            RuleGroup::Cost => "cost",
        }
    }

    /// What codes of the group begin with.
    #[must_use]
    pub const fn prefix(self) -> &'static str {
        match self {
            RuleGroup::Names => "NAME",
            RuleGroup::Titles => "TITLE",
            RuleGroup::Annotations => "HINT",
            RuleGroup::Descriptions => "DESC",
            RuleGroup::Schemas => "SCHEMA",
            RuleGroup::Cost => "COST",
        }
    }
}

/// One thing that can be wrong with tools.
#[derive(Debug)]
pub struct Rule {
    /// `NAME-001`; never used for anything else again.
    pub code: &'static str,
    /// `illegal-characters`.
    pub name: &'static str,
    /// Unless a convention or the user says otherwise.
    pub level: RuleLevel,
    /// Its documentation in Markdown: what it says in one line, then what it does, why it matters, a bad and a good example.
    pub docs: &'static str,
    pub(super) check: RuleCheck,
}

/// What a rule looks at.
#[derive(Debug, Clone, Copy)]
pub(super) enum RuleCheck {
    /// One tool at a time.
    Tool(fn(&ParsedTool<'_>, &Standard, &mut Findings<'_>)),
    /// The tools of a server.
    Server(fn(&ParsedServer<'_>, &Standard, &mut Findings<'_>)),
    /// The tools of all servers.
    Servers(fn(&[ParsedServer<'_>], &Standard, &mut Findings<'_>)),
}

/// An example in the documentation of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleExample<'r> {
    /// Where the rule finds something, as a pointer into the example; `None` where it must not.
    pub at: Option<&'r str>,
    /// The conventions to hold it against besides those everybody is held against.
    pub conventions: Vec<&'r str>,
    /// A tool, `{"tools": […]}` or `{"servers": {"name": […]}}`.
    pub json: &'r str,
}

impl Rule {
    /// What it is about.
    #[must_use]
    pub fn group(&self) -> RuleGroup {
        let prefix = self.code.split('-').next().unwrap_or_default();
        RuleGroup::ALL.into_iter().find(|group| group.prefix() == prefix).unwrap_or(RuleGroup::Names)
    }

    /// Whether only a probe can see what it looks for.
    #[must_use]
    pub fn needs_probe(&self) -> bool {
        matches!(self.code, "HINT-101" | "HINT-102" | "HINT-103")
    }

    /// What it says, in one line.
    #[must_use]
    pub fn summary(&self) -> &'static str {
        self.docs.lines().next().unwrap_or_default().trim()
    }

    /// Its documentation as anybody's Markdown: an example says in words which conventions it is held against.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut text = String::new();
        for line in self.docs.lines().map(|line| line.strip_prefix(' ').unwrap_or(line)) {
            match line.strip_prefix("```").and_then(|info| info.split_once(' ')) {
                Some((language, info)) => {
                    let with = info.split_whitespace().find_map(|word| word.strip_prefix("with="));
                    if let Some(with) = with {
                        let names: Vec<String> = with.split(',').map(|name| format!("`{name}`")).collect();
                        text.push_str(&format!("For {}:\n\n", names.join(", ")));
                    }
                    text.push_str(&format!("```{language}\n"));
                }
                None => text.push_str(&format!("{line}\n")),
            }
        }
        format!("{}\n", text.trim())
    }

    /// The examples of its documentation: fenced blocks that begin with `json bad at=/pointer` or `json good`, each perhaps with
    /// `with=convention,convention` behind it.
    #[must_use]
    pub fn examples(&self) -> Vec<RuleExample<'static>> {
        let mut examples = Vec::new();
        let mut rest = self.docs;
        while let Some((_, begun)) = rest.split_once("```json ") {
            let Some((info, body)) = begun.split_once('\n') else { break };
            let Some((json, behind)) = body.split_once("```") else { break };
            let mut words = info.split_whitespace();
            let is_bad = words.next() == Some("bad");
            let mut example = RuleExample { at: is_bad.then_some(""), conventions: Vec::new(), json };
            for word in words {
                match word.split_once('=') {
                    Some(("at", pointer)) => example.at = Some(pointer),
                    Some(("with", names)) => example.conventions = names.split(',').collect(),
                    _ => {}
                }
            }
            examples.push(example);
            rest = behind;
        }
        examples
    }
}

/// Makes a rule of a doc comment and what a computer needs to know besides.
macro_rules! rule {
    ($(#[doc = $doc:literal])+ $code:literal $name:literal $level:ident $kind:ident($check:expr)) => {
        $(#[doc = $doc])+
        pub(crate) static RULE: $crate::rule::Rule = $crate::rule::Rule {
            code: $code,
            name: $name,
            level: $crate::convention::RuleLevel::$level,
            docs: concat!($($doc, "\n"),+),
            check: $crate::rule::RuleCheck::$kind($check),
        };
    };
}

pub(super) use rule;
