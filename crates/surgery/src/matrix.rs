//! Engagements by agents, the main view of tagged rounds: who did what, when, for which engagement.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::ranges;
use base::clock::Time;
use sessions::round::{Round, Session};
use store::engagement::Phase;

/// The table.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Matrix {
    /// Its columns.
    pub agents: Vec<String>,
    /// Its rows, by engagement, then by phase.
    pub lines: Vec<Line>,
}

/// A phase of an engagement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Line {
    /// The engagement.
    pub engagement: String,
    /// The phase; `None` for the rounds outside of all phases.
    pub phase: Option<String>,
    /// When it began.
    pub from: Option<Time>,
    /// When it ended.
    pub to: Option<Time>,
    /// Rounds by agent.
    pub cells: BTreeMap<String, Vec<Cell>>,
}

/// What an agent did in a phase, in one session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Cell {
    /// The session.
    pub session: String,
    /// How many rounds.
    pub count: usize,
    /// Which: `1-15,18`.
    pub rounds: String,
}

/// Sorts tagged rounds, which come by time, into the table of these engagements.
pub fn matrix(engagements: &[(String, Vec<Phase>)], tagged: &[(Session, Round)]) -> Matrix {
    let agents: BTreeSet<&String> = tagged.iter().map(|(session, _)| &session.agent).collect();
    let lines = engagements.iter().flat_map(|(id, phases)| {
        let mut groups = vec![Vec::new(); phases.len() + 1];
        let own = tagged.iter().filter(|(_, round)| round.engagement.as_ref() == Some(id));
        for (session, round) in own {
            groups[place(phases, round).unwrap_or(phases.len())].push((session, round.seq));
        }
        let all = groups.into_iter().enumerate().map(|(n, rounds)| {
            let phase = phases.get(n);
            Line {
                engagement: id.clone(),
                phase: phase.map(|phase| phase.name.clone()),
                from: phase.map(|phase| phase.from),
                to: phase.and_then(|phase| phase.to),
                cells: cells(&rounds),
            }
        });
        // An empty phase says something; an empty rest does not.
        all.filter(|line| line.phase.is_some() || !line.cells.is_empty()).collect::<Vec<_>>()
    });
    Matrix { lines: lines.collect(), agents: agents.into_iter().cloned().collect() }
}

/// The phase that a round began in; if there are several, the one that began last.
pub fn place(phases: &[Phase], round: &Round) -> Option<usize> {
    let at = round.started?;
    let within = |phase: &Phase| phase.from <= at && phase.to.is_none_or(|to| at < to);
    let open = phases.iter().enumerate().filter(|(_, phase)| within(phase));
    open.max_by_key(|(n, phase)| (phase.from, *n)).map(|(n, _)| n)
}

fn cells(rounds: &[(&Session, u32)]) -> BTreeMap<String, Vec<Cell>> {
    let mut sessions: Vec<(&Session, BTreeSet<u32>)> = Vec::new();
    for (session, seq) in rounds {
        let same = |(s, _): &&mut (&Session, BTreeSet<u32>)| {
            s.id == session.id && s.agent == session.agent
        };
        match sessions.iter_mut().find(same) {
            Some((_, seqs)) => drop(seqs.insert(*seq)),
            None => sessions.push((session, BTreeSet::from([*seq]))),
        }
    }
    let mut cells: BTreeMap<String, Vec<Cell>> = BTreeMap::new();
    for (session, seqs) in sessions {
        let seqs: Vec<u32> = seqs.into_iter().collect();
        let rounds = ranges::show(&seqs).replace(", ", ",");
        let cell = Cell { session: session.id.clone(), count: seqs.len(), rounds };
        cells.entry(session.agent.clone()).or_default().push(cell);
    }
    cells
}

impl Matrix {
    /// The table for people, with short session ids, one per line.
    pub fn text(&self) -> String {
        let mut table = vec![vec![vec!["ENGAGEMENT".to_owned()], vec!["PHASE".to_owned()]]];
        table[0].extend(self.agents.iter().map(|agent| vec![agent.clone()]));
        let mut last = None;
        for line in &self.lines {
            let id = Some(&line.engagement);
            let shown = if last == id { String::new() } else { line.engagement.clone() };
            last = id;
            let alone =
                !self.lines.iter().any(|l| l.engagement == line.engagement && l.phase.is_some());
            let rest = if alone { "" } else { "outside its phases" };
            let phase = line.phase.clone().unwrap_or_else(|| rest.to_owned());
            let mut row = vec![vec![shown], vec![phase]];
            row.extend(self.agents.iter().map(|agent| {
                let cells = line.cells.get(agent).map(Vec::as_slice).unwrap_or_default();
                let text =
                    |cell: &Cell| format!("{}:{}", super::table::short(&cell.session), cell.rounds);
                cells.iter().map(text).collect()
            }));
            table.push(row);
        }
        aligned(&table)
    }
}

/// Aligns rows of multi-line cells in columns.
fn aligned(table: &[Vec<Vec<String>>]) -> String {
    let wide = |n: usize| {
        let lines = table.iter().filter_map(|row| row.get(n)).flatten();
        lines.map(|line| line.chars().count()).max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..table.first().map_or(0, Vec::len)).map(wide).collect();
    let mut text = String::new();
    for row in table {
        for n in 0..row.iter().map(Vec::len).max().unwrap_or_default() {
            let mut line = String::new();
            for (cell, width) in row.iter().zip(&widths) {
                let part = cell.get(n).map(String::as_str).unwrap_or_default();
                let gap = width.saturating_sub(part.chars().count()) + 2;
                line.push_str(part);
                line.push_str(&" ".repeat(gap));
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(agent: &str, session: &str, seq: u32, minute: &str) -> (Session, Round) {
        let session = Session { id: session.into(), agent: agent.into(), ..Session::default() };
        let started = format!("2026-03-19T{minute}:00Z").parse().ok();
        let engagement = Some("console".to_owned());
        (session, Round { seq, started, engagement, ..Round::default() })
    }

    fn phase(name: &str, from: &str, to: Option<&str>) -> Phase {
        let at = |minute: &str| format!("2026-03-19T{minute}:00Z").parse().unwrap();
        Phase { name: name.into(), from: at(from), to: to.map(at) }
    }

    fn example() -> Matrix {
        let tagged = [
            round("claude", "3f0a9d1e-1111", 1, "10:00"),
            round("claude", "3f0a9d1e-1111", 2, "10:59"),
            round("Explore", "agent-77", 1, "11:00"),
            round("claude", "3f0a9d1e-1111", 4, "11:30"),
            round("claude", "7c41b2aa-2222", 9, "12:00"),
            round("claude", "7c41b2aa-2222", 10, "23:00"),
        ];
        let phases = vec![
            phase("design", "10:00", Some("11:00")),
            phase("build, test", "11:00", Some("13:00")),
            phase("review", "13:00", Some("14:00")),
        ];
        matrix(&[("console".into(), phases), ("other".into(), vec![])], &tagged)
    }

    #[test]
    fn rounds_stand_in_the_phase_they_began_in() {
        let expected = "\
ENGAGEMENT  PHASE               Explore     claude
console     design                          3f0a9d1e:1-2
            build, test         agent-77:1  3f0a9d1e:4
                                            7c41b2aa:9
            review
            outside its phases              7c41b2aa:10
";
        assert_eq!(example().text(), expected);
    }

    #[test]
    fn an_engagement_without_phases_is_one_line() {
        let tagged = [round("claude", "s", 3, "10:00"), round("claude", "s", 5, "11:00")];
        let matrix = matrix(&[("console".into(), vec![])], &tagged);
        assert_eq!(matrix.text(), "ENGAGEMENT  PHASE  claude\nconsole            s:3,5\n");
    }

    #[test]
    fn of_phases_that_overlap_the_later_counts() {
        let phases = [phase("all", "10:00", None), phase("part", "11:00", Some("12:00"))];
        let place = |minute| place(&phases, &round("a", "s", 1, minute).1);
        assert_eq!(place("09:59"), None);
        assert_eq!(place("10:30"), Some(0));
        assert_eq!(place("11:00"), Some(1));
        assert_eq!(place("12:00"), Some(0));
        assert_eq!(super::place(&phases, &Round::default()), None);
    }
}
