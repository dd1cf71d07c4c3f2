//! Shadow mode: decides and logs everything, denies nothing.

use serde_json::json;

use super::facts::Facts;
use super::messages::Messages;
use crate::policy::decide::{Call, Decided, Decision};
use base::log;

/// Replaces a denial in shadow mode and logs it. `else_made` decides as if shadow mode did not cap
/// the tier.
pub fn shadowed(
    facts: &Facts,
    call: &Call,
    made: Decision,
    say: &Messages,
    else_made: impl FnOnce() -> Option<Decision>,
) -> Decided {
    if !facts.settings.is_shadow() {
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
            "why": denial.name(), "usage": say.usage(),
        });
        log::write(&facts.places.log(), facts.now, "would-deny", &details);
    }
    Decided { made, would }
}
