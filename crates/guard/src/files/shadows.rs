//! Commands and skills of the project or the user that have the names of commands that the guard
//! runs. The client then runs the file in their place (seen with 2.1.286 to 2.1.332).

use std::path::PathBuf;

use base::paths::Places;

/// The names of the command that clears a session, in the order to try.
pub const CLEAR: [&str; 3] = ["clear", "new", "reset"];

/// The names of the command that goes to another session.
pub const RESUME: [&str; 2] = ["resume", "continue"];

/// The file that the client runs in place of the command of this name.
pub fn shadowing_file(places: &Places, name: &str) -> Option<PathBuf> {
    let folders = [Some(places.project.join(".claude")), places.client_config().map(Into::into)];
    let files = folders.into_iter().flatten().flat_map(|folder| {
        let command = format!("{}.md", name.replace(':', "/"));
        [folder.join("commands").join(command), folder.join("skills").join(name).join("SKILL.md")]
    });
    files.into_iter().find(|path| path.exists())
}

/// The first of these names that no file shadows.
///
/// # Errors
/// Which files the client runs instead, if all are shadowed.
pub fn free_name(places: &Places, names: &[&'static str]) -> Result<&'static str, String> {
    let first = names.iter().find(|name| shadowing_file(places, name).is_none()).copied();
    first.ok_or_else(|| {
        let files = names.iter().filter_map(|name| shadowing_file(places, name));
        let files: Vec<_> = files.map(|path| path.display().to_string()).collect();
        format!("the client runs {} instead of /{}", files.join(" and "), names[0])
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::env::Env;

    #[test]
    fn a_command_is_free_unless_a_file_has_its_name() {
        let dir = tempfile::tempdir().unwrap();
        let env = Env::from_pairs([("HOME", dir.path().to_str().unwrap())]);
        let project = dir.path().join("project");
        let places = Places::for_project(&env, &project).unwrap();
        assert_eq!(free_name(&places, &CLEAR), Ok("clear"));
        let put = |path: PathBuf| {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "x").unwrap();
        };
        put(project.join(".claude/commands/clear.md"));
        put(project.join(".claude/skills/brain-guard:resume/SKILL.md"));
        assert_eq!(free_name(&places, &CLEAR), Ok("new"));
        assert!(shadowing_file(&places, "brain-guard:resume").is_some());
        put(dir.path().join(".claude/skills/new/SKILL.md"));
        put(dir.path().join(".claude/commands/reset.md"));
        let why = free_name(&places, &CLEAR).unwrap_err();
        assert!(why.contains("clear.md and ") && why.ends_with("instead of /clear"), "{why}");
    }
}
