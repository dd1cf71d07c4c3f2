//! Files that cost time or memory: large, numerous or deeply nested.

use serde_json::json;

use crate::repository::attack::Attack;
use crate::repository::world::{MARKER, World, notes};

pub fn all() -> Vec<Attack> {
    [large(), many(), settings()].into_iter().flatten().collect()
}

/// A file of this many bytes, without holes.
fn filled(w: &World, path: &str, start: &str, line: &str, bytes: usize) {
    w.file(path, &format!("{start}{}", line.repeat(bytes / line.len() + 1)));
}

const MB: usize = 1 << 20;

fn large() -> Vec<Attack> {
    vec![
        Attack::laid("bomb: notes of 50 MB", |w| {
            let start = notes(&w.job, MARKER);
            filled(w.found_job(), "{job}/compaction.md", &start, "- one more entry\n", 50 * MB);
        }),
        Attack::laid("bomb: notes of 50 MB in today's job", |w| {
            let start = notes(&w.todays_job().job, MARKER);
            filled(w.found_job(), "{job}/compaction.md", &start, "- one more entry\n", 50 * MB);
        }),
        Attack::laid("bomb: notes of 30 MB", |w| {
            let start = notes(&w.job, MARKER);
            filled(w.found_job(), "{job}/compaction.md", &start, "- one more entry\n", 30 * MB);
        }),
        Attack::laid("bomb: notes of one line of 20 MB", |w| {
            filled(w.found_job(), "{job}/compaction.md", "## Forward State\n- ", "x", 20 * MB);
        }),
        Attack::laid("bomb: a sealed version of 50 MB", |w| {
            let start = notes(&w.job, MARKER);
            filled(w.found_job(), "{job}/sealed/v0001.md", &start, "- entry\n", 50 * MB);
        }),
        Attack::laid("bomb: a record of 50 MB", |w| {
            let start = "{\"phase\":{\"name\":\"";
            filled(w.found_job(), "{job}/job.json", start, "x", 50 * MB);
        }),
        Attack::laid("bomb: a record of 1.9 MB", |w| {
            let phase = json!({"name": "p"});
            let phases: Vec<_> = (0..150_000).map(|_| phase.clone()).collect();
            w.found_job().record(&json!({"phases": phases}));
        }),
        Attack::laid("bomb: a deep record", |w| {
            let deep = format!("{{\"coaching\":{}", "[".repeat(60_000));
            w.found_job().file("{job}/job.json", &deep);
        }),
        Attack::laid("bomb: prompts of 30 MB", |w| {
            let line = json!({"at": "2026-01-01T00:00:00Z", "session": "s", "text": "x"});
            filled(w.found_job(), "{job}/prompts.jsonl", "", &format!("{line}\n"), 30 * MB);
        }),
        Attack::laid("bomb: requests of 30 MB", |w| {
            let line = json!({"ask": "pause", "job": "x", "at": "2026-01-01T00:00:00Z"});
            filled(w, ".brain-guard/requests/{session}.jsonl", "", &format!("{line}\n"), 30 * MB);
        }),
        Attack::laid("bomb: an ignore file of 50 MB", |w| {
            filled(w, ".brain-guard/.gitignore", "", "*\n", 50 * MB);
        }),
    ]
}

fn many() -> Vec<Attack> {
    vec![
        Attack::laid("bomb: 20,000 jobs", |w| {
            w.found_job();
            for number in 0..20_000 {
                w.file(&format!(".brain-guard/jobs/j{number}/compaction.md"), "# x\n");
            }
        }),
        Attack::laid("bomb: 20,000 sealed versions", |w| {
            w.found_job();
            for number in 2..20_000 {
                w.file(&format!("{{job}}/sealed/v{number:04}.md"), "# x\n");
            }
        }),
        Attack::laid("bomb: 20,000 requests", |w| {
            for number in 0..20_000 {
                w.file(&format!(".brain-guard/requests/{{session}}.{number}.taken"), "{}\n");
            }
        }),
        Attack::laid("bomb: 100,000 entries", |w| {
            let text = notes(&w.job, MARKER) + &"- e\n".repeat(100_000);
            w.found_job().file("{job}/compaction.md", &text);
        }),
    ]
}

fn settings() -> Vec<Attack> {
    const PATH: &str = ".brain-guard/settings.json";
    fn unknown(w: &World, number: usize) {
        let keys: Vec<String> = (0..number).map(|n| format!("\"k{n}\":0")).collect();
        w.file(PATH, &format!("{{{}}}", keys.join(",")));
    }
    vec![
        Attack::laid("bomb: settings of 1,000 unknown keys", |w| unknown(w, 1_000)),
        Attack::laid("bomb: settings of 5,000 unknown keys", |w| unknown(w, 5_000)),
        Attack::laid("bomb: settings of 256 KB and one byte", |w| {
            let text = "{}".to_owned() + &" ".repeat((256 << 10) - 1);
            w.file(PATH, &text);
        }),
        Attack::laid("bomb: settings of 50 MB", |w| filled(w, PATH, "{\"x\":\"", "x", 50 * MB)),
        Attack::laid("bomb: deep settings", |w| filled(w, PATH, "", "[", 100_000)),
        Attack::laid("bomb: deep settings of objects", |w| {
            filled(w, PATH, "", "{\"file\":", 200_000);
        }),
        Attack::laid("bomb: settings of 3,000 sections", |w| {
            let section = |n| json!({"name": format!("s{n}"), "prompt": "x"});
            let sections: Vec<_> = (0..3_000).map(section).collect();
            w.file(PATH, &json!({"file": {"sections": sections}}).to_string());
        }),
        Attack::laid("bomb: settings of 3,000 phases and tiers", |w| {
            let all = |value: serde_json::Value| -> serde_json::Map<_, _> {
                (0..3_000).map(|n| (format!("n{n}"), value.clone())).collect()
            };
            let tiers = all(json!({"context": 1}));
            let names = all(json!({"reflection_steps": 9}));
            let bands = all(json!("read"));
            let text = json!({"tiers": tiers, "phases": {"names": names}, "bands": bands});
            w.file(PATH, &text.to_string());
        }),
    ]
}
