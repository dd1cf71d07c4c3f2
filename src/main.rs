//! The program. `main` handles `hook` before any other setup, because it runs on every tool call.

use std::io::Write;
use std::process::ExitCode;

use base::clock;
use base::env::Env;
use brain_guard::cmd;
use dlmalloc::GlobalDlmalloc;
use guard::hook;

/// musl's own allocator requests and returns memory in single pages, which is a third of the hook's
/// system calls.
#[global_allocator]
static ALLOCATOR: GlobalDlmalloc = GlobalDlmalloc;

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    if args.next().is_some_and(|verb| verb == "hook") {
        let rest: Vec<_> = args.map(|a| a.to_string_lossy().into_owned()).collect();
        return run_hook(&rest);
    }
    cmd::main(&hook::variables::restore_user_variables(Env::Process), brain_guard::view::run)
}

fn run_hook(args: &[String]) -> ExitCode {
    hook::pass_on_panic();
    let role = match args {
        [] => hook::Role::Main,
        [flag] if flag == "--rewake" => hook::Role::Rewake,
        [flag, number] if flag == "--piece" => {
            number.parse().map_or(hook::Role::Main, hook::Role::Piece)
        }
        _ => return ExitCode::SUCCESS,
    };
    let env = hook::variables::restore_user_variables(Env::snapshot());
    let input = hook::input::Input::standard();
    let reply = hook::run(role, input, &env, clock::now(), cmd::PROGRAM);
    if let Some(text) = &reply.wake {
        // The client starts a turn with what an asyncRewake hook writes to stderr.
        let _ = std::io::stderr().write_all(text.as_bytes());
        return ExitCode::from(2);
    }
    if let Some(json) = reply.json() {
        // A client that has exited does not need the answer.
        let _ = std::io::stdout().write_all(json.as_bytes());
    }
    ExitCode::SUCCESS
}
