//! Property tests with random configurations in random layouts.

use super::*;
use proptest::prelude::*;
use serde_json::json;

/// Builds a configuration with a random layout from random bytes.
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
                self.list(['[', ']'], count, |config, _| config.value(depth + 1));
            }
            _ => {
                let count = self.draw(3);
                self.list(['{', '}'], count, |config, index| {
                    config.member(&format!("k{index}"), |config| config.value(depth + 1));
                });
            }
        }
    }

    /// Writes a configuration with at least `least` servers, between other keys.
    fn configuration(&mut self, least: u8) {
        self.space();
        let place = self.draw(3);
        self.list(['{', '}'], 3, |config, index| {
            if index == place {
                config.member("mcpServers", |config| {
                    let count = least + config.draw(3);
                    config.list(['{', '}'], count, |config, index| {
                        config.member(&format!("s{index}"), |config| config.value(0));
                    });
                });
            } else {
                config.member(&format!("other{index}"), |config| config.value(0));
            }
        });
        self.space();
    }
}

fn configuration(bytes: &[u8], least: u8) -> String {
    let mut config = RandomConfig { bytes: bytes.iter(), out: String::new() };
    config.configuration(least);
    config.out
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
    fn a_member_is_added_and_removed(bytes: Vec<u8>, least in 0_u8..2) {
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
    fn any_member_is_removed_alone(bytes: Vec<u8>) {
        let text = configuration(&bytes, 1);
        let mut expected = read(&text);
        expected["mcpServers"].as_object_mut().unwrap().shift_remove("s0");
        let removed = remove(&text, &["mcpServers", "s0"]).unwrap();
        prop_assert_eq!(read(&removed), expected);
    }

    #[test]
    fn values_of_others_are_never_shown(bytes: Vec<u8>) {
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
