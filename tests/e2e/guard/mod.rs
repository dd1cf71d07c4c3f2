//! brain-guard in the real client.

mod main_job;

use serde_json::json;

use crate::mock::{Reply, Request};

/// Tokens that are `percent` of the limit of the default model (1,000,000 less
/// the client's buffer for its own compaction).
pub fn percent(percent: f64) -> u64 {
    (percent * 9_670.0) as u64
}

/// One move of the scripted agent: it sees the request and answers it.
pub type Move = Box<dyn FnMut(&Request) -> Reply + Send>;

/// An agent that makes its moves in order, and is done after the last.
pub fn moves(list: Vec<Move>) -> impl FnMut(&Request) -> Reply + Send + 'static {
    let mut list = list.into_iter();
    move |request| match list.next() {
        Some(mut next) => next(request),
        None => Reply::text("nothing more to do").tokens(percent(5.0)),
    }
}

/// A move.
pub fn step(act: impl FnMut(&Request) -> Reply + Send + 'static) -> Move {
    Box::new(act)
}

/// How often a text stands in what the model is told by the client and the hooks.
pub fn told(request: &Request, text: &str) -> usize {
    request.system_texts().iter().map(|t| t.matches(text).count()).sum()
}

/// Settings for sessions that nobody attends although a test types their prompt.
pub fn unattended() -> serde_json::Value {
    json!({"boundary": {"attended_notice_seconds": 0, "min_interval_seconds": 0}})
}
