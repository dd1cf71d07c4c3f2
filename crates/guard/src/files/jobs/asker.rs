//! The session that asks for a job operation, and the lock for jobs that change hands.

use std::io;
use std::time::Duration;

use crate::files::job_files;
use crate::files::requests::{self, Request};
use crate::job::Holder;
use crate::session::Session;
use crate::settings::Settings;
use base::clock::Time;
use base::lock as locks;
use base::lock::Lock;
use base::paths::Places;

/// The session that asks, with everything its verbs need.
#[derive(Debug, Clone)]
pub struct Asker<'a> {
    /// The paths.
    pub places: &'a Places,
    /// The session's id.
    pub id: &'a str,
    /// Its state.
    pub session: &'a Session,
    /// The merged settings.
    pub settings: &'a Settings,
    /// The template of new files.
    pub template: String,
    /// Now.
    pub now: Time,
    /// Today where the user is, `YYYYMMDD`.
    pub date: String,
}

/// Locks all jobs of the project while they change hands, so that a decision is valid until its
/// effects are done.
pub(crate) fn lock_jobs(places: &Places) -> io::Result<Lock> {
    let take = |dir: &std::path::Path| locks::acquire(&dir.join(".lock"), Duration::from_secs(2));
    let dir = places.ensure_jobs()?;
    take(&dir).or_else(|e| {
        if e.kind() == io::ErrorKind::WouldBlock {
            return Err(e);
        }
        // The project may be read-only, but its jobs can still be read.
        let aside = places.state.join("jobs");
        base::atomic::create_private_dir(&aside)?;
        take(&aside)
    })
}

impl Asker<'_> {
    /// The session as a holder of jobs.
    pub fn holder(&self) -> Holder {
        Holder { session: self.id.to_owned(), client: self.session.client }
    }

    /// The job the session works on: the one its verbs chose last, or its own. `None` right after
    /// it left a job.
    pub fn job(&self) -> Option<String> {
        let waiting = requests::waiting(self.places, self.id);
        let job = match waiting.iter().rev().find_map(Request::moves_to) {
            Some(moved) => moved?.to_owned(),
            None if self.session.job.is_empty() => format!("session-{}", self.id),
            None => self.session.job.clone(),
        };
        Some(job_files::current_name(self.places, &job))
    }
}
