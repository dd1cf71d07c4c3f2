//! What is asked about a pane, and the conditions under which tmux sends keys to it.

use std::fmt::Write as _;

use tmux_interface::{DisplayMessage, IfShell, SetOption, TmuxCommand};

use super::server::script;
use base::clock::Time;

/// Within how many seconds tmux must begin with the keys; later they are left out.
/// Less than we wait for the answer.
const FRESH_SECONDS: i64 = 2;

/// The option that holds a format of the time while keys are sent: a condition
/// can tell the time only through an option.
const NOW: &str = "@brain-guard-now";

/// What the acts' branch prints behind them.
const SENT: &str = "sent";

/// The oldest version that has what is used here (`e|<` in formats).
const OLDEST: (u32, u32) = (3, 2);

/// What tmux says of a pane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// Its id.
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
    /// The name of the program in front; the only one that may hold spaces.
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

    /// Reads the answer; a pane that is not there has none.
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

    /// The version, if it lacks what is needed. One that can't be read (`master`) is new.
    pub fn too_old(&self) -> Option<&str> {
        let mut numbers = self.version.trim_start_matches("next-").split('.');
        let mut number = || {
            let digits: String = numbers.next()?.chars().take_while(char::is_ascii_digit).collect();
            digits.parse::<u32>().ok()
        };
        let old = number().zip(number()).is_some_and(|version| version < OLDEST);
        old.then_some(self.version.as_str())
    }

    /// What keeps the pane from taking keys now.
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

    /// That all is as it was, as a format which is `1` or empty.
    fn condition(&self, now: Time) -> String {
        let mut clauses = vec![
            format!("#{{==:#{{pane_id}},{}}}", self.pane),
            format!("#{{==:#{{pane_pid}},{}}}", self.pid),
            format!("#{{e|<:#{{T:{NOW}}},{}}}", now.timestamp() + FRESH_SECONDS),
        ];
        // A name with a character that formats know is left to the proof before.
        if self.program.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c)) {
            clauses.push(format!("#{{==:#{{pane_current_command}},{}}}", self.program));
        }
        let yes =
            clauses.iter().rfold("1".to_owned(), |rest, clause| format!("#{{?{clause},{rest},}}"));
        let flags = ["pane_dead", "pane_in_mode", "pane_input_off", "pane_synchronized"];
        flags.iter().rfold(yes, |rest, flag| format!("#{{?{flag},,{rest}}}"))
    }
}

/// Acts that tmux carries out only while the facts stand and the time is young.
/// It runs them in one go: nothing comes between the condition and the keys.
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

/// Whether the acts were carried out, by what tmux printed.
pub fn sent(told: &str) -> bool {
    told.lines().any(|line| line == SENT)
}

/// Text as tmux shows it literally, on one line: it expands `#`, the time's `%`,
/// and takes a `;` at the end for its own.
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
