//! The change of a dry run. It is checked like the real one, and nothing is written.

use super::change::{changes, check_fields, merge, new_body};
use super::{Store, StoreResource, StoredRecord, check_match, id_of, internal, not_found};
use crate::secret::REDACTED;
use crate::target::{Args, preview};
use mcpaql_core::error::OpError;
use mcpaql_core::operation::{Operation, StoreAction};
use serde_json::{Map, Value, json};

impl Store {
    pub(super) async fn preview_change(&self, operation: &Operation, args: &Args) -> Result<Value, OpError> {
        let (resource, action) = self.bound(operation)?;
        let name = &resource.name;
        match action {
            StoreAction::Create => {
                let record = new_body(resource, args);
                check_fields(resource, &record)?;
                Ok(json!({"action": "create", "resource": name, "record": shown(resource, record)}))
            }
            StoreAction::Update => {
                let id = id_of(args)?;
                let change = changes(resource, args)?;
                let (.., body) = self.matching(resource, id, args).await?;
                let mut record: Map<String, Value> =
                    serde_json::from_str(&body).map_err(|error| internal(error.to_string()))?;
                merge(&mut record, change.clone());
                check_fields(resource, &record)?;
                let (change, record) = (shown(resource, change), shown(resource, record));
                Ok(
                    json!({"action": "update", "resource": name, "id": id, "change": change, "record": record}),
                )
            }
            StoreAction::Delete => {
                let id = id_of(args)?;
                self.matching(resource, id, args).await?;
                Ok(json!({"action": "delete", "resource": name, "id": id}))
            }
            StoreAction::Get | StoreAction::List | StoreAction::Search => {
                Ok(preview::arguments(operation, args))
            }
        }
    }

    /// Returns the record, if it has the version that the caller expects.
    async fn matching(
        &self,
        resource: &StoreResource,
        id: &str,
        args: &Args,
    ) -> Result<StoredRecord, OpError> {
        let mut reader = self.reader().await;
        let stored = self.stored(&mut reader, resource, id).await?;
        let stored = stored.ok_or_else(|| not_found(resource, id))?;
        check_match(resource, args, stored.1)?;
        Ok(stored)
    }
}

/// Returns the fields of a record without the sensitive ones.
fn shown(resource: &StoreResource, mut fields: Map<String, Value>) -> Map<String, Value> {
    let is_sensitive = |schema: &Value| schema.get("sensitive") == Some(&Value::Bool(true));
    for (name, _) in resource.declaration.fields.iter().filter(|(_, schema)| is_sensitive(schema)) {
        if let Some(value) = fields.get_mut(name).filter(|value| !value.is_null()) {
            *value = REDACTED.into();
        }
    }
    fields
}
