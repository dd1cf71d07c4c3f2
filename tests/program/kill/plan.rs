//! Where the installation to kill goes.

use std::path::Path;

use brain_guard::cmd::install::shell::UserFolders;
use brain_guard::cmd::install::{InstallPlan, keys};

pub fn plan(root: &Path) -> InstallPlan {
    let home = root.join("home");
    InstallPlan {
        binary: home.join("program"),
        data: home.join(".local/share/brain-guard"),
        links: home.join(".local/bin"),
        shells: UserFolders { data: home.join(".local/share"), config: home.join(".config") },
        on_path: true,
        client: Some(home.join("client/claude")),
        config: home.join(".claude"),
        keys: keys::Wish::Bound,
        imports: false,
        tiers: String::new(),
    }
}
