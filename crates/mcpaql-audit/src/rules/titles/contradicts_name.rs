//! TITLE-004.

use crate::convention::Standard;
use crate::rule::{Findings, rule};
use crate::rules::names::spelling::clipped_name;
use crate::tool::ParsedTool;
use mcpaql_core::operation::Category;
use mcpaql_lexicon::names;
use mcpaql_lexicon::verbs::{self, Verb, Weight};

rule! {
    /// Title contradicts the name.
    ///
    /// ## What it does
    ///
    /// Compares the first verb of the title with the verb of the name, if both are clear. Reports a tool if one verb means
    /// reading and the other does not, or if one means deleting and the other does not.
    ///
    /// ## Why it matters
    ///
    /// The person who approves a call reads the title; the model that makes the call reads the name. With the title "List notes" on
    /// `delete_note`, a person approves a deletion without knowing.
    ///
    /// ## Bad
    ///
    /// ```json bad at=/title
    /// {"name": "delete_note", "title": "List notes", "inputSchema": {"type": "object"}}
    /// ```
    ///
    /// ## Good
    ///
    /// ```json good
    /// {"name": "delete_note", "title": "Remove a note", "inputSchema": {"type": "object"}}
    /// ```
    "TITLE-004" "title-contradicts-name" Warning Tool(check)
}

fn check(tool: &ParsedTool<'_>, _: &Standard, findings: &mut Findings<'_>) {
    let Some(title) = tool.shown_title() else { return };
    let Some(said) = title_verb(title) else { return };
    let Some(named) = name_verb(tool.name) else { return };
    let repeated = || tool.words.iter().filter_map(|word| verbs::inflected(word)).any(|verb| verb == said);
    if !contradict(named, said) || repeated() {
        return;
    }
    let pointer = tool.shown_title_pointer();
    let message = format!(
        "The title '{}' contradicts the name '{}': its verb is '{}'",
        clipped_name(title),
        clipped_name(tool.name),
        said.word
    );
    findings.tool(tool, pointer, message).help("use the same verb in title and name");
}

/// Returns the verb that a title starts with, if it is clear.
fn title_verb(title: &str) -> Option<&'static Verb> {
    let first: String = title.trim_start().chars().take_while(|c| c.is_alphabetic()).take(24).collect();
    verbs::inflected(&first.to_lowercase()).filter(|verb| verb.weight == Weight::Strong)
}

/// Returns the verb of a name, if it is clear and the only one.
fn name_verb(name: &str) -> Option<&'static Verb> {
    let reading = names::name_verbs(&names::parts(name));
    let lead = reading.lead.filter(|_| !reading.compound && reading.second.is_none())?;
    Some(lead.verb).filter(|verb| verb.weight == Weight::Strong)
}

/// Returns whether only one of two verbs reads, or only one deletes.
fn contradict(one: &Verb, other: &Verb) -> bool {
    let [one, other] = [one, other].map(|verb| verb.effect.category());
    [Category::Read, Category::Delete].iter().any(|category| (one == *category) != (other == *category))
}
