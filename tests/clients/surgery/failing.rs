//! Something fails while a session is shortened, or a prompt comes first. The run goes on in one of
//! the two sessions, the user is told, and what failed works later.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::time::Duration;

use super::live::{DONE, TABLE};
use super::played::NEXT;
use super::saved::{Place, Saved, agree};
use crate::support::client::Tui;
use crate::support::process;
use crate::support::world::World;

/// How a line begins that says that nothing changed.
const STAYS: &str = "the session stays as it was: ";

/// What the program does when it is asked to make the successor, by the word in the file `fault`.
const PROGRAM: &str = r#"#!/bin/sh
fault=$(cat FOLDER/fault 2>/dev/null)
[ -n "$fault" ] && [ "$1 $2" = 'mod operate' ] || exec PROGRAM "$@"
case $fault in
missing) rm "$0" && exit 127 ;;
crashing) kill -SEGV $$ ;;
garbled) echo 'no JSON' ;;
silent) echo '{}' ;;
slow) sleep 3 && exec PROGRAM "$@" ;;
hanging) exec sleep 30 ;;
refused) exec PROGRAM "$@" ;;
deleted | damaged)
    answer=$(PROGRAM "$@")
    id=${answer#*\"successor\":\"}
    file=$(echo "$HOME"/.claude/projects/*/"${id%%\"*}.jsonl")
    test -f "$file" && rm "$file"
    [ "$fault" = deleted ] || echo 'no session' >"$file"
    echo "$answer"
    ;;
esac
"#;

/// A session whose program fails as told.
struct Failing {
    saved: Saved,
    folder: tempfile::TempDir,
}

impl Failing {
    fn play() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let script = folder.path().join("brain-guard");
        let text = PROGRAM.replace("FOLDER", &folder.path().display().to_string());
        fs::write(&script, text.replace("PROGRAM", env!("CARGO_BIN_EXE_brain-guard")))
            .expect("own file");
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("own file");
        let saved = Saved::play(World::build().guard_binary(&script));
        let failing = Self { saved, folder };
        failing.adapt_module();
        failing
    }

    fn fault(&self) -> PathBuf {
        self.folder.path().join("fault")
    }

    /// Shortens the module's patience, and lets it fail to resume if it is told to.
    fn adapt_module(&self) {
        let path = self.saved.world.plugin("brain-guard").join("hooks/brain-guard.tsx");
        let mut text = fs::read_to_string(&path).expect("the module");
        let resume = "await resume($, ";
        let fault = self.fault();
        let refuse = format!(
            "if ((await $.fs.read('{}').catch(() => '')) === 'refused') throw new Error('refused')\n",
            fault.display()
        );
        for (old, new) in [
            ("LONG_TIMEOUT_MS = 60_000", "LONG_TIMEOUT_MS = 6_000"),
            (resume, &format!("{refuse}{resume}")),
        ] {
            assert_eq!(text.matches(old).count(), 1, "{old}");
            text = text.replace(old, new);
        }
        fs::write(&path, text).expect("own file");
    }

    /// Agrees to the proposal while the program fails.
    fn agree(&self, fault: &str) -> Tui {
        self.saved.world.evidence.add("fault", {
            let fault = fault.to_owned();
            move || fault.clone()
        });
        let tui = self.saved.propose();
        fs::write(self.fault(), fault).expect("own file");
        agree(&tui);
        tui
    }

    /// Ends the fault.
    fn mend(&self) {
        fs::remove_file(self.fault()).expect("own file");
        let program = self.saved.world.plugin("brain-guard").join("bin/brain-guard");
        if !program.exists() {
            fs::copy(self.folder.path().join("brain-guard"), program).expect("own file");
        }
    }

    /// Sends a prompt, and returns the session that it went to.
    fn ask(&self, tui: &Tui) -> Place {
        let before = self.saved.world.mock.main().len();
        tui.prompt(NEXT);
        let request = self.saved.world.mock.wait_main(before + 1);
        tui.wait_idle();
        self.saved.place(&request)
    }

    /// The session stays as it was, the user reads `said`, and surgery works without the fault.
    fn stays(&self, fault: &str, said: &str) {
        let tui = self.agree(fault);
        tui.wait_screen(said, |screen| flat(screen).contains(said));
        tui.wait_idle();
        self.mend();
        assert_eq!(self.ask(&tui), Place::Original, "{fault}");
        self.saved.shorten(&tui, &self.saved.original);
        self.saved.assert_original();
        tui.quit();
    }
}

/// The screen without line breaks.
fn flat(screen: &str) -> String {
    screen.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_session_stays_where_surgery_fails_and_the_user_is_told() {
    let failing = Failing::play();
    for (fault, said) in [
        ("crashing", STAYS),
        ("garbled", STAYS),
        ("silent", "operate failed: the program did not answer"),
        ("hanging", STAYS),
        ("deleted", STAYS),
        ("damaged", "has no rows"),
        ("refused", "/brain-guard:slim yes tries again"),
        ("missing", "brain-guard: operate failed: "),
    ] {
        failing.stays(fault, said);
    }
}

#[test]
fn a_slow_program_is_waited_for() {
    let failing = Failing::play();
    let tui = failing.agree("slow");
    tui.wait_screen("the successor", |screen| screen.contains(DONE));
    tui.wait_idle();
    failing.mend();
    assert_eq!(failing.ask(&tui), Place::Successor);
    tui.quit();
}

#[test]
fn a_prompt_that_comes_first_is_answered_in_the_original() {
    let failing = Failing::play();
    let tui = failing.agree("slow");
    tui.wait_screen("the work", |screen| screen.contains("Making the session in which"));
    assert_eq!(failing.ask(&tui), Place::Original);
    tui.wait_screen("the successor", |screen| screen.contains(DONE));
    tui.wait_idle();
    failing.mend();
    let before = failing.saved.world.mock.main().len();
    tui.prompt("and then?");
    let request = failing.saved.world.mock.wait_main(before + 1);
    assert_ne!(request.session.as_ref(), Some(&failing.saved.original));
    assert!(request.said(TABLE) && request.said(NEXT), "the prompt came along: {request}");
    tui.wait_idle();
    tui.quit();
}

#[test]
fn a_prompt_at_any_instant_is_answered_in_a_whole_session() {
    let saved = Saved::play(World::build());
    for n in 0..if super::is_long() { 30 } else { 4 } {
        let instant = saved.instant(n);
        saved.world.evidence.add("instant", move || format!("{n}: {instant:?} after yes"));
        let tui = saved.propose();
        let began = agree(&tui);
        std::thread::sleep(instant.saturating_sub(began.elapsed()));
        let before = saved.world.mock.main().len();
        tui.type_text(NEXT);
        tui.keys("Enter");
        // The client may leave the text in the box if it changes sessions. The user then sends it.
        let is_left = || tui.prompt_box().as_deref() == Some(NEXT);
        let main = || saved.world.mock.main().get(before).cloned();
        tui.wait_screen("the successor", |screen| screen.contains(DONE));
        let sent = process::poll(Duration::from_secs(2), Duration::from_millis(50), main);
        let request = sent.unwrap_or_else(|| {
            assert!(is_left(), "the prompt is neither sent nor in the box");
            tui.keys("Enter");
            saved.world.mock.wait_main(before + 1)
        });
        let place = saved.place(&request);
        println!("a prompt after {instant:?}: {place:?}");
        tui.wait_idle();
        assert_eq!(saved.world.mock.main().len(), before + 1, "answered once");
        saved.assert_original();
        tui.quit();
        process::kill_with_home(&saved.world.home());
    }
}
