//! What is planned, confirmed and done.

use super::{App, Effect};
use crate::view::keys::Pane;
use crate::view::message::{Filter, How, Job};
use crate::view::plan::{Pending, Step};
use crate::view::popup::{About, Popup, Purpose, Question};
use base::shown::count_with_noun;
use sessions::operation::{Fate, Operation, Order};
use sessions::round::{Round, Session};
use surgery::ranges;
use surgery::table::summary;

impl App {
    pub(super) fn ask(&mut self, purpose: Purpose) {
        let targets = self.rounds.targets();
        if targets.is_empty() && purpose != Purpose::Search {
            self.fail("no round is listed; Esc lists all rounds again");
            return;
        }
        // A range that was begun stays if nothing is entered.
        if self.rounds.range_from.is_some() {
            self.rounds.range();
        }
        let Some(opened) = &self.rounds.opened else { return };
        let names = match purpose {
            Purpose::Search => Vec::new(),
            Purpose::Tag | Purpose::Extract => opened.engagements.clone(),
        };
        let rounds = match &targets[..] {
            [one] => format!("round {one}"),
            several => format!("{} rounds", several.len()),
        };
        let title = match purpose {
            Purpose::Search => {
                "Search for words, or #engagement; # alone: rounds without a tag".to_owned()
            }
            Purpose::Tag => format!("Engagement (empty: none) of {rounds}"),
            Purpose::Extract => format!("Engagement of a new session with {rounds}"),
        };
        let about = About { session: opened.name.clone(), rounds: targets };
        self.popups.push(Popup::Input { purpose, about, title, text: String::new(), names });
    }

    pub(super) fn entered(&mut self, purpose: Purpose, about: About, text: String) -> Vec<Effect> {
        let Some(opened) = &self.rounds.opened else { return Vec::new() };
        match purpose {
            Purpose::Search if text.is_empty() => self.search(None),
            Purpose::Search => {
                if let Some(name) = text.strip_prefix('#') {
                    let filter = tagged(&opened.session, name);
                    return self.search(Some(filter));
                }
                let session = opened.session.clone();
                self.held = Some((text.clone(), Vec::new()));
                vec![self.job(Job::Search { session, words: text })]
            }
            Purpose::Tag | Purpose::Extract if about.session != opened.name => {
                self.fail("another session was opened meanwhile");
                Vec::new()
            }
            Purpose::Tag | Purpose::Extract if fault(purpose, &text).is_some() => {
                self.ask(purpose);
                self.fail(fault(purpose, &text).unwrap_or_default());
                if let Some(Popup::Input { text: again, .. }) = self.popups.last_mut() {
                    *again = text;
                }
                Vec::new()
            }
            Purpose::Tag => {
                let rounds = ranges::show(&about.rounds).replace(", ", ",");
                let engagement = (!text.is_empty()).then_some(text);
                self.rounds.selected.clear();
                self.again.clear();
                vec![self.job(Job::Tag { name: about.session, rounds, engagement })]
            }
            Purpose::Extract => {
                self.plan(self.pending.with_fate(&about.rounds, &Fate::Engagement(text)))
            }
        }
    }

    /// Shows only these rounds, or all.
    pub(super) fn search(&mut self, filter: Option<Filter>) -> Vec<Effect> {
        if let Some(filter) = &filter {
            let hits = count_with_noun(filter.hits.len(), "round", "rounds");
            let what = match &*filter.words {
                "#" => "without a tag".to_owned(),
                words => format!("with {words}"),
            };
            self.say(format!("{hits} {what}; Esc lists all rounds again"));
        }
        let is_new = filter.is_some();
        self.rounds.filter = filter;
        self.rounds.show();
        if is_new {
            self.rounds.cursor = 0;
        }
        self.read_page()
    }

    pub(super) fn fate(&mut self, fate: &Fate) -> Vec<Effect> {
        let targets = self.rounds.targets();
        self.rounds.range_from = None;
        self.plan(self.pending.with_fate(&targets, fate))
    }

    pub(super) fn merge(&mut self) -> Vec<Effect> {
        let Some(with) = self.sessions.marked.clone() else {
            self.fail("mark the other session with Space in the list first");
            return Vec::new();
        };
        if self.rounds.opened.as_ref().is_some_and(|opened| opened.session.id == with) {
            self.fail("the marked session is this one; open the one to merge it with");
            return Vec::new();
        }
        self.plan(self.pending.with_operation(Operation::Merge { with, has_table: true }, None))
    }

    pub(super) fn plan(&mut self, next: Pending) -> Vec<Effect> {
        let before = std::mem::replace(&mut self.pending, next);
        let open = self.rounds.opened.as_ref().map(|opened| opened.session.id.clone());
        self.back.push(Step::Planned(open.unwrap_or_default(), Box::new(before)));
        self.again.clear();
        self.figures()
    }

    /// Asks for the figures of the plan.
    pub(super) fn figures(&mut self) -> Vec<Effect> {
        let (Some(order), Some(opened)) = (self.pending.order(), &self.rounds.opened) else {
            return Vec::new();
        };
        let (name, number) = (opened.name.clone(), self.pending.number);
        vec![self.job(Job::Measure { name, order, number })]
    }

    pub(super) fn confirm(&mut self) -> Vec<Effect> {
        let Some(opened) = &self.rounds.opened else { return Vec::new() };
        let Some(order) = self.pending.order() else {
            self.focus = Pane::Round;
            return Vec::new();
        };
        let is_made = |making: &(String, Order)| making.0 == opened.name && making.1 == order;
        if self.making.as_ref().is_some_and(is_made) {
            self.say("this plan is being carried out");
            return Vec::new();
        }
        let limit = opened.scale.as_ref().map(|scale| scale.limit);
        let mut lines = self.pending.lines(&opened.session, limit);
        match &self.pending.figures {
            Some(Err(why)) => {
                let why = why.clone();
                self.fail(why);
                return Vec::new();
            }
            Some(Ok(figures)) => {
                for one in figures {
                    lines.push(match &one.name[..] {
                        "" => one.rounds.clone(),
                        name => format!("{name}: {}", one.rounds),
                    });
                    lines.extend(one.notes.iter().map(|note| format!("note: {note}")));
                }
            }
            None => {}
        }
        let is_open = self.sessions.is_open(&opened.session.id);
        let question = Question::Make { name: opened.name.clone(), order, is_open };
        self.popups.push(Popup::Confirm { question, lines });
        Vec::new()
    }

    pub(super) fn confirmed(&mut self, question: Question, how: How) -> Vec<Effect> {
        let job = match question {
            Question::Mend { name } => Job::Mend { name, is_dry: false },
            Question::Make { name, order, is_open: _ } => {
                self.making = Some((name.clone(), order.clone()));
                Job::Make { name, order, how }
            }
        };
        self.again.clear();
        self.say("creating the session…");
        vec![self.job(job)]
    }
}

/// What is wrong with the name of an engagement. A tag may be empty: then it is removed.
fn fault(purpose: Purpose, name: &str) -> Option<String> {
    store::engagement::id_fault(name).filter(|_| purpose == Purpose::Extract || !name.is_empty())
}

/// The rounds with a tag, or those without one if the name is empty.
fn tagged(session: &Session, name: &str) -> Filter {
    let is_wanted = |round: &&Round| match &round.engagement {
        Some(engagement) => engagement == name,
        None => name.is_empty() && round.is_work(),
    };
    let hits = session.rounds.iter().filter(is_wanted);
    let hits = hits.map(|round| (round.seq, summary(round))).collect();
    Filter { session: session.id.clone(), words: format!("#{name}"), hits }
}
