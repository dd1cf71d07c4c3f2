//! Peak memory of a process, by the kernel's own mark of its address space.
//!
//! What `wait4` says of a child holds the parent's pages too, which the child had
//! before its `execve`. So the process is held at its `exit_group` by strace, and
//! `VmHWM` is read from its `/proc/PID/status`.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use crate::case::Case;

/// How long strace holds the process at its end, in microseconds.
const HELD: &str = "exit_group:delay_enter=25000";

/// KiB that were resident at most.
pub fn peak_kib(case: &Case) -> u64 {
    let arguments =
        ["-qq", "-e", "trace=exit_group", "-e", "signal=none", "-e", &format!("inject={HELD}")];
    let mut strace =
        case.under("strace", &arguments).stderr(Stdio::null()).spawn().expect("strace");
    let children = format!("/proc/{0}/task/{0}/children", strace.id());
    let mut peak = 0;
    loop {
        let child = fs::read_to_string(&children).unwrap_or_default();
        // Before its `execve` the child shows strace's own pages; the last look counts.
        if let Some(now) = child.split_whitespace().next().and_then(high_water) {
            peak = now;
        }
        if let Some(status) = strace.try_wait().expect("strace") {
            assert!(status.success(), "{} failed under strace", case.title());
            break;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(peak > 0, "no peak was seen of {}", case.title());
    peak
}

fn high_water(pid: &str) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches("kB").trim().parse().ok()
}

/// Proves the measuring by a program that touches `MIB` and gives them back, and by
/// the same one that touches nothing, while this process holds more than that.
///
/// # Errors
/// What it was measured as.
pub fn check(eater: &Path, like: &Case) -> Result<(), String> {
    const MIB: u64 = 24;
    let ballast = std::hint::black_box(vec![1_u8; 64 * 1024 * 1024]);
    let of = |mib: u64| {
        let case = Case { args: vec![mib.to_string()], ..like.instead("known", eater) };
        peak_kib(&case)
    };
    let (nothing, known) = (of(0), of(MIB));
    drop(ballast);
    let eaten = known.saturating_sub(nothing);
    if nothing > 2 * 1024 || eaten.abs_diff(MIB * 1024) > 256 {
        return Err(format!(
            "the measuring of memory is wrong: a program that touches {MIB} MiB peaked {eaten} KiB above one that touches none, which peaked at {nothing} KiB"
        ));
    }
    Ok(())
}
