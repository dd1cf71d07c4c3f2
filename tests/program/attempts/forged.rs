//! Forged files that the guard reads: requests, sealed versions, records.

use std::fs;

use serde_json::{Value, json};

use crate::attempts::attempt::{Attempt, Outcome};
use crate::attempts::scene::Scene;
use crate::support::hook::percent_in;

pub fn all() -> Vec<Attempt> {
    vec![
        Attempt::story("forged: a request for a seal that is not there", |scene| {
            try_request(
                scene,
                &json!({"ask": "seal", "job": job(scene), "version": 99, "clear": true,
                "authored": true, "promised": true, "at": "2026-01-01T00:00:00Z"}),
            )
        }),
        Attempt::story("forged: a request for a seal, and the sealed file", |scene| {
            let job = job(scene);
            let sealed = scene.hook.places().job(&job).join("sealed");
            fs::create_dir_all(&sealed).expect("folder");
            let text = "---\nversion: 7\ndigest: 0000\n---\n# x\n## Forward State\n- go on\n";
            fs::write(sealed.join("v0007.md"), text).expect("sealed");
            try_request(
                scene,
                &json!({"ask": "seal", "job": job, "version": 7, "clear": true,
                "authored": true, "at": "2026-01-01T00:00:00Z"}),
            )
        }),
        Attempt::story("forged: a focus on a job by a path", |scene| {
            let outcome = try_request(
                scene,
                &json!({"ask": "focus", "job": "../../src", "clear": false,
                "at": "2026-01-01T00:00:00Z"}),
            );
            let here = scene.hook.project.join("src/compaction.md");
            if here.exists() { Outcome::Through(format!("{}", here.display())) } else { outcome }
        }),
        Attempt::story("forged: a completion of a job that is not there", |scene| {
            try_request(
                scene,
                &json!({"ask": "complete", "job": "none", "version": 1,
                "at": "2026-01-01T00:00:00Z"}),
            )
        }),
        Attempt::story("forged: a job's record that says it is paused", |scene| {
            let job = job(scene);
            let record = scene.hook.places().job(&job).join("job.json");
            fs::write(record, "{\"state\": \"paused\"}").expect("record");
            standing(scene)
        }),
        Attempt::story("forged: a stamp on a file that is edited then", |scene| {
            job(scene);
            scene.hook.fill(percent_in("narrow"));
            scene.hook.read();
            scene.hook.agent("brain-guard seal");
            let file = scene.hook.file();
            let text = fs::read_to_string(&file).expect("file");
            fs::write(&file, format!("{text}\n- added behind the seal\n")).expect("file");
            scene.hook.stop();
            standing(scene)
        }),
        Attempt::story("forged: a job's name with ..", |scene| {
            for verb in ["focus", "resume"] {
                scene.run(&format!(
                    "{} job {verb} ../../../src --session {} --call t --project {}",
                    crate::support::hook::PROGRAM,
                    scene.hook.session,
                    scene.hook.project.display()
                ));
            }
            scene.hook.batch();
            standing(scene)
        }),
        Attempt::story("forged: a compaction file of no words", |scene| {
            job(scene);
            fs::write(scene.hook.file(), "").expect("file");
            standing(scene)
        }),
    ]
}

/// The job after a first note.
fn job(scene: &Scene) -> String {
    assert_eq!(scene.hook.agent("brain-guard append --kind next 'one'").code, Some(0));
    scene.hook.state()["job"].as_str().expect("job").to_owned()
}

/// Leaves a request like the verbs do, lets the hooks read it, and checks the guard.
fn try_request(scene: &Scene, request: &Value) -> Outcome {
    let folder = scene.hook.project.join(".brain-guard/requests");
    fs::create_dir_all(&folder).expect("folder");
    fs::write(folder.join(format!("{}.jsonl", scene.hook.session)), format!("{request}\n"))
        .expect("request");
    scene.hook.fill(percent_in("block-reads"));
    scene.hook.batch();
    scene.hook.bash("ls");
    let told = json!({"tool_name": "Bash", "tool_use_id": "toolu_1",
        "tool_input": {"command": "brain-guard status"}, "tool_response": {"stdout": ""}});
    scene.hook.send(&scene.hook.payload("PostToolUse", &told));
    scene.hook.stop();
    standing(scene)
}

fn standing(scene: &Scene) -> Outcome {
    match scene.lifted(false) {
        Some(how) => Outcome::Through(how),
        None => Outcome::InVain,
    }
}
