//! What a rule found: where, what, and what would be right.

use super::Rule;
use crate::convention::RuleLevel;
use crate::tool::{ParsedServer, ParsedTool, ToolPlace};
use mcpaql_core::facts::Effect;
use mcpaql_core::policy::HintOverrides;

/// One thing that is wrong.
#[derive(Debug, Clone)]
pub struct Finding {
    /// The rule that says so.
    pub rule: &'static Rule,
    /// How bad.
    pub level: RuleLevel,
    /// Where.
    pub place: ToolPlace,
    /// What is wrong, in one sentence without a final full stop; control and invisible characters of the server's text may be
    /// in it.
    pub message: String,
    /// What to do about it, as a fragment.
    pub help: Option<String>,
    /// Names of the conventions that demand otherwise; empty where everybody would.
    pub required_by: Vec<String>,
    /// What else is part of it: the other tool of a collision.
    pub related: Vec<ToolPlace>,
    /// What can be written instead without asking anybody.
    pub fix: Option<Fix>,
}

/// A correction that is safe to make.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fix {
    /// Another name.
    Name(String),
    /// Another title.
    Title(String),
    /// Another description.
    Description(String),
    /// Hints to write out; the others stay as they are.
    Hints(HintOverrides),
    /// What it does, from which category and hints follow.
    Effect(Effect),
}

impl Finding {
    /// Says what to do.
    pub(crate) fn help(&mut self, help: impl Into<String>) -> &mut Finding {
        self.help = Some(help.into());
        self
    }

    /// Says who demands otherwise.
    pub(crate) fn required_by(&mut self, who: impl Into<String>) -> &mut Finding {
        self.required_by.push(who.into());
        self
    }

    /// Names another place that is part of it.
    pub(crate) fn related(&mut self, place: ToolPlace) -> &mut Finding {
        self.related.push(place);
        self
    }

    /// Proposes a correction.
    pub(crate) fn fix(&mut self, fix: Fix) -> &mut Finding {
        self.fix = Some(fix);
        self
    }

    /// Is only advice, whatever the rule is otherwise.
    pub(crate) fn downgrade_to_advice(&mut self) -> &mut Finding {
        self.level = self.level.min(RuleLevel::Advice);
        self
    }
}

/// Where a rule puts what it finds.
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

    /// About a place in a tool.
    pub(crate) fn tool(
        &mut self,
        tool: &ParsedTool<'_>,
        pointer: impl Into<String>,
        message: impl Into<String>,
    ) -> &mut Finding {
        self.push(tool.place(pointer), message.into())
    }

    /// About a server as a whole.
    pub(crate) fn server(&mut self, surface: &ParsedServer<'_>, message: impl Into<String>) -> &mut Finding {
        let place = ToolPlace { server: surface.index, tool: None, pointer: String::new() };
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
        // Just pushed; the index cannot be out of bounds.
        #[expect(clippy::indexing_slicing, reason = "the element was pushed two lines above")]
        &mut self.found[index]
    }
}
