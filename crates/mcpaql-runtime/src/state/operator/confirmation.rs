//! Confirmations of calls: tokens that the model returns, and requests that a person decides.
//!
//! What always holds: a confirmation is valid for one call with its scope, and it goes from open to an end state
//! once. Both stores change a confirmation only with the functions here, within one transaction.

use super::clock::Moment;
use mcpaql_gate::token::is_equal;
use mcpaql_lexicon::Danger;
use serde_json::Value;
use std::time::Duration;

/// Open tokens that one caller can have. A model has at most a few.
pub(super) const MAX_OPEN_TOKENS: usize = 256;
/// Open requests that one caller can have, so that no caller hides a request among hundreds.
pub(super) const MAX_OPEN_REQUESTS: usize = 32;
/// How long an ended confirmation is kept, so that its token gets the right error.
pub(super) const KEPT_MS: i64 = 24 * 60 * 60 * 1000;
/// Unknown tokens that one caller may send in [`GUESS_WINDOW_MS`].
pub(super) const MAX_GUESSES: u64 = 20;
pub(super) const GUESS_WINDOW_MS: i64 = 60_000;

/// The call that a confirmation is valid for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfirmationScope {
    /// The adapter's name.
    pub adapter: String,
    /// The operation's name.
    pub operation: String,
    /// The hash of adapter, operation and parameters.
    pub call_hash: String,
    /// The caller's name.
    pub caller: String,
}

/// Who confirms a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConfirmationKind {
    /// The model, by returning a token.
    Token {
        /// The SHA-256 hash of the token. The token itself is not stored.
        hash: [u8; 32],
    },
    /// A person.
    Person,
}

/// A confirmation to issue.
#[derive(Debug, Clone)]
pub struct NewConfirmation {
    /// Who confirms the call.
    pub kind: ConfirmationKind,
    /// The call.
    pub scope: ConfirmationScope,
    /// The danger of the operation.
    pub danger: Danger,
    /// How long it is valid. After a person has approved, this time starts again.
    pub expires_in: Duration,
    /// The call as a person sees it, without secrets.
    pub request: Value,
    /// The hash of the current state of what the call changes, if it was read. The approval covers only this state.
    pub state_hash: Option<String>,
}

/// The state of a confirmation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConfirmationStatus {
    /// Nobody has returned the token or decided.
    Open,
    /// A person has approved the call, and it has not run yet.
    Approved,
    /// A person has denied the call.
    Denied,
    /// The call was let through.
    Used,
    /// Its time was over.
    Expired,
    /// What the call changes is not as the person saw it.
    Void,
}

impl ConfirmationStatus {
    /// All of them.
    pub const ALL: [ConfirmationStatus; 6] = [
        ConfirmationStatus::Open,
        ConfirmationStatus::Approved,
        ConfirmationStatus::Denied,
        ConfirmationStatus::Used,
        ConfirmationStatus::Expired,
        ConfirmationStatus::Void,
    ];

    /// The word in reports and in the stored state.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            ConfirmationStatus::Open => "open",
            ConfirmationStatus::Approved => "approved",
            ConfirmationStatus::Denied => "denied",
            ConfirmationStatus::Used => "used",
            ConfirmationStatus::Expired => "expired",
            ConfirmationStatus::Void => "void",
        }
    }

    /// Parses the word.
    #[must_use]
    pub fn parse(text: &str) -> Option<ConfirmationStatus> {
        ConfirmationStatus::ALL.into_iter().find(|status| status.as_str() == text)
    }
}

/// A stored confirmation.
#[derive(Debug, Clone, PartialEq)]
pub struct Confirmation {
    /// The id with which a person decides.
    pub id: String,
    /// Who confirms the call.
    pub kind: ConfirmationKind,
    /// The call.
    pub scope: ConfirmationScope,
    /// The danger of the operation.
    pub danger: Danger,
    /// The call as a person sees it.
    pub request: Value,
    /// The hash of the state that a person saw.
    pub state_hash: Option<String>,
    /// When it was issued, in milliseconds since 1970.
    pub issued_at: i64,
    /// When it ends, in milliseconds since 1970.
    pub expires_at: i64,
    /// Its state.
    pub status: ConfirmationStatus,
    /// The person who decided.
    pub decided_by: Option<String>,
    /// When the person decided, in milliseconds since 1970.
    pub decided_at: Option<i64>,
}

/// The result of issuing a confirmation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Issued {
    /// A new confirmation.
    New {
        /// Its id.
        id: String,
        /// When it ends, in milliseconds since 1970.
        expires_at: i64,
    },
    /// A person has already been asked about this call, and has not decided.
    AlreadyOpen {
        /// The id of the open request.
        id: String,
        /// When it ends, in milliseconds since 1970.
        expires_at: i64,
    },
    /// The caller has too many open confirmations; nothing was issued.
    TooMany {
        /// When the first of them ends.
        retry_after_seconds: u64,
    },
}

/// The result of returning a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Redemption {
    /// The call may run, once.
    Redeemed {
        /// The confirmation's id.
        id: String,
    },
    /// No token like this was issued.
    Invalid,
    /// It came too late.
    Expired,
    /// Another call has used it.
    AlreadyUsed,
    /// It was issued for another call or caller.
    ScopeMismatch,
    /// The caller has sent too many unknown tokens.
    TooManyAttempts {
        /// When the caller may try again.
        retry_after_seconds: u64,
    },
}

/// A person's decision about a call, when the call is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Approval {
    /// Approved, and used up by this answer: the call may run.
    Taken {
        /// The confirmation's id.
        id: String,
        /// Who approved.
        by: String,
    },
    /// A person has been asked and has not decided.
    Open {
        /// The confirmation's id.
        id: String,
        /// When the request ends, in milliseconds since 1970.
        expires_at: i64,
    },
    /// Nobody was asked about this call since it last ran.
    NotApproved,
    /// A person has denied the call.
    Denied {
        /// The confirmation's id.
        id: String,
        /// Who denied.
        by: String,
    },
    /// The request or the approval has expired.
    Expired,
    /// What the call changes is not as the person saw it. The approval is void.
    StateChanged,
}

/// The result of deciding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decided {
    /// The decision was stored.
    Stored,
    /// Somebody else has decided, or the request has ended.
    AlreadyEnded(ConfirmationStatus),
    /// No request of this kind has this id.
    Unknown,
}

impl Confirmation {
    pub(super) fn new(id: String, new: &NewConfirmation, now: i64) -> Confirmation {
        let lifetime = i64::try_from(new.expires_in.as_millis()).unwrap_or(i64::MAX);
        Confirmation {
            id,
            kind: new.kind,
            scope: new.scope.clone(),
            danger: new.danger,
            request: new.request.clone(),
            state_hash: new.state_hash.clone(),
            issued_at: now,
            expires_at: now.saturating_add(lifetime),
            status: ConfirmationStatus::Open,
            decided_by: None,
            decided_at: None,
        }
    }

    /// Whether a call may still be let through with it.
    pub(super) fn is_alive(&self) -> bool {
        matches!(self.status, ConfirmationStatus::Open | ConfirmationStatus::Approved)
    }

    /// Whether its token has this hash. The time of the comparison does not depend on where the hashes differ.
    pub(super) fn has_token(&self, hash: &[u8; 32]) -> bool {
        match &self.kind {
            ConfirmationKind::Token { hash: own } => is_equal(own, hash),
            ConfirmationKind::Person => false,
        }
    }

    /// Whether a person should decide about it, among those of one caller or of all.
    pub(super) fn is_pending_of(&self, caller: Option<&str>) -> bool {
        self.kind == ConfirmationKind::Person
            && self.status == ConfirmationStatus::Open
            && caller.is_none_or(|caller| self.scope.caller == caller)
    }

    /// Ends the confirmation if its time is over. A time before its issue cannot be compared with its end.
    pub(super) fn expire(&mut self, moment: Moment) {
        let is_over = moment.is_set_back || moment.now >= self.expires_at || moment.now < self.issued_at;
        if self.is_alive() && is_over {
            self.status = ConfirmationStatus::Expired;
        }
    }

    /// Uses up a token. The order of the checks tells another caller nothing about the token.
    pub(super) fn redeem(&mut self, scope: &ConfirmationScope, moment: Moment) -> Redemption {
        self.expire(moment);
        if self.scope != *scope {
            return Redemption::ScopeMismatch;
        }
        match self.status {
            ConfirmationStatus::Open => {
                self.status = ConfirmationStatus::Used;
                Redemption::Redeemed { id: self.id.clone() }
            }
            ConfirmationStatus::Used => Redemption::AlreadyUsed,
            _ => Redemption::Expired,
        }
    }

    /// Stores a person's decision.
    pub(super) fn decide(&mut self, is_approved: bool, by: &str, moment: Moment) -> Decided {
        self.expire(moment);
        if self.kind != ConfirmationKind::Person {
            return Decided::Unknown;
        }
        if self.status != ConfirmationStatus::Open {
            return Decided::AlreadyEnded(self.status);
        }
        let lifetime = self.expires_at.saturating_sub(self.issued_at);
        self.status = if is_approved { ConfirmationStatus::Approved } else { ConfirmationStatus::Denied };
        self.expires_at = moment.now.saturating_add(lifetime);
        self.decided_by = Some(by.to_owned());
        self.decided_at = Some(moment.now);
        Decided::Stored
    }

    /// Uses up an approval for a call that finds this state.
    pub(super) fn take(&mut self, state_hash: Option<&str>, moment: Moment) -> Approval {
        self.expire(moment);
        let is_same_state = self.state_hash.as_deref() == state_hash;
        let by = || self.decided_by.clone().unwrap_or_default();
        match self.status {
            ConfirmationStatus::Open | ConfirmationStatus::Approved if !is_same_state => {
                self.status = ConfirmationStatus::Void;
                Approval::StateChanged
            }
            ConfirmationStatus::Open => Approval::Open { id: self.id.clone(), expires_at: self.expires_at },
            ConfirmationStatus::Approved => {
                let by = by();
                self.status = ConfirmationStatus::Used;
                Approval::Taken { id: self.id.clone(), by }
            }
            // A denial stands as long as an approval would have.
            ConfirmationStatus::Denied if moment.now < self.expires_at && !moment.is_set_back => {
                Approval::Denied { id: self.id.clone(), by: by() }
            }
            ConfirmationStatus::Expired => Approval::Expired,
            ConfirmationStatus::Denied | ConfirmationStatus::Used | ConfirmationStatus::Void => {
                Approval::NotApproved
            }
        }
    }
}

/// Checks a new confirmation against the caller's open ones. An open request for the same call is returned; one that
/// showed another state becomes void.
pub(super) fn before_issue<'a>(
    new: &NewConfirmation,
    open: impl Iterator<Item = &'a mut Confirmation>,
    moment: Moment,
) -> Option<Issued> {
    let is_person = new.kind == ConfirmationKind::Person;
    let (mut count, mut first_end) = (0, i64::MAX);
    for other in open.filter(|other| (other.kind == ConfirmationKind::Person) == is_person) {
        if other.status != ConfirmationStatus::Open {
            continue;
        }
        if is_person && other.scope == new.scope {
            if other.state_hash == new.state_hash {
                return Some(Issued::AlreadyOpen { id: other.id.clone(), expires_at: other.expires_at });
            }
            other.status = ConfirmationStatus::Void;
            continue;
        }
        count += 1;
        first_end = first_end.min(other.expires_at);
    }
    let most = if is_person { MAX_OPEN_REQUESTS } else { MAX_OPEN_TOKENS };
    let retry_after_seconds = seconds_until(first_end, moment.now);
    (count >= most).then_some(Issued::TooMany { retry_after_seconds })
}

/// Whole seconds, at least one.
pub(super) fn seconds_until(end: i64, now: i64) -> u64 {
    let ms = u64::try_from(end.saturating_sub(now)).unwrap_or_default();
    ms.div_ceil(1000).max(1)
}
