//! Serves MCP-AQL adapters over MCP: targets, pipeline, state, server. Also the library to embed.

pub mod secret;
pub mod target;
