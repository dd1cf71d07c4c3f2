//! A short session with a real model, which counts the model's reactions to the guard. `./test
//! --live` runs it; the end-to-end tests test it with the mock API.

pub mod access;
pub mod args;
pub mod judge;
pub mod read;
pub mod report;
pub mod session;
mod sight;
pub mod stage;
