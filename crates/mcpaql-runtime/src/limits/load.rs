//! How busy an adapter is, for `/healthz` and `mcpaql status`.

use std::time::Duration;

/// A call that runs for longer than this makes an adapter slow.
const SLOW_AFTER: Duration = Duration::from_secs(10);

/// The load of one adapter at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct AdapterLoad {
    /// Calls that have a turn.
    pub(crate) running: usize,
    /// Calls that wait for a turn.
    pub(crate) waiting: usize,
    /// How long the oldest running call has been running.
    pub(crate) oldest: Option<Duration>,
    /// How long calls have been waiting because all turns are taken.
    pub(crate) saturated: Option<Duration>,
    /// How long calls have not been sent to a target because it failed, and why.
    pub(crate) failing: Option<(Duration, String)>,
}

/// A state that a load leads to, without a reason if it has none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LoadLevel {
    /// Calls are answered.
    Normal,
    /// Calls take long; since when, and why.
    Slow(Duration, String),
    /// Calls wait or are refused; since when, and why.
    Saturated(Duration, String),
    /// Calls fail; since when, and why.
    Failing(Duration, String),
}

impl AdapterLoad {
    /// Returns the worst state that this load shows.
    pub(crate) fn state(&self) -> LoadLevel {
        if let Some((since, reason)) = &self.failing {
            return LoadLevel::Failing(*since, reason.clone());
        }
        let AdapterLoad { running, waiting, .. } = self;
        if let Some(since) = self.saturated {
            let reason = format!("all {running} turns are taken, and {waiting} calls wait");
            return LoadLevel::Saturated(since, reason);
        }
        match self.oldest.filter(|oldest| *oldest >= SLOW_AFTER) {
            Some(oldest) => {
                let reason = format!("a call has been running for {} s", oldest.as_secs());
                LoadLevel::Slow(oldest.saturating_sub(SLOW_AFTER), reason)
            }
            None => LoadLevel::Normal,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_state_is_reported() {
        let seconds = Duration::from_secs;
        let mut load = AdapterLoad { oldest: Some(seconds(9)), ..AdapterLoad::default() };
        assert_eq!(load.state(), LoadLevel::Normal);
        load.oldest = Some(seconds(25));
        assert_eq!(load.state(), LoadLevel::Slow(seconds(15), "a call has been running for 25 s".into()));
        load = AdapterLoad { running: 2, waiting: 3, saturated: Some(seconds(1)), ..load };
        assert!(
            matches!(load.state(), LoadLevel::Saturated(_, reason) if reason == "all 2 turns are taken, and 3 calls wait")
        );
        load.failing = Some((seconds(2), "no".into()));
        assert_eq!(load.state(), LoadLevel::Failing(seconds(2), "no".into()));
    }
}
