//! What can be tuned about sessions: what is kept of them, and what is extracted. The guard's
//! settings hold these among their own.

mod extract;
mod surgery;

pub use extract::{
    Acts, ExtractSettings, InvalidRetention, Placeholder, Trigger, TriggerRule, UnknownTrigger,
    triggers,
};
pub use surgery::{ImportWhen, SurgerySettings};
