//! A new kind of target needs only the code in this file.

use futures_util::future::BoxFuture;
use mcpaql_core::adapter;
use mcpaql_core::catalog::AdapterSettings;
use mcpaql_core::error::{Code, OpError};
use mcpaql_core::response::Answer;
use mcpaql_document::check;
use mcpaql_document::source::Source;
use mcpaql_runtime::caller::Caller;
use mcpaql_runtime::gateway::Gateway;
use mcpaql_runtime::open::open_with;
use mcpaql_runtime::target::{Target, TargetCall, TargetKind};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;

/// Answers with the names of the files in a folder.
#[derive(Debug)]
struct Folder(PathBuf);

impl Target for Folder {
    fn perform<'a>(&'a self, call: TargetCall<'a>) -> BoxFuture<'a, Result<Answer, OpError>> {
        Box::pin(async move {
            let ending = call.args.get("ending").and_then(Value::as_str).unwrap_or_default();
            let entries = std::fs::read_dir(&self.0).map_err(|error| {
                OpError::new(Code::Internal, "The folder cannot be read; tell the user.").with_cause(error)
            })?;
            let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
            let mut names: Vec<String> = names.filter(|name| name.ends_with(ending)).collect();
            names.sort_unstable();
            Ok(Answer::new(json!(names)))
        })
    }
}

/// The kind for documents named `folder`, whose operations the program answers.
const FOLDER: TargetKind = TargetKind {
    name: "folder",
    open: |request| match request.target {
        adapter::TargetConfig::Code(_) if request.catalog.adapter.name == "folder" => {
            Some(Box::pin(async move {
                match (request.environment)("FOLDER") {
                    Some(path) => Ok(Arc::new(Folder(path.into())) as Arc<dyn Target>),
                    None => Err(request.error("FOLDER is not set", "its folder is not set")),
                }
            }))
        }
        _ => None,
    },
};

fn catalog() -> mcpaql_core::catalog::Catalog {
    let document = json!({
        "name": "folder", "type": "adapter", "version": "1.0.0", "description": "Files of a folder.",
        "target": {"transport": "native", "protocol": "code"},
        "operations": {"read": [{"name": "list_files", "params": {"ending": {"type": "string"}}}]},
    });
    let checked =
        check::check(&Source::new("folder.json", document.to_string()), &AdapterSettings::default());
    checked.catalog.unwrap_or_else(|| panic!("{:?}", checked.diagnostics))
}

#[tokio::test]
async fn an_additional_kind_is_served_like_any_other() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a.txt", "b.txt", "c.md"] {
        std::fs::write(folder.path().join(name), "").unwrap();
    }
    let path = folder.path().to_str().unwrap().to_owned();
    let environment = Arc::new(move |name: &str| (name == "FOLDER").then(|| path.clone())) as _;
    let served = open_with(&[FOLDER], catalog(), "folder.json", None, &environment).await.unwrap();
    let gateway = Gateway::new(vec![served]).unwrap();
    let call = async |params: Value| {
        let arguments = json!({"operation": "list_files", "params": params}).as_object().cloned().unwrap();
        let reply = gateway.call("folder_mcpaql_read", arguments, &Caller::nobody()).await.unwrap();
        serde_json::from_str::<Value>(&reply.text).unwrap()
    };
    assert_eq!(call(json!({})).await["data"], json!(["a.txt", "b.txt", "c.md"]));
    assert_eq!(call(json!({"ending": ".txt"})).await["data"], json!(["a.txt", "b.txt"]));
    assert_eq!(call(json!({"ending": 1})).await["error"]["code"], "VALIDATION_INVALID_TYPE");
    drop(folder);
    assert_eq!(call(json!({})).await["error"]["code"], "INTERNAL_ERROR");
    assert_eq!(gateway.slots()[0].stats().count().errors, 2);
}

#[tokio::test]
async fn an_additional_kind_has_its_own_errors() {
    let environment = Arc::new(|_: &str| None) as _;
    let error = open_with(&[FOLDER], catalog(), "folder.json", None, &environment).await.unwrap_err();
    assert_eq!(error.to_string(), "adapter 'folder': FOLDER is not set");
    assert_eq!(error.user_message(), "its folder is not set");
    let error = open_with(&[], catalog(), "folder.json", None, &environment).await.unwrap_err();
    assert!(error.to_string().contains("another program"), "{error}");
}
