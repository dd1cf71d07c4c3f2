//! Completions for bash, zsh and fish, and man pages, made from the definition of the command line.
//! A release holds them in `share/`, and links lead there from where shells and `man` look.
//!
//! They follow from the binary, so the release's digest covers them already.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use clap::{ArgGroup, Command, CommandFactory as _};
use clap_complete::{Generator, generate, shells};
use clap_mangen::Man;

use super::{COMMAND, place, word};
use crate::cli::{Cli, CompletionsArgs, Shell};
use crate::cmd::{Context, Exit, Run, out_unchanged};

/// Their folder in a release.
const SHARE: &str = "share";

/// Links that an installation names if they are missing.
const NAMED: usize = 3;

/// The user's folders for completions of bash, zsh and fish, and for man pages.
pub type UserFolders = [PathBuf; 4];

/// These folders, in `$XDG_DATA_HOME` and `$XDG_CONFIG_HOME`.
pub fn folders(data: &Path, config: &Path) -> UserFolders {
    let [bash, zsh, man] = ["bash-completion/completions", "zsh/site-functions", "man/man1"];
    [data.join(bash), data.join(zsh), config.join("fish/completions"), data.join(man)]
}

/// The link to a file in `share/`. bash looks a completion up by the command's name.
fn link(folders: &UserFolders, path: &str) -> PathBuf {
    let [bash, zsh, fish, man] = folders;
    let name = path.rsplit('/').next().unwrap_or(path);
    match name.rsplit('.').next() {
        Some("bash") => bash.join(COMMAND),
        Some("fish") => fish.join(name),
        Some("1") => man.join(name),
        _ => zsh.join(name),
    }
}

/// A path in `share/`, and the file's text.
type Generated = (String, Vec<u8>);

/// Every completion and man page.
fn all() -> Result<Vec<Generated>> {
    let completions = [
        ("brain-guard.bash", Shell::Bash),
        ("_brain-guard", Shell::Zsh),
        ("brain-guard.fish", Shell::Fish),
    ];
    let file = |(name, shell)| (format!("completions/{name}"), completion(shell).into_bytes());
    let mut files: Vec<Generated> = completions.map(file).into();
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    add_pages(command, &mut files)?;
    Ok(files)
}

/// The completions for a shell.
fn completion(shell: Shell) -> String {
    fn written(shell: impl Generator) -> String {
        let mut text = Vec::new();
        generate(shell, &mut visible(&Cli::command()), COMMAND, &mut text);
        String::from_utf8_lossy(&text).into_owned()
    }
    match shell {
        // Its names of a command differ if the program's name has a hyphen (clap-rs/clap#6421).
        Shell::Bash => written(shells::Bash).replace("brain__subcmd__guard", "brain__guard"),
        Shell::Zsh => written(shells::Zsh),
        // Its completions have no values of arguments without a flag.
        Shell::Fish => {
            let shells = "complete -c brain-guard -n \"__fish_brain_guard_using_subcommand completions\" -f -a \"bash zsh fish\"\n";
            written(shells::Fish) + shells
        }
    }
}

impl Run for CompletionsArgs {
    fn run(&self, _: Context) -> Result<Exit> {
        out_unchanged(completion(self.shell).trim_end());
        Ok(Exit::Done)
    }
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
    files.push((format!("man/{}", page.get_filename()), text.into_bytes()));
    Ok(())
}

/// Writes the files into `folder`. Returns their paths, and whether that changed any.
///
/// # Errors
/// A file system error.
pub fn write(folder: &Path) -> Result<(Vec<String>, bool)> {
    let (mut paths, mut is_changed) = (Vec::new(), false);
    for (path, text) in all()? {
        let file = folder.join(&path);
        is_changed |= place::write(&file, &text, 0o644)
            .with_context(|| format!("could not write {}", file.display()))?;
        paths.push(path);
    }
    Ok((paths, is_changed))
}

/// Puts the files into the current release, links them for the user, and says so in one line. A link
/// that cannot be made is named and stops nothing.
///
/// # Errors
/// A file system error in the release.
pub fn install(current: &Path, folders: &UserFolders, out: &mut dyn Write) -> Result<()> {
    let share = current.join(SHARE);
    let (paths, mut is_changed) = write(&share)?;
    // An earlier version may have had more verbs.
    unlink(current, folders, |link| !link.exists())?;
    let mut missing = Vec::new();
    for path in &paths {
        let link = link(folders, path);
        match place::link(&link, &share.join(path), |_| false) {
            Ok(Some(is_new)) => is_changed |= is_new,
            Ok(None) => missing.push(format!("{} is not ours and stays", link.display())),
            Err(why) => missing.push(format!("could not link {}: {why}", link.display())),
        }
    }
    let word = word(is_changed);
    writeln!(out, "shell    completions for bash, zsh, fish and man pages ({word})")?;
    for line in missing.iter().take(NAMED) {
        writeln!(out, "         {line}")?;
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
    // A folder that is missing or unreadable has no link of ours.
    for entry in folders.iter().flat_map(fs::read_dir).flatten().flatten() {
        let link = entry.path();
        if is_ours(&link) && is_unwanted(&link) {
            fs::remove_file(link)?;
            is_changed = true;
        }
    }
    Ok(is_changed)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    struct World {
        dir: tempfile::TempDir,
        current: PathBuf,
        folders: UserFolders,
    }

    impl World {
        fn new() -> Self {
            let dir = tempfile::tempdir().unwrap();
            let at = |name: &str| dir.path().join(name);
            let folders = folders(&at("data"), &at("config"));
            Self { current: at("data/brain-guard/current"), folders, dir }
        }

        fn install(&self) -> String {
            let mut out = Vec::new();
            install(&self.current, &self.folders, &mut out).unwrap();
            String::from_utf8(out).unwrap()
        }

        fn link(&self, path: &str) -> PathBuf {
            link(&self.folders, path)
        }
    }

    #[test]
    fn generated_files_are_the_same_each_time_and_hide_what_is_hidden() {
        let files = all().unwrap();
        assert_eq!(files, all().unwrap());
        let command = Cli::command();
        let hidden: Vec<_> = command.get_subcommands().filter(|c| c.is_hide_set()).collect();
        assert!(!hidden.is_empty());
        for (path, text) in &files {
            let text = String::from_utf8(text.clone()).unwrap();
            assert!(text.contains("brain-guard"), "{path}");
            for command in &hidden {
                let about = command.get_about().unwrap().to_string();
                assert!(!text.contains(&about), "{about} in {path}");
            }
            for hidden in ["--call ", "call="] {
                assert!(!text.contains(hidden), "{hidden} in {path}");
            }
        }
        let has = |path: &str| files.iter().any(|file| file.0 == path);
        for command in command.get_subcommands() {
            let page = format!("man/brain-guard-{}.1", command.get_name());
            assert_eq!(has(&page), !command.is_hide_set(), "{page}");
        }
        assert!(has("man/brain-guard.1") && has("man/brain-guard-surgery-split.1"));
    }

    #[test]
    fn bash_completes_every_command_that_it_recognizes() {
        let files = all().unwrap();
        let bash = files.iter().find(|file| file.0 == "completions/brain-guard.bash").unwrap();
        let text = String::from_utf8(bash.1.clone()).unwrap();
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
        for (folder, path) in [
            ("data/bash-completion/completions/brain-guard", "completions/brain-guard.bash"),
            ("data/zsh/site-functions/_brain-guard", "completions/_brain-guard"),
            ("config/fish/completions/brain-guard.fish", "completions/brain-guard.fish"),
            ("data/man/man1/brain-guard-seal.1", "man/brain-guard-seal.1"),
        ] {
            let link = world.dir.path().join(folder);
            assert_eq!(fs::read_link(&link).unwrap(), world.current.join(SHARE).join(path));
            assert!(link.exists(), "{path}");
        }
        assert!(world.install().contains("(unchanged)"));
        fs::write(world.current.join("share/man/brain-guard.1"), "torn").unwrap();
        assert!(world.install().contains("(new)"));
        assert!(remove(&world.current, &world.folders).unwrap());
        assert!(!world.link("man/brain-guard.1").is_symlink());
        assert!(!remove(&world.current, &world.folders).unwrap());
    }

    #[test]
    fn folders_that_cannot_be_used_stop_nothing() {
        let world = World::new();
        fs::create_dir_all(world.dir.path().join("data/man")).unwrap();
        for folder in ["config", "data/man/man1"] {
            fs::write(world.dir.path().join(folder), "a file").unwrap();
        }
        let said = world.install();
        assert!(said.contains("(new)") && said.contains("fish: "), "{said}");
        assert_eq!(said.lines().count(), 1 + NAMED, "{said}");
        assert!(world.link("completions/brain-guard.bash").exists());
        assert!(remove(&world.current, &world.folders).unwrap());
    }

    #[test]
    fn files_of_others_stay_and_links_to_gone_pages_go() {
        let world = World::new();
        let (theirs, gone) = (world.link("completions/_brain-guard"), world.link("man/x.1"));
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
