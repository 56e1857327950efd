//! The ways in which a call can arrive.

use crate::protocol::Feature;

/// How a call arrived. Every call has an entry point, and no call reaches a target without one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EntryPoint {
    /// `tools/call`.
    Tool,
    /// An item of a batch, which is one `tools/call`.
    BatchItem,
    /// An operation by name, from `mcpaql call` or an embedding program.
    Operation,
    /// A handler makes the call that the document describes.
    Handler,
    /// Work that a call started in the background.
    Execution,
    /// `tasks/*`: the state of background work, or its cancellation.
    Task,
    /// `prompts/*`.
    Prompt,
    /// `resources/*`.
    Resource,
}

impl EntryPoint {
    /// All entry points.
    pub const ALL: [EntryPoint; 8] = [
        EntryPoint::Tool,
        EntryPoint::BatchItem,
        EntryPoint::Operation,
        EntryPoint::Handler,
        EntryPoint::Execution,
        EntryPoint::Task,
        EntryPoint::Prompt,
        EntryPoint::Resource,
    ];

    /// Returns whether the answer goes to a model as the result of a tool.
    #[must_use]
    pub const fn is_tool(self) -> bool {
        matches!(self, EntryPoint::Tool | EntryPoint::BatchItem)
    }

    /// Returns whether calls with this entry point count in the statistics for users. The others belong to such a
    /// call, or call no operation.
    #[must_use]
    pub const fn is_call(self) -> bool {
        matches!(self, EntryPoint::Tool | EntryPoint::BatchItem | EntryPoint::Operation)
    }
}

impl From<Feature> for EntryPoint {
    fn from(feature: Feature) -> EntryPoint {
        match feature {
            Feature::Resources
            | Feature::Templates
            | Feature::Resource
            | Feature::Subscribe
            | Feature::Unsubscribe => EntryPoint::Resource,
            Feature::Prompts | Feature::Prompt | Feature::Completion => EntryPoint::Prompt,
        }
    }
}
