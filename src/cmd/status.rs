//! `status`: the gauges, the stance, what is blocked, and what stands against it.

mod share;

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::whose;
use super::{Exit, out, out_json};
use crate::cli::Whose;
use base::clock::Time;
use base::env::Env;
use base::shown::grouped;
use guard::boundary::{Step, Token};
use guard::files::journal;
use guard::files::state;
use guard::hook::facts::{Context, Facts, View};
use guard::policy::bands::listed;
use guard::policy::coach::figure;
use guard::policy::limit::LimitSource;
use guard::policy::ramp::Ramp;
use guard::policy::stance::Cap;
use guard::session::Override;
use guard::settings::Mode;
use sessions::fill::BYTES_PER_TOKEN;
use sessions::gauge::{Reading, WindowSource};
use share::Share;

/// The JSON that `status --json` prints.
pub fn json(facts: &Facts, view: &View) -> Value {
    let age = |r: &Reading| (facts.now - r.at).num_milliseconds().max(0);
    let context = view.context.map(|c| {
        let Reading { used, limit, source, .. } = c.reading;
        json!({
            "used": used, "window": c.window.tokens, "limit": limit, "limit_source": c.limit_source.to_string(),
            "percent": rounded(c.reading.percent()),
            "source": source, "age_ms": age(&c.reading), "window_source": c.window.source,
            "window_certain": c.window.certain,
        })
    });
    let path = facts.places.compaction(&facts.session.job);
    let file = json!({
        "path": path, "words": view.readings.file.map_or(0, |f| f.used), "limit": facts.settings.file.words,
        "percent": view.readings.file.map_or(0.0, |f| rounded(f.percent())),
    });
    let selection = facts.carrier();
    json!({
        "session_id": facts.id,
        "job": facts.session.job,
        "context": context,
        "file": file,
        "stance": view.ramp.name(view.stance.effective(&view.ramp)),
        "tier": view.ramp.name(view.stance.rank),
        "capped": view.stance.cap.as_ref().map(Cap::why),
        "blocked": view.blocked(),
        "attended": facts.attended(),
        "override": facts.session.override_,
        "boundary": facts.token(),
        "carrier": selection.chosen.map(guard::boundary::Carrier::name),
        "mode": facts.settings.mode,
        "added": added(facts, view).json(),
        "shadow": facts.settings.shadow,
        "settings_problems": facts.diagnostics.iter().map(|d| d.message.clone()).collect::<Vec<_>>(),
    })
}

fn rounded(percent: f64) -> f64 {
    (percent * 10.0).round() / 10.0
}

/// The text that `status` prints.
pub fn text(facts: &Facts, view: &View) -> String {
    let mut out = String::new();
    let mut line = |name: &str, value: &str| {
        let _ = writeln!(out, "{name:<9} {value}");
    };
    line("session", facts.id);
    match facts.settings.mode {
        Mode::On if facts.settings.shadow => {
            line("mode", "shadow: what would be blocked is logged, nothing is blocked or cleared");
        }
        Mode::On => {}
        Mode::Off => line(
            "mode",
            "off in the settings: nothing is measured, said or blocked; below is what would hold",
        ),
    }
    let path = facts.places.compaction(&facts.session.job);
    line("job", &facts.session.job);
    match view.context {
        Some(c) => {
            let sure = if c.window.certain { "" } else { ", not certain" };
            line("context", &figure(&c.reading, "tokens", facts.now));
            line(
                "window",
                &format!(
                    "{} tokens ({}{sure})",
                    grouped(c.window.tokens),
                    told_by(c.window.source)
                ),
            );
            line("limit", &limit(c));
        }
        None => line("context", "unknown: no response with a token count yet"),
    }
    match view.readings.file {
        Some(f) => line("file", &format!("{} {}", figure(&f, "words", facts.now), path.display())),
        None => line("file", &format!("none yet ({})", path.display())),
    }
    let blocked = view.blocked();
    let stance = view.ramp.name(view.stance.effective(&view.ramp));
    line(
        "stance",
        &if blocked.is_empty() {
            format!("{stance}, nothing blocked")
        } else {
            format!("{stance}, blocked: {}", blocked.join(", "))
        },
    );
    if let Some(cap) = &view.stance.cap {
        line(
            "capped",
            &format!("{} would hold, but {}", view.ramp.name(view.stance.rank), cap.why()),
        );
    }
    line("tiers", &tiers(&view.ramp));
    if let Some(why) = moved_up(facts, view) {
        line("", &why);
    }
    line("attended", if facts.attended() { "yes" } else { "no" });
    match &facts.session.override_ {
        Some(o)
            if facts.session.overridden(facts.now, || state::calls(&facts.places, facts.id)) =>
        {
            line("override", &described(o, state::calls(&facts.places, facts.id)));
        }
        _ => {}
    }
    if let Some(token) = facts.token() {
        line("boundary", &boundary(&token));
    }
    let chosen = facts.carrier().chosen.map_or("none", guard::boundary::Carrier::name);
    line("carrier", chosen);
    line("added", &added(facts, view).to_string());
    for d in &facts.diagnostics {
        line("settings", &d.message);
    }
    out.trim_end().to_owned()
}

/// Where the client compacts by itself, and what decided that.
fn limit(context: Context) -> String {
    let tokens = grouped(context.reading.limit);
    match context.limit_source {
        source @ (LimitSource::OffByVariable | LimitSource::Off(_)) => {
            format!("{tokens} tokens, the whole window: {source}")
        }
        source => format!("{tokens} tokens, where the client compacts ({source})"),
    }
}

fn told_by(source: WindowSource) -> &'static str {
    match source {
        WindowSource::Settings => "from the settings",
        WindowSource::Environment => "from the environment",
        WindowSource::Agreed => "by the model's name and the client's word",
        WindowSource::Client => "by the client's word",
        WindowSource::Model => "by the model's name",
        WindowSource::Observed => "more was used than the smaller one holds",
        WindowSource::Assumed => "assumed",
    }
}

fn kebab(source: impl serde::Serialize) -> String {
    serde_json::to_value(source)
        .ok()
        .and_then(|v| v.as_str().map(str::to_owned))
        .unwrap_or_default()
}

fn tiers(ramp: &Ramp) -> String {
    let one = |t: &guard::policy::ramp::Tier| {
        let blocks = if t.blocks.is_empty() {
            String::new()
        } else {
            format!(" ({})", listed(t.blocks.iter().copied()))
        };
        format!("{} {:.0} %/{:.0} %{blocks}", t.name, t.context, t.file)
    };
    ramp.tiers().iter().map(one).collect::<Vec<_>>().join("; ")
}

/// Why the tiers lie higher than the settings place them.
fn moved_up(facts: &Facts, view: &View) -> Option<String> {
    let limit = view.context?.reading.limit;
    let still = facts.settings.ramp(limit);
    let up = view.ramp.tier(1)?.context - still.tier(1)?.context;
    let base = facts.session.base_percent(limit);
    (up > 0.0).then(|| {
        format!("moved up by {up:.0} %, because the session began with {base:.0} % in use")
    })
}

fn described(value: &Override, calls: u64) -> String {
    match value {
        Override::Until(at) => {
            format!("until {}", at.with_timezone(&chrono::Local).format("%H:%M:%S"))
        }
        Override::Calls(end) => format!("for {} more calls", end.saturating_sub(calls)),
        Override::UntilClear => "until the session is cleared".into(),
    }
}

fn boundary(token: &Token) -> String {
    let waits = token.waits.as_ref().filter(|_| token.step <= Step::Clearing);
    let waits = waits.map(|w| format!("; it waits: {w}")).unwrap_or_default();
    let why = token.why.as_ref().map_or(waits, |w| format!(": {w}"));
    format!("{} by {}: {}{why}", kebab(token.step), token.carrier.name(), token.what())
}

/// What the guard has put into this session's context.
fn added(facts: &Facts, view: &View) -> Share {
    let lines = journal::read(&facts.places, facts.id);
    let bytes_per_token = facts.fill().map_or(BYTES_PER_TOKEN, |fill| fill.bytes_per_token);
    let limit = view.context.map(|c| c.reading.limit);
    Share { added: journal::added(&lines), bytes_per_token, limit }
}

/// Runs the verb.
///
/// # Errors
/// No session.
pub fn run(env: &Env, now: Time, whose: &Whose, as_json: bool) -> anyhow::Result<Exit> {
    let found = whose::find_or_last(env, whose)?;
    let facts = whose::facts(env, now, &found)?;
    let view = facts.view();
    if as_json {
        out_json(&json(&facts, &view))?;
    } else {
        out(text(&facts, &view));
    }
    Ok(Exit::Done)
}

/// The status as an answer to the slash command.
pub fn at_the_prompt(facts: &Facts) -> String {
    format!("brain-guard\n{}", text(facts, &facts.view()))
}
