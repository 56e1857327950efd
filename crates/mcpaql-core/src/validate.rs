//! stub
use crate::schema::*; use crate::operation::*; use crate::error::*; use serde_json::*;
#[derive(Debug)] pub struct Limits { pub request_bytes: usize, pub response_bytes: usize, pub string_bytes: usize, pub array_items: usize, pub depth: usize }
impl Default for Limits { fn default() -> Self { Limits{request_bytes:1<<20,response_bytes:10<<20,string_bytes:1<<20,array_items:10000,depth:32} } }
#[derive(Debug)] pub struct CompiledParams;
impl CompiledParams { pub fn compile(_op: &Operation, _s: &mut Schemas, _p: &str) -> (CompiledParams, Vec<SchemaProblem>) { (CompiledParams, vec![]) }
 pub fn validate(&self, params: Map<String, Value>, _s: &Schemas, _l: &Limits) -> std::result::Result<Map<String, Value>, OpError> { Ok(params) } }
pub(crate) fn fills_default(_o: &Operation, _p: &Param) -> bool { true }
