//! Property tests with random TOML files in random layouts.

use super::edit::{remove, set};
use super::*;
use proptest::prelude::*;
use serde_json::json;

const PATH: &[&str] = &["mcp_servers", "mcpaql"];

/// Builds a file with a random layout from random bytes.
struct RandomToml<'b> {
    bytes: std::slice::Iter<'b, u8>,
    line_end: &'static str,
    out: String,
    keys: u32,
}

impl RandomToml<'_> {
    fn draw(&mut self, choices: u8) -> u8 {
        self.bytes.next().map_or(0, |byte| byte % choices)
    }

    fn pick(&mut self, texts: &[&str]) {
        let index = usize::from(self.draw(u8::try_from(texts.len()).unwrap()));
        self.out.push_str(texts[index]);
    }

    fn space(&mut self) {
        self.pick(&["", " ", "\t", "  "]);
    }

    fn end_line(&mut self) {
        self.pick(&["", " ", "# c", " # d [mcp_servers.mcpaql]", "\t#"]);
        let end = if self.draw(8) == 0 { "\n" } else { self.line_end };
        self.out.push_str(end);
    }

    fn blank_lines(&mut self) {
        for _ in 0..self.draw(3) {
            self.space();
            self.end_line();
        }
    }

    /// Writes a key that no other line of the file has.
    fn key(&mut self) {
        self.keys += 1;
        let key = match self.draw(4) {
            0 => format!("\"k # {}\"", self.keys),
            1 => format!("'k.{}'", self.keys),
            2 => format!("k{}.x", self.keys),
            _ => format!("k{}", self.keys),
        };
        self.out.push_str(&key);
    }

    fn value(&mut self, depth: u8) {
        match self.draw(if depth > 2 { 6 } else { 8 }) {
            0 => self.pick(&["1", "0x1F", "1_000", "-1.5e3", "true", "1979-05-27T07:32:00Z"]),
            1 => self.pick(&["\"a # \\\" b\"", "'x # y'", "\"\"", "'[mcp_servers.mcpaql]'"]),
            2 => self.pick(&["\"\"\"\n[mcp_servers.mcpaql]\n# x\"\"\"", "'''a\n'b''\n'''"]),
            3 => self.out.push_str("false"),
            4 => self.out.push_str("[]"),
            5 => self.out.push_str("{}"),
            6 => {
                self.out.push('[');
                for _ in 0..self.draw(3) {
                    self.pick(&["", " ", "\n", " # c\n"]);
                    self.value(depth + 1);
                    self.pick(&["", " ", "\n"]);
                    self.out.push(',');
                }
                self.pick(&["", " ", "\n# c\n"]);
                self.out.push(']');
            }
            _ => {
                self.out.push('{');
                for index in 0..self.draw(3) {
                    if index > 0 {
                        self.out.push(',');
                    }
                    self.space();
                    self.assignment(depth + 1);
                    self.space();
                }
                self.out.push('}');
            }
        }
    }

    fn assignment(&mut self, depth: u8) {
        self.key();
        self.space();
        self.out.push('=');
        self.space();
        self.value(depth);
    }

    fn lines(&mut self) {
        for _ in 0..self.draw(4) {
            self.blank_lines();
            self.space();
            self.assignment(0);
            self.end_line();
        }
    }

    fn header(&mut self, name: &str) {
        self.blank_lines();
        self.space();
        self.out.push_str(name);
        self.end_line();
    }

    fn file(&mut self) {
        self.pick(&["", "\u{feff}"]);
        self.blank_lines();
        let servers = self.draw(5);
        match servers {
            0 => {
                self.out.push_str("mcp_servers = {");
                self.pick(&["", " ", "a = {}", " a.command = 'x', b = { command = 'y' } "]);
                self.out.push('}');
                self.end_line();
            }
            1 => {
                self.out.push_str("mcp_servers.a.command = 'x'");
                self.end_line();
            }
            _ => {}
        }
        self.lines();
        for _ in 0..self.draw(3) {
            self.keys += 1;
            let name = format!("t{}", self.keys);
            let name = match self.draw(3) {
                0 => format!("[[{name}]]"),
                1 => format!("[ {name} . 'y#' ]"),
                _ => format!("[{name}]"),
            };
            self.header(&name);
            self.lines();
        }
        match servers {
            2 => {
                self.header("[mcp_servers]");
                self.pick(&["", "a = { command = 'x' }\n", "a.command = 'x'\n", "a.env.T = 'x' # c\n"]);
            }
            3 => {
                self.header("[mcp_servers.a]");
                self.pick(&["", "command = 'x'\n"]);
                self.header("[mcp_servers.a.env]");
                self.lines();
            }
            _ => {}
        }
        self.blank_lines();
        if self.draw(2) == 0 {
            let end = self.out.trim_end_matches(['\r', '\n']).len();
            self.out.truncate(end);
        }
    }
}

fn file(bytes: &[u8]) -> String {
    let mut toml = RandomToml { bytes: bytes.iter(), line_end: "\n", out: String::new(), keys: 0 };
    if toml.draw(3) == 0 {
        toml.line_end = "\r\n";
    }
    toml.file();
    toml.out
}

fn read(text: &str) -> Value {
    to_json(&parse(text).unwrap_or_else(|error| panic!("{error}\n{text}")))
}

proptest! {
    #[test]
    fn an_entry_is_added_once_and_removed_without_a_trace(bytes in prop::collection::vec(any::<u8>(), 0..120), env: bool) {
        let text = file(&bytes);
        let mut entry = json!({"command": "/bin/mcpaql", "args": ["serve", "C:\\x"]});
        if env {
            entry["env"] = json!({"T": "a\nb"});
        }
        let new = set(&text, PATH, &entry).unwrap();
        let mut expected = read(&text);
        expected.as_object_mut().unwrap().entry("mcp_servers").or_insert_with(|| json!({}))["mcpaql"] = entry.clone();
        prop_assert_eq!(read(&new), expected);
        prop_assert_eq!(&set(&new, PATH, &entry).unwrap(), &new);
        // The old text is the new one without one run of bytes.
        let common = text.bytes().zip(new.bytes()).take_while(|(old, new)| old == new).count();
        let tail = text.len() - common;
        prop_assert!(new.as_bytes().ends_with(&text.as_bytes()[common..]) && tail <= text.len(), "{}", new);
        prop_assert_eq!(remove(&new, PATH).unwrap(), text);
    }

    #[test]
    fn one_key_is_changed_and_nothing_else(bytes in prop::collection::vec(any::<u8>(), 0..120)) {
        let text = file(&bytes);
        let new = set(&text, PATH, &json!({"command": "a"})).unwrap();
        let args = [PATH, &["args"]].concat();
        let changed = set(&new, &args, &json!(["serve"])).unwrap();
        prop_assert_eq!(read(&changed)["mcp_servers"]["mcpaql"].clone(), json!({"command": "a", "args": ["serve"]}));
        let back = set(&changed, &[PATH, &["command"]].concat(), &json!("b")).unwrap();
        prop_assert_eq!(back.replacen("\"b\"", "\"a\"", 1), changed);
    }

    #[test]
    fn values_of_others_are_never_shown(bytes in prop::collection::vec(any::<u8>(), 0..120)) {
        let shown = mask_values(&file(&bytes), PATH, &["command"]);
        prop_assert!(!shown.contains("0x1F") && !shown.contains("# c") && !shown.contains("'x"), "{}", shown);
    }

    #[test]
    fn no_text_makes_it_panic(text: String) {
        let _ = set(&text, PATH, &json!({"command": "x"}));
        let _ = remove(&text, PATH);
        let _ = mask_values(&text, PATH, &[]);
    }
}
