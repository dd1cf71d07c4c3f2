//! Draws a popup above the panes.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Span;
use ratatui::widgets::{Block, Clear, Padding, Widget as _};

use super::{first, line};
use crate::cmd::look::Look;
use crate::view::popup::Popup;
use crate::view::round::wrap;
use crate::view::theme::CURSOR;

/// Draws it in the middle of the area.
pub fn draw(buffer: &mut Buffer, area: Rect, popup: &Popup) {
    let most = usize::from(area.width.saturating_sub(8)).min(100);
    let room = usize::from(area.height.saturating_sub(2));
    let mut marked = None;
    let (title, lines, top) = match popup {
        Popup::Input { title, text, names, .. } => {
            let mut lines = vec![format!("{text}▏")];
            let known = names.iter().filter(|name| name.starts_with(&**text));
            let known: Vec<&str> = known.map(String::as_str).collect();
            if !known.is_empty() {
                lines.push(Look::fit(&format!("Tab: {}", known.join("  ")), most));
            }
            (title.clone(), lines, 0)
        }
        Popup::Confirm { question, lines } => {
            let keys = question.keys().iter().map(|(key, what)| format!("{key:<5}  {what}"));
            let keys: Vec<String> = keys.flat_map(|text| wrap(&text, most)).collect();
            // The keys stay on the screen, however long the text above them is.
            let most_lines = room.saturating_sub(keys.len() + 1);
            let mut wrapped: Vec<String> = lines.iter().flat_map(|text| wrap(text, most)).collect();
            if wrapped.len() > most_lines {
                wrapped.truncate(most_lines.saturating_sub(1));
                wrapped.push("…".to_owned());
            }
            let lines = wrapped.into_iter().chain([String::new()]).chain(keys).collect();
            (question.title().to_owned(), lines, 0)
        }
        Popup::Cells { cells, at, top } => {
            let lines = cells.iter().map(|cell| cell.label.clone()).collect();
            let top = first(top, *at, cells.len(), room);
            marked = Some((*at - top) as u16);
            ("Rounds by engagement and agent".to_owned(), lines, top)
        }
        Popup::Text { title, lines, .. } => (title.clone(), lines.clone(), 0),
    };
    let lines: Vec<String> = match popup {
        Popup::Cells { .. } => lines,
        _ => lines.iter().flat_map(|text| wrap(text, most)).collect(),
    };
    let top = match popup {
        Popup::Text { top, .. } => {
            top.set(top.get().min(lines.len().saturating_sub(room)));
            top.get()
        }
        _ => top,
    };
    let is_cut = lines.len() > room + top;
    let title = if is_cut { format!("{title} (↓ for more)") } else { title };
    let title = format!(" {title} ");
    let widest = lines.iter().chain([&title]).map(|text| Span::raw(text).width()).max();
    let width = (widest.unwrap_or(0).min(most) as u16 + 4).max(40).min(area.width);
    let height = (lines.len() as u16 + 2).min(area.height);
    let outer = Rect {
        x: area.x + (area.width - width) / 2,
        y: area.y + (area.height - height) / 2,
        width,
        height,
    };
    Clear.render(outer, buffer);
    let border = Block::bordered().title(title).padding(Padding::horizontal(1));
    let inner = border.inner(outer);
    border.render(outer, buffer);
    for (row, text) in (0..).zip(lines.iter().skip(top).take(usize::from(inner.height))) {
        line(buffer, inner, row, text, Style::new());
    }
    if let Some(row) = marked {
        buffer.set_style(Rect { y: inner.y + row, height: 1, ..inner }, CURSOR);
    }
}
