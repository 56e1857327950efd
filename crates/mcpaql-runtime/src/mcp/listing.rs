//! Tools as the protocol library writes them.

use mcpaql_core::catalog::Tool;
use std::collections::HashMap;
use std::sync::Arc;

/// The tools in the library's types, built once for each list that the service hands out.
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

    /// Whether it was built of this list.
    pub(super) fn is_of(&self, source: &Arc<[Tool]>) -> bool {
        Arc::ptr_eq(&self.source, source)
    }

    /// In order.
    pub(super) fn tools(&self) -> &[rmcp::model::Tool] {
        &self.tools
    }

    /// The tool of that name.
    pub(super) fn tool(&self, name: &str) -> Option<&rmcp::model::Tool> {
        self.by_name.get(name).and_then(|&index| self.tools.get(index))
    }
}

/// A tool in the library's type, by the JSON that both write alike; `None` where the library cannot hold it.
fn published(tool: &Tool) -> Option<rmcp::model::Tool> {
    match serde_json::from_value(tool.to_json()) {
        Ok(tool) => Some(tool),
        Err(error) => {
            tracing::error!(tool = tool.name, %error, "a tool cannot be listed");
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
        let said =
            HintOverrides { read_only: Some(true), open_world: Some(false), ..HintOverrides::default() };
        let all = HintOverrides { destructive: Some(false), idempotent: Some(true), ..said };
        for hints in [HintOverrides::default(), said, all] {
            for title_in_annotations in [false, true] {
                let tool = Tool {
                    name: "list_projects".into(),
                    title: "List projects".into(),
                    description: "Lists projects.".into(),
                    input_schema: json!({"type": "object", "properties": {}}),
                    hints,
                    title_in_annotations,
                };
                assert_eq!(serde_json::to_value(published(&tool).unwrap()).unwrap(), tool.to_json());
            }
        }
    }
}
