//! A transcript read from its end: the reader returns the real lines, and any content gives a
//! figure or none.
#![no_main]

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::LazyLock;

use base::tail;
use libfuzzer_sys::fuzz_target;
use sessions::fill::Gatherer;

static FILE: LazyLock<PathBuf> = LazyLock::new(|| {
    std::env::temp_dir().join(format!("brain-guard-fuzz-rows-{}", std::process::id()))
});

fuzz_target!(|data: &[u8]| {
    // A long line moves the reader past its first block.
    let Some((first, rows)) = data.split_first() else { return };
    let filler = vec![b'x'; usize::from(first % 4) * 20_000];
    let text = [rows, b"\n", &filler, b"\n", rows].concat();
    std::fs::write(&*FILE, &text).expect("written");
    let mut lines = Vec::new();
    tail::lines_backwards(&FILE, |line| {
        lines.push(line.to_vec());
        ControlFlow::Continue(())
    })
    .expect("read");
    let there: Vec<&[u8]> =
        text.rsplit(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect();
    assert!(lines == there, "other lines than those of the file");

    let mut gatherer = Gatherer::default();
    for line in &lines {
        if gatherer.feed(line).is_break() {
            break;
        }
    }
    if let Some(fill) = gatherer.finish() {
        assert!((1.0..=10.0).contains(&fill.bytes_per_token), "{fill:?}");
    }
});
