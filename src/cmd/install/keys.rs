//! The chords in the client's `keybindings.json`: `install` adds them, `uninstall` removes them.
//! The file is the user's, so a fault in it is reported but stops nothing.

use std::io::Write;
use std::path::Path;

use anyhow::{Result, bail};

use base::atomic;
use carrier::chords::{self, Chords, Merged, Removed, Unreadable, written};
use guard::files::keybindings;

/// Content of a file with only our bindings, if it must not be deleted.
const EMPTY: &str = "{\n  \"bindings\": []\n}\n";

/// Binds the chords, and prints which keys do what.
///
/// # Errors
/// Only those of `out`.
pub fn bind(config: &Path, out: &mut dyn Write) -> Result<()> {
    let path = keybindings::path(config);
    let said = put_in(config, &path).unwrap_or_else(|why| fault(&path, &why));
    Ok(writeln!(out, "keys     {said}")?)
}

/// Removes the chords, and prints whether there were any. `why` says why they are not wanted.
///
/// # Errors
/// Only those of `out`.
pub fn unbind(config: &Path, why: &str, out: &mut dyn Write) -> Result<()> {
    let path = keybindings::path(config);
    // A fault in a file that never had our chords does not matter here.
    let may_be_there = || read(&path).is_ok_and(|t| t.is_some_and(|t| t.contains(chords::RESUME)));
    let said = match take_out(&path) {
        Ok(true) => format!("taken out of {}{why}", path.display()),
        Err(why) if may_be_there() => fault(&path, &why),
        _ => format!("none bound{why}"),
    };
    Ok(writeln!(out, "keys     {said}")?)
}

fn fault(path: &Path, why: &anyhow::Error) -> String {
    let ignored = if why.is::<Unreadable>() { ", so Claude Code ignores all of it" } else { "" };
    format!("{} stays as it is: {why}{ignored}; fix that and run this again", path.display())
}

fn read(path: &Path) -> Result<Option<String>> {
    let text = keybindings::read(path)?.map(|(text, _)| text);
    if text.is_none() && path.is_symlink() {
        bail!("it is a link to nothing");
    }
    Ok(text)
}

fn put_in(config: &Path, path: &Path) -> Result<String> {
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
fn take_out(path: &Path) -> Result<bool> {
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

        fn bind(&self) -> String {
            self.said(|config, out| bind(config, out))
        }

        fn unbind(&self) -> String {
            self.said(|config, out| unbind(config, "", out))
        }

        fn said(&self, act: impl Fn(&Path, &mut Vec<u8>) -> Result<()>) -> String {
            let mut out = Vec::new();
            act(self.0.path(), &mut out).unwrap();
            String::from_utf8(out).unwrap()
        }
    }

    const THEIRS: &str = "{\"bindings\": [\n  {\"context\": \"Chat\", \"bindings\": {\"ctrl+k\": \"chat:stash\"}}\n]}";

    #[test]
    fn put_in_once_and_given_back_byte_for_byte() {
        let config = Config::with(THEIRS);
        fs::set_permissions(config.file(), fs::Permissions::from_mode(0o640)).unwrap();
        let said = config.bind();
        assert!(said.contains("ctrl+] ctrl+] clears, ctrl+] ctrl+f goes on"), "{said}");
        assert!(said.contains("added"), "{said}");
        let bound = config.text();
        assert!(config.bind().contains("unchanged"));
        assert_eq!(config.text(), bound);
        assert!(config.unbind().contains("taken out"));
        assert_eq!(config.text(), THEIRS);
        assert_eq!(fs::metadata(config.file()).unwrap().permissions().mode() & 0o777, 0o640);
        assert_eq!(config.unbind(), "keys     none bound\n");
    }

    #[test]
    fn a_refusal_takes_them_out_and_a_plain_install_puts_them_in_again() {
        let config = Config(tempfile::tempdir().unwrap());
        assert!(config.unbind().contains("none bound"));
        assert!(!config.file().exists());
        assert!(config.bind().contains("(new, "));
        let said = config.said(|config, out| unbind(config, ", boundary.chords is off", out));
        assert!(said.contains("taken out of ") && said.contains("is off"), "{said}");
        assert!(!config.file().exists(), "we made it, nobody wrote into it");
        config.bind();
        assert!(config.file().exists());
    }

    #[test]
    fn a_link_stays_a_link() {
        let config = Config(tempfile::tempdir().unwrap());
        let real = config.0.path().join("dotfiles.json");
        symlink(&real, config.file()).unwrap();
        assert!(config.bind().contains("a link to nothing"));
        assert!(!real.exists());
        fs::write(&real, THEIRS).unwrap();
        config.bind();
        assert!(fs::read_to_string(&real).unwrap().contains("command:clear"));
        config.unbind();
        assert_eq!(fs::read_to_string(&real).unwrap(), THEIRS);
        fs::remove_file(config.file()).unwrap();
        config.bind();
        fs::rename(config.file(), &real).unwrap();
        symlink(&real, config.file()).unwrap();
        config.unbind();
        assert!(config.file().is_symlink() && config.text() == EMPTY);
    }

    #[test]
    fn a_file_that_the_client_cannot_read_is_not_touched() {
        let text = "{\n  // mine\n  \"bindings\": []\n}";
        let config = Config::with(text);
        let said = config.bind();
        assert!(said.contains("keybindings.json stays as it is: line 2:"), "{said}");
        assert_eq!(config.unbind(), "keys     none bound\n");
        assert_eq!(config.text(), text);
        fs::write(config.file(), format!("{text}\n// {}", chords::RESUME)).unwrap();
        assert!(config.unbind().contains("line 2"));
    }
}
