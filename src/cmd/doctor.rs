//! `doctor`: checks the installation and its surroundings, one line per finding, each fault with
//! its fix. It only reads, except with `--fix`. That does what is safe: it never deletes jobs or
//! sealed files, and of the client's files it changes only what `install` writes.

mod carrier;
mod copies;
mod hooks;
mod installed;
mod openclaw;
mod state;
mod store;
mod switches;

use std::fmt;
use std::path::{Path, PathBuf};

use serde::Serialize;

use self::copies::Registered;
use super::install::installation::Installation;
use super::output::out_folded;
use super::{Context, Exit, Run, install, out_json, selector};
use crate::cli::{DoctorArgs, SessionSelector};
use base::clock::Time;
use base::env::Env;
use base::paths::{Places, config_folder};
use guard::files::state as sessions;
use guard::hook::facts::read_settings;
use guard::session::Session;
use guard::settings::Settings;
use guard::settings::file::Fault;

/// The way out of a finding that `--fix` can repair.
const FIX: &str = "run `brain-guard doctor --fix`";

const INSTALL: &str = "run `brain-guard install`";

const SETUP: &str = "type /brain-guard:setup at the client's prompt";

/// A check.
struct Check {
    name: &'static str,
    look: fn(&World) -> Vec<Finding>,
    /// Repairs the findings whose way out is [`FIX`], and says what it did.
    fix: Option<fn(&World) -> anyhow::Result<String>>,
}

/// All checks, in the order they are printed. The last one reads the whole store, and is left out
/// where an answer must come soon.
const CHECKS: [Check; 17] = [
    Check { name: "plugin", look: installed::plugin, fix: Some(installed::fix) },
    Check { name: "files", look: installed::files, fix: Some(installed::fix) },
    Check {
        name: "binary",
        look: |world| installed::binary(&world.current),
        fix: Some(installed::fix),
    },
    Check { name: "command", look: installed::command, fix: Some(installed::fix) },
    Check {
        name: "client",
        look: |world| installed::client(world.plan.client.as_deref()),
        fix: None,
    },
    Check { name: "registered", look: copies::look, fix: Some(installed::fix) },
    Check {
        name: "switches",
        look: |world| switches::look(&world.plan.config, &world.places.project),
        fix: None,
    },
    Check { name: "hooks", look: hooks::fired, fix: None },
    Check { name: "module", look: hooks::module, fix: None },
    Check { name: "state", look: |world| state::folder(&world.places), fix: None },
    Check { name: "private", look: state::private, fix: Some(state::make_private) },
    Check { name: "boundaries", look: state::boundaries, fix: Some(state::end_boundaries) },
    Check { name: "settings", look: state::settings, fix: None },
    Check { name: "keys", look: carrier::keys, fix: None },
    Check { name: "carrier", look: carrier::look, fix: None },
    Check { name: "openclaw", look: openclaw::look, fix: None },
    Check { name: "store", look: store::look, fix: Some(store::repair) },
];

/// The result of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Level {
    /// As it should be.
    Ok,
    /// Worth knowing, but nothing fails because of it.
    Note,
    /// Something does not work.
    Problem,
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Ok => "ok",
            Self::Note => "note",
            Self::Problem => "problem",
        })
    }
}

/// What a check found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Finding {
    level: Level,
    seen: String,
    way_out: Option<String>,
}

impl Finding {
    fn ok(seen: impl Into<String>) -> Self {
        Self { level: Level::Ok, seen: seen.into(), way_out: None }
    }

    fn note(seen: impl Into<String>, way_out: impl Into<String>) -> Self {
        Self { level: Level::Note, seen: seen.into(), way_out: Some(way_out.into()) }
    }

    fn problem(seen: impl Into<String>, way_out: impl Into<String>) -> Self {
        Self { level: Level::Problem, ..Self::note(seen, way_out) }
    }
}

/// A finding with the name of its check, as it is printed.
#[derive(Debug, Serialize)]
struct Line {
    check: &'static str,
    #[serde(flatten)]
    finding: Finding,
}

impl Line {
    /// Whether it is about what a fix did not fix.
    fn has_failed(&self, done: &[Done]) -> bool {
        let way_out = self.finding.way_out.as_deref();
        way_out.is_some_and(|way| way.ends_with("doctor --fix`"))
            && done.iter().any(|done| done.check == self.check && !done.fixed)
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Finding { level, seen, way_out } = &self.finding;
        write!(f, "{level:<7}  {:<11}  {seen}", self.check)?;
        way_out.as_ref().map_or(Ok(()), |way| write!(f, " -> {way}"))
    }
}

/// The data that the checks use.
struct World<'a> {
    env: &'a Env,
    now: Time,
    places: Places,
    plan: Installation,
    /// The plugin's folder, if `install` made one.
    current: PathBuf,
    /// What the client says about the plugin; `None` without a client.
    registered: Option<anyhow::Result<Registered>>,
    settings: Settings,
    faults: Vec<Fault>,
    /// The session this runs in, or the project's only live one.
    found: Option<selector::Found>,
    /// The project's most recently started session, and its id.
    last: Option<(String, Session)>,
}

impl<'a> World<'a> {
    fn of(env: &'a Env, now: Time) -> anyhow::Result<Self> {
        let project = selector::project(env, &SessionSelector::default())?;
        let places = selector::places(env, &project)?;
        let (settings, faults) = read_settings(&places, env);
        let plan = Installation::find(env)?;
        let current = plan.data.join(install::place::CURRENT);
        let registered = plan.client.as_deref().map(|client| Registered::ask(client, &current));
        let all = sessions::all(&places).unwrap_or_default().into_iter();
        let all = all.filter_map(|id| Some((id.clone(), sessions::load(&places, &id).ok()??)));
        Ok(Self {
            env,
            now,
            found: selector::find_any(env, &SessionSelector::default()).ok().flatten(),
            last: all.max_by_key(|(_, session)| session.started),
            places,
            plan,
            current,
            registered,
            settings,
            faults,
        })
    }

    /// Whether the client has the plugin only from a marketplace, without `install`.
    fn is_from_marketplace(&self) -> bool {
        let registered = self.registered.as_ref().and_then(|asked| asked.as_ref().ok());
        !self.current.is_symlink() && registered.is_some_and(Registered::is_elsewhere)
    }

    /// Whether the client's settings keep the plugin from running: the check `switches` says how, and
    /// what depends on it can't be told.
    fn is_switched_off(&self) -> bool {
        switches::switched_off(&self.plan.config, &self.places.project).is_some()
    }

    /// What puts the command and the chords in place.
    fn install_hint(&self) -> &'static str {
        if self.is_from_marketplace() { SETUP } else { INSTALL }
    }

    fn look(&self, checks: &[Check]) -> Vec<Line> {
        let lines = checks.iter().flat_map(|check| {
            let found = (check.look)(self).into_iter();
            found.map(|finding| Line { check: check.name, finding: self.as_typed(finding) })
        });
        lines.collect()
    }

    /// With the command as the user must type it.
    fn as_typed(&self, finding: Finding) -> Finding {
        let command = self.plan.command();
        if !command.exists() {
            return finding;
        }
        let client = self.plan.client.as_deref().unwrap_or(Path::new("claude"));
        let [own, client] =
            [&command, client].map(|program| format!("`{} ", self.plan.typed(program)));
        let as_typed =
            |way: String| way.replace("`brain-guard ", &own).replace("`claude ", &client);
        Finding { way_out: finding.way_out.map(as_typed), ..finding }
    }
}

/// What keeps a registered plugin from working, and the way out.
pub fn obstacle(env: &Env, at: &Installation) -> Option<String> {
    own_obstacle(env, at).or_else(|| {
        let project = selector::project(env, &SessionSelector::default()).ok()?;
        let switches = switches::look(&at.config, &project);
        first_problem(installed::client(at.client.as_deref()).into_iter().chain(switches))
    })
}

/// What keeps the installed program itself from working, and the way out.
pub fn own_obstacle(env: &Env, at: &Installation) -> Option<String> {
    let project = selector::project(env, &SessionSelector::default()).ok()?;
    let places = selector::places(env, &project).ok()?;
    first_problem(installed::binary(&at.current()).into_iter().chain(state::folder(&places)))
}

/// What in the client's settings keeps the plugin's hooks from running.
pub fn switched_off(env: &Env, project: &Path) -> Option<String> {
    switches::switched_off(&config_folder(env)?, project)
}

fn first_problem(mut found: impl Iterator<Item = Finding>) -> Option<String> {
    let Finding { seen, way_out, .. } = found.find(|found| found.level == Level::Problem)?;
    Some(way_out.map_or(seen.clone(), |way_out| format!("{seen}; {way_out}")))
}

/// The answer to the slash command.
pub fn at_the_prompt(env: &Env, now: Time) -> String {
    match World::of(env, now) {
        Ok(world) => {
            let quick = &CHECKS[..CHECKS.len() - 1];
            let lines: Vec<String> = world.look(quick).iter().map(ToString::to_string).collect();
            format!("brain-guard\n{}", lines.join("\n"))
        }
        Err(e) => format!("brain-guard: {e:#}"),
    }
}

/// The result of a fix.
#[derive(Debug, Serialize)]
struct Done {
    check: &'static str,
    fixed: bool,
    said: String,
}

impl fmt::Display for Done {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = if self.fixed { "fixed" } else { "failed" };
        write!(f, "{word:<7}  {:<11}  {}", self.check, self.said)
    }
}

/// Fixes what can be fixed. Each check looks after the fixes before it, which may have helped.
fn fix_all(env: &Env, now: Time) -> anyhow::Result<Vec<Done>> {
    let mut world = World::of(env, now)?;
    world.plan.check_owner()?;
    let mut done = Vec::new();
    for Check { name: check, look, fix } in CHECKS {
        let is_fixable = |finding: &Finding| finding.way_out.as_deref() == Some(FIX);
        let Some(fix) = fix.filter(|_| look(&world).iter().any(is_fixable)) else { continue };
        let result = fix(&world);
        let fixed = result.is_ok();
        done.push(Done { check, fixed, said: result.unwrap_or_else(|e| format!("{e:#}")) });
        world = World::of(env, now)?;
    }
    Ok(done)
}

/// What `--fix` did, and what was found after that.
#[derive(Debug, Serialize)]
struct Report {
    done: Vec<Done>,
    found: Vec<Line>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.done.iter().try_for_each(|done| writeln!(f, "{done}"))?;
        self.found.iter().try_for_each(|line| writeln!(f, "{line}"))
    }
}

impl Run for DoctorArgs {
    fn run(&self, Context { env, now }: Context) -> anyhow::Result<Exit> {
        let done = if self.fix { fix_all(env, now)? } else { Vec::new() };
        let mut report = Report { done, found: World::of(env, now)?.look(&CHECKS) };
        for Line { finding, .. } in
            report.found.iter_mut().filter(|line| line.has_failed(&report.done))
        {
            finding.way_out = Some("see why it could not be fixed, above".to_owned());
        }
        if self.json {
            out_json(&report)?;
        } else {
            out_folded(report.to_string().trim_end());
        }
        let is_problem = report.found.iter().any(|line| line.finding.level == Level::Problem);
        Ok(if is_problem { Exit::Refused } else { Exit::Done })
    }
}
