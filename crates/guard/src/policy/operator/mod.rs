//! Guards what only the operator may change: the override, our settings, our state, the program,
//! and the client settings that enable us. A restricted agent looks for the off switch, so its
//! tools cannot reach it at any tier.
//!
//! For shell this is friction, not a wall: it recognizes plain spellings, but not a command that
//! hides what it does. The verbs themselves refuse to run in the agent's shell
//! (`store::ancestry::below_a_client`). `docs/security.md` lists the remaining gaps.

mod client_settings;
mod files;
mod places;
mod programs;
mod switches;
mod touched;
mod verbs;

pub use client_settings::{changes_our_entries, is_client_settings, names_switch};
pub use places::{Guarded, plain};
pub use switches::types_operator_verb;
pub use verbs::is_operators;

/// The program's name.
pub const PROGRAM: &str = "brain-guard";

/// Whether a file tool would write to one of the operator's files. Callers check the path as
/// given and as resolved.
pub fn writes_guarded(path: &str, guarded: &Guarded) -> bool {
    guarded.is_guarded(path) || guarded.is_program(path)
}

/// A cheap test that rules out most commands. `plugin` is the folder that the client runs us from.
pub fn may_touch_guarded(command: &str, cwd: &str, plugin: Option<&str>) -> bool {
    let quoted = |b: u8| matches!(b, b'"' | b'\'' | b'\\');
    let bare: String;
    let text = if command.bytes().any(quoted) {
        bare = command.chars().filter(|c| !matches!(c, '"' | '\'' | '\\')).collect();
        bare.as_str()
    } else {
        command
    };
    let has = |part: &str| text.contains(part);
    has(PROGRAM)
        || client_settings::SWITCHES.iter().any(|switch| has(switch))
        || plugin.is_some_and(has)
        || (has("claude") && has("plugin"))
        || cwd.contains(PROGRAM)
        // A `file:` URL may hide our name in percent encoding.
        || (has("file:") && has("%"))
        // Removing or moving a folder affects everything inside it.
        || has("rm ")
        || has("mv ")
}

/// Whether a shell command plainly turns the guard off, or would change our settings, state or
/// program. `cwd` is the working folder of the agent's shell.
pub fn shell_touches_guarded(command: &str, cwd: &str, guarded: &Guarded) -> bool {
    let plain = command.replace("${IFS}", " ").replace("$IFS", " ");
    let all = programs::expand_commands(&plain);
    switches::taken(&plain, &all, guarded) || touched::touches_files(&plain, &all, cwd, guarded)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guarded() -> Guarded {
        Guarded {
            home: Some("/home/u".into()),
            states: "/home/u/.local/state/brain-guard".into(),
            kept: vec![
                "/home/u/.claude/brain-guard/settings.json".into(),
                "/home/u/.claude/brain-guard/templates".into(),
            ],
            program: vec![
                "/home/u/.local/share/brain-guard".into(),
                "/home/u/.local/bin/brain-guard".into(),
            ],
        }
    }

    fn touches(command: &str) -> bool {
        may_touch_guarded(command, "/p", None) && shell_touches_guarded(command, "/p", &guarded())
    }

    #[test]
    fn the_override_is_found_where_commands_stand() {
        for command in [
            "brain-guard override --for 30m",
            "ls; brain-guard  override",
            "/home/u/.local/bin/brain-guard override --off",
            "\"/a b/brain-guard\" override",
            "env -u CLAUDECODE brain-guard override",
            "X=1 timeout 5 brain-guard override",
            "bash -c 'brain-guard override'",
            "brain-gu\"\"ard over''ride --off",
            "\\brain-guard override",
            "brain-guard${IFS}override",
            "echo brain-guard override | sh",
            "sh <<'E'\nbrain-guard override\nE",
            "bash <(echo brain-guard override)",
            "echo override | xargs brain-guard",
            "python3 -c 'import os; os.system(\"brain-guard override\")'",
            "tmux send-keys -t 0 '/brain-guard:override --for 7d' Enter",
            "brain-guard uninstall",
            "echo '{}' | brain-guard hook",
            "pkill -9 brain-guard",
            "kill $(pgrep -f brain-guard)",
            "kill $(ps aux | grep brain-guard | awk '{print $2}')",
            "claude plugin disable brain-guard",
        ] {
            assert!(touches(command), "{command}");
        }
        for command in [
            "brain-guard append --kind why 'no override needed'",
            "brain-guard append 'brain-guard override is the user s'",
            "git commit -m 'document brain-guard override'",
            "git commit -m \"$(cat <<'EOF'\nDocument it\n\nbrain-guard override\nEOF\n)\"",
            "grep -r 'brain-guard override' docs",
            "grep -rl 'brain-guard override' docs | xargs grep -n off",
            "cat > docs/a.md <<'E'\n    brain-guard override --for 30m\nE",
            "brain-guard override --help",
            "kill 1234; ls brain-guard",
            "ps aux | grep brain-guard",
            "claude plugin list",
            "kill $(lsof -ti:3000); grep -rn port /home/u/brain-guard/src",
            "ls",
        ] {
            assert!(!touches(command), "{command}");
        }
    }

    #[test]
    fn settings_state_and_program() {
        let guarded = guarded();
        let state = "/home/u/.local/state/brain-guard/p-1";
        for path in [
            format!("{state}/sessions/x.json"),
            format!("{state}/own/parser"),
            format!("{state}/log.jsonl"),
            format!("{state}/log.1.jsonl"),
            "/home/u/.claude/brain-guard/templates/deny-tier.md".into(),
            "/p/.brain-guard/settings.json".into(),
            "/home/u/.claude/brain-guard/settings.json".into(),
            "/home/u/.local/share/brain-guard/current/hooks/hooks.json".into(),
        ] {
            assert!(writes_guarded(&path, &guarded), "{path}");
        }
        for path in [
            format!("{state}/jobs/a/compaction.md"),
            format!("{state}/outputs/a.txt"),
            "/p/settings.json".into(),
            "/home/u/.local/state/brain-guardian/sessions/x".into(),
        ] {
            assert!(!writes_guarded(&path, &guarded), "{path}");
        }
        for command in [
            "echo {} > .brain-guard/settings.json",
            "cd .brain-guard && echo {} > settings.json",
            "rm -r /home/u/.local/state/brain-guard/p-1",
            "rm -r ~/.local/state/brain-guard",
            "python3 fix.py ~/.local/state/brain-guard/*/sessions/x.json",
            "cd ~/.local/state/brain-guard/p-1 && rm -r sessions",
            "cp x $HOME/.claude/brain-guard/settings.json",
            "mv ~/.local/bin/brain-guard /tmp",
            "cp /tmp/x ~/.local/bin/brain-guard -f",
            "sed -ni d ~/.local/share/brain-guard/current/hooks/hooks.json",
            "for f in .brain-guard/settings.json; do rm $f; done",
            "X=.brain-guard/settings.json; rm $X",
            "PATH=. X=.brain-guard/settings.json; cat $X",
            "awk '{print > f}' f=.brain-guard/settings.json",
            "brain-guard append --file .brain-guard/settings.json x && ls",
            "find .brain-guard/settings.json -delete",
            "echo $(true # '\n); rm .brain-guard/settings.json",
            "cat x 2>&1#; rm .brain-guard/settings.json",
            "cat x | tee .brain-guard/settings.json",
            "cat x >> .brain-guard/settings.json",
            "cp -t .brain-guard settings.json && cp x .brain-guard/settings.json",
            "chmod -x $(which brain-guard)",
            "sudo rm -rf ~/.local/state",
            "mv -t /tmp ~/.local/state",
            "(cd ~/.local && rm -rf state)",
            "git checkout -- ~/.claude/brain-guard/settings.json",
            "git checkout HEAD > .brain-guard/settings.json",
            "patch -p1 <<'E'\n--- a/.brain-guard/settings.json\n+++ b/.brain-guard/settings.json\nE",
            "ln -sf /tmp/x ~/.claude/brain-guard/templates",
            "echo '{\"disableAllHooks\":true}' > .claude/settings.json",
        ] {
            assert!(touches(command), "{command}");
        }
        for command in [
            "cat .brain-guard/settings.json",
            "cat .brain-guard/settings.json  # don't forget the project's",
            "git commit -am 'Fix #12: read .brain-guard/settings.json early'",
            "[[ -f .brain-guard/settings.json ]] && cat .brain-guard/settings.json",
            "if [ -f .brain-guard/settings.json ]; then cat .brain-guard/settings.json; fi",
            "for f in .brain-guard/settings.json a.json; do cat \"$f\"; done",
            "git --no-pager diff .brain-guard/settings.json",
            "python3 -m json.tool .brain-guard/settings.json",
            "brain-guard append --kind risk 'it names .brain-guard/settings.json' && git status",
            "gh pr create --title x --body 'Touches .brain-guard/settings.json'",
            "sed -n 1,50p ~/.local/share/brain-guard/current/hooks/hooks.json",
            "cp -r ~/.local/share/brain-guard/current/templates /tmp/x",
            "cp .brain-guard/settings.json /tmp/copy.json",
            "mkdir -p docs && cat .brain-guard/settings.json > docs/copy.json",
            "jq '.tiers | keys' ~/.claude/brain-guard/settings.json",
            "git add .brain-guard/settings.json && git commit -m 'add .brain-guard/settings.json'",
            "tail -n 3 ~/.local/state/brain-guard/*/log.jsonl | jq .kind",
            "cp -r .brain-guard/jobs /tmp/backup",
            "~/.local/bin/brain-guard status --json | jq .stance",
            "cd / && rm -rf tmp/x && rm -rf /home/u/project/target ~/.local/state/nvim",
            "mv ~/Downloads/a ~/.local/bin/ && cp x ~/.local/state/",
            "git commit -m 'rm -rf ~/.local/state takes the guard along'",
            "jq '.theme=1' ~/.claude/settings.json > t && mv t ~/.claude/settings.json",
            "git checkout main -- .brain-guard/settings.json; git stash pop",
            "grep -rn disableAllHooks .claude/settings.json",
            "cat > docs/hooks.md <<'E'\nset disableAllHooks in .claude/settings.json\nE",
        ] {
            assert!(!touches(command), "{command}");
        }
        assert!(shell_touches_guarded("rm -r sessions", state, &guarded));
    }

    /// The call waits for this check. If it takes too long, the client allows the call.
    #[test]
    #[allow(clippy::disallowed_methods, reason = "the test is about time")]
    fn no_spelling_makes_the_look_long() {
        let long = |unit: &str| unit.repeat(400_000 / unit.len());
        let begun = std::time::Instant::now();
        for command in [
            format!("brain-guard; find {}", long("-exec ")),
            format!("brain-guard; find {}", "-exec find ".repeat(60)),
            format!("brain-guard; rm '{}'", long("/home/u/.local/state/brain-guard")),
            format!("brain-guard {}", long("$(")),
            format!("cd ~/.local; cd ~/.claude; cd; cd /; rm {}", long("a ")),
            format!("brain-guard; {}", long("cd a;")),
        ] {
            let _ = touches(&command);
        }
        // Milliseconds in a release build, minutes if parts are checked repeatedly. The bound
        // leaves room for a machine that runs other tests, too.
        assert!(begun.elapsed().as_secs() < 30, "{:?}", begun.elapsed());
    }
}
