//! What only the operator may touch: the override, our settings, our state. An
//! agent that is squeezed reaches for the off switch, so its own
//! tools can't get there at any stance. The verb itself refuses as well when it
//! finds itself in the agent's shell.

/// Paths of the operator's things, absolute.
#[derive(Debug, Clone, Default)]
pub struct Guarded {
    /// Folders and files no tool of the agent's may write.
    pub paths: Vec<String>,
}

/// Whether a file tool would write what is the operator's.
pub fn writes_guarded(path: &str, guarded: &Guarded) -> bool {
    guarded.paths.iter().any(|g| {
        path.strip_prefix(g.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }) || path.ends_with("/.brain-guard/settings.json")
}

/// Whether a shell command takes the override or names our settings or state.
/// Deliberately coarse on files: there is no telling reads from writes in shell,
/// and the Read tool is there for reading them.
pub fn shell_touches_guarded(command: &str, guarded: &Guarded) -> bool {
    takes_override(command)
        || command.contains("brain-guard/settings.json")
        || guarded.paths.iter().any(|g| !g.is_empty() && command.contains(g.as_str()))
}

/// `brain-guard override` where a command could stand, or anywhere if the line
/// hands text to another interpreter.
fn takes_override(command: &str) -> bool {
    let indirect = ["sh -c", "eval", "xargs", "$(", "`", "<<", "| sh", "|sh"]
        .iter()
        .any(|i| command.contains(i));
    command.match_indices("brain-guard").any(|(at, name)| {
        let behind = command[at + name.len()..].trim_start_matches(['"', '\'']);
        let words = behind.trim_start();
        if words.len() == behind.len() || !words.starts_with("override") {
            return false;
        }
        let line = command[..at].rsplit(['\n', ';', '&', '|', '(']).next().unwrap_or_default();
        // The words in front of the program's own, which may be a quoted path.
        let quote =
            line.rfind(['"', '\'']).filter(|q| line.matches(&line[*q..=*q]).count() % 2 == 1);
        let before = match quote {
            Some(at) => &line[..at],
            None => line.rsplit_once(char::is_whitespace).map_or("", |(front, _)| front),
        };
        indirect || before.split_whitespace().next().is_none_or(is_prefix_word)
    })
}

/// Words that may stand before a command's own name.
fn is_prefix_word(word: &str) -> bool {
    word.contains('=')
        || word.starts_with('-')
        || word.chars().all(|c| c.is_ascii_digit())
        || matches!(
            word,
            "env"
                | "exec"
                | "command"
                | "nohup"
                | "sudo"
                | "timeout"
                | "time"
                | "!"
                | "then"
                | "do"
                | "setsid"
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_override_is_found_where_commands_stand() {
        let none = Guarded::default();
        for command in [
            "brain-guard override --for 30m",
            "ls; brain-guard  override",
            "/home/u/.local/bin/brain-guard override --off",
            "\"/a b/brain-guard\" override",
            "env -u CLAUDECODE brain-guard override",
            "X=1 timeout 5 brain-guard override",
            "bash -c 'brain-guard override'",
        ] {
            assert!(shell_touches_guarded(command, &none), "{command}");
        }
        for command in [
            "brain-guard append --kind why 'no override needed'",
            "git commit -m 'document brain-guard override'",
            "grep -r 'brain-guard override' docs",
            "ls",
        ] {
            assert!(!shell_touches_guarded(command, &none), "{command}");
        }
    }

    #[test]
    fn settings_and_state() {
        let guarded = Guarded { paths: vec!["/s/brain-guard/p".into()] };
        assert!(writes_guarded("/s/brain-guard/p/sessions/x.json", &guarded));
        assert!(writes_guarded("/p/.brain-guard/settings.json", &guarded));
        assert!(!writes_guarded("/s/brain-guard/pq", &guarded));
        assert!(!writes_guarded("/p/settings.json", &guarded));
        assert!(shell_touches_guarded("echo {} > .brain-guard/settings.json", &guarded));
        assert!(shell_touches_guarded("rm -r /s/brain-guard/p", &guarded));
    }
}
