//! Other processes with the same session: they hold its lock, have it open, append, or were killed.

use super::*;

#[test]
fn a_lock_that_is_held_is_waited_for_and_then_told() {
    let world = World::new();
    let session = world.usual();
    let held = GatewayLock::acquire(&world.path(), Duration::ZERO).unwrap();
    let refused = edit(&session).unwrap_err();
    assert!(matches!(refused, Refused::Locked(_)), "{refused}");
    assert!(world.text().contains("long"));
    drop(held);
    let refused = session.edit(stamp(&session), &mut |number, row| {
        // After half an hour another process may take it over.
        fs::write(world.path().with_extension("jsonl.lock"), "{}").unwrap();
        shorter(number, row)
    });
    assert!(matches!(refused, Err(Refused::Locked(_))), "{refused:?}");
    assert!(world.text().contains("long"));
    assert_eq!(world.names(), ["s.jsonl", "s.jsonl.lock"], "another's lock stays");
}

#[test]
fn a_session_at_work_is_left_alone() {
    let world = World::new();
    let session = world.usual();
    let now = File::options().write(true).open(world.path()).unwrap();
    now.set_modified(SystemTime::now()).unwrap();
    let refused = edit(&session).unwrap_err();
    assert!(matches!(refused, Refused::Busy(_)), "{refused}");
    edit(&session.clone().with_times(Duration::ZERO, Duration::ZERO)).unwrap();

    let session = world.usual();
    let mut shell = Command::new("sh");
    shell.args(["-c", "exec 9>>\"$0\"; echo; read -r _"]).arg(world.path());
    let mut child = shell.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
    let refused = edit(&session).unwrap_err();
    let who = format!("is held open by process {}", child.id());
    assert!(matches!(&refused, Refused::Busy(why) if why.contains(&who)), "{refused}");
    drop(child.stdin.take());
    child.wait().unwrap();
    edit(&session).unwrap();
}

#[test]
fn what_the_killed_left_is_removed_and_what_the_living_write_stays() {
    let world = World::new();
    let session = world.usual();
    let gone = {
        let mut child = Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        child.id()
    };
    let mine = format!(".s.jsonl.{}.7.tmp", std::process::id());
    let lock = format!(".s.jsonl.lock.{gone}.0.tmp");
    for name in
        [&format!(".s.jsonl.{gone}.0.tmp"), &lock, &mine, ".s.jsonl.tmp", ".t.jsonl.1.0.tmp"]
    {
        fs::write(world.folder.join(name), "half").unwrap();
    }
    edit(&session).unwrap();
    let mut expected =
        vec![mine, ".s.jsonl.tmp".into(), ".t.jsonl.1.0.tmp".into(), "s.jsonl".into()];
    expected.sort();
    assert_eq!(world.names(), expected);
}

/// pi appends without a lock, opening the file each time.
#[test]
fn nothing_is_lost_beside_a_process_that_goes_on_appending() {
    const ROWS: usize = 200;
    let world = World::new();
    let session = world.usual().with_times(Duration::ZERO, Duration::from_secs(5));
    let row = SAID.replace("done", "row $i.").replace('"', "\\\"");
    let script =
        format!("i=0; while [ $i -lt {ROWS} ]; do echo \"{row}\" >> \"$0\"; i=$((i+1)); done");
    let mut shell = Command::new("sh");
    let mut child = shell.args(["-c", &script]).arg(world.path()).spawn().unwrap();
    let (mut done, mut times) = (false, 0_u32);
    while !done {
        done = child.try_wait().unwrap().is_some();
        let (from, to) = if times % 2 == 0 { ("long", "short") } else { ("short", "long") };
        let edited = session.edit(stamp(&session), &mut |_, row| {
            let text = String::from_utf8_lossy(row);
            Ok(text.contains(from).then(|| text.replace(from, to).into_bytes()))
        });
        match edited {
            Ok(_) => times += 1,
            Err(Refused::Changed(_) | Refused::Busy(_)) => {}
            Err(other) => panic!("{other}"),
        }
    }
    child.wait().unwrap();
    let text = world.text();
    for i in 0..ROWS {
        assert_eq!(text.matches(&format!("row {i}.")).count(), 1, "row {i}, {times} edits");
    }
    assert_eq!(text.lines().count(), 3 + ROWS);
    assert!(times > 0);
    assert_eq!(world.names(), ["s.jsonl"]);
}
