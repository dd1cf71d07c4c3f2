//! The store of sessions: their rows in blocks, extracted content, and the index over both.

pub mod blocks;
mod database;
pub mod engagement;
pub mod extracted;
pub mod index;
pub mod openclaw;
