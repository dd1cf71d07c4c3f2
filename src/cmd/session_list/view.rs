//! The list of sessions as lines.

use std::fmt;
use std::path::Path;

use super::{Row, SessionList};
use crate::cmd::look::Look;
use base::clock::Time;
use base::shown::{count_with_noun, size, tokens};
use chrono::{DateTime, Local};
use surgery::table::short;

/// Most columns of a project's folder.
const FOLDER: usize = 32;

impl fmt::Display for SessionList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(first) = self.sessions.first() else {
            return f.write_str(&self.nothing());
        };
        let lines: Vec<[String; 5]> = self.sessions.iter().map(|row| self.cells(row)).collect();
        let heads = ["session", "local time", "rounds", "tokens", "project"];
        let width = |column: usize| {
            let cells = lines.iter().filter_map(|line| line.get(column));
            let widest = cells.map(|cell| cell.chars().count()).max().unwrap_or_default();
            widest.max(heads[column].len())
        };
        let (ids, times, folders) = (width(0), width(1), width(4));
        let shown = |[id, time, rounds, tokens, folder]: &[String; 5], rest: &str| {
            let line = format!(
                "{id:<ids$}  {time:<times$}  {rounds:>6}  {tokens:>7}  {folder:<folders$}  {rest}"
            );
            Look::fit(line.trim_end(), self.look.width)
        };
        writeln!(f, "{}", self.look.faint(&shown(&heads.map(str::to_owned), "")))?;
        for (row, cells) in self.sessions.iter().zip(&lines) {
            let line = shown(cells, &rest(row));
            if row.imported {
                writeln!(f, "{line}")?;
            } else {
                writeln!(f, "{}", self.look.faint(&line))?;
            }
        }
        let more = match self.sessions.len() {
            listed if listed < self.total => {
                format!("{} more: --limit {}; ", self.total - listed, self.total)
            }
            _ => String::new(),
        };
        write!(f, "{more}list the rounds of one: brain-guard rounds {}", short(&first.session))?;
        match self.not_imported {
            0 => Ok(()),
            files => write!(
                f,
                "\n{} not imported: brain-guard import --all",
                count_with_noun(files, "session is", "sessions are")
            ),
        }
    }
}

impl SessionList {
    fn nothing(&self) -> String {
        match &self.project {
            Some(project) => format!(
                "no session of {} was found; list those of every project: brain-guard sessions --all",
                self.folder(project)
            ),
            None => "no session was found".to_owned(),
        }
    }

    fn cells(&self, row: &Row) -> [String; 5] {
        let figures = row.figures.as_ref();
        [
            short(&row.session).to_owned(),
            span(row.started, row.ended),
            figures.map_or_else(|| "-".to_owned(), |figures| figures.rounds.to_string()),
            figures.map_or_else(|| "-".to_owned(), |figures| tokens(figures.tokens)),
            row.project.as_deref().map_or_else(|| "-".to_owned(), |project| self.folder(project)),
        ]
    }

    /// A folder, with `~` for the home folder. Of a long one, the end says most.
    fn folder(&self, path: &Path) -> String {
        let below = self.home.as_deref().and_then(|home| path.strip_prefix(home).ok());
        let path = match below {
            Some(rest) if rest.as_os_str().is_empty() => "~".to_owned(),
            Some(rest) => format!("~/{}", rest.display()),
            None => path.display().to_string(),
        };
        let path = Look::fit(&path, usize::MAX);
        match path.chars().count().checked_sub(FOLDER) {
            Some(over @ 1..) => format!("...{}", path.chars().skip(over + 3).collect::<String>()),
            _ => path,
        }
    }
}

/// What has no column: tags, the session it was made from, and the size of a file.
fn rest(row: &Row) -> String {
    let tags = row.figures.iter().flat_map(|figures| &figures.engagements);
    let tags: Vec<String> = tags.map(|id| format!("#{id}")).collect();
    let mut parts = Vec::new();
    parts.extend(Some(tags.join(" ")).filter(|tags| !tags.is_empty()));
    parts.extend(row.made_from.as_deref().map(|id| format!("from {}", short(id))));
    parts.extend(row.bytes.map(|bytes| format!("not imported, {}", size(bytes))));
    parts.join(", ")
}

/// From when to when, without the parts of the end that are as in the start:
/// `2026-03-19T10:23–11:45`.
fn span(from: Option<Time>, to: Option<Time>) -> String {
    let local = |time: Option<Time>| time.map(|time| time.with_timezone(&Local));
    let whole = |time: DateTime<Local>| time.format("%Y-%m-%dT%H:%M").to_string();
    match (local(from), local(to)) {
        (Some(from), Some(to)) => {
            let same =
                |format: &str| from.format(format).to_string() == to.format(format).to_string();
            let end = match (same("%Y-%m-%d"), same("%Y")) {
                (true, _) => to.format("%H:%M").to_string(),
                (false, true) => to.format("%m-%dT%H:%M").to_string(),
                (false, false) => whole(to),
            };
            format!("{}–{end}", whole(from))
        }
        (Some(time), None) | (None, Some(time)) => whole(time),
        (None, None) => "-".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::cmd::session_list::Numbers;
    use testing::at;

    fn row(id: &str, project: &str) -> Row {
        Row {
            session: id.to_owned(),
            project: Some(PathBuf::from(project)),
            started: Some(at("2026-03-19T10:23:45Z")),
            ended: Some(at("2026-03-20T11:45:00Z")),
            imported: true,
            figures: Some(Numbers {
                rounds: 58,
                tokens: 154_000,
                engagements: ["console-work".to_owned()].into(),
            }),
            made_from: Some("2d3dee9b-3d28".to_owned()),
            ..Row::default()
        }
    }

    fn list(sessions: Vec<Row>, width: usize) -> SessionList {
        SessionList {
            total: 30,
            not_imported: 1,
            sessions,
            project: None,
            home: Some(PathBuf::from("/home/ada")),
            look: Look { colour: false, width },
        }
    }

    #[test]
    fn every_session_has_a_line_that_fits() {
        let file = Row {
            session: "7c41b2aa-0000".to_owned(),
            ended: Some(at("2026-03-18T09:10:00Z")),
            bytes: Some(3_400_000),
            ..Row::default()
        };
        let sessions = || vec![row("3f0a9d1e-0000", "/home/ada/app"), Row { ..Row::default() }];
        let mut wide = list(sessions(), 120);
        wide.sessions[1] = file;
        assert_eq!(
            wide.to_string(),
            "session   local time                    rounds   tokens  project\n\
             3f0a9d1e  2026-03-19T10:23–03-20T11:45      58     154k  ~/app    #console-work, from 2d3dee9b\n\
             7c41b2aa  2026-03-18T09:10                   -        -  -        not imported, 3.4 MB\n\
             28 more: --limit 30; list the rounds of one: brain-guard rounds 3f0a9d1e\n\
             1 session is not imported: brain-guard import --all"
        );
        let long = format!("/home/ada/{}/app", "deep/".repeat(20));
        for line in list(vec![row("3f0a9d1e", &long)], 80).to_string().lines().take(2) {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }

    #[test]
    fn times_say_only_what_differs() {
        let times = ["2026-03-19T10:23:45Z", "2026-03-19T11:00:00Z", "2027-01-01T00:00:00Z"];
        let [first, same_day, next_year] = times.map(at);
        assert_eq!(span(Some(first), Some(same_day)), "2026-03-19T10:23–11:00");
        assert_eq!(span(Some(first), Some(next_year)), "2026-03-19T10:23–2027-01-01T00:00");
        assert_eq!(span(None, Some(first)), "2026-03-19T10:23");
        assert_eq!(span(None, None), "-");
    }

    #[test]
    fn long_folders_show_their_end() {
        let list = list(Vec::new(), 80);
        assert_eq!(list.folder(Path::new("/home/ada")), "~");
        assert_eq!(list.folder(Path::new("/srv/app")), "/srv/app");
        let long = list.folder(Path::new("/srv/one-quite-long-folder/and/then/the-app"));
        assert_eq!((long.chars().count(), long.ends_with("/the-app")), (FOLDER, true), "{long}");
    }
}
