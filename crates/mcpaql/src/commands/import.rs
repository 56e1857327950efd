//! `mcpaql import`.

use crate::{Outcome, args};
use anyhow::Result;

pub(crate) fn run(_args: &args::ImportOpenapi) -> Result<Outcome> {
    anyhow::bail!("wip")
}
