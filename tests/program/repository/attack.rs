//! One attack: how the stranger lays out the project, and the outcome.

use crate::repository::judge::judge;
use crate::repository::play::Step;
use crate::repository::standard::standard;
use crate::repository::world::World;

/// The outcome of an attack.
#[derive(Debug)]
pub enum Outcome {
    /// The attack reached nothing.
    Held,
    /// What the attack reached.
    Through(Vec<String>),
    /// Why it cannot run here.
    Missing(String),
}

impl Outcome {
    pub fn of(found: Vec<String>) -> Self {
        if found.is_empty() { Self::Held } else { Self::Through(found) }
    }
}

enum What {
    /// Lays out the project; then the standard play runs.
    Laid(fn(&mut World)),
    /// A scripted attack.
    Story(Box<dyn Fn() -> Outcome + Send + Sync>),
}

pub struct Attack {
    pub name: String,
    what: What,
    /// The guard must still block at 31 %.
    stands: bool,
    root: bool,
}

impl Attack {
    /// A layout of files; the guard must work as without it.
    pub fn laid(name: &str, lay: fn(&mut World)) -> Self {
        Self { name: name.to_owned(), what: What::Laid(lay), stands: true, root: false }
    }

    pub fn story(name: &str, story: impl Fn() -> Outcome + Send + Sync + 'static) -> Self {
        let story = Box::new(story);
        Self { name: name.to_owned(), what: What::Story(story), stands: true, root: false }
    }

    /// No job of this project can be written, so nothing needs to be blocked.
    pub fn lifts(self) -> Self {
        Self { stands: false, ..self }
    }

    /// Needs rights that only root has.
    pub fn for_root(self) -> Self {
        Self { root: true, ..self }
    }

    pub fn make(&self) -> Outcome {
        if self.root && !rustix::process::geteuid().is_root() {
            return Outcome::Missing("it takes root to lay it out".to_owned());
        }
        match &self.what {
            What::Laid(lay) => {
                let mut world = World::new();
                lay(&mut world);
                world.mark();
                let (steps, verdict) = standard(&world);
                let mut found = judge(&world, &steps, false);
                if self.stands && verdict != "deny" && !steps.iter().any(Step::slow) {
                    found.push(format!("OFF: at 31 % a read is answered: {verdict}"));
                }
                Outcome::of(found)
            }
            What::Story(story) => story(),
        }
    }
}
