//! DESC-002.

use crate::convention::Standard;
use crate::rule::{Findings, rule};
use crate::tool::ParsedTool;
use mcpaql_lexicon::{WordSet, stem, words};

rule! {
    /// Description adds nothing to the name.
    ///
    /// ## What it does
    ///
    /// Checks for descriptions that consist only of fillers and of words from the tool's name or the server's name, and for
    /// placeholders such as `TODO`. A description that repeats the name is only advice.
    ///
    /// ## Why it matters
    ///
    /// A model that has to choose between `get_issue` and `read_issue` learns nothing from "Gets an issue". Anthropic calls detailed
    /// descriptions by far the most important factor in how well a tool is used
    /// (https://docs.claude.com/en/docs/agents-and-tools/tool-use/implement-tool-use).
    ///
    /// ## Bad
    ///
    /// ```json bad at=/description
    /// {"name": "get_issue", "description": "Gets the issue.", "inputSchema": {"type": "object"}}
    /// ```
    ///
    /// ```json bad at=/description
    /// {"name": "create_issue", "description": "TODO", "inputSchema": {"type": "object"}}
    /// ```
    ///
    /// ## Good
    ///
    /// ```json good
    /// {"name": "get_issue", "description": "Title, text, labels and state of one issue.", "inputSchema": {"type": "object"}}
    /// ```
    "DESC-002" "uninformative-description" Warning..Advice Tool(check)
}

/// Words without information of their own.
static FILLERS: WordSet = WordSet::of(
    "a an the this that tool function method endpoint api to of for in on from by with and or one some all any your given \
     specific specified particular single new existing use used call it is you can will s",
);
const PLACEHOLDERS: &[&str] = &[
    "todo",
    "tbd",
    "fixme",
    "description",
    "n a",
    "none",
    "null",
    "undefined",
    "placeholder",
    "test",
    "lorem ipsum",
];
/// Placeholders have fewer words than this.
const MAX_PLACEHOLDER_WORDS: usize = 3;
/// Maximum length of a description that is checked; a longer one says something.
const MAX_EMPTY_TEXT: usize = 120;

fn check(tool: &ParsedTool<'_>, _: &Standard, findings: &mut Findings<'_>) {
    let Some(text) =
        tool.description.map(str::trim).filter(|text| !text.is_empty() && text.len() <= MAX_EMPTY_TEXT)
    else {
        return;
    };
    // The first few words usually decide; the rest are split only if they do not.
    let mut said = text.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty()).flat_map(words);
    let first: Vec<String> = said.by_ref().take(MAX_PLACEHOLDER_WORDS).collect();
    if first.is_empty()
        || (first.len() < MAX_PLACEHOLDER_WORDS && PLACEHOLDERS.contains(&first.join(" ").as_str()))
    {
        let message = format!("The description of '{}' is a placeholder: '{text}'", tool.name);
        findings.tool(tool, "/description", message).help("say what the tool does and what it returns");
        return;
    }
    let mut known: Vec<String> = tool.words.iter().map(|word| stem(word)).collect();
    known.extend(words(tool.server).iter().map(|word| stem(word)));
    // Names of one word and texts in other scripts cannot be compared.
    if tool.words.len() < 2 || !text.is_ascii() {
        return;
    }
    let new = |word: &String| !FILLERS.contains(word) && !known.contains(&stem(word));
    if !first.into_iter().chain(said).any(|word| new(&word)) {
        let message = format!("The description of '{}' only repeats its name: '{text}'", tool.name);
        findings
            .tool(tool, "/description", message)
            .help("say what the name does not say")
            .downgrade_to_advice();
    }
}
