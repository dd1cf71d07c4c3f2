//! Draws the viewer.

mod context;
mod popup;
mod round;
mod sessions;

use std::cell::Cell;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Span;

use super::app::{App, LEAST, fits};
use super::keys::Pane;
use super::round::wrap;
use super::theme::{BOLD, CURSOR, DIM, FAINT_CURSOR, Theme};
use base::clock::Time;

/// Columns of the list of sessions: of two panes, and its share of three, in percent.
const SESSIONS: (u16, u16) = (56, 28);

/// Most lines of what happened last.
const MESSAGE_LINES: usize = 3;

/// From this width on, all panes are side by side; from the second one on, two of them.
const WIDE: [u16; 2] = [150, 120];

/// Draws a frame.
pub fn draw(buffer: &mut Buffer, app: &App, theme: Theme, now: Time) {
    let area = *buffer.area();
    if !fits((area.width, area.height)) {
        let text = format!("the terminal is too small: {} × {} is the least", LEAST.0, LEAST.1);
        line(buffer, area, 0, &text, Style::new());
        return;
    }
    let plan = app.plan_lines();
    let width = usize::from(area.width);
    let message = message(app, width);
    let footer = (plan.len() + message.len()) as u16;
    let body = Rect { height: area.height - footer, ..area };
    for (pane, area) in panes(app.focus, body) {
        for row in 0..if area.x > 0 { area.height } else { 0 } {
            buffer.set_string(area.x - 1, area.y + row, "│", DIM);
        }
        match pane {
            Pane::Sessions => sessions::draw(buffer, area, app, theme, now),
            Pane::Rounds => context::draw(buffer, area, app, theme),
            Pane::Round => round::draw(buffer, area, app),
        }
    }
    let below = Rect { y: body.bottom(), height: footer, ..area };
    for (at, text) in (0..).zip(&plan) {
        let style = if at == 0 { BOLD } else { DIM };
        line(buffer, below, at, text, style);
    }
    let style = if app.line.1 { theme.error() } else { DIM };
    for (at, text) in (plan.len() as u16..).zip(&message) {
        line(buffer, below, at, text, style);
    }
    if let Some(popup) = app.popups.last() {
        popup::draw(buffer, body, popup);
    }
}

/// What happened last, in at most three lines of so many columns.
fn message(app: &App, width: usize) -> Vec<String> {
    let (message, is_error) = &app.line;
    let message = match app.popups.last() {
        _ if !message.is_empty() => message,
        Some(popup) => popup.hint(),
        None if app.focus == Pane::Rounds && !app.pending.is_empty() => {
            "? keys   Enter carries out the plan   Esc takes a step back   q quit"
        }
        None => hint(app.focus),
    };
    let busy = if app.busy > 0 { "… " } else { "" };
    let mark = if *is_error { "! " } else { "" };
    let mut lines = wrap(&format!("{busy}{mark}{message}"), width);
    if lines.len() > MESSAGE_LINES {
        let rest = lines.split_off(MESSAGE_LINES - 1).concat();
        lines.push(rest);
    }
    lines
}

/// What the last line says while nothing has happened.
fn hint(focus: Pane) -> &'static str {
    match focus {
        Pane::Sessions => "? keys   Enter opens the session   q quit",
        Pane::Rounds => "? keys   ← sessions   → the round in full   q quit",
        Pane::Round => "? keys   ← rounds   1-5 fold its parts   q quit",
    }
}

/// The panes that have room, and where.
fn panes(focus: Pane, area: Rect) -> Vec<(Pane, Rect)> {
    let at = |x: u16, width: u16| Rect { x: area.x + x, width, ..area };
    if area.width >= WIDE[0] {
        let list = area.width * SESSIONS.1 / 100;
        let rest = area.width - list - 1;
        let half = rest / 2;
        return vec![
            (Pane::Sessions, at(0, list)),
            (Pane::Rounds, at(list + 1, half - 1)),
            (Pane::Round, at(list + 1 + half, rest - half)),
        ];
    }
    if area.width >= WIDE[1] {
        return match focus {
            Pane::Sessions => vec![
                (Pane::Sessions, at(0, SESSIONS.0)),
                (Pane::Rounds, at(SESSIONS.0 + 1, area.width - SESSIONS.0 - 1)),
            ],
            Pane::Rounds | Pane::Round => {
                let half = area.width / 2;
                vec![(Pane::Rounds, at(0, half - 1)), (Pane::Round, at(half, area.width - half))]
            }
        };
    }
    vec![(focus, area)]
}

/// Writes a text on a line of an area, cut at its end; returns the column behind it.
fn line(buffer: &mut Buffer, area: Rect, row: u16, text: &str, style: Style) -> u16 {
    at(buffer, area, (0, row), text, style)
}

/// Writes a text at a column and a line of an area, cut at its end; returns the column behind it.
fn at(buffer: &mut Buffer, area: Rect, (column, row): (u16, u16), text: &str, style: Style) -> u16 {
    if row >= area.height || column >= area.width {
        return column;
    }
    let room = usize::from(area.width - column);
    let text = base::plain::line(text, 4 * room + 8);
    let (end, _) = buffer.set_stringn(area.x + column, area.y + row, cut(text, room), room, style);
    end - area.x
}

/// A text in at most so many columns, with "…" for what has no room.
fn cut(text: String, room: usize) -> String {
    if Span::raw(text.trim_end()).width() <= room {
        return text;
    }
    let mut columns = 0;
    let fits = |c: &char| {
        columns += Span::raw(c.to_string()).width();
        columns < room
    };
    text.chars().take_while(fits).chain(['…']).collect()
}

/// The style of a line under the cursor.
fn cursor(is_focused: bool) -> Style {
    if is_focused { CURSOR } else { FAINT_CURSOR }
}

/// The first line to show: the one that was shown last, unless the cursor has left the screen.
fn first(top: &Cell<usize>, cursor: usize, count: usize, height: usize) -> usize {
    let lowest = (cursor + 1).saturating_sub(height);
    let highest = cursor.min(count.saturating_sub(height)).max(lowest);
    top.set(top.get().clamp(lowest, highest));
    top.get()
}
