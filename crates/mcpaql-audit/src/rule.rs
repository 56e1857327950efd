//! What a rule is, and how its doc comment becomes its documentation.

mod finding;

pub(crate) use finding::Findings;
pub use finding::{Finding, Fix};

use crate::convention::{Level, Standard};
use crate::tool::{Surface, Tool};

/// What a rule is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Group {
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

impl Group {
    /// In the order of reports.
    pub const ALL: [Group; 6] =
        [Group::Names, Group::Titles, Group::Annotations, Group::Descriptions, Group::Schemas, Group::Cost];

    /// The word in reports.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Group::Names => "names",
            Group::Titles => "titles",
            Group::Annotations => "annotations",
            Group::Descriptions => "descriptions",
            Group::Schemas => "schemas",
            Group::Cost => "cost",
        }
    }

    /// What codes of the group begin with.
    #[must_use]
    pub const fn prefix(self) -> &'static str {
        match self {
            Group::Names => "NAME",
            Group::Titles => "TITLE",
            Group::Annotations => "HINT",
            Group::Descriptions => "DESC",
            Group::Schemas => "SCHEMA",
            Group::Cost => "COST",
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
    pub level: Level,
    /// Its documentation in Markdown: what it says in one line, then what it does, why it matters, a bad and a good example.
    pub docs: &'static str,
    pub(super) check: Check,
}

/// What a rule looks at.
#[derive(Debug, Clone, Copy)]
pub(super) enum Check {
    /// One tool at a time.
    Tool(fn(&Tool<'_>, &Standard, &mut Findings<'_>)),
    /// The tools of a server.
    Server(fn(&Surface<'_>, &Standard, &mut Findings<'_>)),
    /// The tools of all servers.
    Servers(fn(&[Surface<'_>], &Standard, &mut Findings<'_>)),
}

/// An example in the documentation of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Example<'r> {
    /// Where the rule finds something, as a pointer into the example; `None` where it must not.
    pub at: Option<&'r str>,
    /// The conventions to hold it against besides those everybody is held against.
    pub with: Vec<&'r str>,
    /// A tool, `{"tools": […]}` or `{"servers": {"name": […]}}`.
    pub json: &'r str,
}

impl Rule {
    /// What it is about.
    #[must_use]
    pub fn group(&self) -> Group {
        let prefix = self.code.split('-').next().unwrap_or_default();
        Group::ALL.into_iter().find(|group| group.prefix() == prefix).unwrap_or(Group::Names)
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
    pub fn examples(&self) -> Vec<Example<'static>> {
        let mut examples = Vec::new();
        let mut rest = self.docs;
        while let Some((_, begun)) = rest.split_once("```json ") {
            let Some((info, body)) = begun.split_once('\n') else { break };
            let Some((json, behind)) = body.split_once("```") else { break };
            let mut words = info.split_whitespace();
            let is_bad = words.next() == Some("bad");
            let mut example = Example { at: is_bad.then_some(""), with: Vec::new(), json };
            for word in words {
                match word.split_once('=') {
                    Some(("at", pointer)) => example.at = Some(pointer),
                    Some(("with", names)) => example.with = names.split(',').collect(),
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
            level: $crate::convention::Level::$level,
            docs: concat!($($doc, "\n"),+),
            check: $crate::rule::Check::$kind($check),
        };
    };
}

pub(super) use rule;
