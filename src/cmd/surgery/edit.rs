//! `surgery edit`: opens the list of rounds in the user's editor, shows what it would do, and asks.

use std::fs;
use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, anyhow, bail};

use super::source::Store;
use super::target::Destination;
use super::{Children, pipeline};
use crate::cli::OutputArgs;
use crate::cmd::{Context, Exit, Failure, ask, out, show, stdin_text, succession};
use base::atomic;
use base::env::Env;
use sessions::operation::{Fates, Operation, Order};
use sessions::round::Session;
use surgery::plan::edit::{self, Mistake};
use surgery::table::short;

/// Edits a session by the list in a file, or in the editor.
pub fn run(
    context: Context,
    session: Option<&str>,
    plan: Option<&Path>,
    output: &OutputArgs,
) -> anyhow::Result<Exit> {
    let env = context.env;
    let store = Store::open(env)?;
    let session = store.session(env, session)?;
    let make = |order: &Order, to| {
        let made = pipeline::perform(context, &store, &session, order, to)?;
        show(&Children(made), output.json)
    };
    if let Some(path) = plan {
        let fates = edit::parse(&read(path)?, &session)
            .map_err(|mistakes| anyhow!("{}\nnothing was made", told(path, &mistakes)))?;
        if fates.is_empty() {
            bail!("{} names no round; nothing was made", path.display());
        }
        let order = output.order(Operation::Edit(fates));
        if output.here {
            return succession::ask(context, &store, &session, order);
        }
        make(&order, output.into())?;
        return Ok(Exit::Done);
    }
    if !(io::stdin().is_terminal() && io::stdout().is_terminal()) {
        let what = "there is no terminal for an editor";
        return Err(Failure::usage(what).hint("give the list with --plan FILE").into());
    }
    let list = List::begin(&store, &session)?;
    let Some(fates) = list.edited(env, &session)? else {
        list.remove()?;
        out("no round was left in the list; nothing was made");
        return Ok(Exit::Refused);
    };
    let order = output.order(Operation::Edit(fates));
    make(&order, Destination { dry_run: true, ..output.into() })?;
    let question = if output.here { "make it, and go on in it?" } else { "make it?" };
    if !output.dry_run && !agreed(question)? {
        out(format_args!("nothing was made; the list is {}", list.0.display()));
        return Ok(Exit::Refused);
    }
    if output.here {
        succession::ask(context, &store, &session, order)?;
    } else if !output.dry_run {
        make(&order, output.into())?;
    }
    list.remove()?;
    Ok(Exit::Done)
}

/// The list in a file, or on stdin for `-`.
fn read(path: &Path) -> anyhow::Result<String> {
    if path == Path::new("-") {
        return stdin_text();
    }
    let shown = path.display();
    atomic::read_text(path)
        .with_context(|| format!("could not read {shown}"))?
        .with_context(|| format!("there is no file {shown}"))
}

/// The mistakes in a list, each with its line.
fn told(path: &Path, mistakes: &[Mistake]) -> String {
    let lines = mistakes.iter().map(|mistake| format!("{}:{mistake}", path.display()));
    lines.collect::<Vec<_>>().join("\n")
}

/// The file with the list.
struct List(PathBuf);

impl List {
    /// Writes the list of a session into the store, which only the user can read.
    fn begin(store: &Store, session: &Session) -> anyhow::Result<Self> {
        let path = store.root.path().join(format!("edit-{}.txt", short(&session.id)));
        fs::write(&path, edit::list(session))
            .with_context(|| format!("could not write {}", path.display()))?;
        Ok(Self(path))
    }

    /// Opens the editor until the list has no mistake; `None` if it is empty.
    fn edited(&self, env: &Env, session: &Session) -> anyhow::Result<Option<Fates>> {
        loop {
            self.open(env)?;
            match edit::parse(&read(&self.0)?, session) {
                Ok(fates) => return Ok(Some(fates).filter(|fates| !fates.is_empty())),
                Err(mistakes) => {
                    out(told(&self.0, &mistakes));
                    if !agreed("edit it again?")? {
                        bail!("nothing was made; the list is {}", self.0.display());
                    }
                }
            }
        }
    }

    /// Starts the user's editor as Git does, and waits for it.
    fn open(&self, env: &Env) -> anyhow::Result<()> {
        let set = |name| env.get(name).filter(|editor| !editor.trim().is_empty());
        let editor = set("VISUAL").or_else(|| set("EDITOR")).unwrap_or_else(|| "vi".to_owned());
        let status = Command::new("sh")
            .args(["-c", &format!("{editor} \"$@\""), &editor])
            .arg(&self.0)
            .status()
            .with_context(|| format!("could not start the editor `{editor}`"))?;
        if !status.success() {
            bail!("the editor `{editor}` failed ({status}); nothing was made");
        }
        Ok(())
    }

    fn remove(&self) -> anyhow::Result<()> {
        fs::remove_file(&self.0).with_context(|| format!("could not remove {}", self.0.display()))
    }
}

/// Asks on the terminal; everything but yes is no.
fn agreed(question: &str) -> io::Result<bool> {
    let answer = ask(&format!("{question} [y/n] "))?;
    Ok(["y", "yes"].contains(&answer.to_lowercase().as_str()))
}
