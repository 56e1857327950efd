//! Serves MCP-AQL adapters over MCP: targets, dispatch, state, server. Also the library to embed.

pub mod builtin;
pub mod caller;
pub mod document;
pub mod environment;
pub mod execution;
pub mod fetch;
pub mod gateway;
pub mod health;
pub mod mcp;
pub mod native;
pub mod open;
pub mod pipeline;
pub mod probe;
pub mod protocol;
pub mod secret;
pub mod serve;
pub mod service;
mod state;
pub mod target;
pub mod upstream;
