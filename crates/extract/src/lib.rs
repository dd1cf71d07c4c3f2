//! Extraction: moves long values of old messages into the store, leaves placeholders, and restores
//! values byte for byte on request. Rows keep their number, order, ids and links.

pub mod edit;
pub mod entry;
pub mod lines;
pub mod placeholder;
pub mod plan;
pub mod redact;
pub mod restore;
pub mod rules;
pub mod text;
pub mod when;
