//! A short session with a real model: what it makes of the guard, counted. `./test --live`
//! runs it; the end-to-end tests prove it against the mock API.

pub mod access;
pub mod args;
pub mod judge;
pub mod read;
pub mod report;
pub mod session;
mod sight;
pub mod stage;
