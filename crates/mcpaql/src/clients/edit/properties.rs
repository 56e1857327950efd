//! What holds for every configuration, however it is laid out.

use super::*;
use proptest::prelude::*;
use serde_json::json;

/// A configuration as nobody would lay it out, drawn from bytes.
struct RandomConfig<'b> {
    bytes: std::slice::Iter<'b, u8>,
    out: String,
}

impl RandomConfig<'_> {
    fn draw(&mut self, choices: u8) -> u8 {
        self.bytes.next().map_or(0, |byte| byte % choices)
    }

    fn space(&mut self) {
        for _ in 0..self.draw(3) {
            let space = ["", " ", "\n", "\t", "\r\n", "// c\n", "/* d */", "// \"e\": {,\n"];
            let index = usize::from(self.draw(8));
            self.out.push_str(space[index]);
        }
    }

    fn list(&mut self, brackets: [char; 2], count: u8, mut item: impl FnMut(&mut Self, u8)) {
        self.out.push(brackets[0]);
        self.space();
        for index in 0..count {
            item(self, index);
            self.space();
            if index + 1 < count || self.draw(2) == 1 {
                self.out.push(',');
                self.space();
            }
        }
        self.out.push(brackets[1]);
    }

    fn member(&mut self, key: &str, value: impl FnOnce(&mut Self)) {
        self.out.push_str(&format!("\"{key}\""));
        self.space();
        self.out.push(':');
        self.space();
        value(self);
    }

    fn value(&mut self, depth: u8) {
        match self.draw(if depth > 2 { 3 } else { 5 }) {
            0 => self.out.push_str("1.5"),
            1 => self.out.push_str(r#""a \" // \\""#),
            2 => self.out.push_str("null"),
            3 => {
                let count = self.draw(3);
                self.list(['[', ']'], count, |scribe, _| scribe.value(depth + 1));
            }
            _ => {
                let count = self.draw(3);
                self.list(['{', '}'], count, |scribe, index| {
                    scribe.member(&format!("k{index}"), |scribe| scribe.value(depth + 1));
                });
            }
        }
    }

    /// Servers among other keys; at least `least` of them.
    fn configuration(&mut self, least: u8) {
        self.space();
        let place = self.draw(3);
        self.list(['{', '}'], 3, |scribe, index| {
            if index == place {
                scribe.member("mcpServers", |scribe| {
                    let count = least + scribe.draw(3);
                    scribe.list(['{', '}'], count, |scribe, index| {
                        scribe.member(&format!("s{index}"), |scribe| scribe.value(0));
                    });
                });
            } else {
                scribe.member(&format!("other{index}"), |scribe| scribe.value(0));
            }
        });
        self.space();
    }
}

fn configuration(bytes: &[u8], least: u8) -> String {
    let mut scribe = RandomConfig { bytes: bytes.iter(), out: String::new() };
    scribe.configuration(least);
    scribe.out
}

fn read(text: &str) -> Value {
    jsonc::to_json(&jsonc::parse(text).unwrap().root)
}

fn comments(text: &str) -> usize {
    jsonc::parse(text).unwrap().comments().count()
}

const PATH: &[&str] = &["mcpServers", "mcpaql"];

proptest! {
    #[test]
    fn one_member_changes_and_comes_back(bytes: Vec<u8>, least in 0_u8..2) {
        let text = configuration(&bytes, least);
        let entry = json!({"command": "x", "args": ["serve"]});
        let new = set(&text, PATH, &entry).unwrap();
        let mut expected = read(&text);
        expected["mcpServers"]["mcpaql"] = entry.clone();
        prop_assert_eq!(read(&new), expected);
        prop_assert_eq!(comments(&new), comments(&text));
        let removed = remove(&new, PATH).unwrap();
        prop_assert_eq!(read(&removed), read(&text));
        if least > 0 {
            let dense = |text: &str| text.split_whitespace().collect::<String>();
            prop_assert_eq!(dense(&removed), dense(&text));
        }
    }

    #[test]
    fn any_member_goes_alone(bytes: Vec<u8>) {
        let text = configuration(&bytes, 1);
        let mut expected = read(&text);
        expected["mcpServers"].as_object_mut().unwrap().shift_remove("s0");
        let removed = remove(&text, &["mcpServers", "s0"]).unwrap();
        prop_assert_eq!(read(&removed), expected);
    }

    #[test]
    fn nothing_of_others_is_shown(bytes: Vec<u8>) {
        let text = configuration(&bytes, 1);
        let shown = mask_values(&text, PATH, &["command"]);
        prop_assert!(!shown.contains("1.5") && !shown.contains("// c") && !shown.contains("a \\\""), "{}", shown);
    }

    #[test]
    fn no_text_makes_it_panic(text: String) {
        let _ = set(&text, PATH, &json!(1));
        let _ = remove(&text, PATH);
    }
}
