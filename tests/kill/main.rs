//! Its cases follow.
fn main() {}
