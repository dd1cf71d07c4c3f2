//! The data in a project's state. Links are not followed: a link in the place of a folder is
//! listed, and removed, as a link.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::project::{Project, is_link, names, seat};
use super::size;
use super::stored::{Owner, Stored};
use crate::cli::PurgeKind as Kind;
use base::clock::Time;
use guard::files::boundary;
use guard::files::prune;

impl Project {
    /// Everything in the project's part of the state folder.
    pub fn kept(&self, now: Time) -> Vec<Stored> {
        let mut look = Collector { project: self, found: Vec::new() };
        let state = &self.places.state;
        if is_link(state) {
            look.add(Kind::Sessions, None, None, state, vec![state.clone()]);
        } else {
            look.sessions();
            look.boundaries();
            look.jobs();
            for session in look.folders("outputs", Kind::Outputs) {
                let path = state.join("outputs").join(&session);
                look.add(Kind::Outputs, Some(&session), None, &path, vec![path.clone()]);
            }
            let log = self.places.log();
            look.add(Kind::Log, None, None, &log, vec![log.clone(), log.with_extension("1.jsonl")]);
            look.temporary(now);
        }
        look.found.retain(|kept| kept.count > 0);
        look.found
    }
}

struct Collector<'a> {
    project: &'a Project,
    found: Vec<Stored>,
}

impl Collector<'_> {
    fn add(
        &mut self,
        kind: Kind,
        session: Option<&str>,
        job: Option<&str>,
        path: &Path,
        paths: Vec<PathBuf>,
    ) {
        let (count, bytes, written) = size::measure(&paths);
        let job = job.or_else(|| Some(self.project.sessions.get(session?)?.as_str()));
        let job = job.filter(|job| !job.is_empty()).map(str::to_owned);
        let keep_reason = match kind {
            // A session appends to it, and a removed log is begun again.
            Kind::Log => None,
            _ => self.project.keep_reason(session, job.as_deref()),
        };
        let (session, path) = (session.map(str::to_owned), path.to_owned());
        let needed = matches!(kind, Kind::Notes | Kind::Sealed);
        let owner = Owner::Project(self.project.places.clone());
        self.found.push(Stored {
            kind,
            path,
            paths,
            owner,
            session,
            job,
            count,
            bytes,
            written,
            needed,
            keep_reason,
        });
    }

    /// The names in a folder of the state, including links. If the folder itself is a link, adds
    /// that and returns no names.
    fn names(&mut self, folder: &str, kind: Kind) -> Vec<String> {
        let path = self.project.places.state.join(folder);
        if is_link(&path) {
            self.add(kind, None, None, &path, vec![path.clone()]);
            return Vec::new();
        }
        names(&path, "")
    }

    /// Names that can belong to a session or a job.
    fn folders(&mut self, folder: &str, kind: Kind) -> Vec<String> {
        let mut names = self.names(folder, kind);
        names.retain(|name| !name.starts_with('.'));
        names
    }

    /// File names are the session's id, a dot, and what the file holds.
    fn sessions(&mut self) {
        let folder = self.project.places.state.join("sessions");
        let mut all: BTreeMap<(String, Kind), Vec<PathBuf>> = BTreeMap::new();
        for name in self.folders("sessions", Kind::Sessions) {
            let path = folder.join(&name);
            let id = self.session_of(&name);
            let kind = match name.strip_prefix(&*id).unwrap_or_default() {
                ".journal.jsonl" | ".journal.1.jsonl" => Kind::Journals,
                _ => Kind::Sessions,
            };
            // A seat's file says which session its client is in.
            let id = seat(&path).map_or(id, |seat| seat.session);
            all.entry((id, kind)).or_default().push(path);
        }
        for ((id, kind), paths) in all {
            let path = match &paths[..] {
                [one] => one.clone(),
                _ => folder.join(format!("{id}.*")),
            };
            self.add(kind, Some(&id), None, &path, paths);
        }
    }

    /// The session that a file is named after: a known one, else the part before the first dot.
    fn session_of(&self, name: &str) -> String {
        let known =
            |id: &&String| name.strip_prefix(id.as_str()).is_some_and(|r| r.starts_with('.'));
        let known = self.project.sessions.keys().filter(known).max_by_key(|id| id.len());
        known.cloned().unwrap_or_else(|| name.split('.').next().unwrap_or_default().to_owned())
    }

    fn boundaries(&mut self) {
        let places = &self.project.places;
        let folder = places.state.join("boundary");
        let mut names = self.folders("boundary", Kind::Boundaries);
        let tokens: Vec<String> =
            names.iter().filter_map(|name| name.strip_suffix(".json")).map(str::to_owned).collect();
        for id in tokens {
            let token = boundary::load(places, &id).ok().flatten();
            let text = token.as_ref().map(|token| PathBuf::from(&token.sealed));
            let own = |name: &String| {
                name.strip_prefix(&*id).is_some_and(|rest| rest.starts_with('.'))
                    || text.as_ref().is_some_and(|text| *text == folder.join(name))
            };
            let paths =
                names.iter().filter(|name| own(name)).map(|name| folder.join(name)).collect();
            names.retain(|name| !own(name));
            let path = folder.join(format!("{id}.*"));
            let (session, job) = token.map(|token| (token.parent, token.job)).unzip();
            self.add(Kind::Boundaries, session.as_deref(), job.as_deref(), &path, paths);
        }
        for name in names {
            let path = folder.join(&name);
            self.add(Kind::Boundaries, None, None, &path, vec![path.clone()]);
        }
    }

    fn jobs(&mut self) {
        for job in self.folders("jobs", Kind::Notes) {
            let path = self.project.places.job(&job);
            if is_link(&path) {
                self.add(Kind::Notes, None, Some(&job), &path, vec![path.clone()]);
                continue;
            }
            let (prompts, sealed) = (path.join("prompts.jsonl"), path.join("sealed"));
            let mut files: Vec<PathBuf> = names(&path, "").iter().map(|n| path.join(n)).collect();
            files.retain(|file| *file != prompts && *file != sealed);
            self.add(Kind::Prompts, None, Some(&job), &prompts, vec![prompts.clone()]);
            self.add(Kind::Sealed, None, Some(&job), &sealed, vec![sealed.clone()]);
            self.add(Kind::Notes, None, Some(&job), &path, files);
        }
    }

    fn temporary(&mut self, now: Time) {
        let state = &self.project.places.state;
        let path = self.project.places.snapshots();
        let files = self.names("snapshots", Kind::Temporary);
        let files = files.iter().map(|name| path.join(name)).collect();
        self.add(Kind::Temporary, None, None, &path, files);
        let path = state.join(".*.tmp");
        let left = prune::left_in_state(&self.project.places, now);
        self.add(Kind::Temporary, None, None, &path, left);
    }
}
