//! Colors, where any are wanted. What a color says stands in words or marks as well.

use ratatui::style::{Color, Modifier, Style};

/// What no longer counts, or explains.
pub const DIM: Style = Style::new().add_modifier(Modifier::DIM);

/// Headings and marks.
pub const BOLD: Style = Style::new().add_modifier(Modifier::BOLD);

/// The line under the cursor, in the focused pane.
pub const CURSOR: Style = Style::new().add_modifier(Modifier::REVERSED);

/// The line under the cursor, in another pane.
pub const FAINT_CURSOR: Style = Style::new().add_modifier(Modifier::UNDERLINED);

/// The colors of engagements.
const ENGAGEMENTS: [Color; 6] =
    [Color::Cyan, Color::Green, Color::Magenta, Color::Yellow, Color::Blue, Color::LightRed];

/// How things look.
#[derive(Debug, Clone, Copy)]
pub struct Theme {
    /// Whether to use colors.
    pub color: bool,
}

impl Theme {
    fn colored(self, style: Style, color: Color) -> Style {
        if self.color { style.fg(color) } else { style }
    }

    /// What went wrong.
    pub fn error(self) -> Style {
        self.colored(BOLD, Color::Red)
    }

    /// An engagement; the same name has the same color everywhere.
    pub fn engagement(self, name: &str) -> Style {
        let sum: usize = name.bytes().map(usize::from).sum();
        self.colored(Style::new(), ENGAGEMENTS[sum % ENGAGEMENTS.len()])
    }
}
