//! Which session to remove.

use std::path::Path;

use anyhow::{Context as _, bail};

use crate::cmd::Failure;
use crate::cmd::selector::Name;
use base::env::Env;
use base::paths::same_file;
use base::shown::local_minute;
use store::index::Export;
use surgery::table::short;

/// What the newest operation made, if it is still there. An older one must be named, so that calling
/// `remove` twice removes nothing that is still in use.
fn newest(mut all: Vec<Export>) -> anyhow::Result<Export> {
    let last = all.last().context("there is nothing to remove: surgery has made no session")?;
    let (made, name, removed) = (last.made, short(&last.id).to_owned(), last.removed);
    let Some(at) = all.iter().rposition(|export| export.removed.is_none()) else {
        bail!("there is nothing to remove: all that surgery made was removed");
    };
    let next = all.swap_remove(at);
    // A split makes several sessions at once.
    if next.made == made {
        return Ok(next);
    }
    let next_name = short(&next.id);
    let what = format!(
        "the newest session that surgery made, {name}, was removed already, {}; nothing was removed",
        local_minute(removed)
    );
    let hint = format!(
        "the next older one is {next_name} ({}): `brain-guard surgery remove {next_name}`",
        next.operation
    );
    Err(Failure::refused(what).hint(hint).into())
}

/// The export with this id; without one, what the newest operation made.
pub fn find(env: &Env, mut all: Vec<Export>, id: Option<&str>) -> anyhow::Result<Export> {
    let Some(id) = id else { return newest(all) };
    let name = Name::parse(env, id)?;
    let file = |export: &Export| matches!(&name, Name::File(file) if same_file(Path::new(&export.path), file));
    all.retain(|export| name.fits(&export.id) || file(export));
    match all.as_slice() {
        [] => {
            bail!(
                "surgery has made no session `{id}`; `brain-guard surgery log` lists what it made"
            )
        }
        [one] if one.removed.is_some() => {
            bail!("{} was removed already, {}", short(&one.id), local_minute(one.removed))
        }
        [_] => Ok(all.remove(0)),
        _ => {
            let ids: Vec<&str> = all.iter().map(|export| export.id.as_str()).collect();
            bail!("{id} matches several sessions; write more of it:\n  {}", ids.join("\n  "))
        }
    }
}
