//! The tools of the scripted agent, as far as the demo needs them. Only commands that the guard
//! itself rewrote reach a shell.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

/// One tool call of the scripted agent.
#[derive(Debug, Clone)]
pub struct Use {
    pub tool: &'static str,
    pub input: Value,
    /// What a shell command would print; no shell is started for it.
    pub prints: String,
}

impl Use {
    /// Reads a file.
    pub fn read(path: &Path) -> Self {
        Self::of("Read", json!({"file_path": path}))
    }

    /// Replaces `old` by `new` in a file.
    pub fn edit(path: &Path, old: &str, new: &str) -> Self {
        Self::of("Edit", json!({"file_path": path, "old_string": old, "new_string": new}))
    }

    /// Writes a file.
    pub fn write(path: &Path, content: &str) -> Self {
        Self::of("Write", json!({"file_path": path, "content": content}))
    }

    /// Runs a command that prints `prints`.
    pub fn shell(command: &str, prints: &str) -> Self {
        let input = json!({"command": command, "description": "part of the play"});
        Self { prints: prints.to_owned(), ..Self::of("Bash", input) }
    }

    /// Starts a subagent.
    pub fn agent(prompt: &str) -> Self {
        Self::of(
            "Agent",
            json!({"description": "look around", "prompt": prompt, "subagent_type": "Explore"}),
        )
    }

    fn of(tool: &'static str, input: Value) -> Self {
        Self { tool, input, prints: String::new() }
    }

    /// The call in a few words.
    pub fn brief(&self) -> String {
        let text = |key: &str| self.input[key].as_str().unwrap_or_default();
        let what = match self.tool {
            "Bash" => {
                let line = text("command").lines().next().unwrap_or_default();
                line.split(" --").next().unwrap_or_default()
            }
            "Agent" => text("subagent_type"),
            _ => text("file_path").rsplit('/').next().unwrap_or_default(),
        };
        format!("{} {what}", self.tool)
    }
}

/// Runs a file tool. Returns its response as hooks see it, and as the agent does.
///
/// # Errors
/// The tool's error text.
pub fn run(what: &Use, input: &Value) -> Result<(Value, String), String> {
    let path = Path::new(input["file_path"].as_str().unwrap_or_default());
    let said = |e: std::io::Error| format!("{}: {e}", path.display());
    match what.tool {
        "Read" => {
            let text = fs::read_to_string(path).map_err(said)?;
            let total = text.lines().count();
            let skip = input["offset"].as_u64().unwrap_or(1).saturating_sub(1);
            let limit = input["limit"].as_u64().map_or(usize::MAX, |l| l as usize);
            let lines: Vec<&str> = text.lines().skip(skip as usize).take(limit).collect();
            let content = lines.join("\n");
            let file = json!({
                "filePath": path, "content": content, "numLines": lines.len(), "startLine": skip + 1,
                "totalLines": total,
            });
            Ok((json!({"type": "text", "file": file}), content))
        }
        "Edit" => {
            let text = fs::read_to_string(path).map_err(said)?;
            let (old, new) = (&input["old_string"], &input["new_string"]);
            let old_text = old
                .as_str()
                .filter(|o| text.contains(o))
                .ok_or("String to replace not found in file.")?;
            fs::write(path, text.replacen(old_text, new.as_str().unwrap_or_default(), 1))
                .map_err(said)?;
            let response = json!({
                "filePath": path, "oldString": old, "newString": new, "originalFile": text,
                "structuredPatch": [], "userModified": false, "replaceAll": false,
            });
            Ok((response, format!("The file {} has been updated.", path.display())))
        }
        "Write" => {
            fs::write(path, input["content"].as_str().unwrap_or_default()).map_err(said)?;
            let response = json!({
                "type": "create", "filePath": path, "content": input["content"], "structuredPatch": [],
                "originalFile": null, "userModified": false,
            });
            Ok((response, format!("File created at {}", path.display())))
        }
        "Bash" => Ok((shell_response(&what.prints, ""), what.prints.clone())),
        _ => Ok((json!({"content": []}), String::new())),
    }
}

/// A shell's response in the form that hooks get.
pub fn shell_response(stdout: &str, stderr: &str) -> Value {
    json!({
        "stdout": stdout, "stderr": stderr, "interrupted": false, "isImage": false, "noOutputExpected": false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_tools_do_what_they_say() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.rs");
        let play = |what: Use| run(&what, &what.input);
        play(Use::write(&path, "one\ntwo\nthree\n")).unwrap();
        play(Use::edit(&path, "two", "2")).unwrap();
        assert_eq!(play(Use::read(&path)).unwrap().1, "one\n2\nthree");
        let mut part = Use::read(&path);
        part.input["limit"] = json!(1);
        assert_eq!(play(part).unwrap().1, "one");
        assert!(play(Use::edit(&path, "four", "4")).is_err());
        assert_eq!(Use::shell("cargo test\nmore", "").brief(), "Bash cargo test");
    }
}
