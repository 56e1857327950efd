//! Tools as the protocol library writes them.

use mcpaql_core::catalog::Tool;
use rmcp::model::ToolAnnotations;
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
        let tools = source.iter().map(published).collect();
        let by_name = source.iter().enumerate().map(|(index, tool)| (tool.name.clone(), index)).collect();
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

fn published(tool: &Tool) -> rmcp::model::Tool {
    let schema = tool.input_schema.as_object().cloned().unwrap_or_default();
    let mut annotations = ToolAnnotations::new();
    annotations.title = tool.title_in_annotations.then(|| tool.title.clone());
    annotations.read_only_hint = tool.hints.read_only;
    annotations.destructive_hint = tool.hints.destructive;
    annotations.idempotent_hint = tool.hints.idempotent;
    annotations.open_world_hint = tool.hints.open_world;
    let published = rmcp::model::Tool::new(tool.name.clone(), tool.description.clone(), schema)
        .with_title(tool.title.clone());
    if annotations == ToolAnnotations::new() { published } else { published.with_annotations(annotations) }
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
                assert_eq!(serde_json::to_value(published(&tool)).unwrap(), tool.to_json());
            }
        }
    }
}
