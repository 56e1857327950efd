//! Serves MCP-AQL adapters over MCP: targets, dispatch, state, server. Also the library to embed.

pub mod builtin;
pub mod caller;
pub mod dispatch;
pub mod document;
pub mod environment;
pub mod execution;
pub mod fetch;
pub mod gate;
pub mod gateway;
pub mod health;
mod limits;
pub mod mcp;
pub mod native;
pub mod open;
pub mod prelude;
pub mod process;
pub mod protocol;
pub mod record;
pub mod run;
pub mod secret;
pub mod serve;
pub mod service;
mod state;
pub mod target;
