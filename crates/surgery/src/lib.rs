//! Context surgery: the operations that restructure a session's history, as pure
//! functions from rounds to a plan, and the writing of that plan as rows of a new session.
//! Nothing here reads or writes a file; the store is never altered by an operation.

pub mod advise;
pub mod export;
pub mod fidelity;
pub mod ids;
pub mod inject;
pub mod map;
pub mod matrix;
pub mod plan;
pub mod preserved;
pub mod ranges;
pub mod table;
pub mod validate;
pub mod values;

#[cfg(test)]
mod properties;
