//! The findings of a rule, and the fixes it proposes.

use super::Rule;
use crate::convention::RuleLevel;
use crate::tool::{ParsedServer, ParsedTool, ToolPlace};
use mcpaql_core::facts::Effect;
use mcpaql_core::policy::HintOverrides;

/// A problem that a rule found.
#[derive(Debug, Clone)]
pub struct Finding {
    /// The rule that reports it.
    pub rule: &'static Rule,
    /// The level of this finding; it can be lower than the level of the rule.
    pub level: RuleLevel,
    /// The server, tool and field that it is about.
    pub place: ToolPlace,
    /// The problem in one sentence, without a full stop at the end. It may contain control and invisible characters from the
    /// server's text.
    pub message: String,
    /// What to do about it, as a lower-case fragment.
    pub help: Option<String>,
    /// Names of the conventions whose requirement is not met; empty if the rule does not depend on conventions.
    pub required_by: Vec<String>,
    /// Other places that are part of the problem, such as the other tool of a collision.
    pub related: Vec<ToolPlace>,
    /// A correction that is safe to apply without asking.
    pub fix: Option<Fix>,
}

/// A correction that is safe to apply without asking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fix {
    /// A new name.
    Name(String),
    /// A new title.
    Title(String),
    /// A new description.
    Description(String),
    /// Hints to set; the other hints stay unchanged.
    Hints(HintOverrides),
    /// The effect of the tool, which determines its category and hints.
    Effect(Effect),
}

impl Finding {
    /// Sets the help text.
    pub(crate) fn help(&mut self, help: impl Into<String>) -> &mut Finding {
        self.help = Some(help.into());
        self
    }

    /// Adds a convention whose requirement is not met.
    pub(crate) fn required_by(&mut self, who: impl Into<String>) -> &mut Finding {
        self.required_by.push(who.into());
        self
    }

    /// Adds another place that is part of the problem.
    pub(crate) fn related(&mut self, place: ToolPlace) -> &mut Finding {
        self.related.push(place);
        self
    }

    /// Sets the fix.
    pub(crate) fn fix(&mut self, fix: Fix) -> &mut Finding {
        self.fix = Some(fix);
        self
    }

    /// Lowers the level to advice.
    pub(crate) fn downgrade_to_advice(&mut self) -> &mut Finding {
        self.level = self.level.min(RuleLevel::Advice);
        self
    }
}

/// Collects the findings of one rule.
#[derive(Debug)]
pub(crate) struct Findings<'f> {
    rule: &'static Rule,
    level: RuleLevel,
    found: &'f mut Vec<Finding>,
}

impl<'f> Findings<'f> {
    pub(crate) fn new(rule: &'static Rule, level: RuleLevel, found: &'f mut Vec<Finding>) -> Findings<'f> {
        Findings { rule, level, found }
    }

    /// Reports a problem of a tool.
    pub(crate) fn tool(
        &mut self,
        tool: &ParsedTool<'_>,
        pointer: impl Into<String>,
        message: impl Into<String>,
    ) -> &mut Finding {
        self.push(tool.place(pointer), message.into())
    }

    /// Reports a problem of a server as a whole.
    pub(crate) fn server(&mut self, parsed: &ParsedServer<'_>, message: impl Into<String>) -> &mut Finding {
        let place = ToolPlace { server: parsed.index, tool: None, pointer: String::new() };
        self.push(place, message.into())
    }

    fn push(&mut self, place: ToolPlace, message: String) -> &mut Finding {
        let index = self.found.len();
        self.found.push(Finding {
            rule: self.rule,
            level: self.level,
            place,
            message,
            help: None,
            required_by: Vec::new(),
            related: Vec::new(),
            fix: None,
        });
        #[expect(clippy::indexing_slicing, reason = "the element was pushed two lines above")]
        &mut self.found[index]
    }
}
