//! Draws a round in full.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::{cursor, line};
use crate::view::app::App;
use crate::view::keys::Pane;
use crate::view::theme::BOLD;
use surgery::table::short;

/// Draws the page.
pub fn draw(buffer: &mut Buffer, area: Rect, app: &App) {
    let Some((session, seq)) = &app.page.of else { return };
    line(buffer, area, 0, &format!("{}:{seq}", short(session)), BOLD);
    if app.focus == Pane::Round {
        buffer.set_style(Rect { height: 1, ..area }, cursor(true));
    }
    let text = Rect { y: area.y + 1, height: area.height - 1, ..area };
    let lines = app.page.wrapped(usize::from(area.width));
    let top = app.page.top.min(lines.len().saturating_sub(1));
    let shown = lines.iter().skip(top).take(usize::from(text.height));
    for (row, one) in (0..).zip(shown) {
        let style = if one.starts_with('#') { BOLD } else { Style::new() };
        line(buffer, text, row, one, style);
    }
}
