//! `mcpaql rules`: what the operator's rules decide, and why.

pub(crate) mod explain;
pub(crate) mod replay;
