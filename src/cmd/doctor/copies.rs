//! The copies of the plugin that the client has: the installed one, and those from other
//! marketplaces. The client runs the hooks of only one plugin of a name.

use std::fs;
use std::path::{Path, PathBuf};

use super::{FIX, Finding, INSTALL, World};
use crate::cmd::install::client::{Client, PLUGIN, Plugin, unusable_settings};
use base::paths::same_file;

/// What the client says about the plugin.
pub struct Registered {
    /// The folder of the marketplace with our name. It is the installed plugin, unless the user
    /// added another one of the same name.
    marketplace: Option<PathBuf>,
    is_current: bool,
    copies: Vec<Plugin>,
}

impl Registered {
    /// Asks the client.
    ///
    /// # Errors
    /// A client that cannot be run, refuses, or answers something else.
    pub fn ask(program: &Path, current: &Path) -> anyhow::Result<Self> {
        let client = Client::new(program);
        let marketplace = client.marketplace()?;
        let is_current = marketplace.as_deref() == Some(current);
        Ok(Self { marketplace, is_current, copies: client.copies()? })
    }

    /// Whether `brain-guard uninstall` removes a copy.
    fn is_ours(&self, copy: &Plugin) -> bool {
        self.is_current && copy.is_installed()
    }

    /// The copies from other marketplaces.
    fn others(&self) -> impl Iterator<Item = &Plugin> {
        self.copies.iter().filter(|copy| !self.is_ours(copy))
    }

    /// Whether the client uses the plugin from another marketplace.
    pub fn is_elsewhere(&self) -> bool {
        self.others().any(|copy| copy.enabled)
    }

    /// Whether the client runs any copy.
    pub fn is_enabled(&self) -> bool {
        self.copies.iter().any(|copy| copy.enabled)
    }
}

/// All copies, which one runs, and how to keep only one.
pub fn look(world: &World) -> Vec<Finding> {
    let registered = match &world.registered {
        None => return Vec::new(),
        Some(Ok(registered)) => registered,
        Some(Err(e)) => {
            let way = format!("look at `claude plugin list`, then {INSTALL}");
            return vec![Finding::problem(format!("{e:#}"), way)];
        }
    };
    let mut found = Vec::new();
    if world.current.is_dir() || !registered.is_elsewhere() {
        found.push(installed(registered, world));
    }
    found.extend(registered.others().map(other));
    found.extend(several(world, registered));
    found
}

/// The copy that `install` registered.
fn installed(registered: &Registered, world: &World) -> Finding {
    let current = &*world.current;
    let plugin = registered.copies.iter().find(|copy| copy.is_installed());
    let elsewhere = registered.is_elsewhere();
    let (Some(folder), Some(plugin)) = (&registered.marketplace, plugin) else {
        if elsewhere {
            let seen =
                format!("the client does not use the installed plugin in {}", current.display());
            return Finding::note(seen, "run `brain-guard uninstall` to remove it");
        }
        let way = if current.is_dir() { FIX } else { INSTALL };
        return Finding::problem("the client does not know the plugin", way);
    };
    if let Some(why) = &plugin.error {
        let seen = format!("the client does not load it: {why}");
        return Finding::problem(seen, "`claude plugin list` says more");
    }
    if let Some(why) = unusable_settings(&world.plan.config).filter(|_| !plugin.enabled) {
        return Finding::problem(why, format!("repair it, then {INSTALL}"));
    }
    // The check `switches` names the file that does it.
    if !plugin.enabled && !world.is_switched_off() {
        let way = format!("`claude plugin enable {PLUGIN}`");
        return if elsewhere {
            Finding::note(format!("{PLUGIN} is switched off"), way)
        } else {
            Finding::problem("the client has it switched off", way)
        };
    }
    let seen = format!("the client reads it from {}", folder.display());
    if folder != current {
        // The client has one marketplace of a name: adding another folder replaced ours.
        let seen = format!("{seen}, a marketplace that took the place of the installed one");
        return Finding::note(seen, format!("{INSTALL} for {}", current.display()));
    }
    let Ok(release) = fs::read_link(current) else {
        return Finding::problem(format!("{seen}, which is not there"), INSTALL);
    };
    let release = release.display().to_string();
    let version = plugin.version.as_deref().unwrap_or("unknown");
    if release.starts_with(&format!("{version}-")) {
        return Finding::ok(seen);
    }
    let seen = format!("the client has it as version {version}, installed is {release}");
    Finding::problem(seen, update(PLUGIN))
}

fn update(id: &str) -> String {
    format!("`claude plugin update {id}`, then /reload-plugins in open sessions")
}

/// A copy from another marketplace.
fn other(copy: &Plugin) -> Finding {
    let (id, own) = (&copy.id, env!("CARGO_PKG_VERSION"));
    let version = copy.version.as_deref().unwrap_or("unknown");
    if !copy.enabled {
        Finding::ok(format!("{id} is switched off"))
    } else if version == own {
        Finding::ok(format!("the client has {id}, version {version}"))
    } else {
        let seen = format!("the client has {id} as version {version}, this program is {own}");
        Finding::note(seen, update(id))
    }
}

/// Several enabled copies: which one runs, and how to drop the others.
fn several(world: &World, registered: &Registered) -> Option<Finding> {
    let enabled: Vec<&Plugin> = registered.copies.iter().filter(|copy| copy.enabled).collect();
    if enabled.len() < 2 {
        return None;
    }
    let last = world.last.as_ref().and_then(|(id, session)| {
        let root = Path::new(session.plugin.as_ref()?);
        let ran = |copy: &&&Plugin| {
            let current = Some(&*world.current).filter(|_| registered.is_ours(copy));
            copy.folder.as_deref().or(current).is_some_and(|folder| same_file(folder, root))
        };
        Some(format!("; in the last one, {id}, {} ran", enabled.iter().find(ran)?.id))
    });
    let ids: Vec<&str> = enabled.iter().map(|copy| copy.id.as_str()).collect();
    let seen = format!(
        "{} are enabled: the client runs only one of them, and lists the commands of all{}",
        ids.join(" and "),
        last.unwrap_or_default()
    );
    let drop = |copy: &&Plugin| {
        if registered.is_ours(copy) {
            "`brain-guard uninstall`".to_owned()
        } else {
            format!("`claude plugin uninstall {}`", copy.id)
        }
    };
    let ways: Vec<String> = enabled.iter().map(drop).collect();
    Some(Finding::note(seen, format!("keep one: {}", ways.join(" or "))))
}
