//! What a rule found: where, what, and what would be right.

use super::rule::Rule;
use super::view::{Surface, Tool};
use crate::convention::Level;
use mcpaql_core::facts::Effect;
use mcpaql_core::policy::HintOverrides;

/// Where something stands.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Place {
    /// Index of the server.
    pub server: usize,
    /// Index of the tool in its list; `None` where it is about the server as a whole.
    pub tool: Option<usize>,
    /// JSON pointer into the tool: `/annotations/readOnlyHint`. Empty for the whole. What should be there and is not has the
    /// pointer that it would have.
    pub pointer: String,
}

/// One thing that is wrong.
#[derive(Debug, Clone)]
pub struct Finding {
    /// The rule that says so.
    pub rule: &'static Rule,
    /// How bad.
    pub level: Level,
    /// Where.
    pub place: Place,
    /// What is wrong, in one sentence without a final full stop; control and invisible characters of the server's text may be
    /// in it.
    pub message: String,
    /// What to do about it, as a fragment.
    pub help: Option<String>,
    /// Names of the conventions that demand otherwise; empty where everybody would.
    pub demanded_by: Vec<String>,
    /// What else is part of it: the other tool of a collision.
    pub related: Vec<Place>,
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
    pub(super) fn help(&mut self, help: impl Into<String>) -> &mut Finding {
        self.help = Some(help.into());
        self
    }

    /// Says who demands otherwise.
    pub(super) fn by(&mut self, who: impl Into<String>) -> &mut Finding {
        self.demanded_by.push(who.into());
        self
    }

    /// Names another place that is part of it.
    pub(super) fn with(&mut self, place: Place) -> &mut Finding {
        self.related.push(place);
        self
    }

    /// Proposes a correction.
    pub(super) fn fix(&mut self, fix: Fix) -> &mut Finding {
        self.fix = Some(fix);
        self
    }

    /// Is only advice, whatever the rule is otherwise.
    pub(super) fn advice(&mut self) -> &mut Finding {
        self.level = self.level.min(Level::Advice);
        self
    }
}

/// Where a rule puts what it finds.
#[derive(Debug)]
pub(super) struct Findings<'f> {
    rule: &'static Rule,
    level: Level,
    found: &'f mut Vec<Finding>,
}

impl<'f> Findings<'f> {
    pub(super) fn new(rule: &'static Rule, level: Level, found: &'f mut Vec<Finding>) -> Findings<'f> {
        Findings { rule, level, found }
    }

    /// About a place in a tool.
    pub(super) fn tool(
        &mut self,
        tool: &Tool<'_>,
        pointer: impl Into<String>,
        message: impl Into<String>,
    ) -> &mut Finding {
        self.push(tool.place(pointer), message.into())
    }

    /// About a server as a whole.
    pub(super) fn server(&mut self, surface: &Surface<'_>, message: impl Into<String>) -> &mut Finding {
        let place = Place { server: surface.index, tool: None, pointer: String::new() };
        self.push(place, message.into())
    }

    fn push(&mut self, place: Place, message: String) -> &mut Finding {
        let index = self.found.len();
        self.found.push(Finding {
            rule: self.rule,
            level: self.level,
            place,
            message,
            help: None,
            demanded_by: Vec::new(),
            related: Vec::new(),
            fix: None,
        });
        // Just pushed; the index cannot be out of bounds.
        #[expect(clippy::indexing_slicing, reason = "the element was pushed two lines above")]
        &mut self.found[index]
    }
}
