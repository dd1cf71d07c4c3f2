//! `notes`: prints the live notes and where they are, or opens them in the user's editor while the
//! agent goes on writing.

use std::fmt::{self, Write as _};
use std::io::{self, IsTerminal as _};
use std::path::PathBuf;

use anyhow::{Context as _, bail};
use serde::Serialize;

use super::editor::{agrees, open};
use super::selector::Found;
use super::{Context, Exit, Failure, Run, operator, out, selector, show};
use crate::cli::NotesArgs;
use base::atomic;
use base::clock;
use base::env::Env;
use base::shown::{group_thousands, shell_quote};
use guard::files::jobs;
use guard::hook::boundary_flow;
use guard::hook::facts::Facts;
use notes::compaction::{self, Role};

impl Run for NotesArgs {
    fn run(&self, Context { env, now }: Context) -> anyhow::Result<Exit> {
        let selector = self.session.selector();
        if self.edit {
            operator::refuse_agent(env, "notes --edit")?;
            // Of several live sessions, the user names one.
            let found = selector::find(env, &selector)?;
            return edit(env, &found, &selector::facts(env, now, &found)?);
        }
        let found = selector::find_or_last(env, &selector)?;
        let facts = selector::facts(env, now, &found)?;
        show(&Notes::of(&facts)?, self.json)?;
        Ok(Exit::Done)
    }
}

/// The answer to the slash command.
pub fn at_the_prompt(facts: &Facts) -> String {
    match Notes::of(facts) {
        Ok(notes) => format!("brain-guard: {notes}"),
        Err(e) => format!("brain-guard: {e:#}"),
    }
}

/// The notes of a session's job as they are now.
#[derive(Debug, Serialize)]
struct Notes {
    session: String,
    job: String,
    path: PathBuf,
    words: usize,
    limit: u64,
    text: Option<String>,
}

impl Notes {
    fn of(facts: &Facts) -> anyhow::Result<Self> {
        let job = selector::job(facts);
        let path = facts.places.compaction(&job);
        let text = read(facts, &job)?;
        let shape = &facts.settings.file.shape;
        let words = text.as_deref().map_or(0, |text| compaction::gauge_words(text, shape));
        let (session, limit) = (facts.id.to_owned(), facts.settings.file.words);
        Ok(Self { session, job, path, words, limit, text })
    }
}

impl fmt::Display for Notes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        let Some(text) = &self.text else {
            return write!(f, "the job {} has no notes yet; they will be {path}", self.job);
        };
        let (words, limit) = (group_thousands(self.words as u64), group_thousands(self.limit));
        write!(f, "notes of {}, {words} of {limit} words: {path}\n\n{}", self.job, text.trim_end())
    }
}

fn read(facts: &Facts, job: &str) -> anyhow::Result<Option<String>> {
    let path = facts.places.compaction(job);
    jobs::read(&facts.places, job).with_context(|| format!("could not read {}", path.display()))
}

/// Lets the user edit a draft, and writes it together with what the agent wrote meanwhile. Where
/// both changed the same lines, the draft shows both texts.
fn edit(env: &Env, found: &Found, facts: &Facts) -> anyhow::Result<Exit> {
    let (places, job) = (&facts.places, selector::job(facts));
    let Some(mut base) = read(facts, &job)? else {
        let what = format!("the job {job} has no notes yet");
        return Err(Failure::refused(what).hint("the agent's first note makes them").into());
    };
    // Among the state, where the agent's tools can't write.
    let draft = places.state.join(format!("notes.{job}.draft.md"));
    let shown = draft.display();
    if draft.exists() {
        let what = format!("an earlier edit was not written: {shown}");
        let quoted = shell_quote(&draft.to_string_lossy());
        let hint = format!("copy what you need of it, and remove it: rm {quoted}");
        return Err(Failure::refused(what).hint(hint).into());
    }
    atomic::write(&draft, base.as_bytes()).with_context(|| format!("could not write {shown}"))?;
    loop {
        if let Err(why) = open(env, &draft) {
            if atomic::read_text(&draft)?.as_deref() == Some(&base) {
                atomic::remove(&draft)?;
            }
            return Err(why);
        }
        let mine = atomic::read_text(&draft)?.unwrap_or_default();
        if mine.trim().is_empty() {
            atomic::remove(&draft)?;
            out("the draft is empty, so nothing was written");
            return Ok(Exit::Refused);
        }
        if mine == base {
            atomic::remove(&draft)?;
            out("nothing changed");
            return Ok(Exit::Done);
        }
        let written = write(facts, &job, &base, &mine);
        let why = match written.with_context(|| format!("your text is {shown}"))? {
            Written::All => {
                atomic::remove(&draft)?;
                // The agent may have sealed meanwhile.
                boundary_flow::after_note(&selector::facts(env, clock::now(), found)?);
                out(format_args!("written to {}", places.compaction(&job).display()));
                let shape = &facts.settings.file.shape;
                let git = shape.with_role(Role::Git);
                let lines =
                    |text| git.map(|git| compaction::parse(text, shape).section(git).count());
                if lines(&mine) > lines(&base) {
                    let name = shape.name(git);
                    out(format_args!(
                        "note: the seal removes what you wrote under {name}, which it writes itself"
                    ));
                }
                return Ok(Exit::Done);
            }
            Written::Conflict { both, theirs } => {
                atomic::write(&draft, both.as_bytes())?;
                base = theirs;
                "you and the agent changed the same lines; the draft has both, between <<<<<<< and >>>>>>>"
            }
            Written::Marks => "the draft still has lines that mark a conflict",
        };
        out(why);
        if !io::stdin().is_terminal() {
            bail!("there is no terminal to ask on; nothing was written, your text is {shown}");
        }
        if !agrees("edit it again? [Y/n] ")? {
            out(format_args!("nothing was written; your text is {shown}"));
            return Ok(Exit::Refused);
        }
    }
}

/// The lines that mark a conflict, as the library writes them and as they are shown.
const MARKS: [&str; 4] = ["<<<<<<< ours", "||||||| original", "=======", ">>>>>>> theirs"];
const SHOWN: [&str; 4] = ["<<<<<<< yours", "||||||| before", "=======", ">>>>>>> the agent's"];

fn merge(base: &str, mine: &str, theirs: &str) -> Result<String, String> {
    // Otherwise a mark stands behind a last line without a line break.
    let lines =
        |text: &str| if text.ends_with('\n') { text.to_owned() } else { format!("{text}\n") };
    diffy::merge(&lines(base), &lines(mine), &lines(theirs)).or_else(|both| with_insertions(&both))
}

/// A merge in which lines that both inserted at one place stand one after the other. The error is
/// the text where other conflicts are left, each with both texts and the one before.
fn with_insertions(merged: &str) -> Result<String, String> {
    let (mut text, mut is_left) = (String::new(), false);
    // The parts of a conflict, and in which of them the line is.
    let (mut parts, mut at): ([String; 3], Option<usize>) = Default::default();
    for line in merged.split_inclusive('\n') {
        let mark = MARKS.iter().position(|mark| line.trim_end() == *mark);
        match (at, mark) {
            (None, Some(0)) => at = Some(0),
            (Some(0), Some(1)) => at = Some(1),
            (Some(1), Some(2)) => at = Some(2),
            (Some(2), Some(3)) => {
                let [yours, before, theirs] = std::mem::take(&mut parts);
                if before.is_empty() {
                    text.push_str(&yours);
                    text.push_str(&theirs);
                } else {
                    let [a, b, c, d] = SHOWN;
                    is_left = true;
                    let _ = write!(text, "{a}\n{yours}{b}\n{before}{c}\n{theirs}{d}\n");
                }
                at = None;
            }
            (Some(part), _) => parts[part].push_str(line),
            (None, _) => text.push_str(line),
        }
    }
    match at {
        Some(_) => Err(merged.to_owned()),
        None if is_left => Err(text),
        None => Ok(text),
    }
}

/// What became of an edited text.
enum Written {
    /// It is written, with what the agent wrote meanwhile.
    All,
    /// The same lines were changed by the agent. Nothing was written.
    Conflict {
        /// The text with both.
        both: String,
        /// The agent's text.
        theirs: String,
    },
    /// Lines that mark a conflict are left in it. Nothing was written.
    Marks,
}

/// Writes `mine`, which was made of `base`.
fn write(facts: &Facts, job: &str, base: &str, mine: &str) -> anyhow::Result<Written> {
    // The line between them may be a heading's.
    let is_mark = |line: &str| line != SHOWN[2] && SHOWN.contains(&line);
    if mine.lines().any(is_mark) {
        return Ok(Written::Marks);
    }
    let _held = jobs::lock(&facts.places, job)?;
    let theirs = read(facts, job)?.unwrap_or_default();
    let text = match merge(base, mine, &theirs) {
        Ok(text) => text,
        Err(both) => return Ok(Written::Conflict { both, theirs }),
    };
    super::keep_bytes(&facts.places, job)?;
    jobs::write_live(&facts.places, job, &text)?;
    Ok(Written::All)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_both_add_at_one_place_is_kept() {
        let base = "# Threads\n- a\n\n# Risks\n- r\n";
        let mine = "# Threads\n- a\n- mine\n\n# Risks\n- r, and why\n";
        let theirs = "# Threads\n- a\n- theirs\n\n# Risks\n- r\n";
        let both = "# Threads\n- a\n- mine\n- theirs\n\n# Risks\n- r, and why\n";
        assert_eq!(merge(base, mine, theirs).unwrap(), both);
    }

    #[test]
    fn a_last_line_without_a_line_break_is_kept_too() {
        let (mine, theirs) = ("# T\n- a\n- mine", "# T\n- a\n- theirs\n");
        let both = "# T\n- a\n- mine\n- theirs\n";
        assert_eq!(merge("# T\n- a\n", mine, theirs).unwrap(), both);
        assert_eq!(merge("# T\n- a", mine, theirs).unwrap(), both);
    }

    #[test]
    fn a_line_that_both_changed_is_shown_with_both_texts() {
        let both = merge("a\nb\nc\n", "a\nmine\nc\n", "a\ntheirs\nc\n").unwrap_err();
        assert_eq!(
            both,
            "a\n<<<<<<< yours\nmine\n||||||| before\nb\n=======\ntheirs\n>>>>>>> the agent's\nc\n"
        );
    }
}
