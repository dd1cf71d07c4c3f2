//! Sessions in unusual places and with unusual permissions.

use super::*;

#[test]
fn a_last_row_without_a_line_break_gets_none() {
    let world = World::new();
    let text = format!("{HEADER}\r\n{SAID}\r\n{}", result("long"));
    let session = world.session(&text).with_times(Duration::ZERO, Duration::ZERO);
    edit_when_old(&session);
    assert_eq!(world.text(), text.replace("long", "short"));
}

/// A turn that is open for an hour was given up.
fn edit_when_old(session: &Jsonl) {
    let file = File::options().write(true).open(session.path()).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(7200)).unwrap();
    edit(session).unwrap();
}

#[test]
fn a_read_only_session_is_left_and_told() {
    let world = World::new();
    let session = world.usual();
    let text = world.text();
    fs::set_permissions(world.path(), fs::Permissions::from_mode(0o444)).unwrap();
    let before = stamp(&session);
    let refused = edit(&session).unwrap_err();
    assert!(
        matches!(&refused, Refused::Unsupported(why) if why.contains("read-only (mode 444)")),
        "{refused}"
    );
    assert_eq!((world.text(), stamp(&session)), (text, before));
    assert_eq!(world.names(), ["s.jsonl"]);
    fs::set_permissions(world.path(), fs::Permissions::from_mode(0o600)).unwrap();
    edit(&session).unwrap();
}

#[test]
fn a_folder_that_takes_no_file_is_named() {
    let world = World::new();
    let session = world.usual();
    let before = stamp(&session);
    let mode = |mode| fs::set_permissions(&world.folder, fs::Permissions::from_mode(mode)).unwrap();
    mode(0o500);
    let writes_all_the_same = File::create(world.folder.join("x")).is_ok();
    let refused = edit(&session);
    mode(0o700);
    if writes_all_the_same {
        // Root can; tests/store mounts such a folder.
        fs::remove_file(world.folder.join("x")).unwrap();
        return;
    }
    let why = refused.unwrap_err().to_string();
    assert!(
        why.contains("s.jsonl is unchanged") && why.contains("no file can be created in"),
        "{why}"
    );
    assert_eq!(stamp(&session), before);
}

#[test]
fn a_link_that_leads_nowhere_or_in_a_circle_is_told() {
    let world = World::new();
    let session = world.usual();
    let before = stamp(&session);
    for target in ["nowhere.jsonl", "link.jsonl"] {
        let link = world.folder.join("link.jsonl");
        std::os::unix::fs::symlink(target, &link).unwrap();
        let linked = quick(link.clone());
        for why in [
            linked.edit(before, &mut |_, _| panic!("asked")).unwrap_err().to_string(),
            linked.rows(&mut |_, _| Ok(())).unwrap_err().to_string(),
        ] {
            assert!(why.contains("link.jsonl"), "{why}");
        }
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        fs::remove_file(link).unwrap();
    }
    assert_eq!(world.names(), ["s.jsonl"]);
}

#[test]
fn late_rows_of_a_link_go_where_it_leads() {
    let world = World::new();
    world.usual();
    let links = world.folder.join("links");
    fs::create_dir(&links).unwrap();
    let link = links.join("s.jsonl");
    std::os::unix::fs::symlink(world.path(), &link).unwrap();
    let session = quick(link.clone());
    let before = stamp(&session);
    let old = File::options().append(true).open(&link).unwrap();
    // Only files that this process has open do not count.
    session.edit(before, &mut shorter).unwrap();
    assert_eq!(old.metadata().unwrap().nlink(), 0);
    OldFile::create(&world.path(), stamp(&session), &fs::metadata("/").unwrap()).unwrap();
    assert_eq!(unfinished(&[link]), [world.path()]);
    assert_eq!(session.settle().unwrap(), None);
    assert_eq!(world.names(), ["links", "s.jsonl"]);
}

#[test]
fn a_users_attributes_stay() {
    let world = World::new();
    let session = world.usual();
    let file = File::open(world.path()).unwrap();
    let set = rustix::fs::fsetxattr(&file, "user.note", b"mine", rustix::fs::XattrFlags::empty());
    if set.is_err() {
        // This file system has no attributes.
        return;
    }
    edit(&session).unwrap();
    let mut value = [0; 16];
    let new = File::open(world.path()).unwrap();
    let length = rustix::fs::fgetxattr(&new, "user.note", &mut value[..]).unwrap();
    assert_eq!(&value[..length], b"mine");
}

#[test]
fn what_was_left_long_ago_goes_whoever_has_its_number() {
    let world = World::new();
    let session = world.usual();
    let mine = world.folder.join(format!(".s.jsonl.{}.7.tmp", std::process::id()));
    fs::write(&mine, "half").unwrap();
    edit(&session).unwrap();
    assert!(mine.exists(), "it may be another's of this process");
}
