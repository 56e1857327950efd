//! Integration tests of the runtime, one module per concern.

#[cfg(test)]
mod http;
