//! Shadow mode: decides and records everything, denies nothing.

use super::facts::Facts;
use crate::policy::decide::{Decided, Decision};

/// Replaces a denial in shadow mode. `else_made` decides as if shadow mode did not cap
/// the tier.
pub fn shadowed(
    facts: &Facts,
    made: Decision,
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
    Decided { made, would }
}
