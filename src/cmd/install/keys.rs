//! The chords in the client's `keybindings.json`: `install` adds them, `uninstall` removes them.
//! The file is the user's, so a fault in it is reported but stops nothing.

use std::io::{self, Write};
use std::path::Path;

use anyhow::Result;

use base::atomic;
use carrier::chords::{self, Chords, Merged, Removed, Unreadable, written};
use guard::files::keybindings;

/// Whether the chords are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wish {
    /// Wanted, the default.
    Bound,
    /// `--no-keybindings`.
    Refused,
    /// `boundary.chords` is off.
    Off,
    /// Nobody asked: they stay as they are.
    Kept,
}

/// Content of a file with only our bindings, if it must not be deleted.
const EMPTY: &str = "{\n  \"bindings\": []\n}\n";

enum Fault {
    Unreadable(Unreadable),
    System(io::Error),
    Dangling,
}

impl From<io::Error> for Fault {
    fn from(e: io::Error) -> Self {
        Self::System(e)
    }
}

impl From<Unreadable> for Fault {
    fn from(e: Unreadable) -> Self {
        Self::Unreadable(e)
    }
}

impl Fault {
    fn words(&self, path: &Path) -> String {
        let path = path.display();
        match self {
            Self::Unreadable(why) => format!(
                "{path} stays as it is: {why}; the client drops all of it for that, so mend it and run this again"
            ),
            Self::System(why) => format!(
                "{path} stays as it is: {why}; make it and its folder writable and run this again"
            ),
            Self::Dangling => {
                format!(
                    "{path} stays as it is: it is a link to nothing; mend it and run this again"
                )
            }
        }
    }
}

/// Binds the chords, or removes them if they are not wanted, and prints which keys do what.
///
/// # Errors
/// Only those of `out`.
pub fn bind(config: &Path, wish: Wish, out: &mut dyn Write) -> Result<()> {
    let path = keybindings::path(config);
    let said = match wish {
        Wish::Kept => return Ok(()),
        Wish::Bound => {
            add(config, out)?;
            writeln!(out, "         without them: {} install --no-keybindings", super::COMMAND)?;
            return Ok(());
        }
        Wish::Refused | Wish::Off => {
            let why = if wish == Wish::Off { "boundary.chords is off" } else { "as you asked" };
            match take_out(&path) {
                Ok(false) => format!("none bound, {why}"),
                Ok(true) => format!("taken out of {}, {why}", path.display()),
                Err(fault) => fault.words(&path),
            }
        }
    };
    writeln!(out, "keys     {said}")?;
    Ok(())
}

/// Binds the chords, and prints which keys do what.
///
/// # Errors
/// Only those of `out`.
pub fn add(config: &Path, out: &mut dyn Write) -> Result<()> {
    let path = keybindings::path(config);
    let said = put_in(config, &path).unwrap_or_else(|fault| fault.words(&path));
    writeln!(out, "keys     {said}")?;
    Ok(())
}

/// Removes the chords, and prints a line if there were any.
///
/// # Errors
/// Only those of `out`.
pub fn unbind(config: &Path, out: &mut dyn Write) -> Result<()> {
    let path = keybindings::path(config);
    match take_out(&path) {
        Ok(false) => {}
        Ok(true) => writeln!(out, "keys     taken out of {}", path.display())?,
        // A fault in a file that never had our chords does not matter here.
        Err(_) if !mentions_us(&path) => {}
        Err(fault) => writeln!(out, "keys     {}", fault.words(&path))?,
    }
    Ok(())
}

fn mentions_us(path: &Path) -> bool {
    matches!(keybindings::read(path), Ok(Some((text, _))) if text.contains(chords::RESUME))
}

fn read(path: &Path) -> Result<Option<String>, Fault> {
    match keybindings::read(path)? {
        Some((text, _)) => Ok(Some(text)),
        None if path.is_symlink() => Err(Fault::Dangling),
        None => Ok(None),
    }
}

fn put_in(config: &Path, path: &Path) -> Result<String, Fault> {
    let text = read(path)?;
    let (text, change) = match chords::merge(text.as_deref())? {
        Merged::Unchanged => (text.unwrap_or_default(), "unchanged"),
        Merged::Text(new) => {
            atomic::create_private_dir(config)?;
            atomic::write(path, new.as_bytes())?;
            (new, if text.is_some() { "added" } else { "new" })
        }
    };
    Ok(format!("{} ({change}, in {})", describe_chords(&chords::find(&text)), path.display()))
}

/// Describes the chords for people.
pub fn describe_chords(chords: &Chords) -> String {
    let one = |chord: &Option<Vec<_>>, does: &str| {
        chord.as_deref().map(|strokes| format!("{} {does}", written(strokes)))
    };
    let both = [one(&chords.clear, "clears"), one(&chords.resume, "goes on from the notes")];
    let bound: Vec<String> = both.into_iter().flatten().collect();
    if bound.is_empty() {
        return "no chord is free beside your own; without one /clear is typed".to_owned();
    }
    bound.join(", ")
}

/// Removes the chords; returns whether there were any.
fn take_out(path: &Path) -> Result<bool, Fault> {
    let Some(text) = read(path)? else { return Ok(false) };
    match chords::remove(&text)? {
        Removed::Unchanged => return Ok(false),
        Removed::Text(left) => atomic::write(path, left.as_bytes())?,
        // The user made the link, so it stays and its target is emptied.
        Removed::File if path.is_symlink() => atomic::write(path, EMPTY.as_bytes())?,
        Removed::File => atomic::remove(path)?,
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::path::PathBuf;

    use super::*;

    struct Config(tempfile::TempDir);

    impl Config {
        fn with(text: &str) -> Self {
            let config = Self(tempfile::tempdir().unwrap());
            fs::write(config.file(), text).unwrap();
            config
        }

        fn file(&self) -> PathBuf {
            keybindings::path(self.0.path())
        }

        fn text(&self) -> String {
            fs::read_to_string(self.file()).unwrap()
        }

        fn bind(&self, wish: Wish) -> String {
            let mut out = Vec::new();
            bind(self.0.path(), wish, &mut out).unwrap();
            String::from_utf8(out).unwrap()
        }

        fn unbind(&self) -> String {
            let mut out = Vec::new();
            unbind(self.0.path(), &mut out).unwrap();
            String::from_utf8(out).unwrap()
        }
    }

    const THEIRS: &str = "{\"bindings\": [\n  {\"context\": \"Chat\", \"bindings\": {\"ctrl+k\": \"chat:stash\"}}\n]}";

    #[test]
    fn put_in_once_and_given_back_byte_for_byte() {
        let config = Config::with(THEIRS);
        fs::set_permissions(config.file(), fs::Permissions::from_mode(0o640)).unwrap();
        let said = config.bind(Wish::Bound);
        assert!(said.contains("ctrl+] ctrl+] clears, ctrl+] ctrl+f goes on"), "{said}");
        assert!(said.contains("added") && said.contains("--no-keybindings"), "{said}");
        let bound = config.text();
        assert!(config.bind(Wish::Bound).contains("unchanged"));
        assert_eq!(config.text(), bound);
        assert!(config.unbind().contains("taken out"));
        assert_eq!(config.text(), THEIRS);
        assert_eq!(fs::metadata(config.file()).unwrap().permissions().mode() & 0o777, 0o640);
        assert_eq!(config.unbind(), "");
    }

    #[test]
    fn a_refusal_takes_them_out_and_a_plain_install_puts_them_in_again() {
        let config = Config(tempfile::tempdir().unwrap());
        assert!(config.bind(Wish::Refused).contains("none bound"));
        assert!(!config.file().exists());
        assert!(config.bind(Wish::Bound).contains("(new, "));
        assert!(config.bind(Wish::Off).contains("boundary.chords is off"));
        assert!(!config.file().exists(), "we made it, nobody wrote into it");
        config.bind(Wish::Bound);
        assert!(config.file().exists());
    }

    #[test]
    fn a_link_stays_a_link() {
        let config = Config(tempfile::tempdir().unwrap());
        let real = config.0.path().join("dotfiles.json");
        symlink(&real, config.file()).unwrap();
        assert!(config.bind(Wish::Bound).contains("a link to nothing"));
        assert!(!real.exists());
        fs::write(&real, THEIRS).unwrap();
        config.bind(Wish::Bound);
        assert!(fs::read_to_string(&real).unwrap().contains("command:clear"));
        config.unbind();
        assert_eq!(fs::read_to_string(&real).unwrap(), THEIRS);
        fs::remove_file(config.file()).unwrap();
        config.bind(Wish::Bound);
        fs::rename(config.file(), &real).unwrap();
        symlink(&real, config.file()).unwrap();
        config.unbind();
        assert!(config.file().is_symlink() && config.text() == EMPTY);
    }

    #[test]
    fn a_file_that_the_client_cannot_read_is_not_touched() {
        let text = "{\n  // mine\n  \"bindings\": []\n}";
        let config = Config::with(text);
        let said = config.bind(Wish::Bound);
        assert!(said.contains("keybindings.json stays as it is: line 2:"), "{said}");
        assert_eq!(config.unbind(), "");
        assert_eq!(config.text(), text);
        fs::write(config.file(), format!("{text}\n// {}", chords::RESUME)).unwrap();
        assert!(config.unbind().contains("line 2"));
    }
}
