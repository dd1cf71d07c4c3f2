//! What is asked about a pane, and the conditions under which tmux sends keys to it.

use std::fmt::Write as _;

use tmux_interface::{DisplayMessage, IfShell, SetOption, TmuxCommand};

use super::server::script;
use base::clock::Time;

/// Seconds within which tmux must start sending the keys; later it drops them. Less than we wait
/// for the answer.
const FRESH_SECONDS: i64 = 2;

/// The option that holds a time format while keys are sent: a condition can read the time only
/// through an option.
const NOW: &str = "@brain-guard-now";

/// What tmux prints after the guarded commands.
const SENT: &str = "sent";

/// The oldest version with all features used here (`e|<` in formats).
const OLDEST: (u32, u32) = (3, 2);

/// What tmux reports about a pane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    pub pane: String,
    /// The process it was opened with.
    pub pid: u32,
    /// Its terminal's device.
    pub terminal: String,
    /// Its program has ended.
    pub dead: bool,
    version: String,
    mode: bool,
    off: bool,
    synchronized: bool,
    /// The name of the program in front; only this field may contain spaces.
    program: String,
}

impl Facts {
    /// The question whose answer `parse` reads.
    pub fn question(pane: &str) -> TmuxCommand<'_> {
        let format = "#{pane_id} #{pane_pid} #{pane_tty} #{?pane_dead,1,0} #{version} \
            #{?pane_in_mode,1,0} #{?pane_input_off,1,0} #{?pane_synchronized,1,0} \
            #{pane_current_command}";
        DisplayMessage::new().print().target_pane(pane).message(format).build()
    }

    /// Parses the answer; `None` for a missing pane.
    pub fn parse(told: &str) -> Option<Self> {
        let mut words = told.trim_end_matches('\n').splitn(9, ' ');
        let mut word = || words.next().map(str::to_owned);
        let pane = word()?;
        let pid = word()?.parse().ok()?;
        let terminal = word()?;
        let dead = word()? == "1";
        let version = word()?;
        let mut is = || Some(word()? == "1");
        let (mode, off, synchronized) = (is()?, is()?, is()?);
        let program = words.next().unwrap_or_default().to_owned();
        Some(Self { pane, pid, terminal, dead, version, mode, off, synchronized, program })
    }

    /// The version, if it is too old. One that cannot be parsed (`master`) counts as new.
    pub fn too_old(&self) -> Option<&str> {
        let mut numbers = self.version.trim_start_matches("next-").split('.');
        let mut number = || {
            let digits: String = numbers.next()?.chars().take_while(char::is_ascii_digit).collect();
            digits.parse::<u32>().ok()
        };
        let old = number().zip(number()).is_some_and(|version| version < OLDEST);
        old.then_some(self.version.as_str())
    }

    /// Why the pane takes no keys now, if so.
    pub fn hindrance(&self) -> Option<&'static str> {
        if self.mode {
            Some("the tmux pane is in copy mode or another mode of tmux")
        } else if self.off {
            Some("the tmux pane takes no input (select-pane -d)")
        } else if self.synchronized {
            Some("keys to the tmux pane go to other panes too (synchronize-panes)")
        } else {
            None
        }
    }

    /// A tmux format that is `1` if nothing has changed, else empty.
    fn condition(&self, now: Time) -> String {
        let mut clauses = vec![
            format!("#{{==:#{{pane_id}},{}}}", self.pane),
            format!("#{{==:#{{pane_pid}},{}}}", self.pid),
            format!("#{{e|<:#{{T:{NOW}}},{}}}", now.timestamp() + FRESH_SECONDS),
        ];
        // A name that formats could misread was checked only by the proof before.
        if self.program.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c)) {
            clauses.push(format!("#{{==:#{{pane_current_command}},{}}}", self.program));
        }
        let yes =
            clauses.iter().rfold("1".to_owned(), |rest, clause| format!("#{{?{clause},{rest},}}"));
        let flags = ["pane_dead", "pane_in_mode", "pane_input_off", "pane_synchronized"];
        flags.iter().rfold(yes, |rest, flag| format!("#{{?{flag},,{rest}}}"))
    }
}

/// Commands that tmux runs only while the facts hold and the time is fresh. It runs them in one go,
/// so nothing comes between condition and keys.
pub fn held<'a>(
    facts: &'a Facts,
    acts: impl IntoIterator<Item = TmuxCommand<'a>>,
    now: Time,
) -> [TmuxCommand<'a>; 3] {
    let sent = DisplayMessage::new().print().message(SENT).build();
    let acts = script(acts.into_iter().chain([sent]));
    let held = IfShell::new().not_execute().target_pane(facts.pane.as_str());
    [
        SetOption::new().server().option(NOW).value("%s").build(),
        held.shell_command(facts.condition(now)).command(acts).build(),
        SetOption::new().server().unset().option(NOW).build(),
    ]
}

/// Whether tmux ran the guarded commands, by what it printed.
pub fn sent(told: &str) -> bool {
    told.lines().any(|line| line == SENT)
}

/// Escapes text so that tmux shows it literally on one line: tmux expands `#` and `%`, and takes a
/// `;` at the end for its own.
pub fn plain(text: &str) -> String {
    let mut line = String::new();
    for ch in text.chars() {
        match ch {
            '#' | '%' => {
                let _ = write!(line, "{ch}{ch}");
            }
            c if c.is_control() => line.push(' '),
            c => line.push(c),
        }
    }
    if line.ends_with(';') {
        line.insert(line.len() - 1, '\\');
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(told: &str) -> Facts {
        Facts::parse(told).unwrap()
    }

    #[test]
    fn an_answer_is_read_and_an_empty_one_is_none() {
        let found = facts("%5 77 /dev/pts/3 0 3.3a 0 0 0 my program\n");
        assert_eq!(
            (found.pane.as_str(), found.pid, found.program.as_str()),
            ("%5", 77, "my program")
        );
        assert!(!found.dead && found.hindrance().is_none() && found.too_old().is_none());
        assert_eq!(Facts::parse("    0 3.3a 0 0 0 \n"), None);
        assert!(facts("%5 77 /d 1 3.3a 0 0 0 x").dead);
        assert!(facts("%5 77 /d 0 3.3a 1 0 0 x").hindrance().unwrap().contains("copy mode"));
        assert!(facts("%5 77 /d 0 3.3a 0 1 0 x").hindrance().unwrap().contains("no input"));
        assert!(facts("%5 77 /d 0 3.3a 0 0 1 x").hindrance().unwrap().contains("synchronize"));
    }

    #[test]
    fn versions_are_compared_by_number() {
        let old =
            |version: &str| facts(&format!("%5 7 /d 0 {version} 0 0 0 x")).too_old().is_some();
        assert!(old("3.1c") && old("2.9a") && old("1.8"));
        assert!(!old("3.2") && !old("3.10") && !old("next-3.6") && !old("master"));
    }

    #[test]
    fn notices_are_shown_as_they_are() {
        assert_eq!(plain("50 % of #x\nnow;"), "50 %% of ##x now\\;");
    }
}
