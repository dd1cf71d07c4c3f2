//! `extract` on session files in the formats of pi and `OpenClaw`, and on flat rows.

mod asked;
mod door;
mod input;
mod lifecycle;
mod odd;
mod plan;
mod restore;
mod rules;
mod world;
