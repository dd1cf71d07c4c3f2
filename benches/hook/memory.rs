//! Peak memory of a process, from the kernel's own mark of its address space.
//!
//! `wait4` includes pages of the parent that the child had before its `execve`. So strace holds the
//! process at its `exit_group`, and `VmHWM` is read from `/proc/PID/status`.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use crate::case::Case;

/// How long strace holds the process at its end, in microseconds.
const HELD: &str = "exit_group:delay_enter=25000";

/// The peak resident KiB.
pub fn peak_kib(case: &Case) -> u64 {
    let arguments =
        ["-qq", "-e", "trace=exit_group", "-e", "signal=none", "-e", &format!("inject={HELD}")];
    let mut strace =
        case.under("strace", &arguments).stderr(Stdio::null()).spawn().expect("strace");
    let children = format!("/proc/{0}/task/{0}/children", strace.id());
    let mut peak = 0;
    loop {
        let child = fs::read_to_string(&children).unwrap_or_default();
        // Before its `execve` the child shows strace's pages, so the last value counts.
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

/// Checks the measurement with a program that touches and frees `MIB`, and with one that touches
/// nothing, while this process holds more.
///
/// # Errors
/// The measured values.
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
