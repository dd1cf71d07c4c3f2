//! Settings about sessions: what to keep of them, and what to extract. The guard's settings include
//! them.

mod extract;
mod surgery;

pub use extract::{
    Acts, ExtractSettings, Fixed, InvalidRetention, Trigger, UnknownTrigger, triggers,
};
pub use surgery::{AgentMay, ImportWhen, SurgerySettings};
