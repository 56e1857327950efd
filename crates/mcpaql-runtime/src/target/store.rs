//! The embedded store: records of declared resources in one SQLite file.
//!
//! What always holds: an acknowledged write is on disk (WAL with a sync per commit). An update merges within one
//! transaction, so concurrent updates are never lost. Several adapters and processes may share a file.
//!
//! Writes use one connection. Reads use a few others, which writes do not block.

mod change;
mod preview;
mod query;
mod record;

pub use crate::state::StoreError;

use super::{Args, NoDataFolder, Target, TargetCall, TargetKind};
use crate::state::{
    self, FileLayout, SQLITE_BUSY, SQLITE_CONSTRAINT, SQLITE_CORRUPT, SQLITE_FULL, SQLITE_LOCKED,
    SQLITE_NOTADB, fresh_id, now, sqlite_code,
};
use change::{changes, check_fields, merge, new_body};
use futures_util::future::BoxFuture;
use indexmap::IndexMap;
use mcpaql_core::adapter::{self, Resource, StoreTarget};
use mcpaql_core::error::{Code, LimitType, OpError};
use mcpaql_core::operation::{Binding, Operation, StoreAction};
use mcpaql_core::response::Answer;
use mcpaql_core::schema::{SchemaId, SchemaSet};
use mcpaql_core::shape::FieldPath;
use mcpaql_document::load::{RECORD_KEYS, search_fields};
use record::{search_text, write_record};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use sqlx::{Connection, SqliteConnection};
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use tokio::sync::{Mutex, MutexGuard};

/// Connections for reading: enough for two cores, and few enough to keep their page caches warm.
const READERS: usize = 3;
/// Ids collide only if two records share a millisecond and 19 random bits.
const ID_ATTEMPTS: usize = 8;

/// The application id is "maql" in ASCII.
const LAYOUT: FileLayout = FileLayout { application_id: 0x6d61_716c, migrations: &[LAYOUT_1] };

const LAYOUT_1: &str = "
    CREATE TABLE records (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        adapter TEXT NOT NULL,
        resource TEXT NOT NULL,
        id TEXT NOT NULL,
        version INTEGER NOT NULL,
        created_at INTEGER NOT NULL,
        updated_at INTEGER NOT NULL,
        body TEXT NOT NULL,
        head TEXT NOT NULL,
        rest TEXT NOT NULL,
        UNIQUE (adapter, resource, id)
    ) STRICT;
    CREATE INDEX records_newest ON records (adapter, resource, seq);
    CREATE TABLE indexed (
        adapter TEXT NOT NULL,
        resource TEXT NOT NULL,
        search TEXT NOT NULL,
        PRIMARY KEY (adapter, resource)
    ) STRICT, WITHOUT ROWID;
";

/// The embedded store of one adapter.
#[derive(Debug)]
pub struct Store {
    adapter: String,
    resources: HashMap<String, StoreResource>,
    writer: Mutex<SqliteConnection>,
    /// Empty for a store in memory, which has only one connection.
    readers: Vec<Mutex<SqliteConnection>>,
}

/// A resource, compiled for calls.
#[derive(Debug)]
struct StoreResource {
    name: String,
    declaration: Resource,
    search: Vec<String>,
    schema: SchemaId,
    schemas: Arc<SchemaSet>,
}

impl StoreResource {
    /// The search text of a record, without its hidden fields: a search must not reveal them.
    fn search_text(&self, body: &Map<String, Value>) -> (String, String) {
        let hidden = &self.declaration.hide;
        if hidden.is_empty() {
            return search_text(&self.search, body);
        }
        let mut shown = Value::Object(body.clone());
        hidden.remove_from_value(&mut shown);
        shown.as_object().map(|body| search_text(&self.search, body)).unwrap_or_default()
    }

    /// Says from which fields the search texts are made.
    fn search_key(&self) -> String {
        let hidden: Vec<&str> = self.declaration.hide.paths().iter().map(FieldPath::as_str).collect();
        if hidden.is_empty() {
            return json!(self.search).to_string();
        }
        json!({"search": self.search, "hide": hidden}).to_string()
    }
}

/// A stored record: id, version, times of creation and update, body.
type StoredRecord = (String, i64, i64, i64, String);

impl Store {
    /// Opens the store in a file. Creates the file and its folder if needed.
    ///
    /// # Errors
    /// When the file cannot be created or read, is damaged, or belongs to another program or a newer version, or when
    /// a declared field cannot be stored.
    pub async fn open(
        path: &Path,
        adapter: &str,
        target: &StoreTarget,
        types: &IndexMap<String, Value>,
    ) -> Result<Store, StoreError> {
        let resources = compile_resources(target, types)?;
        let writer = state::open_writer(path, LAYOUT).await?;
        let mut readers = Vec::with_capacity(READERS);
        for _ in 0..READERS {
            readers.push(Mutex::new(state::open_reader(path).await?));
        }
        Store { adapter: adapter.to_owned(), resources, writer: Mutex::new(writer), readers }
            .indexed(path)
            .await
    }

    /// Checks that a store's file can be opened, without changing it.
    ///
    /// # Errors
    /// When the file cannot be read, is damaged, or belongs to another program or a newer version.
    pub async fn check_file(path: &Path) -> Result<(), StoreError> {
        state::check_file(path, LAYOUT).await
    }

    /// Opens a store in memory, which ends with the process.
    ///
    /// # Errors
    /// When a declared field cannot be stored.
    pub async fn in_memory(
        adapter: &str,
        target: &StoreTarget,
        types: &IndexMap<String, Value>,
    ) -> Result<Store, StoreError> {
        let resources = compile_resources(target, types)?;
        let writer = Mutex::new(state::open_memory(LAYOUT).await?);
        let store = Store { adapter: adapter.to_owned(), resources, writer, readers: Vec::new() };
        store.indexed(Path::new(":memory:")).await
    }

    async fn indexed(self, path: &Path) -> Result<Store, StoreError> {
        match self.rebuild_search_text().await {
            Ok(()) => Ok(self),
            Err(source) => Err(StoreError::Open { path: path.to_owned(), source }),
        }
    }

    async fn call(&self, operation: &Operation, args: &Args, whole_list: bool) -> Result<Answer, OpError> {
        let (resource, action) = self.bound(operation)?;
        match action {
            StoreAction::Create => self.create(resource, args).await,
            StoreAction::Get => self.get(resource, args).await,
            StoreAction::List => self.list(resource, args, whole_list).await,
            StoreAction::Search => self.search(resource, args, whole_list).await,
            StoreAction::Update => self.update(resource, args).await,
            StoreAction::Delete => self.delete(resource, args).await,
        }
    }

    /// Returns the resource and the action of an operation.
    fn bound(&self, operation: &Operation) -> Result<(&StoreResource, StoreAction), OpError> {
        let Binding::Store(binding) = &operation.binding else {
            return Err(internal("the operation is not bound to a store"));
        };
        match self.resources.get(&binding.resource) {
            Some(resource) => Ok((resource, binding.action)),
            None => Err(internal(format!("the store has no resource {}", binding.resource))),
        }
    }

    async fn create(&self, resource: &StoreResource, args: &Args) -> Result<Answer, OpError> {
        let fields = new_body(resource, args);
        check_fields(resource, &fields)?;
        let (head, rest) = resource.search_text(&fields);
        let body = serialize(fields)?;
        let created = now();
        let mut writer = self.writer.lock().await;
        for _ in 0..ID_ATTEMPTS {
            let id = fresh_id(&resource.name);
            let insert = sqlx::query(
                "INSERT INTO records (adapter, resource, id, version, created_at, updated_at, body, head, rest) \
                 VALUES (?1, ?2, ?3, 1, ?4, ?4, ?5, ?6, ?7)",
            )
            .bind(&self.adapter)
            .bind(&resource.name)
            .bind(&id)
            .bind(created)
            .bind(&body)
            .bind(&head)
            .bind(&rest);
            match insert.execute(&mut *writer).await {
                Ok(_) => return answer(&(id, 1, created, created, body)),
                Err(error) if sqlite_code(&error) == Some(SQLITE_CONSTRAINT) => {}
                Err(error) => return Err(storage_error(&error)),
            }
        }
        Err(internal("no free id found"))
    }

    async fn get(&self, resource: &StoreResource, args: &Args) -> Result<Answer, OpError> {
        let id = id_of(args)?;
        let mut reader = self.reader().await;
        let stored = self.stored(&mut reader, resource, id).await?;
        answer(&stored.ok_or_else(|| not_found(resource, id))?)
    }

    async fn update(&self, resource: &StoreResource, args: &Args) -> Result<Answer, OpError> {
        let id = id_of(args)?;
        let changes = changes(resource, args)?;
        let mut writer = self.writer.lock().await;
        let mut change = writer.begin_with("BEGIN IMMEDIATE").await.map_err(|error| storage_error(&error))?;
        let Some(stored) = self.stored(&mut change, resource, id).await? else {
            return Err(not_found(resource, id));
        };
        let (_, version, created, _, body) = &stored;
        check_match(resource, args, *version)?;
        let before: Map<String, Value> =
            serde_json::from_str(body).map_err(|error| internal(error.to_string()))?;
        let mut fields = before.clone();
        merge(&mut fields, changes);
        if fields == before {
            // An update without changes keeps the version.
            return answer(&stored);
        }
        check_fields(resource, &fields)?;
        let (head, rest) = resource.search_text(&fields);
        let (body, version, updated) = (serialize(fields)?, version + 1, now());
        sqlx::query(
            "UPDATE records SET version = ?4, updated_at = ?5, body = ?6, head = ?7, rest = ?8 \
             WHERE adapter = ?1 AND resource = ?2 AND id = ?3",
        )
        .bind(&self.adapter)
        .bind(&resource.name)
        .bind(id)
        .bind(version)
        .bind(updated)
        .bind(&body)
        .bind(head)
        .bind(rest)
        .execute(&mut *change)
        .await
        .map_err(|error| storage_error(&error))?;
        change.commit().await.map_err(|error| storage_error(&error))?;
        answer(&(id.to_owned(), version, *created, updated, body))
    }

    async fn delete(&self, resource: &StoreResource, args: &Args) -> Result<Answer, OpError> {
        let id = id_of(args)?;
        let mut writer = self.writer.lock().await;
        let mut change = writer.begin_with("BEGIN IMMEDIATE").await.map_err(|error| storage_error(&error))?;
        let Some((_, version, ..)) = self.stored(&mut change, resource, id).await? else {
            return Err(not_found(resource, id));
        };
        check_match(resource, args, version)?;
        sqlx::query("DELETE FROM records WHERE adapter = ?1 AND resource = ?2 AND id = ?3")
            .bind(&self.adapter)
            .bind(&resource.name)
            .bind(id)
            .execute(&mut *change)
            .await
            .map_err(|error| storage_error(&error))?;
        change.commit().await.map_err(|error| storage_error(&error))?;
        Ok(Answer::new(json!({"id": id, "deleted": true})))
    }

    async fn stored(
        &self,
        connection: &mut SqliteConnection,
        resource: &StoreResource,
        id: &str,
    ) -> Result<Option<StoredRecord>, OpError> {
        sqlx::query_as(
            "SELECT id, version, created_at, updated_at, body FROM records \
             WHERE adapter = ?1 AND resource = ?2 AND id = ?3",
        )
        .bind(&self.adapter)
        .bind(&resource.name)
        .bind(id)
        .fetch_optional(connection)
        .await
        .map_err(|error| storage_error(&error))
    }

    /// Returns a connection for reading: the first idle one, which has the warmest cache.
    async fn reader(&self) -> MutexGuard<'_, SqliteConnection> {
        if let Some(idle) = self.readers.iter().find_map(|reader| reader.try_lock().ok()) {
            return idle;
        }
        self.readers.last().unwrap_or(&self.writer).lock().await
    }

    /// Rebuilds the search texts if the document's search fields have changed.
    async fn rebuild_search_text(&self) -> Result<(), sqlx::Error> {
        let mut writer = self.writer.lock().await;
        for resource in self.resources.values() {
            let search = resource.search_key();
            let sql = "SELECT search FROM indexed WHERE adapter = ?1 AND resource = ?2";
            let known = sqlx::query_as(sql).bind(&self.adapter).bind(&resource.name);
            let known: Option<(String,)> = known.fetch_optional(&mut *writer).await?;
            if known.is_some_and(|(known,)| known == search) {
                continue;
            }
            let mut change = writer.begin_with("BEGIN IMMEDIATE").await?;
            let sql = "SELECT seq, body FROM records WHERE adapter = ?1 AND resource = ?2";
            let records = sqlx::query_as(sql).bind(&self.adapter).bind(&resource.name);
            let records: Vec<(i64, String)> = records.fetch_all(&mut *change).await?;
            for (seq, body) in records {
                let (head, rest) = resource.search_text(&serde_json::from_str(&body).unwrap_or_default());
                let sql = "UPDATE records SET head = ?2, rest = ?3 WHERE seq = ?1";
                sqlx::query(sql).bind(seq).bind(head).bind(rest).execute(&mut *change).await?;
            }
            let sql = "INSERT OR REPLACE INTO indexed (adapter, resource, search) VALUES (?1, ?2, ?3)";
            let record = sqlx::query(sql).bind(&self.adapter).bind(&resource.name).bind(search);
            record.execute(&mut *change).await?;
            change.commit().await?;
        }
        Ok(())
    }
}

impl Target for Store {
    fn perform<'a>(&'a self, call: TargetCall<'a>) -> BoxFuture<'a, Result<Answer, OpError>> {
        Box::pin(self.call(call.operation, call.args, call.whole_list))
    }

    fn preview<'a>(
        &'a self,
        operation: &'a Operation,
        args: &'a Args,
    ) -> BoxFuture<'a, Result<Value, OpError>> {
        Box::pin(self.preview_change(operation, args))
    }
}

/// The file of all stores in a data folder.
pub const STORE_FILE: &str = "mcpaql.sqlite";

/// The kind of embedded stores.
pub(super) const TARGET_KIND: TargetKind = TargetKind {
    name: "store",
    open: |request| match request.target {
        adapter::TargetConfig::Store(target) => Some(Box::pin(async move {
            let Some(data) = request.data else {
                return Err(request.error(NoDataFolder, "it stores data, but there is no data folder"));
            };
            let adapter = &request.catalog.adapter;
            let mut target = target.clone();
            for resource in target.resources.values_mut() {
                resource.hide = resource.hide.join(&request.catalog.hide).into_owned();
            }
            match Store::open(&data.join(STORE_FILE), &adapter.name, &target, &adapter.types).await {
                Ok(store) => Ok(Arc::new(store) as Arc<dyn Target>),
                Err(error) => Err(request.error(error, "its store cannot be opened; see the log")),
            }
        })),
        _ => None,
    },
};

/// Compiles the resources. Their fields may refer to the adapter's `types`.
fn compile_resources(
    target: &StoreTarget,
    types: &IndexMap<String, Value>,
) -> Result<HashMap<String, StoreResource>, StoreError> {
    let (mut schemas, _) = SchemaSet::compile(types);
    let mut compiled = Vec::with_capacity(target.resources.len());
    for (name, resource) in &target.resources {
        // Field names become part of JSON paths and keys of records.
        let is_valid = |field: &str| {
            field.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && !RECORD_KEYS.contains(&field)
        };
        if let Some(field) = resource.fields.keys().find(|field| field.is_empty() || !is_valid(field)) {
            return Err(StoreError::Field { resource: name.clone(), field: field.clone() });
        }
        let shape = json!({"type": "object", "properties": resource.fields, "required": resource.required});
        // Problems of schemas were reported when the document was compiled.
        let (schema, _) = schemas.add(&shape, "");
        compiled.push((name, resource, schema));
    }
    let schemas = Arc::new(schemas);
    let entry = |(name, resource, schema): (&String, &Resource, SchemaId)| {
        let search = search_fields(resource).into_iter().map(str::to_owned).collect();
        let resource = resource.clone();
        (
            name.clone(),
            StoreResource {
                name: name.clone(),
                declaration: resource,
                search,
                schema,
                schemas: Arc::clone(&schemas),
            },
        )
    };
    Ok(compiled.into_iter().map(entry).collect())
}

fn answer((id, version, created, updated, body): &StoredRecord) -> Result<Answer, OpError> {
    let mut text = String::with_capacity(body.len() + 128);
    write_record(&mut text, id, *version, *created, *updated, body);
    raw(text)
}

/// Maximum size of a record. A larger one could be written but would be too large to return, so it is refused first.
const MAX_RECORD_BYTES: usize = 1 << 20;

/// Serializes the fields of a record.
fn serialize(fields: Map<String, Value>) -> Result<String, OpError> {
    let text = Value::Object(fields).to_string();
    if text.len() <= MAX_RECORD_BYTES {
        return Ok(text);
    }
    let message = format!(
        "The record would have {} bytes, more than the maximum of {MAX_RECORD_BYTES}. Store less in it or split it.",
        text.len()
    );
    Err(OpError::too_large(message, LimitType::RequestSize, Some(text.len()), MAX_RECORD_BYTES))
}

fn raw(text: String) -> Result<Answer, OpError> {
    RawValue::from_string(text).map(Answer::new).map_err(|error| internal(error.to_string()))
}

fn id_of(args: &Args) -> Result<&str, OpError> {
    args.get("id")
        .and_then(Value::as_str)
        .ok_or_else(|| OpError::new(Code::MissingParam, "Missing required parameter 'id'. Expected: string."))
}

fn check_match(resource: &StoreResource, args: &Args, version: i64) -> Result<(), OpError> {
    let expected = match args.get("if_match").or_else(|| args.get("_etag")) {
        None | Some(Value::Null) => return Ok(()),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    };
    if expected == version.to_string() {
        return Ok(());
    }
    let message = format!(
        "This {} has changed since you read it; get it again and retry the call with its new _etag.",
        resource.name
    );
    Err(OpError::new(Code::ConflictVersion, message).with_detail("current_etag", version.to_string()))
}

fn not_found(resource: &StoreResource, id: &str) -> OpError {
    let (name, plural, id) = (&resource.name, &resource.declaration.plural, clip(id));
    let message = format!("No {name} has the id '{id}'. Find it with list_{plural} or search_{plural}.");
    OpError::new(Code::NotFoundResource, message)
        .with_detail("resource_type", name.as_str())
        .with_detail("resource_id", id)
}

/// A caller's text, shortened for messages.
fn clip(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(64).collect()
}

fn internal(cause: impl std::fmt::Display) -> OpError {
    OpError::new(Code::Internal, "The store could not answer; tell the user.").with_cause(cause)
}

fn storage_error(error: &sqlx::Error) -> OpError {
    let (code, message) = match sqlite_code(error) {
        Some(SQLITE_BUSY | SQLITE_LOCKED) => {
            (Code::TransportTimeout, "The store is busy with other writes; try again in a moment.")
        }
        Some(SQLITE_FULL) => (Code::Internal, "The store's disk is full; tell the user."),
        Some(SQLITE_CORRUPT | SQLITE_NOTADB) => {
            (Code::Internal, "The store's file is damaged; tell the user.")
        }
        _ => (Code::Internal, "The store could not answer; tell the user."),
    };
    OpError::new(code, message).with_cause(error)
}
