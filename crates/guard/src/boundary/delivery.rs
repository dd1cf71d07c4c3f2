//! Checks and messages that depend on what a boundary delivers.

use super::{Delivery, SHORTLY_BEFORE, Step, Token};

impl Token {
    /// Whether the delivery is still valid. Only a sealed delivery needs an unbroken seal: `fresh`
    /// is the version whose seal is unbroken.
    pub fn stands(&self, fresh: Option<u64>) -> bool {
        self.delivery != Delivery::Sealed || fresh == Some(self.version)
    }

    /// The reason why the session ends, for the user.
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

    /// What the session does next, for the start of a notice.
    pub fn restart(&self) -> String {
        let how = match self.delivery {
            Delivery::Sealed => "from its notes".to_owned(),
            Delivery::Reload | Delivery::Template => format!("with job {}", self.job),
            Delivery::Transition => format!("after job {}", self.job),
        };
        format!("This session restarts {how}")
    }

    /// Why it restarts later than the notice alone asks for; may be empty.
    pub fn delay_reason(&self) -> &'static str {
        let is_later = self.not_before.is_some() && self.not_before == self.notice_until;
        if is_later { SHORTLY_BEFORE } else { "" }
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
