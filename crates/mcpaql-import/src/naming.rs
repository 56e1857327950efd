//! Names of operations, parameters and types from what an API calls them.
