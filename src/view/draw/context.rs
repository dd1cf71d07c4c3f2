//! Draws the context as the client will send it: a bar, and a line for each round.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::{at, cursor, first, line};
use crate::cmd::advise::percent;
use crate::view::app::{ABOVE_ROUNDS, App};
use crate::view::keys::Pane;
use crate::view::message::Opened;
use crate::view::theme::{BOLD, DIM, Theme};
use base::shown::{count_with_noun, tokens};
use chrono::Local;
use sessions::round::Round;
use sessions::sent::State;
use surgery::table::{number, short, summary};

/// Cells of a round's own bar.
const CELLS: u64 = 6;

/// Draws the rounds.
pub fn draw(buffer: &mut Buffer, area: Rect, app: &App, theme: Theme) {
    let Some(opened) = &app.rounds.opened else {
        let words = if app.busy > 0 { "reading…" } else { "no session is open" };
        line(buffer, area, 0, words, DIM);
        return;
    };
    line(buffer, area, 0, &title(app, opened), BOLD);
    bar(buffer, Rect { y: area.y + 1, height: 1, ..area }, opened, theme);
    scale(buffer, Rect { y: area.y + 2, height: 1, ..area }, opened);
    let list = Rect { y: area.y + ABOVE_ROUNDS, height: area.height - ABOVE_ROUNDS, ..area };
    let height = usize::from(list.height);
    let rounds = &app.rounds;
    let largest = opened.session.rounds.iter().map(|round| round.tokens).max().unwrap_or(1);
    let top = first(&rounds.top, rounds.cursor, rounds.shown.len(), height);
    for (row, (index, seq)) in (0..).zip(rounds.shown.iter().enumerate().skip(top).take(height)) {
        let Some(round) = opened.session.round(*seq) else { continue };
        one(buffer, list, row, app, round, largest, theme);
        if index == rounds.cursor {
            let under = Rect { y: list.y + row, height: 1, ..list };
            buffer.set_style(under, cursor(app.focus == Pane::Rounds));
        }
    }
}

fn title(app: &App, opened: &Opened) -> String {
    let used = tokens(opened.context.now);
    let share = opened.scale.as_ref().map_or(used.clone(), |scale| {
        let share = percent(opened.context.now, scale.limit);
        format!("{used} of {} ({share} %)", tokens(scale.limit))
    });
    let id = short(&opened.session.id).to_owned();
    let rounds = count_with_noun(opened.session.rounds.len(), "round", "rounds");
    let filter = app.rounds.filter.as_ref();
    let filter = filter.map(|filter| format!("/{} ({})", filter.words, app.rounds.shown.len()));
    let marked = app.rounds.marked();
    let search = app.rounds.filter.as_ref();
    let is_hidden = |seq: &&u32| search.is_some_and(|search| !search.hits.contains_key(seq));
    let hidden = marked.iter().filter(is_hidden).count();
    let selected = match (marked.len(), hidden) {
        (0, _) => None,
        (all, 0) => Some(format!("{all} selected")),
        (all, hidden) => Some(format!("{all} selected ({hidden} hidden)")),
    };
    let parts = [id, share, rounds].into_iter().chain(filter).chain(selected);
    parts.collect::<Vec<_>>().join("  ")
}

/// The whole context: system prompt and tools, tables and summaries, then the rounds in the order of
/// the request.
fn bar(buffer: &mut Buffer, area: Rect, opened: &Opened, theme: Theme) {
    let full = opened.scale.as_ref().map_or(opened.context.now, |scale| scale.limit).max(1);
    let width = u64::from(area.width);
    let column = |tokens: u64| (tokens * width / full).min(width) as u16;
    let mut held = opened.context.base.unwrap_or(0);
    let mut from = 0;
    let mut fill = |buffer: &mut Buffer, to: u16, sign: &str, style: Style| {
        for x in from..to.min(area.width) {
            at(buffer, area, (x, 0), sign, style);
        }
        from = from.max(to);
    };
    fill(buffer, column(held), "░", DIM);
    let rounds: Vec<&Round> =
        opened.session.in_context().iter().filter_map(|seq| opened.session.round(*seq)).collect();
    for is_work in [false, true] {
        for round in rounds.iter().filter(|round| round.is_work() == is_work) {
            held += opened.context.scaled(round.tokens);
            let style = match &round.engagement {
                Some(name) => theme.engagement(name),
                None => Style::new(),
            };
            fill(buffer, column(held), if is_work { "█" } else { "▒" }, style);
        }
    }
}

/// Where the tiers begin.
fn scale(buffer: &mut Buffer, area: Rect, opened: &Opened) {
    let Some(scale) = &opened.scale else { return };
    let column = |percent: f64| (f64::from(area.width) * percent / 100.0) as u16;
    let next = scale.tiers.iter().skip(1).map(|(_, percent)| column(*percent)).chain([area.width]);
    for ((name, percent), next) in scale.tiers.iter().zip(next) {
        let from = column(*percent);
        // A name that has no room before the next tier is left out.
        let has_room = from + 1 + name.len() as u16 <= next;
        let label = if has_room { format!("╵{name}") } else { "╵".to_owned() };
        at(buffer, area, (from, 0), &label, DIM);
    }
}

/// `11-27 14:00` by the user's clock: the year is of no use here.
fn minute(round: &Round) -> String {
    let local = round.started.map(|at| at.with_timezone(&Local).format("%m-%d %H:%M").to_string());
    local.unwrap_or_else(|| "-".to_owned())
}

fn one(
    buffer: &mut Buffer,
    area: Rect,
    row: u16,
    app: &App,
    round: &Round,
    largest: u64,
    theme: Theme,
) {
    let select = if app.rounds.is_marked(round.seq) { "▌" } else { " " };
    let planned = app.pending.mark(round.seq).unwrap_or(' ');
    let mut column = at(buffer, area, (0, row), &format!("{select}{planned}"), BOLD);
    let is_sent = round.is_sent();
    let plain = if is_sent { Style::new() } else { DIM };
    let cells = (round.tokens * CELLS).div_ceil(largest.max(1)).min(CELLS) as usize;
    let head = format!(
        " {}  {}  {:>5} {:<6} ",
        number(round.seq),
        minute(round),
        tokens(round.tokens),
        "▪".repeat(cells)
    );
    column = at(buffer, area, (column, row), &head, plain);
    if let Some(name) = &round.engagement {
        column = at(buffer, area, (column, row), &format!("#{name} "), theme.engagement(name));
    }
    let standing = match round.standing.state {
        State::InContext => None,
        State::Compacted => Some("compacted".to_owned()),
        State::Rewound => Some("rewound".to_owned()),
        State::Cut => Some("cut off".to_owned()),
    };
    let origin = round.origin.as_ref();
    let origin = origin.map(|origin| {
        if app.rounds.is_merged {
            format!("from {}:{}", short(&origin.session), origin.seq)
        } else {
            format!("was {}", origin.seq)
        }
    });
    let table = round.table.is_some().then(|| "table".to_owned());
    let agents = app.rounds.agents.get(&round.seq);
    let agents = agents.map(|agents| count_with_noun(*agents, "agent", "agents"));
    for state in [standing, origin, table, agents].into_iter().flatten() {
        column = at(buffer, area, (column, row), &format!("({state}) "), DIM);
    }
    let hit = app.rounds.filter.as_ref().and_then(|filter| filter.hits.get(&round.seq));
    let words = hit.cloned().unwrap_or_else(|| summary(round));
    at(buffer, area, (column, row), &words, plain);
}
