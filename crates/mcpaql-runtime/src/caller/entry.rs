//! The ways in which a call comes in.

use crate::protocol::Feature;

/// How a call came in. Every call has one, and nothing reaches a target without.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EntryPoint {
    /// `tools/call`.
    Tool,
    /// An operation by name: `mcpaql call`, an embedding program.
    Operation,
    /// A function in place of an operation makes the call that the document describes.
    Handler,
    /// Work that a call left running in the background.
    Execution,
    /// `tasks/*`: asking after that work, or stopping it.
    Task,
    /// `prompts/*`.
    Prompt,
    /// `resources/*`.
    Resource,
}

impl EntryPoint {
    /// Every one.
    pub const ALL: [EntryPoint; 7] = [
        EntryPoint::Tool,
        EntryPoint::Operation,
        EntryPoint::Handler,
        EntryPoint::Execution,
        EntryPoint::Task,
        EntryPoint::Prompt,
        EntryPoint::Resource,
    ];

    /// Whether it is a call in the statistics that people see. The others belong to such a call, or call no operation.
    #[must_use]
    pub const fn is_call(self) -> bool {
        matches!(self, EntryPoint::Tool | EntryPoint::Operation)
    }
}

impl From<Feature> for EntryPoint {
    fn from(feature: Feature) -> EntryPoint {
        match feature {
            Feature::Resources | Feature::Templates | Feature::Resource => EntryPoint::Resource,
            Feature::Prompts | Feature::Prompt => EntryPoint::Prompt,
        }
    }
}
