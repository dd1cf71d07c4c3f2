//! `surgery` and related verbs, on sessions in the client's own folder.

mod bounds;
mod chains;
mod edit;
mod extracted;
mod figures;
mod forks;
mod input;
mod meanwhile;
mod numbers;
mod operations;
mod remove;
pub mod world;
