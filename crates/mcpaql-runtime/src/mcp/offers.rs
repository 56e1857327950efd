//! What a service offers besides tools: resources and prompts, asked for and answered as raw JSON, and logs.
//!
//! The protocol library wants its own types on the way out. An entry of a list that it cannot hold is left out and logged, so
//! that one odd entry does not cost the others.

use super::Caller;
use super::handler::Server;
use super::{Service, handler};
use rmcp::ErrorData;
use rmcp::model::{ErrorCode, JsonObject, PromptsCapability, ResourcesCapability, ServerCapabilities};
use rmcp::service::{RequestContext, RoleServer};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// What a service offers besides tools.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Offers {
    /// `resources/*`.
    pub resources: bool,
    /// `prompts/*`.
    pub prompts: bool,
    /// `notifications/message`, and `logging/setLevel` in the revisions that have it.
    pub logging: bool,
}

/// What a client asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Offer {
    /// `resources/list`.
    Resources,
    /// `resources/templates/list`.
    Templates,
    /// `resources/read`.
    Resource,
    /// `prompts/list`.
    Prompts,
    /// `prompts/get`.
    Prompt,
}

impl Offer {
    const ALL: [Offer; 5] =
        [Offer::Resources, Offer::Templates, Offer::Resource, Offer::Prompts, Offer::Prompt];

    /// The method that asks.
    #[must_use]
    pub const fn method(self) -> &'static str {
        match self {
            Offer::Resources => "resources/list",
            Offer::Templates => "resources/templates/list",
            Offer::Resource => "resources/read",
            Offer::Prompts => "prompts/list",
            Offer::Prompt => "prompts/get",
        }
    }

    /// The member of a list's result that holds its entries; `None` where it is no list.
    #[must_use]
    pub const fn entries(self) -> Option<&'static str> {
        match self {
            Offer::Resources => Some("resources"),
            Offer::Templates => Some("resourceTemplates"),
            Offer::Prompts => Some("prompts"),
            Offer::Resource | Offer::Prompt => None,
        }
    }

    const fn is_in(self, offers: Offers) -> bool {
        match self {
            Offer::Resources | Offer::Templates | Offer::Resource => offers.resources,
            Offer::Prompts | Offer::Prompt => offers.prompts,
        }
    }
}

/// Why a client does not get what it asks for.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct Declined {
    /// JSON-RPC's code.
    pub code: i32,
    /// For the client.
    pub message: String,
    /// What may be added.
    pub data: Option<Value>,
}

impl Declined {
    /// There is no such method here.
    #[must_use]
    pub fn unknown(offer: Offer) -> Declined {
        Declined { code: ErrorCode::METHOD_NOT_FOUND.0, message: offer.method().to_owned(), data: None }
    }
}

impl From<Declined> for ErrorData {
    fn from(declined: Declined) -> ErrorData {
        ErrorData::new(ErrorCode(declined.code), declined.message, declined.data)
    }
}

/// Declares what is offered.
pub(super) fn declare(capabilities: &mut ServerCapabilities, offers: Offers) {
    capabilities.resources = offers.resources.then(ResourcesCapability::default);
    capabilities.prompts = offers.prompts.then(PromptsCapability::default);
    capabilities.logging = offers.logging.then(JsonObject::default);
}

/// Whether that method is offered.
pub(super) fn is_offered(method: &str, offers: Offers) -> bool {
    Offer::ALL.into_iter().any(|offer| offer.method() == method && offer.is_in(offers))
}

impl<S: Service> Server<S> {
    /// What the service answers; dropped when the client cancels.
    async fn offered(
        &self,
        offer: Offer,
        params: Map<String, Value>,
        context: &RequestContext<RoleServer>,
    ) -> Result<Value, ErrorData> {
        self.service().ready().await;
        if !offer.is_in(self.offers()) {
            return Err(Declined::unknown(offer).into());
        }
        let (caller, _) = Caller::of(context, !handler::is_stateless(context));
        let caller = caller.within(self.session()).hearing(self.hearing(context));
        tokio::select! {
            answer = self.service().offer(offer, params, &caller) => answer.map_err(ErrorData::from),
            () = context.ct.cancelled() => Err(ErrorData::internal_error("The request was cancelled.", None)),
        }
    }

    /// The entries of a list.
    pub(super) async fn offered_list<T: DeserializeOwned>(
        &self,
        offer: Offer,
        context: &RequestContext<RoleServer>,
    ) -> Result<Vec<T>, ErrorData> {
        let mut answer = self.offered(offer, Map::new(), context).await?;
        let entries = offer.entries().and_then(|key| answer.get_mut(key)).map(Value::take);
        let Some(Value::Array(entries)) = entries else { return Ok(Vec::new()) };
        let read = |entry: Value| match serde_json::from_value::<T>(entry) {
            Ok(entry) => Some(entry),
            Err(error) => {
                tracing::debug!(method = offer.method(), %error, "an entry cannot be passed on");
                None
            }
        };
        Ok(entries.into_iter().filter_map(read).collect())
    }

    /// One thing.
    pub(super) async fn offered_one<T: DeserializeOwned>(
        &self,
        offer: Offer,
        params: impl serde::Serialize,
        context: &RequestContext<RoleServer>,
    ) -> Result<T, ErrorData> {
        let params = match serde_json::to_value(params) {
            Ok(Value::Object(params)) => params,
            _ => Map::new(),
        };
        let mut answer = self.offered(offer, params, context).await?;
        // The newest revision wants to hear that nothing is missing; the library takes it out for others.
        if let Some(answer) = answer.as_object_mut() {
            answer.insert("resultType".into(), "complete".into());
        }
        serde_json::from_value(answer).map_err(|error| {
            tracing::debug!(method = offer.method(), %error, "an answer cannot be passed on");
            ErrorData::internal_error("The server behind answered in a form that cannot be passed on.", None)
        })
    }
}
