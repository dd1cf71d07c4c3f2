//! Sorts tools into classes. The names are those of the client's own tools (client 2.1.329); a
//! table in the settings overrides them.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

/// A class of tools, the unit a tier blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Band {
    /// Brings text into the context.
    Read,
    /// Changes files.
    Write,
    /// Runs commands.
    Shell,
    /// Starts other agents or later turns, whose reports fill the context again.
    Dispatch,
    /// Steers the session; never blocked.
    Control,
}

impl Band {
    /// The band's name in settings and messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Shell => "shell",
            Self::Dispatch => "dispatch",
            Self::Control => "control",
        }
    }
}

impl Band {
    /// What an agent does with tools of this band.
    pub fn activity(self) -> &'static str {
        match self {
            Self::Read => "reading new files",
            Self::Write => "changing files",
            Self::Shell => "running commands",
            Self::Dispatch => "starting agents",
            Self::Control => "steering the session",
        }
    }
}

/// Names of several bands, joined by commas.
pub fn join_names(bands: impl IntoIterator<Item = Band>) -> String {
    bands.into_iter().map(Band::name).collect::<Vec<_>>().join(", ")
}

/// A clause that says what a tier with these blocked bands does to the agent.
pub fn effect(bands: &BTreeSet<Band>) -> String {
    let all = [Band::Read, Band::Write, Band::Shell, Band::Dispatch];
    if all.iter().all(|band| bands.contains(band)) {
        return "only the notes can be edited".to_owned();
    }
    let words: Vec<&str> =
        bands.iter().filter(|b| **b != Band::Control).map(|b| b.activity()).collect();
    match words.split_last() {
        None => "nothing is blocked".to_owned(),
        Some((only, [])) => format!("{only} is blocked"),
        Some((last, rest)) => format!("{} and {last} are blocked", rest.join(", ")),
    }
}

/// The band of a tool: by the settings' table first (whole names, or a prefix that ends in `*`),
/// then by the built-in one. Unknown tools count as `Read`.
pub fn band(tool: &str, overrides: &BTreeMap<String, Band>) -> Band {
    if let Some(band) = overrides.get(tool) {
        return *band;
    }
    let by_prefix = overrides
        .iter()
        .filter_map(|(name, band)| Some((name.strip_suffix('*')?, band)))
        .filter(|(prefix, _)| tool.starts_with(prefix))
        .max_by_key(|(prefix, _)| prefix.len());
    by_prefix.map_or_else(|| built_in(tool), |(_, band)| *band)
}

fn built_in(tool: &str) -> Band {
    match tool {
        "Write" | "Edit" | "NotebookEdit" | "MultiEdit" | "EnterWorktree" => Band::Write,
        "Bash" | "PowerShell" | "Monitor" => Band::Shell,
        "Agent" | "Task" | "Workflow" | "SendMessage" | "Skill" | "ScheduleWakeup"
        | "TeamCreate" => Band::Dispatch,
        "AskUserQuestion"
        | "ExitPlanMode"
        | "ExitWorktree"
        | "ToolSearch"
        | "DeferredToolPlaceholder"
        | "TaskStop"
        | "TaskOutput"
        | "KillShell"
        | "BashOutput"
        | "TodoWrite"
        | "TaskCreate"
        | "TaskUpdate"
        | "TaskList"
        | "TaskGet"
        | "StructuredOutput"
        | "ListAgents"
        | "ReportFindings"
        | "mcp__brain-guard__purge_control" => Band::Control,
        _ if tool.starts_with("Cron") => Band::Dispatch,
        // Includes EnterPlanMode: nothing is blocked in plan mode, so the agent would keep reading.
        _ => Band::Read,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn effects_name_what_the_agent_can_no_longer_do() {
        use Band::{Control, Dispatch, Read, Shell, Write};
        for (bands, said) in [
            (&[][..], "nothing is blocked"),
            (&[Control], "nothing is blocked"),
            (&[Read], "reading new files is blocked"),
            (
                &[Read, Dispatch, Shell],
                "reading new files, running commands and starting agents are blocked",
            ),
            (&[Read, Write, Shell, Dispatch], "only the notes can be edited"),
        ] {
            assert_eq!(effect(&bands.iter().copied().collect()), said);
        }
    }

    #[test]
    fn built_in_bands() {
        let none = BTreeMap::new();
        for (tool, expected) in [
            ("Read", Band::Read),
            ("WebFetch", Band::Read),
            ("mcp__x__ping", Band::Read),
            ("mcp__brain-guard__purge_control", Band::Control),
            ("mcp__brain-guard__inject", Band::Read),
            ("mcp__x__purge_control", Band::Read),
            ("SomethingNew", Band::Read),
            ("Edit", Band::Write),
            ("Bash", Band::Shell),
            ("Monitor", Band::Shell),
            ("Agent", Band::Dispatch),
            ("CronCreate", Band::Dispatch),
            ("ExitPlanMode", Band::Control),
            ("EnterPlanMode", Band::Read),
            ("EnterWorktree", Band::Write),
            ("ToolSearch", Band::Control),
        ] {
            assert_eq!(band(tool, &none), expected, "{tool}");
        }
    }

    #[test]
    fn settings_win_and_the_longest_prefix_among_them() {
        let table = BTreeMap::from([
            ("mcp__*".to_owned(), Band::Control),
            ("mcp__db__*".to_owned(), Band::Write),
            ("Bash".to_owned(), Band::Write),
        ]);
        assert_eq!(band("mcp__a__b", &table), Band::Control);
        assert_eq!(band("mcp__db__drop", &table), Band::Write);
        assert_eq!(band("Bash", &table), Band::Write);
        assert_eq!(band("Read", &table), Band::Read);
    }
}
