//! The session that asks for a job operation, and the lock for jobs that change hands.

use std::io;

use crate::files::job_files;
use crate::session::Session;
use crate::settings::Settings;
use base::clock::Time;
use base::lock as locks;
use base::lock::Lock;
use base::paths::Places;
use notes::job::Holder;

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
    base::atomic::create_private_dir(&places.jobs())?;
    locks::acquire(&places.jobs().join(".lock"), super::PATIENCE)
}

impl Asker<'_> {
    /// The session as a holder of jobs.
    pub fn holder(&self) -> Holder {
        Holder { session: self.id.to_owned(), client: self.session.client }
    }

    /// The job the session works on, by its current name.
    pub fn job(&self) -> String {
        let job = match self.session.job.as_str() {
            "" => format!("session-{}", self.id),
            job => job.to_owned(),
        };
        job_files::current_name(self.places, &job)
    }
}
