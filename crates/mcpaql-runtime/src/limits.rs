//! One shape for everything that is too large: which limit, how much it was, how much it may be.

use mcpaql_core::error::{Code, OpError};

/// The error for something beyond a limit; `actual` is left out where it was never measured to its end.
pub(crate) fn too_large(
    message: impl Into<String>,
    limit: &'static str,
    actual: Option<usize>,
    maximum: usize,
) -> OpError {
    let error = OpError::new(Code::PayloadTooLarge, message).with("limit", limit);
    let error = match actual {
        Some(actual) => error.with("actual", actual),
        None => error,
    };
    error.with("maximum", maximum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_details_name_the_limit_and_what_is_known() {
        let error = too_large("Too much.", "max_record_size", Some(3), 2);
        assert_eq!(json!(error.details), json!({"limit": "max_record_size", "actual": 3, "maximum": 2}));
        let error = too_large("Too much.", "max_response_bytes", None, 2);
        assert_eq!(json!(error.details), json!({"limit": "max_response_bytes", "maximum": 2}));
    }
}
