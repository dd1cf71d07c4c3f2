//! Shadow mode: everything is decided and logged, nothing is denied.

use serde_json::json;

use super::facts::Facts;
use super::messages::Messages;
use crate::policy::decide::{Call, Decision, Denial};
use base::log;

/// A decision, and what it would be but for shadow mode.
#[derive(Debug)]
pub struct Decided {
    /// What happens.
    pub made: Decision,
    /// The denial that doesn't.
    pub would: Option<Denial>,
}

/// In shadow mode nothing is denied: what would be is logged. `else_made` decides as
/// it would be without the cap that the mode is.
pub fn shadowed(
    facts: &Facts,
    call: &Call,
    made: Decision,
    say: &Messages,
    else_made: impl FnOnce() -> Option<Decision>,
) -> Decided {
    if !facts.settings.shadow {
        return Decided { made, would: None };
    }
    let (made, would) = match made {
        Decision::Deny(denial) => (Decision::Pass, Some(denial)),
        Decision::Pass => match else_made() {
            Some(Decision::Deny(denial)) => (Decision::Pass, Some(denial)),
            _ => (Decision::Pass, None),
        },
        made => (made, None),
    };
    if let Some(denial) = would {
        let details = json!({
            "session": facts.id, "tool": call.tool, "band": call.band.name(),
            "why": denial.name(), "figure": say.figure(),
        });
        log::write(&facts.places.log(), facts.now, "would-deny", &details);
    }
    Decided { made, would }
}
