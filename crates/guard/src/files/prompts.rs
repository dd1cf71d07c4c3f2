//! The user's own words, saved next to the job's file so that they do not depend on the agent.

use std::io;

use super::job_files::{self, read_prompts};
use super::origin;
use crate::job::Prompt;
use base::paths::Places;
use base::{atomic, beneath};

/// Saves a prompt with the job, or with the session until the job has a folder.
pub fn keep(places: &Places, job: &str, prompt: &Prompt) -> io::Result<()> {
    let mut line = serde_json::to_vec(prompt).map_err(io::Error::from)?;
    line.push(b'\n');
    let dir = places.job(job);
    let there = beneath::is_dir(&dir);
    if there {
        flush(places, job, &prompt.session)?;
    }
    origin::record_prompt(places, job, prompt)?;
    if there {
        atomic::append(&dir.join("prompts.jsonl"), &line)
    } else {
        places.ensure_state()?;
        atomic::append(&places.session(&prompt.session, "prompts.jsonl"), &line)
    }
}

/// Moves the prompts saved with the session to the job, if it has a folder now.
pub fn flush(places: &Places, job: &str, session: &str) -> io::Result<()> {
    let waiting = places.session(session, "prompts.jsonl");
    let dir = places.job(job);
    if let Some(bytes) = atomic::read(&waiting)?
        && beneath::is_dir(&dir)
    {
        for prompt in read_prompts(&waiting) {
            origin::record_prompt(places, job, &prompt)?;
        }
        atomic::append(&dir.join("prompts.jsonl"), &bytes)?;
        atomic::remove(&waiting)?;
    }
    Ok(())
}

/// The job's prompts, oldest first. Those still saved with the session come last.
pub fn all(places: &Places, job: &str, session: &str) -> Vec<Prompt> {
    let mut all = job_files::prompts(places, job);
    all.extend(read_prompts(&places.session(session, "prompts.jsonl")));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::env::Env;

    #[test]
    fn prompts_wait_for_the_job_and_keep_their_order() {
        let dir = tempfile::tempdir().unwrap();
        let places = Places::for_project(
            &Env::from_pairs([("HOME", dir.path().to_str().unwrap())]),
            dir.path(),
        )
        .unwrap();
        let at = "2026-01-01T00:00:00Z".parse().unwrap();
        let prompt = |text: &str| Prompt { at, session: "s".into(), text: text.into() };
        keep(&places, "j", &prompt("one")).unwrap();
        assert_eq!(all(&places, "j", "s").len(), 1);
        places.ensure_job("j").unwrap();
        keep(&places, "j", &prompt("two")).unwrap();
        let texts: Vec<String> = all(&places, "j", "s").into_iter().map(|p| p.text).collect();
        assert_eq!(texts, ["one", "two"]);
        assert!(!places.session("s", "prompts.jsonl").exists());
    }
}
