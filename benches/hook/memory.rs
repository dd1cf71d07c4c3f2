//! Peak memory of a process, from the kernel's own mark of its address space.
//!
//! `wait4` includes pages of the parent that the child had before its `execve`. So strace holds the
//! process at its `exit_group`, and `VmHWM` and `RssFile` are read from `/proc/PID/status`.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use crate::case::Case;

/// How long strace holds the process at its end, in microseconds.
const HELD: &str = "exit_group:delay_enter=25000";

/// The peak of a process, in KiB.
#[derive(Debug, Clone, Copy)]
pub struct Peak {
    /// All that was resident.
    pub resident_kib: u64,
    /// Without the pages of files that are mapped at its end. How many of a program's pages are
    /// resident depends on the kernel, and on where the build put the functions.
    pub own_kib: u64,
}

/// Runs a case and measures its peak.
pub fn peak(case: &Case) -> Peak {
    let arguments =
        ["-qq", "-e", "trace=exit_group", "-e", "signal=none", "-e", &format!("inject={HELD}")];
    let mut strace =
        case.under("strace", &arguments).stderr(Stdio::null()).spawn().expect("strace");
    let children = format!("/proc/{0}/task/{0}/children", strace.id());
    let mut peak = None;
    loop {
        let child = fs::read_to_string(&children).unwrap_or_default();
        // Before its `execve` the child shows strace's pages, so the last value counts.
        peak = child.split_whitespace().next().and_then(read).or(peak);
        if let Some(status) = strace.try_wait().expect("strace") {
            assert!(status.success(), "{} failed under strace", case.title());
            break;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    peak.unwrap_or_else(|| panic!("no peak was seen of {}", case.title()))
}

fn read(pid: &str) -> Option<Peak> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let kib = |name: &str| -> Option<u64> {
        let value = status.lines().find_map(|line| line.strip_prefix(name))?;
        value.trim().trim_end_matches("kB").trim().parse().ok()
    };
    let resident_kib = kib("VmHWM:")?;
    Some(Peak { resident_kib, own_kib: resident_kib.saturating_sub(kib("RssFile:")?) })
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
        peak(&case).own_kib
    };
    let (nothing, known) = (of(0), of(MIB));
    drop(ballast);
    let eaten = known.saturating_sub(nothing);
    if nothing > 256 || eaten.abs_diff(MIB * 1024) > 256 {
        return Err(format!(
            "the measuring of memory is wrong: a program that touches {MIB} MiB peaked {eaten} KiB above one that touches none, which peaked at {nothing} KiB"
        ));
    }
    Ok(())
}
