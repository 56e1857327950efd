//! The error for everything that is too large: a request, a response, a part of them.

use super::{Code, OpError};

/// The kinds of size limits, as the specification names them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitType {
    /// Bytes of a request, or of the part of it that goes to the target.
    RequestSize,
    /// Bytes of a response.
    ResponseSize,
    /// Bytes of one string.
    StringLength,
    /// Elements of one array, or fields of one object.
    ArrayElements,
    /// Levels of nested objects and arrays.
    NestingDepth,
}

impl LimitType {
    /// Returns the limit's name in `details.limit_type`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            LimitType::RequestSize => "request_size",
            LimitType::ResponseSize => "response_size",
            LimitType::StringLength => "string_length",
            LimitType::ArrayElements => "array_elements",
            LimitType::NestingDepth => "nesting_depth",
        }
    }

    /// Returns the unit of the limit.
    #[must_use]
    pub const fn unit(self) -> &'static str {
        match self {
            LimitType::RequestSize | LimitType::ResponseSize | LimitType::StringLength => "bytes",
            LimitType::ArrayElements => "elements",
            LimitType::NestingDepth => "levels",
        }
    }
}

impl OpError {
    /// Returns the error for a value that exceeds a limit. `actual` is `None` if reading stopped at the limit.
    pub fn too_large(
        message: impl Into<String>,
        limit: LimitType,
        actual: Option<usize>,
        maximum: usize,
    ) -> OpError {
        let error = OpError::new(Code::PayloadTooLarge, message)
            .with_detail("limit_type", limit.as_str())
            .with_detail("limit_value", maximum);
        let error = match actual {
            Some(actual) => error.with_detail("actual_value", actual),
            None => error,
        };
        error.with_detail("unit", limit.unit())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_details_name_the_limit_and_what_is_known() {
        let error = OpError::too_large("Too much.", LimitType::ArrayElements, Some(3), 2);
        let expected =
            json!({"limit_type": "array_elements", "limit_value": 2, "actual_value": 3, "unit": "elements"});
        assert_eq!(json!(error.details), expected);
        let error = OpError::too_large("Too much.", LimitType::ResponseSize, None, 2);
        assert_eq!(
            json!(error.details),
            json!({"limit_type": "response_size", "limit_value": 2, "unit": "bytes"})
        );
    }
}
