//! Copies of the plugin in the client's plugin cache. The client has a folder there for each version
//! of a plugin from a marketplace, and `/brain-guard:setup` links the command into it.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use super::COMMAND;

/// A program in the cache: `…/plugins/cache/MARKETPLACE/PLUGIN/VERSION/bin/NAME`.
#[derive(Debug, PartialEq, Eq)]
pub struct Cached<'a> {
    /// The folder of all its versions.
    pub plugin: &'a Path,
    /// The version's folder.
    pub version: &'a OsStr,
}

impl<'a> Cached<'a> {
    /// The program's parts, if it is in a cache.
    pub fn parse(program: &'a Path) -> Option<Self> {
        let version = program.parent().filter(|bin| bin.ends_with("bin"))?.parent()?;
        let plugin = version.parent()?;
        let cache = plugin.parent()?.parent()?;
        let is_cache = cache.is_absolute() && cache.ends_with("plugins/cache");
        is_cache.then_some(Self { plugin, version: version.file_name()? })
    }
}

/// Whether both programs belong to one plugin of one marketplace, in different versions.
pub fn is_other_version(one: &Path, other: &Path) -> bool {
    Cached::parse(one)
        .zip(Cached::parse(other))
        .is_some_and(|(one, other)| one.plugin == other.plugin && one.version != other.version)
}

/// Whether the setup of a copy from any marketplace made this link.
pub fn is_our_link(link: &Path) -> bool {
    fs::read_link(link).is_ok_and(|target| {
        Cached::parse(&target).is_some_and(|cached| cached.plugin.ends_with(COMMAND))
    })
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn only_programs_in_a_plugin_cache_are_cached() {
        let path = Path::new("/h/.claude/plugins/cache/m/p/1.0/bin/brain-guard-x86_64");
        let cached = Cached::parse(path).unwrap();
        assert_eq!(
            (cached.plugin, cached.version),
            (Path::new("/h/.claude/plugins/cache/m/p"), "1.0".as_ref())
        );
        for other in [
            "/h/.local/share/brain-guard/current/bin/brain-guard",
            "/h/plugins/cache/p/1.0/bin/brain-guard",
            "/h/plugins/cache/m/p/1.0/lib/brain-guard",
            "plugins/cache/m/p/1.0/bin/brain-guard",
            "/",
        ] {
            assert_eq!(Cached::parse(Path::new(other)), None, "{other}");
        }
    }

    #[test]
    fn only_versions_of_one_plugin_are_other_versions() {
        let at = |rest: &str| PathBuf::from(format!("/h/plugins/cache/{rest}/bin/brain-guard"));
        assert!(is_other_version(&at("m/p/1"), &at("m/p/2")));
        for (target, program) in [("m/p/1", "m/p/1"), ("m/p/1", "n/p/2"), ("m/p/1", "m/q/2")] {
            assert!(!is_other_version(&at(target), &at(program)), "{target} {program}");
        }
        assert!(!is_other_version(Path::new("/h/data/current/bin/brain-guard"), &at("m/p/2")));
    }
}
