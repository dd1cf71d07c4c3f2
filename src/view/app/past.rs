//! Undo and redo.

use super::{App, Effect};
use crate::view::message::{Done, How, Job};
use crate::view::plan::{Pending, Step};
use surgery::table::short;

impl App {
    pub(super) fn undo(&mut self) -> Vec<Effect> {
        let open = self.rounds.opened.as_ref().map(|opened| opened.session.id.clone());
        match self.back.pop() {
            None => {
                self.say("nothing was done here that u could undo; brain-guard surgery remove removes a session");
                Vec::new()
            }
            Some(Step::Planned(of, _)) if Some(&of) != open.as_ref() => {
                while self.back.pop_if(|step| step.is_plan_of(&of)).is_some() {}
                self.say(format!(
                    "the last step was a plan for {}, which is not open; u undoes the one before",
                    short(&of)
                ));
                Vec::new()
            }
            Some(Step::Planned(of, before)) => {
                let next = self.return_to(*before);
                self.again.push(Step::Planned(of, Box::new(next)));
                self.say("the plan is as it was before; U redoes");
                self.figures()
            }
            Some(Step::Done(Done::Mended { file })) => {
                self.say(format!("the last step made a sound session, which u leaves: rm {file}"));
                Vec::new()
            }
            Some(Step::Done(done)) => vec![self.job(Job::Undo(done))],
        }
    }

    pub(super) fn redo(&mut self) -> Vec<Effect> {
        match self.again.pop() {
            None => {
                self.say("there is nothing to redo");
                Vec::new()
            }
            Some(Step::Planned(of, next)) => {
                let before = self.return_to(*next);
                self.back.push(Step::Planned(of, Box::new(before)));
                self.say("the plan is as it was; u undoes");
                self.figures()
            }
            Some(Step::Done(Done::Made { name, order, .. })) => {
                vec![self.job(Job::Make { name, order, how: How::Stay })]
            }
            Some(Step::Done(Done::Tagged { name, rounds, engagement, .. })) => {
                vec![self.job(Job::Tag { name, rounds, engagement })]
            }
            // Nothing undoes it.
            Some(Step::Done(Done::Mended { .. })) => Vec::new(),
        }
    }

    /// Puts another plan in place of this one, as a new version, and returns this one.
    fn return_to(&mut self, plan: Pending) -> Pending {
        let number = self.pending.number + 1;
        std::mem::replace(&mut self.pending, Pending { number, figures: None, ..plan })
    }
}
