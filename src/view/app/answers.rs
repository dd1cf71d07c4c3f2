//! What the answers of jobs change.

use super::{App, Effect};
use crate::view::message::{Answer, Done, Entry, Filter, Job, Opened};
use crate::view::plan::Step;
use crate::view::popup::{Popup, Question};

impl App {
    pub(super) fn answer(&mut self, answer: Answer, said: &str) -> Vec<Effect> {
        let before = self.line.clone();
        let effects = match answer {
            Answer::Listed(entries) => {
                self.listed(entries);
                Vec::new()
            }
            Answer::Opened(opened) => self.opened(*opened),
            Answer::Reread(opened) => self.reread(opened),
            Answer::Page { session, seq, text } => {
                self.page.update(session, seq, &text);
                Vec::new()
            }
            Answer::Found(filter) => return self.found(filter),
            Answer::Planned { name, operation, why } => {
                if self.rounds.opened.as_ref().is_none_or(|opened| opened.name != name) {
                    return Vec::new();
                }
                self.plan(self.pending.with_operation(operation, why))
            }
            Answer::Figures { number, figures } => {
                self.pending.take_figures(number, figures);
                Vec::new()
            }
            Answer::Cells(cells) if cells.is_empty() => {
                self.say("no round is tagged; t tags");
                Vec::new()
            }
            Answer::Cells(cells) => {
                self.show_popup(Popup::Cells { cells, at: 0, top: std::cell::Cell::default() });
                Vec::new()
            }
            Answer::Survey { name, lines, is_broken } => {
                self.show_popup(if is_broken {
                    Popup::Confirm { question: Question::Mend { name }, lines }
                } else {
                    Popup::text("Mend", lines)
                });
                Vec::new()
            }
            Answer::Did { line, details, done } => {
                self.acting = self.acting.saturating_sub(1);
                self.did(line, &details, done)
            }
            Answer::Undid { line, done } => {
                self.acting = self.acting.saturating_sub(1);
                let open = self.rounds.opened.as_ref().map(|opened| &opened.session.id);
                let source = match &done {
                    Done::Made { ids, name, .. } if open.is_some_and(|id| ids.contains(id)) => {
                        Some(name.clone())
                    }
                    Done::Made { .. } | Done::Tagged { .. } | Done::Mended { .. } => None,
                };
                self.again.push(Step::Done(done));
                self.say(line);
                match source {
                    // The open session is gone.
                    Some(name) => {
                        let all = self.sessions.all;
                        vec![self.job(Job::Open { name: Some(name) }), self.job(Job::List { all })]
                    }
                    None => self.read_again(),
                }
            }
            Answer::Asked(line) => {
                // The client is behind a popup, or in another pane: that is where it goes on.
                self.acting = self.acting.saturating_sub(1);
                (self.farewell, self.is_leaving) = (Some(line), true);
                Vec::new()
            }
            Answer::Failed { why, job } => {
                self.fail(base::plain::line(&why, 2_000));
                return self.failed(*job);
            }
        };
        let said = said.trim().strip_prefix("brain-guard: ").unwrap_or(said.trim());
        if !said.is_empty() && self.line == before {
            self.say(base::plain::line(said, 2_000));
        }
        effects
    }

    fn listed(&mut self, entries: Vec<Entry>) {
        let open = self.rounds.opened.as_ref();
        let is_first = self.sessions.lines.is_empty();
        self.sessions.update(entries, open);
        if let Some(opened) = open.filter(|_| is_first) {
            self.sessions.find(&opened.session.id);
        }
        self.rounds.count_agents(self.sessions.agents());
    }

    fn opened(&mut self, opened: Opened) -> Vec<Effect> {
        let id = opened.session.id.clone();
        let is_same = self.rounds.opened.as_ref().is_some_and(|before| before.session.id == id);
        if !is_same && !self.pending.is_empty() {
            self.say("the plan for the session before is dropped");
        }
        if let Some(refusal) = opened.refusal.filter(|_| !is_same) {
            self.fail(format!("{refusal}; w creates a sound session of it"));
        }
        self.rounds.open(opened);
        self.sessions.show(self.rounds.opened.as_ref());
        self.rounds.count_agents(self.sessions.agents());
        if let Some(cell) = self.picked.take_if(|cell| cell.session == id) {
            self.rounds.pick(&cell.rounds);
            self.say(format!("selected {}", cell.label));
        }
        let mut effects = self.read_page();
        if !is_same {
            self.pending = self.pending.emptied();
            self.again.retain(|step| matches!(step, Step::Done(_)));
            self.sessions.find(&id);
        } else if !self.pending.is_empty() {
            effects.extend(self.figures());
        }
        effects
    }

    /// The open session as it is now, unless another one was opened meanwhile.
    pub(super) fn reread(&mut self, opened: Option<Box<Opened>>) -> Vec<Effect> {
        let open = self.rounds.opened.as_ref().map(|opened| &opened.session.id);
        match opened {
            Some(opened) if open == Some(&opened.session.id) => self.opened(*opened),
            _ => Vec::new(),
        }
    }

    fn found(&mut self, filter: Filter) -> Vec<Effect> {
        // The user may have left this search, or begun another one.
        let Some((_, held)) = self.held.take_if(|(words, _)| *words == filter.words) else {
            return Vec::new();
        };
        let open = self.rounds.opened.as_ref().map(|opened| &opened.session.id);
        if open != Some(&filter.session) {
            self.say("another session was opened meanwhile; search again");
            return Vec::new();
        }
        let mut effects = self.search(Some(filter));
        for event in held {
            effects.extend(self.key(event));
        }
        effects
    }

    /// Something was done.
    fn did(&mut self, line: String, details: &str, done: Option<Done>) -> Vec<Effect> {
        if let Some(Done::Made { name, order, .. }) = &done {
            self.making.take_if(|(of, making)| of == name && making == order);
            let open = self.rounds.opened.as_ref().map(|opened| &opened.name);
            if open == Some(name) && self.pending.order().as_ref() == Some(order) {
                self.pending = self.pending.emptied();
                let of = self.rounds.opened.as_ref().map(|opened| opened.session.id.clone());
                self.back.retain(|step| !of.as_ref().is_some_and(|of| step.is_plan_of(of)));
                self.rounds.selected.clear();
                self.sessions.marked = None;
            }
        }
        self.back.extend(done.map(Step::Done));
        self.say(line);
        if !details.is_empty() {
            self.show_popup(Popup::text("Done", details.lines().map(str::to_owned).collect()));
        }
        self.read_again()
    }

    /// A job failed: what waited for it does not wait any more.
    fn failed(&mut self, job: Job) -> Vec<Effect> {
        let acts = job.acts();
        self.acting = self.acting.saturating_sub(usize::from(acts));
        match job {
            Job::Open { .. } => self.picked = None,
            Job::Search { words, .. } => drop(self.held.take_if(|(of, _)| *of == words)),
            // The step before it can be undone next, if this one never can.
            Job::Undo(done) => {
                self.back.insert(self.back.len().saturating_sub(1), Step::Done(done));
            }
            Job::Make { name, order, .. } => {
                self.making.take_if(|making| *making == (name, order));
            }
            _ => {}
        }
        if acts { self.read_again() } else { Vec::new() }
    }

    /// Reads the list and the open session after a change.
    fn read_again(&mut self) -> Vec<Effect> {
        let all = self.sessions.all;
        let name = self.rounds.opened.as_ref().map(|opened| opened.name.clone());
        let open = name.map(|name| Effect::Job(Job::Reread { name, known: None }));
        open.into_iter().chain([self.job(Job::List { all })]).collect()
    }

    /// Shows a popup, below one that the user is at.
    fn show_popup(&mut self, popup: Popup) {
        self.popups.insert(0, popup);
    }
}
