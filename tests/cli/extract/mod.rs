//! `extract` on session files, as pi and `OpenClaw` write them, and as flat rows.

mod asked;
mod input;
mod lifecycle;
mod odd;
mod plan;
mod restore;
mod rules;
mod world;
