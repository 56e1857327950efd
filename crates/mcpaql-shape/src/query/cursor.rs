//! Cursors: the position of an item, with a signature.
//!
//! What always holds: a cursor is valid only for the same adapter, operation, parameters, filter and order; no server keeps
//! it. `fields` and the page size may change between pages. The key is the adapter's name: a signature finds mistakes,
//! such as a cursor of another list. It protects no data, because every position is also reachable with `offset`.

use serde_json::Value;
use sha2::{Digest, Sha256};

/// Signs and checks the cursors of one list.
#[derive(Debug, Clone)]
pub struct CursorSigner {
    /// The hash of everything that defines the list.
    list: [u8; 32],
}

impl CursorSigner {
    /// Creates the signer of a list. `scope` has the parameters that define it, in any order.
    #[must_use]
    pub fn new<'v>(
        adapter: &str,
        operation: &str,
        scope: impl IntoIterator<Item = (&'v str, &'v Value)>,
    ) -> CursorSigner {
        let mut hash = Sha256::new();
        add_text(&mut hash, "mcpaql cursor 1");
        add_text(&mut hash, adapter);
        add_text(&mut hash, operation);
        let mut scope: Vec<(&str, &Value)> = scope.into_iter().collect();
        scope.sort_by_key(|(name, _)| *name);
        for (name, value) in scope {
            add_text(&mut hash, name);
            add_value(&mut hash, value);
        }
        CursorSigner { list: hash.finalize().into() }
    }

    /// Returns the cursor of the item with this position.
    #[must_use]
    pub fn encode(&self, position: usize) -> String {
        format!("{position:x}-{}", self.signature(position))
    }

    /// Returns the position of a cursor; `None` if it is not a cursor of this list.
    #[must_use]
    pub fn decode(&self, cursor: &str) -> Option<usize> {
        let (position, _) = cursor.split_once('-')?;
        let position = usize::from_str_radix(position, 16).ok()?;
        (self.encode(position) == cursor).then_some(position)
    }

    fn signature(&self, position: usize) -> String {
        let mut hash = Sha256::new();
        hash.update(self.list);
        hash.update((position as u64).to_be_bytes());
        let digest: [u8; 32] = hash.finalize().into();
        digest.iter().take(6).map(|byte| format!("{byte:02x}")).collect()
    }
}

fn add_text(hash: &mut Sha256, text: &str) {
    hash.update((text.len() as u64).to_be_bytes());
    hash.update(text.as_bytes());
}

/// Adds a value. The order of an object's members does not matter.
fn add_value(hash: &mut Sha256, value: &Value) {
    match value {
        Value::Array(items) => {
            add_text(hash, "[");
            items.iter().for_each(|item| add_value(hash, item));
            add_text(hash, "]");
        }
        Value::Object(map) => {
            add_text(hash, "{");
            let mut members: Vec<(&String, &Value)> = map.iter().collect();
            members.sort_by_key(|(name, _)| *name);
            for (name, member) in members {
                add_text(hash, name);
                add_value(hash, member);
            }
            add_text(hash, "}");
        }
        scalar => add_text(hash, &scalar.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_cursor_belongs_to_one_list() {
        let (open, closed) = (json!({"a": 1, "b": [2]}), json!({"b": [2], "a": 2}));
        let signer = |operation: &str, filter| CursorSigner::new("a", operation, [("filter", filter)]);
        let cursor = signer("list", &open).encode(29);
        assert_eq!(signer("list", &open).decode(&cursor), Some(29));
        let reordered = json!({"b": [2], "a": 1});
        assert_eq!(signer("list", &reordered).decode(&cursor), Some(29));
        assert_eq!(signer("list", &closed).decode(&cursor), None);
        assert_eq!(signer("other", &open).decode(&cursor), None);
        for forged in
            ["", "1d", "1d-", "1e-000000000000", &cursor.replacen("1d", "1e", 1), &cursor.to_uppercase()]
        {
            assert_eq!(signer("list", &open).decode(forged), None, "{forged}");
        }
    }
}
