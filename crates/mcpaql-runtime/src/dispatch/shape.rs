//! Selects the part of an answer that the query controls of a call ask for, and keeps an answer within its token budget.
//!
//! What always holds: no data is added to the items of the target. An answer without controls and within its budget goes
//! back unchanged, without parsing it.

use crate::caller::EntryPoint;
use crate::target::Args;
use mcpaql_core::adapter::ResultForm;
use mcpaql_core::catalog::{Catalog, FullOperation};
use mcpaql_core::error::OpError;
use mcpaql_core::operation::Operation;
use mcpaql_core::request::PreparedCall;
use mcpaql_core::response::{Answer, Payload, Warning};
use mcpaql_core::shape::{self, CONTROLS, CursorSigner, QueryControls, ShapeRequest, ShapedData};
use serde_json::Value;
use std::borrow::Cow;

/// The call whose answer is shaped.
pub(super) struct ShapeStep<'a> {
    pub(super) catalog: &'a Catalog,
    pub(super) full: FullOperation<'a>,
    pub(super) args: &'a Args,
    pub(super) controls: Option<&'a QueryControls>,
    pub(super) entry: EntryPoint,
    /// All pages were fetched: whether these are all there are.
    pub(super) is_complete: Option<bool>,
}

/// Returns the controls of a call, with the fields that its document selects by default. Handlers get everything.
pub(super) fn effective_controls(
    operation: &Operation,
    controls: Option<Box<QueryControls>>,
    entry: EntryPoint,
) -> Option<Box<QueryControls>> {
    let has_no_items = |controls: &QueryControls| controls.aggregate.is_some() && !controls.include_items;
    let selects = |controls: &QueryControls| {
        controls.fields.is_some() || controls.part.is_some() || has_no_items(controls)
    };
    let default = operation.fields.as_ref().and_then(|declared| declared.default_fields.as_ref());
    let is_default = entry != EntryPoint::Handler
        && operation.takes_controls()
        && !controls.as_deref().is_some_and(selects);
    match default.filter(|_| is_default) {
        None => controls,
        Some(fields) => {
            let mut controls = controls.unwrap_or_default();
            controls.fields = Some(fields.clone());
            Some(controls)
        }
    }
}

/// An answer with the query controls applied, before it is reduced to a budget.
pub(super) struct SelectedAnswer {
    /// The answer without its data.
    answer: Answer,
    shaped: ShapedData,
}

/// Applies the query controls of the call.
pub(super) fn select(mut answer: Answer, step: &ShapeStep<'_>) -> Result<SelectedAnswer, OpError> {
    let mut shaped = ShapedData::from(std::mem::replace(&mut answer.data, Value::Null.into()));
    if let Some(controls) = step.controls {
        shaped = shape::shape(shaped.data, &step.request(controls))?;
        // The result of an MCP server is no longer what the caller asks for.
        answer.original = None;
    }
    Ok(SelectedAnswer { answer, shaped })
}

impl SelectedAnswer {
    /// Returns an answer that is not the result of query controls.
    pub(super) fn whole(mut answer: Answer) -> SelectedAnswer {
        let data = std::mem::replace(&mut answer.data, Value::Null.into());
        SelectedAnswer { answer, shaped: data.into() }
    }

    /// The selected data.
    pub(super) fn data(&self) -> &Payload {
        &self.shaped.data
    }

    /// Adds warnings before those of the answer.
    pub(super) fn prepend_warnings(&mut self, warnings: Vec<Warning>) {
        self.answer.warnings.splice(0..0, warnings);
    }

    /// Returns the answer, reduced to a budget of tokens if it has one.
    pub(super) fn fit(self, budget: Option<usize>, step: &ShapeStep<'_>) -> Answer {
        let SelectedAnswer { mut answer, mut shaped } = self;
        let is_done = |budget: &usize| shaped.warnings.is_empty() && shape::is_within(&shaped.data, *budget);
        if let Some(budget) = budget.filter(|budget| !is_done(budget)) {
            let controls = step.controls.map_or_else(|| Cow::Owned(QueryControls::default()), Cow::Borrowed);
            shaped = shape::fit(shaped, budget, &step.request(&controls));
        }
        answer.data = shaped.data;
        answer.warnings.extend(shaped.warnings);
        answer
    }
}

impl<'a> ShapeStep<'a> {
    pub(super) fn new(
        catalog: &'a Catalog,
        entry: EntryPoint,
        call: &'a PreparedCall<'_>,
        is_complete: Option<bool>,
    ) -> ShapeStep<'a> {
        let controls = call.controls.as_deref();
        ShapeStep { catalog, full: call.full_operation, args: &call.args, controls, entry, is_complete }
    }

    /// The budget of the answer. Only tools have one: their answers go to a model. Its warnings tell how to get the rest,
    /// which only reads can do.
    pub(super) fn budget(&self) -> Option<usize> {
        let has_budget = self.entry.is_tool()
            && self.catalog.results == ResultForm::Envelope
            && self.full.operation.takes_controls();
        let own = self.controls.and_then(|controls| controls.answer_budget);
        has_budget.then(|| own.unwrap_or(self.catalog.answer_budget))
    }

    fn request<'c>(&'c self, controls: &'c QueryControls) -> ShapeRequest<'c> {
        let operation = self.full.operation;
        let pagination = operation.pagination.as_ref();
        let scope = self.args.iter().map(|(name, value)| (name.as_str(), value)).chain(controls.scope());
        let own = CONTROLS.iter().map(|(name, _)| *name).filter(|name| self.full.params.accepts(name));
        ShapeRequest {
            items_path: pagination.and_then(|pages| pages.items.as_deref()),
            may_have_more: pagination.is_some(),
            all_pages: self.is_complete,
            computed: operation.fields.as_ref().map(|declared| &declared.computed),
            own_names: own.collect(),
            signer: CursorSigner::new(&self.catalog.adapter.name, &operation.name, scope),
            ..ShapeRequest::new(controls)
        }
    }
}
