//! The other commands: their output and exit status.

use crate::documents;
use crate::fixture::{RawClient, RunOutput, TestFolder};
use serde_json::{Value, json};

const WARNED: &str = "---\nname: warned\ntype: adapter\nversion: \"1.0.0\"\ndescription: d\n\
    target: { base_url: \"https://api.example.com/\", transport: http, protocol: rest, serialization: json }\n\
    operations:\n  read:\n    - name: get_it\n      maps_to: GET /it\n      description: Get it\n---\n";
const BROKEN: &str = "---\nname: broken\ntype: adapter\n---\n";

#[tokio::test]
async fn the_status_of_check_depends_on_the_findings() {
    let place = TestFolder::new();
    place.file("warned.md", WARNED);
    place.file("broken.md", BROKEN);
    place.file("shell.md", documents::command_document());
    place.file("latin.md", "");
    std::fs::write(place.path().join("latin.md"), b"---\nname: caf\xe9\n---\n").unwrap();
    let rows: [(&[&str], i32); 8] = [
        (&["notebook"], 0),
        (&[], 0),
        (&["shell.md"], 0),
        (&["warned.md"], 0),
        (&["--strict", "warned.md"], 1),
        (&["broken.md"], 1),
        (&["absent.md"], 2),
        (&["latin.md"], 2),
    ];
    for (args, status) in rows {
        let ran = place.run(&[&["check"], args].concat()).await;
        assert_eq!(ran.status, Some(status), "{args:?}: {ran:?}");
        assert_eq!(ran.stdout.is_empty(), status == 2, "findings are data, failures are talk: {ran:?}");
    }
}

#[tokio::test]
async fn machine_readable_reports_of_check_parse() {
    let place = TestFolder::new();
    place.file("broken.md", BROKEN);
    let json = place.run(&["check", "--format", "json", "broken.md"]).await;
    assert_eq!(json.status, Some(1));
    assert!(json.json().to_string().contains("SCHEMA_MISSING_FIELD"), "{}", json.stdout);

    let sarif = place.run(&["check", "--format", "sarif", "broken.md"]).await.json();
    assert_eq!(sarif["version"], "2.1.0");
    assert_eq!(
        sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"],
        "broken.md"
    );

    let github = place.run(&["check", "--format", "github", "broken.md"]).await;
    assert!(
        github.stdout.lines().all(|line| line.starts_with("::error file=broken.md,line=")),
        "{}",
        github.stdout
    );
    let concise = place.run(&["check", "--format", "concise", "broken.md"]).await;
    assert!(concise.stdout.starts_with("broken.md:"), "{}", concise.stdout);

    let clean = place.run(&["check", "--format", "json", "notebook"]).await;
    assert_eq!(clean.status, Some(0));
    clean.json();
}

#[tokio::test]
async fn call_prints_data_and_accepts_parameters_in_every_form() {
    let place = TestFolder::new();
    let call = |args: &[&str]| place.binary(&[&["call", "--data", "data", "notebook"], args].concat());
    let made = RunOutput::of(call(&["create_note", "title=5", "tags=a,b"])).await;
    assert_eq!(made.status, Some(0), "{made:?}");
    assert_eq!((&made.json()["title"], &made.json()["tags"]), (&json!("5"), &json!(["a", "b"])));

    let made = RunOutput::of(call(&["create_note", "--params", r#"{"title":"whole"}"#, "body=more"])).await;
    assert_eq!((&made.json()["title"], &made.json()["body"]), (&json!("whole"), &json!("more")));
    let made = RunOutput::with_input(call(&["create_note", "--params", "-"]), r#"{"title":"read"}"#).await;
    assert_eq!(made.json()["title"], "read");

    let listed = RunOutput::of(call(&["list_notes", "--envelope", "first=1"])).await.json();
    assert_eq!((&listed["success"], listed["data"]["items"].as_array().unwrap().len()), (&json!(true), 1));
    let operations = RunOutput::of(call(&[])).await.json();
    assert!(operations["operations"].is_array(), "without an operation it introspects");
}

#[tokio::test]
async fn mistakes_are_reported_with_the_next_step() {
    let place = TestFolder::new();
    place.file("api.md", &documents::http_document("api", "http://127.0.0.1:9"));
    place.file("tools.json", r#"{"tools": [{"name": "get_note", "inputSchema": {"type": "object"}}]}"#);
    place.file("page.yaml", "<!DOCTYPE html><html></html>\n");
    place.file("adapters.yaml", "adapters: {api: {document: api.md}}\n");
    let rows: [(&[&str], &str); 8] = [
        (&["serve", "api.md", "--include", "op:get_*"], "--include has no effect"),
        (&["serve", "api.md", "--overrides", "absent.yaml"], "--overrides has no effect"),
        (&["serve", "tools.json"], "mcpaql audit --tools tools.json"),
        (&["tools", "page.yaml"], "This is a web page"),
        (&["serve", "--config", "adapters.yaml"], "start each item with `- `"),
        (&["audit", "--tools", "absent.json"], "check the path of --tools"),
        (&["search", "notebook", "notes", "--first", "0"], "expected a number from 1 to 200"),
        (&["explain", "missing-hint"], "did you mean missing-hints?"),
    ];
    for (args, expected) in rows {
        let ran = place.run(args).await;
        assert!(ran.status != Some(0) && ran.stderr.contains(expected), "{args:?}: {ran:?}");
    }
    place.file("mcpaql.yaml", "adapters: {api: {document: api.md}}\n");
    place.trust();
    for args in [["call", "api"], ["tools", "api"], ["audit", "api"]] {
        let ran = place.run(&args).await;
        assert!(ran.status == Some(2) && ran.stderr.contains("mcpaql.yaml has errors"), "{args:?}: {ran:?}");
    }
}

#[tokio::test]
async fn the_wrong_kind_of_file_is_named_with_the_right_command() {
    let place = TestFolder::new();
    std::fs::create_dir(place.path().join("examples")).unwrap();
    place.file("examples/api.md", &documents::http_document("api", "http://127.0.0.1:9"));
    place.file("conf.yaml", "adapters: [{builtin: notebook}]\n");
    place.file("typo.yaml", "adapters: [{builtn: notebook}]\n");
    let client = r#"{"mcpServers": {"x": {"command": "/no/such/program", "env": {"T": "hunter2"}}}}"#;
    place.file("client.json", client);
    let rows: [(&[&str], &str); 12] = [
        (&["serve", "exmaples/api.md"], "did you mean 'examples/api.md'?"),
        (&["serve", "absent/api.md"], "the folder 'absent' does not exist"),
        (&["serve", "examples"], "pass a file, such as examples/api.md"),
        (
            &["serve", "--config", "examples/api.md"],
            "pass it without --config: `mcpaql serve examples/api.md`",
        ),
        (&["call", "conf.yaml", "list_notes"], "conf.yaml is a configuration, not an adapter document"),
        (&["tools", "client.json", "examples"], "client.json is a configuration"),
        (&["tools", "client.json"], "the program 'program' is not installed"),
        (&["import", "openapi", "examples/api.md"], "serve it with `mcpaql serve examples/api.md`"),
        (&["import", "mcp", "npx", "server"], "write the command after `--`"),
        (&["generate", "notebook"], "'--schema'"),
        (&["tools", "http://127.0.0.1:9/mcp"], "check the URL http://127.0.0.1:9/mcp"),
        (&["tools", "http://192.0.2.1/mcp"], "use https, or allow plain http"),
    ];
    for (args, expected) in rows {
        let ran = place.run(args).await;
        assert!(ran.status != Some(0) && ran.stderr.contains(expected), "{args:?}: {ran:?}");
        assert!(!ran.stderr.contains("hunter2"), "{args:?}: {}", ran.stderr);
    }
    let ran = place.run(&["tools", "conf.yaml"]).await;
    assert!(ran.stdout.contains("notebook_mcpaql_read"), "{ran:?}");
    let ran = place.run(&["tools", "typo.yaml"]).await;
    assert!(
        ran.stderr.contains("did you mean `builtin`?") && !ran.stderr.contains("add `document"),
        "{ran:?}"
    );
}

#[tokio::test]
async fn a_port_in_use_gets_the_next_step() {
    let place = TestFolder::new();
    let other = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = other.local_addr().unwrap().to_string();
    let ran = place.run(&["serve", "notebook", "--http", &address]).await;
    assert_eq!(ran.status, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("choose another one with --http PORT"), "{}", ran.stderr);
}

#[tokio::test]
async fn the_status_of_call_says_who_can_fix_a_failure() {
    let place = TestFolder::new();
    place.file("api.md", &documents::http_document("api", "http://127.0.0.1:9"));
    let rows: [(&[&str], i32, &str); 8] = [
        (&["notebook", "get_note", "id=nothing"], 1, "NOT_FOUND_RESOURCE"),
        (&["notebook", "create_note"], 1, "VALIDATION_MISSING_PARAM"),
        (&["notebook", "create_nota"], 1, "NOT_FOUND_OPERATION"),
        (&["notebook", "create_note", "title"], 2, "write title=VALUE"),
        (&["notebook", "create_note", "=x"], 2, "'x' has no name"),
        (&["notebook", "create_note", "--params", "{"], 2, "JSON"),
        (&["absent.md", "create_note"], 2, "absent.md"),
        (&["api.md", "get_thing", "id=1"], 2, "TRANSPORT_CONNECTION_FAILED"),
    ];
    for (args, status, expected) in rows {
        let mut command = place.binary(&[&["call", "--data", "data"], args].concat());
        command.env("UPSTREAM_TOKEN", "t");
        let ran = RunOutput::of(command).await;
        assert_eq!(ran.status, Some(status), "{args:?}: {ran:?}");
        assert!(ran.stderr.contains(expected), "{args:?}: {}", ran.stderr);
        assert_eq!(ran.stdout, "", "{args:?}");
    }
    let failed = place.run(&["call", "--data", "data", "--envelope", "notebook", "create_note"]).await;
    assert_eq!((failed.status, &failed.json()["success"]), (Some(1), &json!(false)));
}

#[tokio::test]
async fn call_prints_errors_for_the_person_at_the_terminal() {
    let place = TestFolder::new();
    let document = |auth: &str| {
        format!(
            "name: shop\ntype: adapter\nversion: \"1.0.0\"\ndescription: Shop\n{auth}\
             target: {{ base_url: \"http://127.0.0.1:9\" }}\n\
             operations: {{ read: [{{ name: get_book, maps_to: GET /book }}] }}\n"
        )
    };
    place.file("private.yaml", &document("auth: { type: bearer, token_env: NO_SUCH_TOKEN }\n"));
    place.file("public.yaml", &document(""));
    for (name, status, expected) in [
        (
            "private.yaml",
            1,
            "error[PERMISSION_DENIED]: the environment variable NO_SUCH_TOKEN is not set\n\nhint: export NO_SUCH_TOKEN=…\n",
        ),
        (
            "public.yaml",
            2,
            "error[TRANSPORT_CONNECTION_FAILED]: cannot connect to http://127.0.0.1:9: connection refused\n\n\
             hint: check `base_url` in the document, and that the API is running\n",
        ),
    ] {
        let ran = place.run(&["call", name, "get_book"]).await;
        assert_eq!((ran.status, ran.stderr.as_str()), (Some(status), expected), "{name}");
    }
    let ran = place.run(&["call", "privat.yaml", "get_book"]).await;
    assert_eq!(ran.stderr, "error: 'privat.yaml' not found\n\nhint: did you mean 'private.yaml'?\n");
}

#[tokio::test]
async fn an_invalid_command_line_does_not_run() {
    let place = TestFolder::new();
    for args in [&["srve"][..], &["serve", "--mode", "many"], &["check", "--format", "xml"], &[]] {
        let ran = place.run(args).await;
        assert_eq!((ran.status, ran.stdout.as_str()), (Some(2), ""), "{args:?}");
        assert!(ran.stderr.contains("Usage") || ran.stderr.contains("expected"), "{}", ran.stderr);
    }
    assert_eq!(place.run(&["--version"]).await.stdout, format!("mcpaql {}\n", env!("CARGO_PKG_VERSION")));
}

#[tokio::test]
async fn a_single_value_is_enough_for_an_array() {
    let place = TestFolder::new();
    let document = |item: &str| {
        format!(
            "name: shelf\ntype: adapter\nversion: 1.0.0\ndescription: d\n\
             target: {{transport: native, protocol: command}}\n\
             operations:\n  read:\n    - name: get_books\n      command: [echo, \"{{ids}}\"]\n\
             \x20     params: {{ids: {{type: array, items: {{type: {item}}}, required: true}}}}\n"
        )
    };
    for (item, value, ids) in [
        ("integer", "7", "7"),
        ("integer", "7,8", "7 8"),
        ("boolean", "true", "true"),
        ("string", "home", "home"),
    ] {
        place.file("shelf.yaml", &document(item));
        let ran = place.run(&["call", "shelf.yaml", "get_books", &format!("ids={value}")]).await;
        assert_eq!(ran.status, Some(0), "{item}: {ran:?}");
        assert!(ran.stdout.contains(ids), "{item}: {}", ran.stdout);
    }
}

#[tokio::test]
async fn a_cause_is_printed_once() {
    let place = TestFolder::new();
    let document = documents::command_document()
        .replace("protocol: command }", "protocol: command, cwd: /no/such/folder }");
    place.file("lost.md", &document);
    let lost = place.run(&["call", "lost.md"]).await;
    assert_eq!(lost.status, Some(2), "{lost:?}");
    assert_eq!(lost.stderr.matches("/no/such/folder").count(), 1, "{}", lost.stderr);
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    for address in
        [port.clone(), format!(":{port}"), format!("localhost:{port}"), format!("127.0.0.1:{port}")]
    {
        let taken = place.run(&["serve", "--http", &address]).await;
        assert_eq!(taken.status, Some(2), "{taken:?}");
        assert!(taken.stderr.contains(&format!("127.0.0.1:{port}")), "{}", taken.stderr);
        assert_eq!(taken.stderr.matches("os error").count(), 1, "{}", taken.stderr);
    }
}

#[tokio::test]
async fn an_invalid_address_gets_an_example_and_port_a_pointer() {
    let place = TestFolder::new();
    let ran = place.run(&["serve", "--http", "example.com"]).await;
    assert_eq!(ran.status, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("such as 8080 or 127.0.0.1:8080"), "{}", ran.stderr);
    let ran = place.run(&["serve", "--port", "8080"]).await;
    assert_eq!(ran.status, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("'--http'"), "{}", ran.stderr);
}

#[tokio::test]
async fn explain_knows_every_code_it_lists() {
    let place = TestFolder::new();
    let list = place.run(&["explain"]).await;
    assert_eq!(list.status, Some(0));
    let codes: Vec<&str> = list.stdout.lines().map(|line| line.split(' ').next().unwrap()).collect();
    assert!(codes.len() > 20 && codes.contains(&"SCHEMA_UNRESOLVED_REF"), "{codes:?}");
    let one = place.run(&["explain", "validation_missing_param"]).await;
    assert!(
        one.stdout.starts_with("VALIDATION_MISSING_PARAM") && one.stdout.contains("What to do"),
        "{one:?}"
    );
    let none = place.run(&["explain", "VALIDATION_MISING_PARAM"]).await;
    assert_eq!(none.status, Some(2));
    assert!(none.stderr.contains("VALIDATION_MISSING_PARAM"), "{}", none.stderr);
}

#[tokio::test]
async fn schema_and_completions_are_valid() {
    let place = TestFolder::new();
    let schema = place.run(&["schema"]).await.json();
    assert!(schema["$schema"].is_string() && schema["type"] == "object", "{schema}");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = place.run(&["completions", shell]).await;
        assert_eq!(script.status, Some(0));
        assert!(script.stdout.contains("mcpaql") && script.stdout.contains("serve"), "{shell}");
    }
}

#[tokio::test]
async fn tools_shows_exactly_what_a_client_gets() {
    let place = TestFolder::new();
    for mode in ["semantic", "single", "all", "discrete"] {
        let shown = place.run(&["tools", "--json", "--mode", mode]).await.json();
        let mut raw =
            RawClient::initialized(place.binary(&["serve", "--data", "data", "--mode", mode])).await;
        raw.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})).await;
        let listed: Value = raw.receive().await.unwrap()["result"].take();
        assert_eq!(shown["tools"].to_string(), listed["tools"].to_string(), "{mode}");
    }
    let table = place.run(&["tools"]).await.stdout;
    assert!(table.contains("notebook_mcpaql_create") && table.contains("TOKENS"), "{table}");
    let described = place.run(&["tools", "--descriptions"]).await.stdout;
    assert!(described.contains("Quick start"), "{described}");
}

#[tokio::test]
async fn an_unreadable_file_does_not_stop_the_check_of_others() {
    let place = TestFolder::new();
    place.file("a.md", BROKEN);
    place.file("b.md", WARNED);
    for format in ["json", "sarif", "full"] {
        let ran = place.run(&["check", "a.md", "missing.md", "b.md", "--format", format]).await;
        assert_eq!(ran.status, Some(2), "{ran:?}");
        assert!(ran.stdout.contains("SCHEMA_MISSING_FIELD") && ran.stdout.contains("b.md"), "{}", ran.stdout);
        assert!(ran.stderr.contains("missing.md"), "{}", ran.stderr);
        if format != "full" {
            ran.json();
        }
    }
}

#[tokio::test]
async fn a_configuration_is_checked_as_a_whole() {
    let place = TestFolder::new();
    place.file("a.md", WARNED);
    place.file(
        "mcpaql.yaml",
        "adapters:\n  - document: a.md\n  - gone.md\n  - builtin: notebok\n  - document: a.md\n",
    );
    place.trust();
    let ran = place.run(&["check", "--format", "concise"]).await;
    assert_eq!(ran.status, Some(1), "{ran:?}");
    for expected in [
        "mcpaql.yaml:3:5",
        "mcpaql.yaml:4:14",
        "SCHEMA_UNRESOLVED_REF",
        "a.md:2:7",
        "have a tool 'warned_mcpaql_read'",
    ] {
        assert!(ran.stdout.contains(expected), "{expected}: {}", ran.stdout);
    }
    let served = place.run(&["serve"]).await;
    assert_eq!(served.status, Some(2), "{served:?}");

    place.file("mcpaql.yaml", "adapters: []\n");
    place.trust();
    let empty = place.run(&["check"]).await;
    assert_eq!(empty.status, Some(1), "{empty:?}");
    assert!(empty.stdout.contains("has no adapters"), "{}", empty.stdout);
}

#[tokio::test]
async fn one_broken_adapter_does_not_hide_the_others() {
    let place = TestFolder::new();
    place.file("broken.md", BROKEN);
    place.file("warned.md", WARNED);
    place.file(
        "mcpaql.yaml",
        "adapters:\n  - warned.md\n  - broken.md\n  - { name: absent, mcp: { command: [no-such-program] } }\n",
    );
    place.trust();
    for command in ["tools", "operations"] {
        let ran = place.run(&[command]).await;
        assert_eq!(ran.status, Some(1), "{command}: {ran:?}");
        assert!(ran.stdout.contains("warned"), "{command}: {ran:?}");
        assert!(ran.stderr.contains("'absent'"), "{command}: {ran:?}");
    }
    let alone = place.run(&["tools", "broken.md"]).await;
    assert_eq!(alone.status, Some(2), "{alone:?}");
}

#[tokio::test]
async fn operations_are_listed_for_people_and_machines() {
    let place = TestFolder::new();
    let table = place.run(&["operations", "notebook"]).await;
    assert_eq!(table.status, Some(0), "{table:?}");
    let row = table.stdout.lines().find(|line| line.starts_with("delete_note ")).unwrap();
    assert!(row.contains("DELETE") && row.contains("destructive"), "{row}");

    let json = place.run(&["operations", "notebook", "--category", "create", "--json"]).await.json();
    let rows = json.as_array().unwrap();
    assert!(!rows.is_empty() && rows.iter().all(|row| row["category"] == "CREATE"), "{json}");
    let wrong = place.run(&["operations", "notebook", "--category", "write"]).await;
    assert_eq!(wrong.status, Some(2));
    assert!(
        wrong.stderr.contains("expected one of create, read, update, delete, execute"),
        "{}",
        wrong.stderr
    );
}

#[tokio::test]
async fn manual_pages_describe_every_command() {
    let place = TestFolder::new();
    let page = place.run(&["man", "import", "openapi"]).await;
    assert_eq!(page.status, Some(0), "{page:?}");
    assert!(page.stdout.contains(".TH mcpaql-import-openapi 1"), "{}", page.stdout);
    assert!(place.run(&["man"]).await.stdout.contains("mcpaql"), "the program's own page");
    let absent = place.run(&["man", "nothing"]).await;
    assert_eq!(absent.status, Some(2));
    assert!(absent.stderr.contains("there is no command 'nothing'"), "{}", absent.stderr);
}

#[tokio::test]
async fn a_web_page_is_named_as_what_it_is() {
    let place = TestFolder::new();
    place.file("docs.html", "<!DOCTYPE html>\n<script>SwaggerUIBundle({url: '/v1/openapi.json'})</script>");
    for args in [&["tools", "docs.html"][..], &["import", "openapi", "docs.html"], &["serve", "docs.html"]] {
        let ran = place.run(args).await;
        assert_ne!(ran.status, Some(0), "{args:?}: {ran:?}");
        assert!(ran.stderr.contains("This is a web page"), "{args:?}: {}", ran.stderr);
        assert!(ran.stderr.contains("the page shows '/v1/openapi.json'"), "{args:?}: {}", ran.stderr);
    }
}

#[tokio::test]
async fn a_parameter_can_come_from_a_file() {
    let place = TestFolder::new();
    place.file("body.txt", "Milk\nBread");
    let call = |args: &[&str]| {
        place.binary(&[&["call", "--data", "data", "notebook", "create_note"], args].concat())
    };
    let made = RunOutput::of(call(&["title=@@home", "body=@body.txt"])).await.json();
    assert_eq!(made["title"], "@home");
    assert_eq!(made["body"], "Milk\nBread");
    let absent = RunOutput::of(call(&["title=x", "body=@absent.txt"])).await;
    assert_eq!(absent.status, Some(2), "{absent:?}");
    assert!(absent.stderr.contains("'absent.txt' not found"), "{}", absent.stderr);
}
