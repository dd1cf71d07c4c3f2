//! What crosses, and what that changes of a boundary.

use serde::{Deserialize, Serialize};

use super::{Step, Token};

/// What crosses a boundary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Delivery {
    /// The sealed file: a seal opened the boundary.
    #[default]
    Sealed,
    /// The live file of the job that was focused.
    Reload,
    /// The new file of a job that was focused and had none.
    Template,
    /// The sealed Prior Summary of the job that was completed.
    Transition,
}

impl Delivery {
    /// The job was focused: its live file crosses, as it stands at the clear.
    pub fn focuses(self) -> bool {
        matches!(self, Self::Reload | Self::Template)
    }
}

impl Token {
    /// Whether what crosses may do so, where `fresh` is the version of its job's
    /// live file with its seal unbroken. Only what a seal asked for depends on that.
    pub fn stands(&self, fresh: Option<u64>) -> bool {
        self.delivery != Delivery::Sealed || fresh == Some(self.version)
    }

    /// What happened that the session ends for, for the user.
    pub fn what(&self) -> String {
        let (job, version) = (&self.job, self.version);
        if self.step == Step::Unsealed {
            return "the notes are not sealed, and a person may still answer".to_owned();
        }
        match self.delivery {
            Delivery::Sealed => format!("the notes are sealed (version {version})"),
            Delivery::Reload | Delivery::Template => format!("the job {job} is focused"),
            Delivery::Transition => format!("the job {job} is complete"),
        }
    }

    /// The same in a few words, for the start of a sentence.
    pub fn in_short(&self) -> String {
        match self.delivery {
            Delivery::Sealed => "Notes sealed".to_owned(),
            Delivery::Reload | Delivery::Template => format!("Job {} focused", self.job),
            Delivery::Transition => format!("Job {} complete", self.job),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::boundary::testing::token;

    #[test]
    fn only_a_seals_boundary_needs_the_seal() {
        let with = |delivery| Token { delivery, version: 3, ..token(Step::Pending) };
        assert!(with(Delivery::Sealed).stands(Some(3)));
        assert!(!with(Delivery::Sealed).stands(Some(4)) && !with(Delivery::Sealed).stands(None));
        for delivery in [Delivery::Reload, Delivery::Template, Delivery::Transition] {
            assert!(with(delivery).stands(None), "{delivery:?}");
            assert!(with(delivery).what().contains("the job j is"), "{delivery:?}");
        }
    }
}
