//! Surgery on the running session: proposes it to the user, and performs it between turns. The
//! program makes a successor offline, and the plugin's module goes on in it.

mod perform;

use std::io;
use std::path::Path;

use anyhow::bail;
use serde_json::{Value, json};

use super::surgery::made::Made;
use super::surgery::source::Store;
use super::surgery::{make, view};
use super::{Context, Exit, Failure, advise, import, operator, out, selector};
use crate::cli::{OutputArgs, SessionSelector};
use ::surgery::plan::Plan;
use base::atomic;
use base::clock::Time;
use base::env::{self, Env};
use base::paths::short_digest;
use base::shown::{self, shell_quote};
use guard::files::succession;
use guard::hook::facts::Facts;
use guard::succession::{By, Step, Succession, Tokens, Work};
use sessions::settings::AgentMay;

pub use perform::{operate, step};

/// What an extraction does, for the user.
const EXTRACTED: &str = "long values of old messages become placeholders";

/// Runs a command as typed at the client's prompt, and returns the answer.
pub fn at_the_prompt(facts: &Facts, command: &str, args: &str) -> String {
    operator::refuse_prompt_of_agent(&facts.places, command)
        .map_err(anyhow::Error::from)
        .and_then(|()| answer(facts, command, args.trim()))
        .unwrap_or_else(|e| format!("brain-guard: {e:#}"))
}

fn answer(facts: &Facts, command: &str, args: &str) -> anyhow::Result<String> {
    if facts.token().is_some_and(|token| token.awaits_carrier_or_cancelled(facts.id)) {
        bail!("the notes are sealed, so this session is cleared soon; /brain-guard:later keeps it");
    }
    match (command, args) {
        (_, "no") => decline(facts),
        ("undo", "") => go_back(facts),
        ("undo", "redo") => go_again(facts),
        ("undo", _) => bail!("/brain-guard:undo goes back; /brain-guard:undo redo goes on again"),
        (_, "yes") => agree(facts),
        ("slim", "") => propose_advice(facts),
        ("edit", "") if facts.seen.mod_alive && popup(facts).is_some() => {
            wake(facts, &json!({"popup": popup(facts), "at": facts.now}))?;
            Ok("brain-guard: edit the list, save it, and say yes".to_owned())
        }
        ("edit", "") => Ok(format!(
            "brain-guard: run `brain-guard surgery edit {}` in another terminal, and then /resume here with the new session's id",
            facts.id
        )),
        ("extract", _) => propose_extraction(facts, args),
        _ => bail!("say yes or no, or nothing to see what it would do"),
    }
}

/// `--here`: an operation on the session that this runs in, as on the command line or by the list
/// in a file. The user agrees, here or at the prompt.
///
/// # Errors
/// Another session, a setting that forbids it, or no module that could perform it.
pub fn ask(
    Context { env, now }: Context,
    store: &Store,
    plan: Plan,
    output: &OutputArgs,
    list: Option<&Path>,
) -> anyhow::Result<Exit> {
    let dry = OutputArgs { dry_run: true, here: false, ..output.clone() };
    let made = make::make_session(env, now, store, plan, &dry)?;
    let words = match list {
        Some(list) => {
            ["surgery", "edit", "this", "--plan", &list.to_string_lossy()].map(str::to_owned).into()
        }
        None => typed().collect(),
    };
    let what = format!("rounds {}", view::rounds(&made.plan));
    ask_for(Context { env, now }, &made, words, what)
}

/// `extract run --here`.
///
/// # Errors
/// As [`ask`].
pub fn ask_for_extraction(context: Context, made: &Made) -> anyhow::Result<Exit> {
    let words = typed().chain(["--again".to_owned()]).collect();
    ask_for(context, made, words, EXTRACTED.to_owned())
}

/// The verb and its arguments as given, without `--here`.
fn typed() -> impl Iterator<Item = String> {
    std::env::args().skip(1).filter(|word| !["--here", "--again"].contains(&word.as_str()))
}

fn ask_for(
    Context { env, now }: Context,
    made: &Made,
    words: Vec<String>,
    what: String,
) -> anyhow::Result<Exit> {
    let tokens = Tokens { before: made.cost.before, after: made.cost.after };
    let session = made.plan.sessions.first().map(|session| session.id.as_str());
    out(here(env, now, session.unwrap_or_default(), words, what, tokens)?);
    Ok(Exit::Done)
}

/// Proposes it, and returns the answer.
///
/// # Errors
/// As [`ask`].
pub fn here(
    env: &Env,
    now: Time,
    session: &str,
    work: Vec<String>,
    what: String,
    tokens: Tokens,
) -> anyhow::Result<String> {
    let found = selector::find(env, &SessionSelector::default())?;
    let facts = selector::facts(env, now, &found)?;
    if facts.id != session {
        let what = format!("--here is for the session this runs in, not for {session}");
        return Err(Failure::usage(what).into());
    }
    if !facts.seen.mod_alive {
        let what = "the plugin's module does not run in this session, which --here needs";
        return Err(Failure::refused(what).hint("leave --here out, and resume the session").into());
    }
    let by = if operator::is_agent(env) { By::Agent } else { By::User };
    let may = if by == By::User { AgentMay::On } else { facts.settings.surgery.agent };
    if may == AgentMay::Off {
        let what = "the user's setting surgery.agent is off";
        return Err(Failure::refused(what).hint("propose the command to the user").into());
    }
    let mut made = new(&facts, Work::Make(work), what, Some(tokens), by);
    made.goes_on = by == By::Agent;
    if may == AgentMay::On {
        made.advance(Step::Agreed, now);
    }
    succession::create(&facts.places, &made)?;
    if by == By::User {
        wake(&facts, &json!({"agreed": made.id, "at": now}))?;
    }
    let (what, saving) = (&made.what, saving(tokens));
    Ok(match (may, by) {
        (AgentMay::On, By::User) => {
            format!("{what} ({saving}); it is done now, or when the turn ends")
        }
        (AgentMay::On, By::Agent) => format!(
            "{what} ({saving}). It is done when your turn ends: end it now, and you are asked to go on"
        ),
        _ => format!(
            "the user is asked: {what} ({saving}). If they agree, it is done when your turn ends. Go on with your work"
        ),
    })
}

fn new(facts: &Facts, work: Work, what: String, tokens: Option<Tokens>, by: By) -> Succession {
    let seed = format!("{}{what}{}", facts.id, facts.now.to_rfc3339());
    Succession {
        id: short_digest(seed.as_bytes()),
        from: facts.id.to_owned(),
        work,
        what,
        tokens,
        by,
        step: Step::Proposed,
        why: None,
        to: None,
        goes_on: false,
        client: facts.session.client,
        created: facts.now,
        since: facts.now,
    }
}

fn open(facts: &Facts) -> Option<Succession> {
    succession::open(&facts.places, facts.id, facts.session.client, facts.now)
}

/// `154k tokens now, 35k after`
fn saving(Tokens { before, after }: Tokens) -> String {
    format!("{} tokens now, {} after", shown::tokens(before), shown::tokens(after))
}

fn propose_advice(facts: &Facts) -> anyhow::Result<String> {
    if let Some(asked) =
        open(facts).filter(|open| open.step == Step::Proposed && open.by == By::Agent)
    {
        return Ok(format!("brain-guard: {}", proposal(&asked, "slim")));
    }
    let report = advise::Report::of(facts.env, facts.now, Some(facts.id))?;
    let Some((advice, words)) = report.compression() else {
        return Ok("brain-guard: no work here is known to be finished, and nothing else would free enough. /brain-guard:extract shows what long values take".to_owned());
    };
    let tokens = Tokens { before: report.tokens, after: advice.after.unwrap_or(report.tokens) };
    let what = what(&words);
    let made = new(facts, Work::Make(words), what, Some(tokens), By::User);
    succession::create(&facts.places, &made)?;
    Ok(format!("brain-guard: {}: {}\n{}", advice.case.words(), advice.why, proposal(&made, "slim")))
}

fn propose_extraction(facts: &Facts, args: &str) -> anyhow::Result<String> {
    let mut words: Vec<String> = ["extract", "run", facts.id, "--again"].map(str::to_owned).into();
    words.extend(args.split_whitespace().map(str::to_owned));
    let tokens = perform::dry_run(facts, &words)?;
    let made = new(facts, Work::Make(words), EXTRACTED.to_owned(), Some(tokens), By::User);
    succession::create(&facts.places, &made)?;
    Ok(format!("brain-guard: {}", proposal(&made, "extract")))
}

/// What a compression that `advise` recommends does.
fn what(words: &[String]) -> String {
    match words {
        [_, verb, _, point] if verb == "compress-before" => {
            let round = point.strip_prefix("round:").unwrap_or(point);
            format!("rounds before {round} become lines of a table")
        }
        _ => format!(
            "the rounds of {} become lines of a table",
            words.last().map_or("it", String::as_str)
        ),
    }
}

fn proposal(made: &Succession, command: &str) -> String {
    let saving = made.tokens.map(|tokens| format!(": {}", saving(tokens))).unwrap_or_default();
    format!(
        "{}{saving}\nThe conversation goes on in a new session in this pane. /brain-guard:undo goes back to this one, with the code checkpoints of /rewind.\n/brain-guard:{command} yes does it",
        made.what
    )
}

fn agree(facts: &Facts) -> anyhow::Result<String> {
    let Some(asked) = open(facts).filter(|open| open.step == Step::Proposed) else {
        bail!("nothing was proposed; /brain-guard:slim shows what can go");
    };
    begin(facts, &asked)
}

fn decline(facts: &Facts) -> anyhow::Result<String> {
    let declined = succession::update(&facts.places, facts.id, |open| {
        let is_open = open.step <= Step::Agreed;
        if is_open {
            open.fail("the user said no", facts.now);
        }
        is_open
    })?;
    if declined != Some(true) {
        bail!("nothing was proposed");
    }
    Ok("brain-guard: this session stays as it is".to_owned())
}

/// The session before, which is as it was.
fn go_back(facts: &Facts) -> anyhow::Result<String> {
    let parent = facts.session.parent.clone().filter(|parent| {
        let last = succession::load(&facts.places, parent).ok().flatten();
        last.is_some_and(|last| last.to.as_deref() == Some(facts.id) && last.step == Step::Done)
    });
    let Some(parent) = parent else {
        bail!(
            "nothing to undo: this session was not made by surgery in this client. `undo redo` goes on in one that was made of it"
        );
    };
    enter(facts, parent, "back in the session as it was. /brain-guard:undo redo goes on again")
}

/// The successor that the user went back from.
fn go_again(facts: &Facts) -> anyhow::Result<String> {
    let last = succession::load(&facts.places, facts.id)?;
    let Some(to) = last.filter(|last| last.step == Step::Done).and_then(|last| last.to) else {
        bail!("no surgery on this session was undone");
    };
    enter(facts, to, "again in the session that surgery made. /brain-guard:undo goes back")
}

fn enter(facts: &Facts, to: String, what: &str) -> anyhow::Result<String> {
    let made = new(facts, Work::Enter(to), what.to_owned(), None, By::User);
    succession::create(&facts.places, &made)?;
    begin(facts, &made)
}

/// Lets the module perform it, or says how the user does.
fn begin(facts: &Facts, asked: &Succession) -> anyhow::Result<String> {
    if facts.seen.mod_alive {
        succession::update(&facts.places, facts.id, |open| open.advance(Step::Agreed, facts.now))?;
        wake(facts, &json!({"agreed": asked.id, "at": facts.now}))?;
        return Ok(format!("brain-guard: {}", in_progress(&asked.what)));
    }
    let to = match &asked.work {
        Work::Enter(to) => to.clone(),
        Work::Make(words) => perform::make(facts, words)?,
    };
    succession::update(&facts.places, facts.id, |open| {
        open.to = Some(to.clone());
        open.advance(Step::Resuming, facts.now);
    })?;
    Ok(format!("brain-guard: {} Type /resume {to}", in_progress(&asked.what)))
}

/// The command that opens the list of rounds above the client's pane; `None` outside tmux.
fn popup(facts: &Facts) -> Option<Vec<String>> {
    let pane = facts.env.get("TMUX_PANE").filter(|_| facts.env.get("TMUX").is_some())?;
    let program = facts.env.program()?;
    let edit = format!("{} surgery edit this --here", shell_quote(&program.to_string_lossy()));
    let session = format!("{}={}", env::SESSION_ID, facts.id);
    let folder = facts.places.project.to_string_lossy();
    // The module lets no process run for as long as a person may edit.
    let words = [
        "sh",
        "-c",
        "\"$@\" >/dev/null 2>&1 &",
        "sh",
        "tmux",
        "display-popup",
        "-EE",
        "-t",
        &pane,
        "-w",
        "95%",
        "-h",
        "90%",
        "-d",
        &folder,
        "-e",
        &session,
        &edit,
    ];
    Some(words.map(str::to_owned).into())
}

/// Leaves a word for the module, which looks for it while no turn runs.
fn wake(facts: &Facts, word: &Value) -> io::Result<()> {
    let path = facts.places.snapshots().join(format!("{}.agreed", facts.id));
    atomic::write_unsynced(&path, word.to_string().as_bytes())
}

/// The answer while it is performed; the end is told in its own line.
fn in_progress(what: &str) -> String {
    format!("{}…", what.split(". ").next().unwrap_or(what))
}

/// What the status strip asks the user, if the agent proposed something.
pub fn question(facts: &Facts) -> Option<String> {
    let asked = open(facts).filter(|open| open.step == Step::Proposed && open.by == By::Agent)?;
    let saving = asked.tokens.map(saving).unwrap_or_default();
    Some(format!("The agent asks: {} ({saving}). /brain-guard:slim yes or no", asked.what))
}

/// The share of the tier `narrow` at which the user is told how to shorten the session.
const OFFERED_AT: f64 = 0.75;

/// Tells the user once, at a turn's end, that surgery could shorten this session. A figure needs
/// the session in the store, which is not made for it.
pub fn offer(facts: &mut Facts) -> Option<String> {
    if facts.session.offered || facts.settings.shadow || !facts.seen.interactive {
        return None;
    }
    let view = facts.view();
    let narrow = view.ramp.tiers().last()?.context;
    let percent = view.readings.context?.percent();
    if percent < narrow * OFFERED_AT {
        return None;
    }
    let root = import::root(facts.env).ok()?;
    let is_stored = root.find_exact(facts.id).is_ok_and(|found| !found.is_empty());
    let report =
        is_stored.then(|| advise::Report::of(facts.env, facts.now, Some(facts.id)).ok()).flatten();
    let frees = match &report {
        Some(report) => {
            let (advice, _) = report.compression()?;
            format!("would free {} tokens ({})", shown::tokens(advice.frees), advice.case.words())
        }
        None => "shows what could leave this session".to_owned(),
    };
    facts.update(|session| session.offered = true);
    Some(format!("the context is {percent:.0} % full. /brain-guard:slim {frees}"))
}
