//! The agent tries to disable the guard: by shell, file tools and others, openly and hidden. Calls
//! that pass are really run, without the client's mark, and the guard must stay intact. What works
//! must be named in `docs/security.md`. Harmless look-alikes must pass.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "tests are an edge: they start processes, write files, and print"
)]

mod attempt;
mod files;
mod forged;
mod harmless;
mod history;
mod left;
mod others;
mod scene;
mod shell;
mod squeezed;

#[path = "../hook/harness.rs"]
#[allow(dead_code, reason = "the hook's tests use the rest")]
mod harness;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Command, ExitCode};
use std::time::Instant;

use attempt::{Attempt, Outcome};
use scene::Scene;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.iter().any(|w| w == "--list") {
        return ExitCode::SUCCESS;
    }
    let filter = words.iter().find(|w| !w.starts_with('-')).map_or("", String::as_str);
    let wanted = |name: &str| "attempts".contains(filter) || name.contains(filter);
    let began = Instant::now();
    let lists = [
        shell::all(),
        files::all(),
        others::all(),
        history::all(),
        squeezed::all(),
        forged::all(),
        left::all(),
    ];
    let attempts: Vec<Attempt> = lists.into_iter().flatten().filter(|a| wanted(&a.name)).collect();
    let outcomes = all_of(&attempts, |a| guarded(&a.name, || a.make()));
    let count = |is: fn(&Outcome) -> bool| outcomes.iter().filter(|o| is(o)).count();
    let left = count(|o| matches!(o, Outcome::Left));
    let through = count(|o| matches!(o, Outcome::Through(_)));
    let missing = count(|o| matches!(o, Outcome::Missing(_)));
    let vain = count(|o| matches!(o, Outcome::InVain));
    for (attempt, outcome) in attempts.iter().zip(&outcomes) {
        match outcome {
            Outcome::Through(how) => println!("GOT THROUGH: {}: {how}", attempt.name),
            Outcome::Missing(what) => println!("not tried: {}: {what} is missing", attempt.name),
            Outcome::Denied | Outcome::InVain | Outcome::Left => {}
        }
    }
    let mut failures = through;
    for why in left::undocumented(&attempts, filter.is_empty()) {
        println!("{why}");
        failures += 1;
    }
    let (works, idle) = control(&wanted);
    for name in &idle {
        println!("NO CONTROL: {name}: it takes no override even where nothing refuses it");
    }
    failures += idle.len();
    let harmless: Vec<_> = harmless::all().into_iter().filter(|(name, ..)| wanted(name)).collect();
    let mut refused = 0;
    let made =
        all_of(&harmless, |(name, tool, input)| guarded(name, || harmless::make(tool, input)));
    for ((name, ..), outcome) in harmless.iter().zip(made) {
        if let Outcome::Through(how) = outcome {
            println!("REFUSED: {name}: {how}");
            refused += 1;
        }
    }
    failures += refused;
    let tried = outcomes.len() - missing;
    println!(
        "attempts: {tried} tried, {} refused ({vain} of them by what they ran into), {left} knowingly left, {through} got through; {} harmless commands, {refused} refused",
        tried - left - through,
        harmless.len(),
    );
    println!("control: {works} commands take the override where their client is not above them");
    let verdict = if failures == 0 { "ok" } else { "FAILED" };
    println!(
        "test result: {verdict}. {} passed; {failures} failed; {missing} ignored; 0 measured; 0 filtered out; finished in {:.2}s",
        tried - through + works + harmless.len() - refused,
        began.elapsed().as_secs_f64(),
    );
    ExitCode::from(u8::from(failures > 0))
}

/// Runs the commands that hide the override from the hook, in a session whose client is elsewhere.
/// Returns how many work there, and those that do not.
fn control(wanted: &dyn Fn(&str) -> bool) -> (usize, Vec<&'static str>) {
    let mut client = Command::new("sleep").arg("600").spawn().expect("a client");
    let pid = client.id();
    let hidden: Vec<_> =
        shell::hidden().filter(|(name, _)| wanted(&format!("shell: {name}"))).collect();
    let outcomes = all_of(&hidden, |(name, command)| {
        guarded(name, || {
            let scene = Scene::beside(pid);
            let command = scene.text(command);
            if scene.hook.bash(&command).verdict() == "deny" {
                return Outcome::Denied;
            }
            scene.run(&command);
            if scene.overridden().is_some() { Outcome::Left } else { Outcome::InVain }
        })
    });
    let _ = client.kill();
    let _ = client.wait();
    let works = outcomes.iter().filter(|o| matches!(o, Outcome::Left)).count();
    let idle =
        hidden.iter().zip(&outcomes).filter(|(_, o)| !matches!(o, Outcome::Left | Outcome::Denied));
    (works, idle.map(|((name, _), _)| *name).collect())
}

/// Every case, a few at a time, in order.
fn all_of<T: Sync>(cases: &[T], case: impl Fn(&T) -> Outcome + Sync) -> Vec<Outcome> {
    let workers = std::thread::available_parallelism().map_or(2, |n| n.get().clamp(1, 4));
    let size = cases.len().div_ceil(workers).max(1);
    let case = &case;
    std::thread::scope(|scope| {
        let chunks: Vec<_> = cases
            .chunks(size)
            .map(|chunk| scope.spawn(move || chunk.iter().map(case).collect::<Vec<_>>()))
            .collect();
        chunks
            .into_iter()
            .flat_map(|chunk| chunk.join().expect("no case panics out of its guard"))
            .collect()
    })
}

/// A panic fails only its own case.
fn guarded(name: &str, case: impl FnOnce() -> Outcome) -> Outcome {
    catch_unwind(AssertUnwindSafe(case))
        .unwrap_or_else(|_| Outcome::Through(format!("{name} panicked, see above")))
}
