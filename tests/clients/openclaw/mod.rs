//! Checks extraction with OpenClaw, for sessions in files and in its database.

mod cases;
mod client;
mod door;
mod session;
mod world;
