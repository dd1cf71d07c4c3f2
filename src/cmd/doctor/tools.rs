//! Checks the tool server: whether the plugin offers it as the settings say, and whether it
//! answers.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use super::mend::Mend;
use super::{FIX, Finding, World};
use crate::cmd::install::assets::TOOLS;
use crate::cmd::install::place;
use base::process;

/// Time limit for the server to list its tools.
const PATIENCE: Duration = Duration::from_secs(10);

/// Which tools are offered; empty if nothing is installed.
pub fn look(world: &World) -> Vec<Finding> {
    let current = world.plan.data.join(place::CURRENT);
    if !current.is_dir() {
        return Vec::new();
    }
    let offered = current.join(TOOLS.0).is_file();
    let finding =
        |seen: &str, way: &str| Finding::problem("tools", seen, way).mended_by(Mend::Install);
    vec![match (world.settings.extract.mcp, offered) {
        (false, false) => Finding::ok("tools", "not offered (extract.mcp in the settings)"),
        (true, false) => {
            finding("extract.mcp is true, but the plugin does not offer the tools yet", FIX)
        }
        (false, true) => Finding::note(
            "tools",
            "extract.mcp is not true, but the plugin still offers the tools",
            FIX,
        )
        .mended_by(Mend::Install),
        (true, true) => match listed(&current.join(place::BINARY)) {
            Ok(names) => Finding::ok("tools", format!("offered: {}", names.join(", "))),
            Err(why) => finding(&format!("the tool server does not answer: {why}"), FIX),
        },
    }]
}

/// The tools that the server lists.
///
/// # Errors
/// A message that says why it does not.
fn listed(program: &Path) -> Result<Vec<String>, String> {
    let hello = json!({
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": { "name": "brain-guard doctor", "version": env!("CARGO_PKG_VERSION") },
    });
    let requests = [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }),
    ];
    let input = requests.map(|request| request.to_string()).join("\n") + "\n";
    let output =
        process::output_with_input(Command::new(program).arg("mcp"), input.as_bytes(), PATIENCE)
            .map_err(|e| e.to_string())?;
    let lines = String::from_utf8_lossy(&output.stdout);
    let mut answers = lines.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let list = answers.find(|answer| answer["id"] == 2);
    let tools = list.as_ref().and_then(|list| list["result"]["tools"].as_array());
    let Some(tools) = tools else {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("it ended with {}; {}", output.status, said.trim()));
    };
    let names = tools.iter().filter_map(|tool| Some(tool["name"].as_str()?.to_owned()));
    Ok(names.collect())
}
