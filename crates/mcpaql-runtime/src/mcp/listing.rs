//! The tools in the types of the protocol library.

use mcpaql_core::catalog::Tool;
use std::collections::HashMap;
use std::sync::Arc;

/// The tools in the library's types, built once per list of the service.
pub(super) struct Listing {
    source: Arc<[Tool]>,
    tools: Vec<rmcp::model::Tool>,
    by_name: HashMap<String, usize>,
}

impl Listing {
    pub(super) fn new(source: Arc<[Tool]>) -> Self {
        let tools: Vec<_> = source.iter().filter_map(published).collect();
        let by_name = tools.iter().enumerate().map(|(index, tool)| (tool.name.to_string(), index)).collect();
        Listing { source, tools, by_name }
    }

    /// Returns whether it was built from this list.
    pub(super) fn is_from(&self, source: &Arc<[Tool]>) -> bool {
        Arc::ptr_eq(&self.source, source)
    }

    /// The tools, in order.
    pub(super) fn tools(&self) -> &[rmcp::model::Tool] {
        &self.tools
    }

    /// Returns the tool with this name.
    pub(super) fn tool(&self, name: &str) -> Option<&rmcp::model::Tool> {
        self.by_name.get(name).and_then(|&index| self.tools.get(index))
    }
}

/// Converts a tool to the library's type through their common JSON; `None` if the library rejects it.
fn published(tool: &Tool) -> Option<rmcp::model::Tool> {
    match serde_json::from_value(tool.to_json()) {
        Ok(tool) => Some(tool),
        Err(error) => {
            tracing::error!(tool = tool.name, %error, "tool not listed: rejected by the protocol library");
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcpaql_core::policy::HintOverrides;
    use serde_json::json;

    #[test]
    fn a_tool_is_published_as_it_is_written() {
        let some_hints =
            HintOverrides { read_only: Some(true), open_world: Some(false), ..HintOverrides::default() };
        let all_hints = HintOverrides { destructive: Some(false), idempotent: Some(true), ..some_hints };
        for hints in [HintOverrides::default(), some_hints, all_hints] {
            for title_in_annotations in [false, true] {
                let tool = Tool {
                    name: "list_projects".into(),
                    title: "List projects".into(),
                    description: "Lists projects.".into(),
                    input_schema: json!({"type": "object", "properties": {}}),
                    output_schema: title_in_annotations.then(|| json!({"type": "object"})),
                    max_result_chars: title_in_annotations.then_some(4000),
                    hints,
                    title_in_annotations,
                };
                assert_eq!(serde_json::to_value(published(&tool).unwrap()).unwrap(), tool.to_json());
            }
        }
    }
}
