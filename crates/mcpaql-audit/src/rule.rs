//! The definition of a rule, and its documentation from its doc comment.

mod finding;

pub(crate) use finding::Findings;
pub use finding::{Finding, Fix};

use crate::convention::{RuleLevel, Standard};
use crate::tool::{ParsedServer, ParsedTool};

/// The topic of a rule.
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
    /// All groups, in the order of reports.
    pub const ALL: [RuleGroup; 6] = [
        RuleGroup::Names,
        RuleGroup::Titles,
        RuleGroup::Annotations,
        RuleGroup::Descriptions,
        RuleGroup::Schemas,
        RuleGroup::Cost,
    ];

    /// Returns the name of the group in reports.
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

    /// Returns the prefix of the rule codes of the group.
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

/// A rule: a check for one kind of problem.
#[derive(Debug)]
pub struct Rule {
    /// The code, such as `NAME-001`. A code is never reused.
    pub code: &'static str,
    /// The name, such as `illegal-characters`.
    pub name: &'static str,
    /// The highest level of its findings, by default; a convention or the user can set another one.
    pub level: RuleLevel,
    /// The lowest level of its findings. The documentation says when a finding has a lower level than `level`.
    pub lowest: RuleLevel,
    /// The documentation in Markdown: a summary line, then what the rule does, why it matters, and bad and good examples.
    pub docs: &'static str,
    pub(super) check: RuleCheck,
}

/// The check of a rule, by what it looks at.
#[derive(Debug, Clone, Copy)]
pub(super) enum RuleCheck {
    /// One tool at a time.
    Tool(fn(&ParsedTool<'_>, &Standard, &mut Findings<'_>)),
    /// All tools of one server.
    Server(fn(&ParsedServer<'_>, &Standard, &mut Findings<'_>)),
    /// All tools of all servers.
    Servers(fn(&[ParsedServer<'_>], &Standard, &mut Findings<'_>)),
}

/// An example in the documentation of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleExample<'r> {
    /// JSON pointer to the expected finding in the example; `None` if the rule must report nothing.
    pub at: Option<&'r str>,
    /// Conventions to check the example against, in addition to the default ones.
    pub conventions: Vec<&'r str>,
    /// A tool, `{"tools": […]}` or `{"servers": {"name": […]}}`.
    pub json: &'r str,
}

impl Rule {
    /// Returns the group, from the prefix of the code.
    #[must_use]
    pub fn group(&self) -> RuleGroup {
        let prefix = self.code.split('-').next().unwrap_or_default();
        RuleGroup::ALL.into_iter().find(|group| group.prefix() == prefix).unwrap_or(RuleGroup::Names)
    }

    /// Returns whether the rule needs the results of a probe.
    #[must_use]
    pub fn needs_probe(&self) -> bool {
        matches!(self.code, "HINT-101" | "HINT-102" | "HINT-103")
    }

    /// Returns the level in words: `error`, or `up to error` if some findings have a lower level.
    #[must_use]
    pub fn level_label(&self) -> String {
        let level = self.level.as_str();
        if self.lowest == self.level { level.to_owned() } else { format!("up to {level}") }
    }

    /// Returns the first line of the documentation.
    #[must_use]
    pub fn summary(&self) -> &'static str {
        self.docs.lines().next().unwrap_or_default().trim()
    }

    /// Returns the documentation as plain Markdown, with the conventions of each example in words.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut text = String::new();
        for line in self.docs.lines().map(|line| line.strip_prefix(' ').unwrap_or(line)) {
            match line.strip_prefix("```").and_then(|info| info.split_once(' ')) {
                Some((language, info)) => {
                    let with = info.split_whitespace().find_map(|word| word.strip_prefix("with="));
                    if let Some(with) = with {
                        let names: Vec<String> = with.split(',').map(|name| format!("`{name}`")).collect();
                        text.push_str(&format!("With the convention {}:\n\n", names.join(", ")));
                    }
                    text.push_str(&format!("```{language}\n"));
                }
                None => text.push_str(&format!("{line}\n")),
            }
        }
        format!("{}\n", text.trim())
    }

    /// Returns the examples in the documentation: fenced blocks that start with `json bad at=/pointer` or `json good`, optionally
    /// followed by `with=convention,convention`.
    #[must_use]
    pub fn examples(&self) -> Vec<RuleExample<'static>> {
        let mut examples = Vec::new();
        let mut rest = self.docs;
        while let Some((_, block)) = rest.split_once("```json ") {
            let Some((info, body)) = block.split_once('\n') else { break };
            let Some((json, after)) = body.split_once("```") else { break };
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
            rest = after;
        }
        examples
    }
}

/// Defines a rule from its doc comment, code, name, level and check. A rule whose findings can have a lower level names the
/// lowest one, too: `Error..Advice`.
macro_rules! rule {
    ($(#[doc = $doc:literal])+ $code:literal $name:literal $level:ident $kind:ident($check:expr)) => {
        $crate::rule::rule! { $(#[doc = $doc])+ $code $name $level..$level $kind($check) }
    };
    ($(#[doc = $doc:literal])+ $code:literal $name:literal $level:ident..$lowest:ident $kind:ident($check:expr)) => {
        $(#[doc = $doc])+
        pub(crate) static RULE: $crate::rule::Rule = $crate::rule::Rule {
            code: $code,
            name: $name,
            level: $crate::convention::RuleLevel::$level,
            lowest: $crate::convention::RuleLevel::$lowest,
            docs: concat!($($doc, "\n"),+),
            check: $crate::rule::RuleCheck::$kind($check),
        };
    };
}

pub(super) use rule;
