//! Patterns and texts → whether they match here.
#![allow(clippy::all, clippy::pedantic, clippy::restriction)]
use mcpaql_core::schema::Schemas;
use serde_json::{Value, json};
fn main() {
    let input: Value =
        serde_json::from_str(&std::fs::read_to_string(std::env::args().nth(1).unwrap()).unwrap()).unwrap();
    let mut out = Vec::new();
    for row in input.as_array().unwrap() {
        let (mut schemas, _) = Schemas::compile(&Default::default());
        let (id, problems) = schemas.add(&json!({"type": "string", "pattern": row[0]}), "");
        let hits: Vec<bool> =
            row[1].as_array().unwrap().iter().map(|text| schemas.check(id, text).is_empty()).collect();
        out.push(json!([problems.is_empty(), hits]));
    }
    println!("{}", Value::from(out));
}
