//! stub
use super::terminal::Stroke;
use crate::clock::Time;
use crate::env::Env;
/// x
#[derive(Debug, Clone, Default)]
pub struct Chords {
    /// x
    pub clear: Option<Vec<Stroke>>,
    /// x
    pub resume: Option<Vec<Stroke>>,
}
/// x
pub fn in_force(_env: &Env, _now: Time) -> Chords {
    Chords { clear: Some(vec![Stroke::ctrl(']'), Stroke::ctrl(']')]), resume: None }
}
