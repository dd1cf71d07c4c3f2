//! Rows that arrive during or after a rewrite, from a process that has the file open. Whatever is
//! killed when, each row ends up in the session once.

use std::fs::{self, File};
use std::io::Write as _;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::store::Played;
use crate::store::edits::Folder;
use crate::support::disk::Tree;
use crate::support::hook::finish;
use crate::support::trace::{Point, Run, ends, strace};

const LATE: &str = "{\"type\":\"message\",\"id\":\"late\"}\n";

/// The suffix of an old file.
const OLD: &str = ".brain-guard-old";

/// The edit, and the points where it can be killed.
struct Killed {
    folder: Folder,
    old: Tree,
    run: Run,
    strace: std::path::PathBuf,
    points: Vec<Point>,
}

impl Killed {
    fn new() -> Result<Self, String> {
        let strace = strace()?;
        let folder = Folder::new();
        let old = Tree::read(folder.dir.path());
        let run = Run::of(&folder.command(), b"");
        let points = points(&strace, &run, folder.dir.path());
        Ok(Self { folder, old, run, strace, points })
    }

    /// Kills the edit there, then appends a row to the old file if it still has a name.
    fn at(&self, point: &Point, row: &str) -> Result<bool, String> {
        self.old.put(self.folder.dir.path());
        let file = File::open(self.folder.session()).expect("the session");
        if !self.run.killed(&self.strace, point) {
            return Err("it never came there".to_owned());
        }
        let named = file.metadata().expect("of a file").nlink() > 0;
        if named {
            let again = format!("/proc/self/fd/{}", file.as_raw_fd());
            let mut writer = File::options().append(true).open(again).expect("the file of before");
            writer.write_all(row.as_bytes()).expect("written");
        }
        Ok(named)
    }

    /// The state with the new file in place, just before the old one is removed.
    fn replaced(&self, row: &str) -> Result<(), String> {
        let gone = |p: &&Point| p.call.starts_with("unlink") && p.line.contains(OLD);
        let point = self.points.iter().find(gone).ok_or("no old file is removed")?;
        let named = self.at(point, row)?;
        if named { Ok(()) } else { Err("the old file had no name any more".to_owned()) }
    }
}

fn points(strace: &Path, run: &Run, folder: &Path) -> Vec<Point> {
    let log = tempfile::NamedTempFile::new().expect("a log");
    let (_, points, _) = run.watched(strace, folder, log.path());
    ends(points)
}

fn of(faults: &[String]) -> Played {
    if faults.is_empty() { Ok(()) } else { Err(faults.join("\n  ")) }
}

fn describe(point: &Point) -> String {
    format!("{} {}: {}", point.call, point.number, point.line)
}

/// Kills the edit at each writing call; rows arrive afterwards.
pub fn killed() -> Played {
    let killed = Killed::new()?;
    let mut faults = Vec::new();
    for point in &killed.points {
        let came = killed.at(point, LATE).and_then(|named| {
            let text = killed.folder.new_text() + if named { LATE } else { "" };
            killed.folder.comes_to(&text, 2)
        });
        faults.extend(came.err().map(|why| format!("{}: {why}", describe(point))));
    }
    of(&faults)
}

/// Kills the transfer of late rows in the same way.
pub fn carrying() -> Played {
    let killed = Killed::new()?;
    killed.replaced(LATE)?;
    let second = points(&killed.strace, &killed.run, killed.folder.dir.path());
    let text = killed.folder.new_text() + LATE;
    if !killed.folder.is(&text) {
        return Err(format!("undisturbed: it is not there; {second:?}"));
    }
    let mut faults = Vec::new();
    for point in &second {
        let came = killed.replaced(LATE).and_then(|()| {
            if killed.run.killed(&killed.strace, point) {
                killed.folder.comes_to(&text, 2)
            } else {
                Err("it never came there".to_owned())
            }
        });
        faults.extend(came.err().map(|why| format!("{}: {why}", describe(point))));
    }
    of(&faults)
}

/// A process opens the file at the last moment and writes for over five seconds.
pub fn held() -> Played {
    let killed = Killed::new()?;
    let Some(rename) = killed.points.iter().find(|point| point.call.starts_with("rename")) else {
        return Err("nothing is renamed".to_owned());
    };
    let mut last = String::new();
    // On a busy machine the process may start too early; the edit sees it and does nothing.
    for _ in 0..3 {
        match holding(&killed, &rename.call) {
            Ok(None) => return Ok(()),
            Ok(Some(busy)) => last = busy,
            Err(why) => return Err(why),
        }
    }
    Err(format!("three times it was seen before: {last}"))
}

fn holding(killed: &Killed, rename: &str) -> Result<Option<String>, String> {
    const ROWS: usize = 6;
    let Killed { folder, old, run, strace, .. } = killed;
    old.put(folder.dir.path());
    let mut editor = Command::new(strace);
    editor.args(["-qq", "-o", "/dev/null", "-e", &format!("trace={rename}"), "-e"]);
    editor.arg(format!("inject={rename}:delay_enter=4000000")).arg("--");
    editor.arg(&run.program).args(&run.args).arg("60000").env_clear().stdin(Stdio::null());
    let edits = thread::spawn(move || finish(editor, b""));
    let deadline = Instant::now() + Duration::from_secs(60);
    let kept = || {
        let names = fs::read_dir(folder.dir.path()).into_iter().flatten().flatten();
        names.into_iter().any(|e| e.file_name().to_string_lossy().ends_with(OLD))
    };
    while !kept() {
        if edits.is_finished() || Instant::now() > deadline {
            return Err(format!("no old file was kept: {:?}", edits.join()));
        }
        thread::sleep(Duration::from_millis(2));
    }
    // It now checks a last time; the delay before the rename is longer than this.
    thread::sleep(Duration::from_secs(1));
    let script = format!(
        "exec 9>>\"$0\"; for i in $(seq {ROWS}); do sleep 1; echo \"{{\\\"id\\\":\\\"late$i\\\"}}\" >&9; done"
    );
    let mut shell = Command::new("sh");
    let mut writer =
        shell.args(["-c", &script]).arg(folder.session()).spawn().map_err(|e| e.to_string())?;
    let began = Instant::now();
    writer.wait().map_err(|e| e.to_string())?;
    let wrote = began.elapsed();
    let answer = edits.join().map_err(|_| "the editor's thread")?;
    if answer.stdout.contains("held open") {
        return Ok(Some(answer.stdout));
    }
    let rows: Vec<String> = (1..=ROWS).map(|i| format!("{{\"id\":\"late{i}\"}}\n")).collect();
    let rows = rows.concat();
    if wrote < Duration::from_secs(5) || answer.code != Some(0) || !answer.stdout.trim().is_empty()
    {
        return Err(format!("{wrote:?}, {answer:?}"));
    }
    folder.comes_to(&(folder.new_text() + &rows), 1).map(|()| None)
}

/// Without space for late rows the session stays as it was, and the error says so.
pub fn full() -> Played {
    let killed = Killed::new()?;
    let row = format!("{{\"id\":\"{}\"}}\n", "x".repeat(500_000));
    killed.replaced(&row)?;
    let folder = &killed.folder;
    let longest = folder.new_text().len() + 100_000;
    let answer = folder.within(&format!("trap '' XFSZ; exec \"$0\" \"$@\" 200 {longest}"));
    if answer.code != Some(1) || !answer.stdout.contains(OLD) {
        return Err(format!("it did not say where they are: {answer:?}"));
    }
    if !folder.is(&folder.new_text()) {
        return Err("half of them is there".to_owned());
    }
    folder.comes_to(&(folder.new_text() + &row), 2)
}
