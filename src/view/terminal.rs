//! The terminal: taken over when the viewer begins, and given back as it was, whatever happens.

use std::io::{self, BufWriter, Stdout, stdout};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use crossterm::clipboard::CopyToClipboard;
use crossterm::cursor::Show;
use crossterm::event::{DisableBracketedPaste, EnableBracketedPaste};
use crossterm::execute;
use crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::buffer::Buffer;

static IS_TAKEN: AtomicBool = AtomicBool::new(false);

/// Bytes of a frame that are written at once.
const FRAME: usize = 64 * 1024;

/// The terminal while the viewer has it.
pub struct Screen(Terminal<CrosstermBackend<BufWriter<Stdout>>>);

impl Screen {
    /// Takes the terminal over.
    ///
    /// # Errors
    /// Any I/O error.
    pub fn open() -> io::Result<Self> {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            leave();
            before(info);
        }));
        enable_raw_mode()?;
        IS_TAKEN.store(true, Ordering::SeqCst);
        let begin = || {
            execute!(stdout(), EnterAlternateScreen, EnableBracketedPaste)?;
            let backend = CrosstermBackend::new(BufWriter::with_capacity(FRAME, stdout()));
            Ok(Self(Terminal::new(backend)?))
        };
        begin().inspect_err(|_: &io::Error| leave())
    }

    /// Draws a frame.
    ///
    /// # Errors
    /// Any I/O error.
    pub fn draw(&mut self, draw: impl FnOnce(&mut Buffer)) -> io::Result<()> {
        self.0.draw(|frame| draw(frame.buffer_mut())).map(drop)
    }
}

/// Puts a text into the clipboard. Asks the terminal, which works over SSH; tmux keeps such a request
/// for itself unless it is asked by its own command. Many terminals ignore it, so the desktop is asked
/// as well.
pub fn copy(text: &str, is_tmux: bool) {
    let words = ["set-buffer", "-w", "--", text];
    let mut tmux = Command::new("tmux");
    tmux.args(words).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if !is_tmux || !tmux.status().is_ok_and(|status| status.success()) {
        // A terminal without a clipboard ignores it.
        let _ = execute!(stdout(), CopyToClipboard::to_clipboard_from(text));
    }
    #[cfg(target_os = "linux")]
    to_desktop(text.to_owned());
}

/// Under X11, who has set the clipboard answers each paste, until something else is copied.
#[cfg(target_os = "linux")]
fn to_desktop(text: String) {
    use arboard::SetExtLinux as _;
    // A desktop that does not answer must not hold the viewer. Without one there is nothing to do.
    std::thread::spawn(move || {
        arboard::Clipboard::new().and_then(|mut desktop| desktop.set().wait().text(text))
    });
}

impl Drop for Screen {
    fn drop(&mut self) {
        leave();
    }
}

/// Gives the terminal back.
fn leave() {
    if IS_TAKEN.swap(false, Ordering::SeqCst) {
        // Nothing else can be done for a terminal that is gone.
        let _ = execute!(stdout(), DisableBracketedPaste, LeaveAlternateScreen, Show);
        let _ = disable_raw_mode();
    }
}
