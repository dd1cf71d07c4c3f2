//! Draws the list of sessions.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::{at, cursor, first, line};
use crate::view::app::App;
use crate::view::keys::Pane;
use crate::view::theme::{BOLD, DIM, Theme};
use base::clock::Time;
use base::shown::{age, size, tokens};
use surgery::table::short;

/// Draws the list.
pub fn draw(buffer: &mut Buffer, area: Rect, app: &App, theme: Theme, now: Time) {
    let sessions = &app.sessions;
    let of = if sessions.all { "of all projects" } else { "of the project" };
    line(buffer, area, 0, &format!("Sessions {of}"), BOLD);
    let list = Rect { y: area.y + 1, height: area.height - 1, ..area };
    let height = usize::from(list.height);
    let top = first(&sessions.top, sessions.cursor, sessions.lines.len(), height);
    let shown = sessions.lines.iter().enumerate().skip(top).take(height);
    for (row, (number, one)) in (0..).zip(shown) {
        let entry = &one.entry;
        let is_marked = sessions.marked.as_ref() == Some(&entry.id);
        let open = if entry.is_open { "●" } else { " " };
        let mark = if is_marked { "m" } else { open };
        let indent = "  ".repeat(one.depth.min(6));
        let mut column = at(buffer, list, (0, row), mark, BOLD);
        let head = format!(" {indent}{}", short(&entry.id));
        column = at(buffer, list, (column, row), &head, Style::new());
        if let Some((rounds, used)) = entry.figures {
            let percent = entry.percent.map(|percent| format!(" {percent} %"));
            let figures = format!("  {rounds} r  {}{}", tokens(used), percent.unwrap_or_default());
            column = at(buffer, list, (column, row), &figures, Style::new());
        } else if let Some(bytes) = entry.bytes {
            column = at(buffer, list, (column, row), &format!("  {}", size(bytes)), Style::new());
        }
        if let Some(ended) = entry.ended {
            let when = format!("  {}", age(now - ended));
            column = at(buffer, list, (column, row), &when, DIM);
        }
        if let Some(agent) = &entry.agent {
            let agent = format!("  agent {agent}");
            column = at(buffer, list, (column, row), agent.trim_end(), DIM);
        }
        if let Some(made) = &entry.made {
            column = at(buffer, list, (column, row), &format!("  {made}"), DIM);
        }
        for name in &entry.engagements {
            let tag = format!("  #{name}");
            column = at(buffer, list, (column, row), &tag, theme.engagement(name));
        }
        if number == sessions.cursor {
            let under = Rect { y: list.y + row, height: 1, ..list };
            buffer.set_style(under, cursor(app.focus == Pane::Sessions));
        }
    }
}
