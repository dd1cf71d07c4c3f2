//! `show`: prints a round from the store, by its number in an index table. It changes nothing.

mod edition;
mod number;

use anyhow::{Context as _, bail};
use serde::Serialize;

use self::edition::Which;
use self::number::RoundTarget;
use super::surgery::source::Store;
use super::{Context, Exit, Failure, Run, err, out, out_json, selector};
use crate::cli::ShowRoundArgs;
use base::env::Env;
use sessions::dialect;
use sessions::operation::{Fidelity, Level};
use sessions::round::{Round, Session};
use store::blocks::{self, Folder, Reader};
use store::index::Numbers;
use surgery::inject;
use surgery::table::{self, short};

/// A round with its text, or the lines of several.
#[derive(Debug, Clone, Serialize)]
pub struct Injected {
    /// Its session.
    pub session: String,
    /// Their data.
    #[serde(flatten)]
    pub rounds: Rounds,
    /// The page, as Markdown.
    pub text: String,
}

/// The data of one round, or of several.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Rounds {
    /// One.
    Round(Box<Round>),
    /// Several.
    Rounds(Vec<Round>),
}

impl Run for ShowRoundArgs {
    fn run(&self, Context { env, .. }: Context) -> anyhow::Result<Exit> {
        let found = find_round(env, self)?;
        if self.json {
            out_json(&found)?;
        } else {
            out(found.text.trim_end());
        }
        Ok(Exit::Done)
    }
}

/// The round that the arguments name.
///
/// # Errors
/// No such session or round; blocks that cannot be read.
pub fn find_round(env: &Env, args: &ShowRoundArgs) -> anyhow::Result<Injected> {
    let Some(wanted) = inject::parse(&args.round) else {
        bail!(
            "`{}` is not a round: give its number, or SESSION:NUMBER, as in 3f0a9d1e:47; for the lines of several, 3f0a9d1e:1-15",
            args.round
        );
    };
    if let (Some(long), Some(session)) = (&wanted.session, &args.session) {
        bail!("{} names its session itself ({long}); leave --session {session} out", args.round);
    }
    let store = Store::open(env)?;
    let seq = wanted.seqs[0];
    let (folder, session, numbers) = match &wanted.session {
        Some(id) => {
            let (folder, session) = load(env, &store, id, seq)?;
            (folder, session, None)
        }
        None => resolve_number(env, &store, args, seq)?,
    };
    if wanted.seqs.len() > 1 {
        return Ok(unfold(session, &wanted.seqs));
    }
    let dialect = dialect::named(&session.dialect)
        .with_context(|| format!("sessions of {} can't be read", session.dialect))?;
    let which = match &numbers {
        Some(numbers) => edition::find_edition(&folder, numbers.blocks)?,
        None => Which::Present,
    };
    let failed = || format!("could not read round {seq} of {}", session.id);
    let (mut rows, id) = (blocks::Rows::default(), short(&session.id));
    let (round, note) = match &which {
        Which::Aside(aside) => {
            let round = edition::round(aside, dialect, seq, &mut rows).with_context(failed)?;
            let note = format!(
                "The file of {id} was rewritten after the table was made; this is the round {seq} that the table names."
            );
            (round, Some(note))
        }
        Which::Present | Which::Unknown => {
            let note = (which == Which::Unknown).then(|| format!("The file of {id} was rewritten, and the rounds that the table was made from are unknown: this is its round {seq} now."));
            let Some(round) = session.round(seq) else {
                bail!("there is no round {seq} in {}: {}", session.id, session.describe_rounds());
            };
            Reader::open(&folder)?.round(seq, &mut rows).with_context(failed)?;
            (round.clone(), note)
        }
    };
    let lines: Vec<&[u8]> = rows.iter().collect();
    let mut text = inject::text(&session, &round, &lines, dialect, fidelity(args));
    if let Some(note) = note {
        text.insert_str(0, &format!("> {note}\n\n"));
    }
    Ok(Injected { rounds: Rounds::Round(Box::new(round)), text, session: session.id })
}

/// The page of a round that was read from the store.
pub(crate) fn page(
    store: &Store,
    session: &Session,
    round: &Round,
    fidelity: Fidelity,
) -> anyhow::Result<String> {
    let dialect = dialect::named(&session.dialect)
        .with_context(|| format!("sessions of {} can't be read", session.dialect))?;
    let mut rows = blocks::Rows::default();
    Reader::open(&store.folder(session))?.round(round.seq, &mut rows)?;
    let lines: Vec<&[u8]> = rows.iter().collect();
    Ok(inject::text(session, round, &lines, dialect, fidelity))
}

/// The lines of several rounds, as a table that was not folded would have them.
fn unfold(session: Session, seqs: &[u32]) -> Injected {
    let rounds = session.rounds.iter().filter(|round| seqs.contains(&round.seq));
    let rounds: Vec<Round> = rounds.cloned().collect();
    let lines: Vec<String> = rounds.iter().map(table::line).collect();
    let first = rounds.first().map_or(1, |round| round.seq);
    let text = format!(
        "# Rounds of {}\n\n{}\n{}\n\nOne in full: brain-guard show {}\n",
        short(&session.id),
        table::HEAD,
        lines.join("\n"),
        table::reference(&session, first)
    );
    Injected { rounds: Rounds::Rounds(rounds), text, session: session.id }
}

/// The session that a bare number belongs to. If an index table names the number, also that table's
/// rounds.
fn resolve_number(
    env: &Env,
    store: &Store,
    args: &ShowRoundArgs,
    seq: u32,
) -> anyhow::Result<(Folder, Session, Option<Numbers>)> {
    // Do not guess another session: its round of the same number would be mistaken for this one.
    let id = match args.session.as_deref() {
        Some(name) => selector::named(env, Some(name))?,
        None => selector::this(env).map_err(|_| {
            let what =
                "a number alone is a round of the session that this runs in, and it runs in none";
            Failure::not_found(what).hint(format_args!("write SESSION:{seq}, as in 3f0a9d1e:{seq}"))
        })?,
    };
    Ok(match number::of(store, &id, seq)? {
        RoundTarget::Named(numbers) => {
            let (folder, session) = load(env, store, &numbers.session, seq)?;
            (folder, session, Some(numbers))
        }
        RoundTarget::Own(name) => {
            let (folder, session) = load(env, store, &name, seq)?;
            (folder, session, None)
        }
    })
}

/// How much of the round to print. A single part leaves the others out.
fn fidelity(args: &ShowRoundArgs) -> Fidelity {
    let only =
        |part: &str| if args.part.as_deref() == Some(part) { Level::Full } else { Level::Omit };
    match args.part {
        None => args.fidelity.into(),
        Some(_) => Fidelity {
            thinking: only("thinking"),
            tool_use: only("tool_use"),
            tool_result: only("tool_result"),
            ..Fidelity::default()
        },
    }
}

/// A session from the store, updated in case the round has grown. If it cannot be updated, as in a
/// read-only sandbox, it is read as it is.
fn load(env: &Env, store: &Store, id: &str, seq: u32) -> anyhow::Result<(Folder, Session)> {
    let known = match store.root.find(id)?.as_slice() {
        [folder] => store.index.session(folder).ok().map(|session| (folder.clone(), session)),
        _ => None,
    };
    let known = match known {
        // Only the last round grows.
        Some(known) if known.1.rounds.last().is_some_and(|last| last.seq > seq) => {
            return Ok(known);
        }
        known => known,
    };
    match (store.imported(env, id), known) {
        (Ok(folder), _) => {
            let session = store.index.session(&folder)?;
            Ok((folder, session))
        }
        (Err(why), Some(known)) => {
            if known.1.rounds.iter().any(|round| round.seq == seq) {
                return Ok(known);
            }
            err(format_args!("the store is not up to date: {why:#}"));
            Ok(known)
        }
        (Err(why), None) => Err(why),
    }
}
