//! The session's job file, created when the agent first hears of it.

use std::io;

use super::facts::Facts;
use crate::files::jobs::{self, Asker};
use crate::texts::{self, Text};
use base::clock;

impl Facts<'_> {
    /// The session as the job store sees it.
    pub fn asker(&self) -> Asker<'_> {
        Asker {
            places: &self.places,
            id: self.id,
            session: &self.session,
            settings: &self.settings,
            template: texts::template(&self.places, Text::Compaction),
            now: self.now,
            date: clock::local_date(),
        }
    }

    /// Creates a job's compaction file from the template if it is missing.
    ///
    /// # Errors
    /// What the system says.
    pub fn ensure_file(&self, job: &str) -> io::Result<()> {
        if self.places.compaction(job).exists() {
            return Ok(());
        }
        jobs::make_file(&self.asker(), job)
    }

    /// [`Self::ensure_file`] for the session's job. Logs a failure.
    pub fn make_file(&self) {
        if let Err(e) = self.ensure_file(&self.session.job) {
            self.fault("compaction file not made", &e);
        }
    }
}
