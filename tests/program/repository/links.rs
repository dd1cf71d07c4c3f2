//! Links at every level below `.brain-guard`: to files, folders, devices, nowhere, themselves.

use crate::repository::attack::Attack;
use crate::repository::settings::sections;
use crate::repository::world::World;

/// A found job with a link for one of its files.
macro_rules! job_link {
    ($name:literal, $file:literal -> $to:literal) => {
        Attack::laid(concat!("link: ", $name), |w| {
            w.found_job().link(concat!("{job}/", $file), $to);
        })
    };
}

/// A link above the jobs, where nothing can be written.
macro_rules! top_link {
    ($name:literal, $path:literal -> $to:literal) => {
        Attack::laid(concat!("link: ", $name), |w| {
            w.link($path, $to);
        })
        .lifts()
    };
}

pub fn all() -> Vec<Attack> {
    [files(), records(), folders(), tops(), todays()].into_iter().flatten().collect()
}

fn files() -> Vec<Attack> {
    vec![
        job_link!("the file to the keys, relative",
            "compaction.md" -> "../../../../../.ssh/authorized_keys"),
        job_link!("the file to the keys, absolute", "compaction.md" -> "{home}/.ssh/authorized_keys"),
        job_link!("the file to nowhere", "compaction.md" -> "{home}/.ssh/rc"),
        job_link!("the file to itself", "compaction.md" -> "compaction.md"),
        job_link!("the file to /dev/zero", "compaction.md" -> "/dev/zero"),
        job_link!("the file to the environment", "compaction.md" -> "/proc/self/environ"),
        job_link!("the file through the root of a process",
            "compaction.md" -> "/proc/self/root{home}/.aws/credentials"),
        job_link!("the file to a folder", "compaction.md" -> "{home}/outside"),
        job_link!("the file to notes elsewhere", "compaction.md" -> "{home}/outside/compaction.md"),
        Attack::laid("link: the file to the shell's profile, with sections of no prompt", |w| {
            let sections = sections(&[("export PATH=.:$PATH #", "")]);
            w.found_job().link("{job}/compaction.md", "{home}/.bashrc");
            w.file(".brain-guard/settings.json", &sections);
        }),
        Attack::laid("link: the file to a link that leads out", |w| {
            w.found_job().link("docs/notes.md", "{home}/.ssh/authorized_keys");
            w.link("{job}/compaction.md", "../../../docs/notes.md");
        }),
        job_link!("a sealed version to the credentials",
            "sealed/v0001.md" -> "{home}/.aws/credentials"),
        job_link!("a sealed version to notes elsewhere",
            "sealed/v0001.md" -> "../../../../../../outside/v0001.md"),
        job_link!("the next sealed version to nowhere", "sealed/v0002.md" -> "{home}/.ssh/rc"),
    ]
}

fn records() -> Vec<Attack> {
    vec![
        job_link!("the record to the credentials", "job.json" -> "{home}/.aws/credentials"),
        job_link!("the record to a record elsewhere", "job.json" -> "{home}/outside/job.json"),
        job_link!("the record to nowhere", "job.json" -> "{home}/outside/new.json"),
        job_link!("the prompts to the keys", "prompts.jsonl" -> "{home}/.ssh/authorized_keys"),
        job_link!("the prompts to prompts elsewhere",
            "prompts.jsonl" -> "{home}/outside/prompts.jsonl"),
        job_link!("the prompts to nowhere", "prompts.jsonl" -> "{home}/.ssh/rc"),
        job_link!("the phases to a folder outside", "phases" -> "{home}/outside"),
        job_link!("the lock to the keys", ".lock" -> "{home}/.ssh/authorized_keys"),
        job_link!("the lock to nowhere", ".lock" -> "{home}/.ssh/rc"),
        Attack::laid("link: the locks beside a job", |w| {
            w.found_job();
            for name in ["lock", "compaction.md.lock", ".compaction.md.lock", "job.lock"] {
                w.link(&format!("{{job}}/{name}"), "{home}/.ssh/rc");
            }
            w.link(".brain-guard/lock", "{home}/.ssh/rc");
            w.link(".brain-guard/jobs/.lock", "{home}/.ssh/rc");
            let beside = format!(".brain-guard/jobs/{}.lock", w.job);
            w.link(&beside, "{home}/.ssh/rc");
        }),
        Attack::laid("link: a session's requests to the keys", |w| {
            w.link(".brain-guard/requests/{session}.jsonl", "{home}/.ssh/authorized_keys");
        }),
        Attack::laid("link: a session's requests to nowhere", |w| {
            w.link(".brain-guard/requests/{session}.jsonl", "{home}/.ssh/rc");
        }),
        Attack::laid("link: the settings to the credentials", |w| {
            w.link(".brain-guard/settings.json", "{home}/.aws/credentials");
        }),
        Attack::laid("link: the settings to settings elsewhere", |w| {
            w.link(".brain-guard/settings.json", "{home}/outside/settings.json");
        }),
        Attack::laid("link: the settings to /dev/zero", |w| {
            w.link(".brain-guard/settings.json", "/dev/zero");
        }),
        Attack::laid("link: the ignore file to the shell's profile", |w| {
            w.link(".brain-guard/.gitignore", "{home}/.bashrc");
        }),
        Attack::laid("link: the ignore file to nowhere", |w| {
            w.link(".brain-guard/.gitignore", "{home}/.gitignore");
        }),
    ]
}

fn folders() -> Vec<Attack> {
    vec![
        job_link!("the sealed versions to a folder outside", "sealed" -> "{home}/outside"),
        job_link!("the sealed versions to HOME, relative", "sealed" -> "../../../../.."),
        job_link!("the sealed versions to nowhere", "sealed" -> "{home}/new"),
        Attack::laid("link: a job's folder to a folder outside", |w| {
            w.link("{job}", "{home}/outside");
        }),
        Attack::laid("link: a job's folder to the keys' folder", |w| {
            w.link("{job}", "../../../../.ssh");
        }),
        Attack::laid("link: a job's folder to itself", |w| {
            let itself = w.job.clone();
            w.link("{job}", &itself);
        }),
        Attack::laid("link: a job's folder to the project's root", |w| {
            w.link("{job}", "../..");
        }),
    ]
}

fn tops() -> Vec<Attack> {
    vec![
        top_link!("the jobs to a folder outside", ".brain-guard/jobs" -> "{home}/outside"),
        top_link!("the jobs to HOME", ".brain-guard/jobs" -> "../../.."),
        top_link!("the jobs to nowhere", ".brain-guard/jobs" -> "{home}/new"),
        top_link!("the jobs to a file", ".brain-guard/jobs" -> "{home}/.bashrc"),
        top_link!("the requests to a folder outside", ".brain-guard/requests" -> "{home}/outside"),
        top_link!("the requests to nowhere", ".brain-guard/requests" -> "{home}/new"),
        top_link!(".brain-guard to HOME", ".brain-guard" -> "{home}"),
        top_link!(".brain-guard to a folder outside", ".brain-guard" -> "../../outside"),
        top_link!(".brain-guard to nowhere", ".brain-guard" -> "{home}/new"),
        top_link!(".brain-guard to itself", ".brain-guard" -> ".brain-guard"),
        top_link!(".brain-guard to a file", ".brain-guard" -> "{home}/.bashrc"),
        top_link!(".brain-guard to the client's folder", ".brain-guard" -> "{home}/.claude"),
        top_link!(".brain-guard to another place in the project", ".brain-guard" -> "docs"),
    ]
}

/// The job that a first session would get.
fn todays() -> Vec<Attack> {
    fn laid(w: &mut World, path: &str, to: &str) {
        w.todays_job().found_job().link(path, to);
    }
    vec![
        Attack::laid("link: today's job to a folder outside", |w| {
            laid(w, "{job}", "{home}/outside");
        }),
        Attack::laid("link: the file of today's job to the keys", |w| {
            laid(w, "{job}/compaction.md", "{home}/.ssh/authorized_keys");
        }),
        Attack::laid("link: the prompts of today's job to the keys", |w| {
            laid(w, "{job}/prompts.jsonl", "{home}/.ssh/authorized_keys");
        }),
        Attack::laid("link: the record of today's job to nowhere", |w| {
            laid(w, "{job}/job.json", "{home}/.ssh/rc");
        }),
        Attack::laid("link: the sealed versions of today's job to a folder outside", |w| {
            laid(w, "{job}/sealed", "{home}/outside");
        }),
    ]
}
