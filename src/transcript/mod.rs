//! The client's transcript, pure over bytes: rows by type, and how full the
//! context is by them. Reading the file is `store::tail`.

mod branch;
pub mod course;
pub mod fill;
mod row;
