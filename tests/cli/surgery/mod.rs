//! `surgery` and what belongs to it, on sessions in the client's own folder.

mod extracted;
mod input;
mod meanwhile;
mod operations;
mod undo;
mod world;
