//! Context surgery: operations that restructure a session's history. They are pure functions from
//! rounds to a plan, which is exported as rows of a new session. Nothing here reads or writes a
//! file, and no operation changes the store.

pub mod advise;
pub mod context;
pub mod export;
pub mod fidelity;
pub mod ids;
pub mod inject;
pub mod lines;
pub mod map;
pub mod matrix;
pub mod mend;
pub mod plan;
pub mod table;
pub mod validate;
pub mod values;

pub use sessions::ranges;
