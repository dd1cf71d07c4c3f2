//! A carrier without proofs, which types `/clear` and Enter at the Stop hook without checks.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::soak::stage::{Hooks, Stage};
use crate::support::client::Terminal;
use crate::support::desktop::Desktop;

/// A thread that types at each end of a session's turns; dropping it ends the thread.
pub struct Naive {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Naive {
    /// Types for this session into the focused window.
    pub fn start(stage: &Stage, terminal: &Terminal, parent: &str) -> Self {
        let stop = Arc::<AtomicBool>::default();
        let told = Arc::clone(&stop);
        let (terminal, desktop) = (terminal.clone(), stage.desktop.clone());
        let (folder, parent) = (stage.world.spied(), parent.to_owned());
        let known = ends(&mut Hooks::in_folder(folder.clone()), &parent);
        let thread = thread::spawn(move || {
            type_at_each_end(folder, &parent, known, &terminal, desktop.as_ref(), &told);
        });
        Self { stop, thread: Some(thread) }
    }
}

impl Drop for Naive {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn ends(hooks: &mut Hooks, parent: &str) -> usize {
    hooks.look().iter().filter(|seen| seen.is("Stop", "") && seen.session() == parent).count()
}

fn type_at_each_end(
    folder: PathBuf,
    parent: &str,
    mut known: usize,
    terminal: &Terminal,
    desktop: Option<&Desktop>,
    stop: &AtomicBool,
) {
    let mut hooks = Hooks::in_folder(folder);
    while !stop.load(Ordering::SeqCst) {
        let now = ends(&mut hooks, parent);
        if now > known {
            known = now;
            match (terminal, desktop) {
                (_, Some(desktop)) => {
                    desktop.type_text("/clear");
                    desktop.keys("Enter");
                }
                (Terminal::Tmux(pane), None) => {
                    // The pane may be closed, which is one of the scenarios.
                    let _ = pane.run(&["send-keys", "-t", "{}", "-l", "--", "/clear"]);
                    let _ = pane.run(&["send-keys", "-t", "{}", "Enter"]);
                }
                (Terminal::Xterm(_), None) => {}
            }
        }
        thread::sleep(Duration::from_millis(5));
    }
}
