//! Fills templates with the readings of one moment.

use std::collections::BTreeSet;

use super::deliver;
use super::facts::Facts;
use crate::boundary::Delivery;
use crate::files::state;
use crate::policy::bands::{Band, effect};
use crate::policy::coach::{Told, context_figure};
use crate::policy::ramp::Ramp;
use crate::policy::stance::{Gauge, Readings, Stance};
use crate::session::Session;
use crate::texts::{Text, render};
use base::shown::{self, group_thousands};

/// One moment of a session.
pub struct Messages<'a> {
    facts: &'a Facts<'a>,
    ramp: &'a Ramp,
    readings: &'a Readings,
    stance: &'a Stance,
}

impl<'a> Messages<'a> {
    /// Creates the messages for these readings.
    pub fn new(
        facts: &'a Facts<'a>,
        ramp: &'a Ramp,
        readings: &'a Readings,
        stance: &'a Stance,
    ) -> Self {
        Self { facts, ramp, readings, stance }
    }

    fn fill(&self, text: Text, more: &[(&str, &str)]) -> String {
        let facts = self.facts;
        let at = |rank: usize| {
            self.ramp.tier(rank).map_or_else(String::new, |t| {
                let at = if self.stance.gauge == Gauge::File { t.file } else { t.context };
                trimmed(at)
            })
        };
        let file = self.readings.file;
        let blocked_at = |rank: usize| {
            self.ramp.tier(rank).map_or_else(String::new, |tier| effect(&tier.blocks))
        };
        let blocked = blocked_at(self.stance.rank);
        let next_blocked = blocked_at(self.ramp.first_blocking());
        let top_blocked = blocked_at(self.ramp.top());
        let kinds = facts.settings.file.shape.kinds_by_section();
        let form = render(&facts.places, Text::Form, &[("kinds", &kinds)]);
        let path = facts.places.compaction(&facts.session.job).display().to_string();
        let words = group_thousands(file.map_or(0, |f| f.used));
        let word_limit = group_thousands(facts.settings.file.words);
        let lines = facts.settings.coach.reread_lines.to_string();
        let chars = group_thousands(facts.settings.coach.shell_chars as u64);
        let (here, next, top) =
            (at(self.stance.rank), at(self.ramp.first_blocking()), at(self.ramp.top()));
        let why = self.stance.cap.as_ref().map(crate::policy::stance::Cap::why).unwrap_or_default();
        let usage = self.usage();
        let seal_words = group_thousands(facts.settings.seal_limits().block_words() as u64);
        let mut values = vec![
            ("usage", usage.as_str()),
            ("seal_words", seal_words.as_str()),
            ("at", here.as_str()),
            ("next_at", next.as_str()),
            ("top_at", top.as_str()),
            ("blocked", blocked.as_str()),
            ("path", path.as_str()),
            ("job", facts.session.job.as_str()),
            ("words", words.as_str()),
            ("word_limit", word_limit.as_str()),
            ("lines", lines.as_str()),
            ("chars", chars.as_str()),
            ("why", why.as_str()),
            ("form", form.as_str()),
            ("next_blocked", next_blocked.as_str()),
            ("top_blocked", top_blocked.as_str()),
        ];
        values.splice(0..0, more.iter().copied());
        render(&facts.places, text, &values)
    }

    /// The reading that decides: `the context is 31 % full (300k of 967k)`.
    pub fn usage(&self) -> String {
        match (self.stance.gauge, self.readings.context, self.readings.file) {
            (Gauge::File, _, Some(file)) => {
                let (used, limit) = (group_thousands(file.used), group_thousands(file.limit));
                format!("the notes have {used} of {limit} words")
            }
            (Gauge::Context, Some(context), _) => {
                format!("the context is {}", context_figure(&context))
            }
            _ => "the usage is unknown".to_owned(),
        }
    }

    /// Whether the notes are too long for now, and not the context too full.
    fn are_notes_long(&self) -> bool {
        self.stance.gauge == Gauge::File && self.stance.rank >= self.ramp.first_blocking()
    }

    /// The note that asks for shorter notes. `effect` says what that means now, `seals` whether the
    /// agent seals them next.
    fn notes_long(&self, effect: &str, seals: bool) -> String {
        let then = if seals { " Then run `brain-guard seal` and end your turn." } else { "" };
        self.fill(Text::NoteLong, &[("effect", effect), ("then", then)])
    }

    fn is_top(&self) -> bool {
        self.stance.effective(self.ramp) == self.ramp.top()
    }

    /// What the tier does to the agent now, in words.
    pub fn effect(&self) -> String {
        let blocked = self.ramp.tier(self.stance.effective(self.ramp)).map(|t| &t.blocks);
        match (&self.stance.cap, blocked) {
            (Some(cap), _) => format!("nothing is blocked, because {}", cap.why()),
            (None, Some(bands)) => effect(bands),
            (None, None) => effect(&BTreeSet::new()),
        }
    }

    /// What to remember after a note about this moment was given.
    pub fn note_state(&self, stance: &Stance) -> Told {
        let reading = match stance.gauge {
            Gauge::Context => self.readings.context,
            Gauge::File => self.readings.file,
        };
        let calls = state::calls(&self.facts.places, self.facts.id);
        Told { rank: stance.rank, percent: reading.map_or(0.0, |r| r.percent()), calls }
    }

    /// The note to the agent about the tier.
    pub fn note(&self) -> String {
        if self.are_notes_long() {
            return self.notes_long(&self.effect(), self.is_top());
        }
        let effective = self.stance.effective(self.ramp);
        let text = if self.stance.cap.is_some() && self.stance.rank > effective {
            Text::NoteCapped
        } else if self.stance.rank == self.ramp.top()
            && self.ramp.first_blocking() <= self.ramp.top()
        {
            Text::NoteNarrow
        } else if self.stance.rank >= self.ramp.first_blocking() {
            Text::NoteBlocking
        } else {
            Text::NoteCoach
        };
        self.fill(text, &[]) + &self.second_way_out()
    }

    /// Surgery, if it is known at the top tier what that frees.
    pub fn second_way_out(&self) -> String {
        self.freed_by_slim().map_or_else(String::new, |tokens| {
            format!(
                "\nInstead, your user can type /brain-guard:slim: that frees {tokens} tokens of old rounds, and you go on."
            )
        })
    }

    /// Tokens of old rounds that could leave the session, at the top tier.
    fn freed_by_slim(&self) -> Option<String> {
        let is_top = self.stance.rank == self.ramp.top() && self.stance.cap.is_none();
        let tokens =
            self.facts.session.notified.slim_tokens.filter(|&tokens| tokens > 0 && is_top)?;
        Some(shown::tokens(tokens))
    }

    /// The short note, for a tier that was already explained in full.
    pub fn note_again(&self) -> String {
        if self.are_notes_long() {
            return self.notes_long(&self.effect(), self.is_top());
        }
        self.fill(Text::NoteAgain, &[("effect", &self.effect())])
    }

    /// What the first denial adds if usage skipped tiers.
    pub fn jumped(&self, ramp: &Ramp, stance: &Stance) -> String {
        let skipped: Vec<&str> = (self.facts.session.notified.agent.rank + 1..stance.rank)
            .map(|r| ramp.name(r))
            .collect();
        if skipped.is_empty() {
            return String::new();
        }
        format!("\nUsage rose past {} at once, so no note came before this.", skipped.join(" and "))
    }

    /// Whether the user still has to hear of this tier. Marks it as told.
    pub fn claim_user(&self, session: &mut Session) -> bool {
        let now = (self.stance.rank, self.stance.cap.is_some());
        let new = session
            .notified
            .user
            .is_none_or(|before| before.0 < now.0 || (before.0 == now.0 && before.1 != now.1));
        let due = new && now.0 > 0;
        if due {
            session.notified.user = Some(now);
        }
        due
    }

    /// The line for the user about the tier.
    pub fn user(&self) -> String {
        if self.stance.cap.is_some() {
            return self.fill(Text::UserCapped, &[]);
        }
        let (effect, more) = match self.ramp.tier(self.stance.rank) {
            Some(tier) if !tier.blocks.is_empty() => {
                (effect(&tier.blocks), "/brain-guard:explain says why")
            }
            _ => (
                "the agent is asked to write its notes; nothing is blocked".to_owned(),
                "/brain-guard:status says more",
            ),
        };
        let line = self.fill(Text::UserStance, &[("effect", &effect), ("more", more)]);
        match self.freed_by_slim() {
            Some(tokens) => format!("{line} /brain-guard:slim frees {tokens} tokens instead."),
            None => line,
        }
    }

    /// The reason for a denial by tier. It is short if the agent was told the way out at this tier.
    pub fn deny_tier(&self, tool: &str, note: &str, again: bool) -> String {
        let text = match again {
            _ if self.are_notes_long() => Text::DenyLong,
            true => Text::DenyAgain,
            false => Text::DenyTier,
        };
        let tier = self.ramp.tier(self.stance.effective(self.ramp));
        let free = [Band::Read, Band::Write, Band::Shell, Band::Dispatch]
            .into_iter()
            .filter(|b| tier.is_some_and(|t| !t.blocks.contains(b)));
        let mut allowed: Vec<&str> = free.map(Band::activity).collect();
        allowed.extend([
            "editing the compaction file",
            "the commands `brain-guard append`, `close`, `seal`, `status` and `explain`",
        ]);
        let allowed = allowed.join(", ");
        // An agent that never heard of the guard is told who speaks.
        let known = self.facts.session.notified.agent.rank > 0;
        let by = if known { "" } else { "brain-guard is a plugin that your user installed. " };
        self.fill(text, &[("tool", tool), ("allowed", &allowed), ("note", note), ("by", by)])
    }

    /// The reason for a denial after the notes are sealed.
    pub fn deny_sealed(&self) -> String {
        let Some(token) = self.facts.token() else {
            return self.fill(Text::DenySealed, &[]);
        };
        let text = match token.delivery {
            Delivery::Sealed => Text::DenySealed,
            Delivery::Reload | Delivery::Template => Text::DenyFocused,
            Delivery::Transition => Text::DenyCompleted,
        };
        deliver::boundary_text(self.facts, &token, text, &[])
    }

    /// The reason for denying a question that nobody can answer.
    pub fn deny_question(&self) -> String {
        self.fill(Text::DenyQuestion, &[])
    }

    /// The reason for denying what only the operator may do.
    pub fn deny_operator(&self) -> String {
        self.fill(Text::DenyOperator, &[])
    }

    /// The reason for denying a command that is almost one of the agent's own.
    pub fn deny_near_miss(&self, miss: &NearMiss) -> String {
        let values = [("verb", miss.verb), ("reason", miss.reason.as_str())];
        self.fill(Text::DenyNearMiss, &values)
    }

    /// The reason for denying a verb inside a subagent.
    pub fn deny_main_loop(&self, verb: &str) -> String {
        self.fill(Text::DenyMainLoop, &[("verb", verb)])
    }

    /// The note that comes with a partial read.
    pub fn reread(&self) -> String {
        self.fill(Text::Reread, &[])
    }

    /// The reason why a turn may not end yet. `again`: it did not end before.
    pub fn stop_unsealed(&self, again: bool) -> String {
        match again {
            true => self.fill(Text::StopAgain, &[]),
            false if self.are_notes_long() => self.notes_long("they are not sealed yet", true),
            false => self.fill(Text::StopUnsealed, &[]),
        }
    }
}

/// Formats `20` or `27.5`.
fn trimmed(percent: f64) -> String {
    if percent.fract() == 0.0 { format!("{percent:.0}") } else { format!("{percent:.1}") }
}

/// A command that names one of the agent's own verbs and is not accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NearMiss {
    /// The verb.
    pub verb: &'static str,
    /// Why it is not accepted.
    pub reason: String,
}
