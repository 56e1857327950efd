//! Adapter documents that the tests serve.

/// An HTTP API; its token is in the variable UPSTREAM_TOKEN.
pub(crate) fn http_document(name: &str, url: &str) -> String {
    format!(
        r#"---
name: {name}
type: adapter
version: "1.0.0"
display_name: Upstream
description: An API of the tests
target:
  base_url: {url}
  transport: http
  protocol: rest
  serialization: json
  retries: 0
auth: {{ type: bearer, token_env: UPSTREAM_TOKEN }}
operations:
  read:
    - name: get_thing
      maps_to: GET /things/{{id}}
      params:
        id: {{ type: string, required: true }}
  execute:
    - name: run_slowly
      maps_to: POST /slow
---
"#
    )
}

/// Commands. `wait_until` and `wait_for_ever` write their process id to a file before they wait.
pub(crate) fn command_document() -> &'static str {
    r#"---
name: shell
type: adapter
version: "1.0.0"
display_name: Shell
description: Programs of the tests
target: { transport: native, protocol: command }
operations:
  read:
    - name: say
      command: [printf, "%s", "{text}"]
      params:
        text: { type: string, required: true }
  execute:
    - name: wait_until
      command: [sh, -c, 'echo $$ > "$1.tmp" && mv "$1.tmp" "$1"; while [ ! -e "$2" ]; do sleep 0.02; done; echo waited', sh, "{started}", "{go}"]
      params:
        started: { type: string, required: true }
        go: { type: string, required: true }
    - name: wait_for_ever
      command: [sh, -c, 'sleep 1000 & echo $! > "$1.tmp" && mv "$1.tmp" "$1"; wait', sh, "{started}"]
      params:
        started: { type: string, required: true }
---
"#
}

/// A document with this many operations, in groups of 100.
pub(crate) fn large_document(operations: usize) -> String {
    let mut text = String::from(
        "---\nname: big\ntype: adapter\nversion: \"1.0.0\"\ndescription: A large API\n\
         target: { base_url: \"https://api.example.com\", transport: http, protocol: rest, serialization: json }\n\
         operations:\n  read:\n",
    );
    for index in 0..operations {
        text.push_str(&format!(
            "    - name: get_part_{index}\n      maps_to: GET /groups/{group}/parts/{{part_id}}/{index}\n      \
             description: Get part {index} of group {group}\n      tags: [group_{group}]\n      params:\n        \
             part_id: {{ type: string, required: true, description: Which part }}\n        \
             verbose: {{ type: boolean, description: Everything about it }}\n",
            group = index / 100
        ));
    }
    text.push_str("---\n");
    text
}
