//! `install` and `uninstall` with a small program to install, because copying and hashing the real
//! one takes too long.

use std::path::Path;
use std::process::ExitCode;

use brain_guard::cmd::install::{InstallPlan, install};
use brain_guard::cmd::uninstall::{UninstallPlan, uninstall};

use crate::plan::plan;

/// Runs a verb in `root`, in a process of its own.
pub fn run(verb: &str, root: &Path) -> ExitCode {
    let plan = plan(root);
    let done = match verb {
        "install" => install(&plan, &mut std::io::sink()),
        _ => uninstall(&uninstall_plan(&plan), &mut std::io::sink()),
    };
    if let Err(e) = &done {
        eprintln!("{e:#}");
    }
    ExitCode::from(u8::from(done.is_err()))
}

fn uninstall_plan(plan: &InstallPlan) -> UninstallPlan {
    UninstallPlan {
        data: plan.data.clone(),
        links: plan.links.clone(),
        shells: plan.shells.clone(),
        client: plan.client.clone(),
        config: plan.config.clone(),
        state: plan.data.with_file_name("state"),
        store: plan.data.clone(),
        projects: Vec::new(),
    }
}
