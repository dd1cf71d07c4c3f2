//! Completions for bash, zsh and fish, and man pages, made from the definition of the command line.
//! A release holds them in `share/`, and links lead there from where shells and `man` look.
//!
//! They follow from the binary, so the release's digest covers them already. Nothing breaks without
//! them, so they are not synced.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use clap::{ArgGroup, Command, CommandFactory as _};
use clap_complete::{Generator, generate, shells};
use clap_mangen::Man;

use super::COMMAND;
use super::place::{self, Change};
use crate::cli::Cli;

/// Their folder in a release.
const SHARE: &str = "share";

/// Links that an installation names if they are missing.
const NAMED: usize = 3;

/// The user's folders that shells and `man` search.
#[derive(Debug, Clone)]
pub struct UserFolders {
    /// `$XDG_DATA_HOME`.
    pub data: PathBuf,
    /// `$XDG_CONFIG_HOME`.
    pub config: PathBuf,
}

impl UserFolders {
    /// The folder for a file of this kind.
    fn of(&self, kind: Kind) -> PathBuf {
        match kind {
            Kind::Bash => self.data.join("bash-completion/completions"),
            Kind::Zsh => self.data.join("zsh/site-functions"),
            Kind::Fish => self.config.join("fish/completions"),
            Kind::Man => self.data.join("man/man1"),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Bash,
    Zsh,
    Fish,
    Man,
}

/// One generated file.
#[derive(Debug, PartialEq, Eq)]
struct Generated {
    kind: Kind,
    /// Its path in `share/`.
    path: String,
    text: Vec<u8>,
}

impl Generated {
    /// The name of its link. bash looks a completion up by the command's name.
    fn link(&self, folders: &UserFolders) -> PathBuf {
        let folder = folders.of(self.kind);
        match self.kind {
            Kind::Bash => folder.join(COMMAND),
            _ => folder.join(Path::new(&self.path).file_name().unwrap_or_default()),
        }
    }
}

/// Every completion and man page.
fn all() -> Result<Vec<Generated>> {
    let completions = visible(&Cli::command());
    let mut bash = completion(&completions, Kind::Bash, "brain-guard.bash", shells::Bash);
    // Its names of a command differ if the program's name has a hyphen (clap-rs/clap#6421).
    let text = String::from_utf8_lossy(&bash.text);
    bash.text = text.replace("brain__subcmd__guard", "brain__guard").into_bytes();
    let mut files = vec![
        bash,
        completion(&completions, Kind::Zsh, "_brain-guard", shells::Zsh),
        completion(&completions, Kind::Fish, "brain-guard.fish", shells::Fish),
    ];
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    add_pages(command, &mut files)?;
    Ok(files)
}

fn completion(command: &Command, kind: Kind, name: &str, shell: impl Generator) -> Generated {
    let mut text = Vec::new();
    generate(shell, &mut command.clone(), COMMAND, &mut text);
    Generated { kind, path: format!("completions/{name}"), text }
}

/// A copy without what is hidden: `clap_complete` offers that, too.
fn visible(command: &Command) -> Command {
    let args: Vec<_> = command.get_arguments().filter(|arg| !arg.is_hide_set()).cloned().collect();
    let groups = command.get_groups().map(|group| {
        let has = |id: &&clap::Id| args.iter().any(|arg| arg.get_id() == *id);
        let members: Vec<_> = group.get_args().filter(has).cloned().collect();
        ArgGroup::new(group.get_id().clone()).args(members).multiple(true)
    });
    let mut copy = Command::new(command.get_name().to_owned());
    if let Some(version) = command.get_version() {
        copy = copy.version(version.to_owned());
    }
    copy.about(command.get_about().cloned().unwrap_or_default())
        .allow_missing_positional(command.is_allow_missing_positional_set())
        .groups(groups)
        .subcommands(command.get_subcommands().filter(|c| !c.is_hide_set()).map(visible))
        .args(args)
}

fn add_pages(command: Command, files: &mut Vec<Generated>) -> io::Result<()> {
    for below in command.get_subcommands().filter(|command| !command.is_hide_set()) {
        add_pages(below.clone(), files)?;
    }
    let page = Man::new(command).source(concat!("brain-guard ", env!("CARGO_PKG_VERSION")));
    let mut text = Vec::new();
    page.render(&mut text)?;
    // Without hyphens and justification, the commands in it can be copied.
    let text = String::from_utf8_lossy(&text).replacen(".SH NAME", ".nh\n.ad l\n.SH NAME", 1);
    files.push(Generated {
        kind: Kind::Man,
        path: format!("man/{}", page.get_filename()),
        text: text.into_bytes(),
    });
    Ok(())
}

/// Writes the files into `folder`; returns whether that changed any.
///
/// # Errors
/// A file system error.
pub fn write(folder: &Path) -> Result<bool> {
    write_all(&all()?, folder)
}

fn write_all(files: &[Generated], folder: &Path) -> Result<bool> {
    let mut is_changed = false;
    for file in files {
        let path = folder.join(&file.path);
        is_changed |= place::write_unsynced(&path, &file.text, 0o644)
            .with_context(|| format!("could not write {}", path.display()))?;
    }
    Ok(is_changed)
}

/// Puts the files into the current release, links them for the user, and says so in one line. A link
/// that cannot be made is named and stops nothing.
///
/// # Errors
/// A file system error in the release.
pub fn install(current: &Path, folders: &UserFolders, out: &mut dyn Write) -> Result<()> {
    let share = current.join(SHARE);
    let files = all()?;
    let mut is_new = !share.exists();
    let is_mended = write_all(&files, &share)?;
    // An earlier version may have had more verbs.
    unlink(current, folders, |link| !link.exists())?;
    let mut missing = Vec::new();
    for file in &files {
        let link = file.link(folders);
        match place::link(&link, &share.join(&file.path)) {
            Ok(Some(change)) => is_new |= change == Change::Made,
            Ok(None) => missing.push(format!("{} is not ours and stays", link.display())),
            Err(why) => missing.push(format!("could not link {}: {why}", link.display())),
        }
    }
    let change = match (is_new, is_mended) {
        (true, _) => Change::Made,
        (false, true) => Change::Mended,
        (false, false) => Change::Unchanged,
    };
    writeln!(out, "shell    completions for bash, zsh, fish and man pages ({change})")?;
    for line in missing.iter().take(NAMED) {
        writeln!(out, "         {line}")?;
    }
    if let Some(more) = missing.len().checked_sub(NAMED).filter(|more| *more > 0) {
        writeln!(out, "         and {more} more")?;
    }
    Ok(())
}

/// Removes the links to the release's files; returns whether there were any.
///
/// # Errors
/// A link that cannot be removed.
pub fn remove(current: &Path, folders: &UserFolders) -> io::Result<bool> {
    unlink(current, folders, |_| true)
}

/// Removes those of our links that `is_unwanted`.
fn unlink(
    current: &Path,
    folders: &UserFolders,
    is_unwanted: impl Fn(&Path) -> bool,
) -> io::Result<bool> {
    let share = current.join(SHARE);
    let is_ours = |link: &Path| fs::read_link(link).is_ok_and(|to| to.starts_with(&share));
    let mut is_changed = false;
    for kind in [Kind::Bash, Kind::Zsh, Kind::Fish, Kind::Man] {
        // A folder that is missing or unreadable has no link of ours.
        for entry in fs::read_dir(folders.of(kind)).into_iter().flatten().flatten() {
            let link = entry.path();
            if is_ours(&link) && is_unwanted(&link) {
                fs::remove_file(link)?;
                is_changed = true;
            }
        }
    }
    Ok(is_changed)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    struct World {
        _dir: tempfile::TempDir,
        current: PathBuf,
        folders: UserFolders,
    }

    impl World {
        fn new() -> Self {
            let dir = tempfile::tempdir().unwrap();
            let at = |name: &str| dir.path().join(name);
            let folders = UserFolders { data: at("data"), config: at("config") };
            Self { current: at("data/brain-guard/current"), folders, _dir: dir }
        }

        fn install(&self) -> String {
            let mut out = Vec::new();
            install(&self.current, &self.folders, &mut out).unwrap();
            String::from_utf8(out).unwrap()
        }

        fn link(&self, kind: Kind, name: &str) -> PathBuf {
            self.folders.of(kind).join(name)
        }
    }

    #[test]
    fn generated_files_are_the_same_each_time_and_hide_what_is_hidden() {
        let files = all().unwrap();
        assert_eq!(files, all().unwrap());
        let command = Cli::command();
        let hidden: Vec<_> = command.get_subcommands().filter(|c| c.is_hide_set()).collect();
        assert!(!hidden.is_empty());
        for file in &files {
            let text = String::from_utf8(file.text.clone()).unwrap();
            assert!(text.contains("brain-guard"), "{}", file.path);
            for command in &hidden {
                let about = command.get_about().unwrap().to_string();
                assert!(!text.contains(&about), "{about} in {}", file.path);
            }
            for hidden in ["--call ", "call="] {
                assert!(!text.contains(hidden), "{hidden} in {}", file.path);
            }
        }
        let has = |path: &str| files.iter().any(|file| file.path == path);
        for command in command.get_subcommands() {
            let page = format!("man/brain-guard-{}.1", command.get_name());
            assert_eq!(has(&page), !command.is_hide_set(), "{page}");
        }
        assert!(has("man/brain-guard.1") && has("man/brain-guard-surgery-split.1"));
    }

    #[test]
    fn bash_completes_every_command_that_it_recognizes() {
        let files = all().unwrap();
        let bash = files.iter().find(|file| file.kind == Kind::Bash).unwrap();
        let text = String::from_utf8(bash.text.clone()).unwrap();
        let named =
            |line: &str| Some(line.trim().strip_prefix("cmd=\"")?.trim_end_matches('"').to_owned());
        let commands: Vec<String> =
            text.lines().filter_map(named).filter(|name| !name.is_empty()).collect();
        assert!(commands.len() > 30);
        for command in commands {
            assert!(text.lines().any(|line| line.trim() == format!("{command})")), "{command}");
        }
    }

    #[test]
    fn links_lead_to_the_files_once_and_are_removed() {
        let world = World::new();
        let said = world.install();
        assert_eq!(said, "shell    completions for bash, zsh, fish and man pages (new)\n");
        for (kind, name, path) in [
            (Kind::Bash, "brain-guard", "completions/brain-guard.bash"),
            (Kind::Zsh, "_brain-guard", "completions/_brain-guard"),
            (Kind::Fish, "brain-guard.fish", "completions/brain-guard.fish"),
            (Kind::Man, "brain-guard-seal.1", "man/brain-guard-seal.1"),
        ] {
            let link = world.link(kind, name);
            let target = world.current.join(SHARE).join(path);
            assert_eq!(fs::read_link(&link).unwrap(), target);
            assert!(link.exists(), "{path}");
        }
        assert!(world.install().contains("(unchanged)"));
        fs::write(world.current.join("share/man/brain-guard.1"), "torn").unwrap();
        assert!(world.install().contains("(mended)"));
        assert!(remove(&world.current, &world.folders).unwrap());
        assert!(!world.link(Kind::Man, "brain-guard.1").is_symlink());
        assert!(!remove(&world.current, &world.folders).unwrap());
    }

    #[test]
    fn folders_that_cannot_be_used_stop_nothing() {
        let world = World::new();
        fs::create_dir_all(world.folders.data.join("man")).unwrap();
        for folder in ["config", "data/man/man1"] {
            fs::write(world.folders.data.with_file_name(folder), "a file").unwrap();
        }
        let said = world.install();
        assert!(
            said.contains("(new)") && said.contains("fish: ") && said.contains("more"),
            "{said}"
        );
        assert_eq!(said.lines().count(), 1 + NAMED + 1, "{said}");
        assert!(world.link(Kind::Bash, "brain-guard").exists());
        assert!(remove(&world.current, &world.folders).unwrap());
    }

    #[test]
    fn files_of_others_stay_and_links_to_gone_pages_go() {
        let world = World::new();
        let (theirs, gone) = (world.link(Kind::Zsh, "_brain-guard"), world.link(Kind::Man, "x.1"));
        for path in [&theirs, &gone] {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
        }
        fs::write(&theirs, "theirs").unwrap();
        symlink(world.current.join("share/man/x.1"), &gone).unwrap();
        assert!(world.install().contains("_brain-guard is not ours and stays"));
        assert!(!gone.is_symlink());
        remove(&world.current, &world.folders).unwrap();
        assert_eq!(fs::read_to_string(theirs).unwrap(), "theirs");
    }
}
