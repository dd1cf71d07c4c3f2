//! The model's task: read the chapters of a logbook and add each to an index. The chapters exceed
//! one context, and the progress is easy to count.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::json;

use super::args::{Args, OUTPUT};
use crate::support::world::{Builder, World};

/// The only prompt.
pub const PROMPT: &str = "Do the work that TASK.md describes, to its end. Ask me nothing.";

/// The file for the model's results.
pub const INDEX: &str = "INDEX.md";

/// Builds the session's world. The model may read, write and search in the project; the client
/// refuses everything else without a dialog.
pub fn build(args: &Args, access: &BTreeMap<String, String>) -> Builder {
    let allowed = [
        "Read",
        "Edit",
        "Write",
        "Glob",
        "Grep",
        "Bash(ls:*)",
        "Bash(cat:*)",
        "Bash(head:*)",
        "Bash(tail:*)",
        "Bash(wc:*)",
        "Bash(grep:*)",
        "Bash(brain-guard:*)",
    ];
    let permissions = json!({"defaultMode": "dontAsk", "allow": allowed});
    let guard = json!({
        "context": {"window": args.window},
        "boundary": {"attended_minutes": 0, "min_interval_seconds": 0},
    });
    let mut world = World::build()
        .access(access.clone())
        .client_setting("permissions", permissions)
        .guard_settings(guard)
        // Makes the whole window the limit, without the client's buffer.
        .env("DISABLE_AUTO_COMPACT", "1")
        .env("CLAUDE_CODE_MAX_OUTPUT_TOKENS", &OUTPUT.to_string())
        .file("TASK.md", &task(args.chapters))
        .file(INDEX, "# Index\n\n");
    for number in 1..=args.chapters {
        world = world.file(&path(number), &chapter(number));
    }
    world
}

pub fn path(number: u64) -> String {
    format!("chapters/{number:02}.md")
}

/// Counts the chapters in an index.
pub fn indexed(index: &str, chapters: u64) -> u64 {
    let has = |number: &u64| index.lines().any(|line| line.starts_with(&format!("{number:02} |")));
    (1..=chapters).filter(has).count() as u64
}

fn task(chapters: u64) -> String {
    format!(
        "# Task\n\n`chapters/01.md` to `chapters/{chapters:02}.md` are a lighthouse's log. For each chapter, in order, \
         add one line to `{INDEX}`:\n\n    NN | keeper on watch | the ship with the longest entry | what went wrong that \
         night, in at most 12 words\n\nRead one whole chapter at a time with the Read tool, then add its line, then go to \
         the next one. Don't use subagents. The last line of the work is a comparison of the keepers in three \
         sentences, below the index. Then you are done.\n"
    )
}

const KEEPERS: [&str; 5] = ["Amsel", "Brandt", "Carow", "Dietz", "Evers"];
const SHIPS: [&str; 7] = ["Adele", "Borea", "Castor", "Delphin", "Erika", "Falke", "Gudrun"];
const NIGHT: [&str; 6] = [
    "the lamp smoked until the wick was trimmed for the third time",
    "the bell rope parted and was spliced in the dark",
    "the oil of the new barrel was half water",
    "the fog signal froze and answered no more before dawn",
    "the boat broke loose and was found behind the mole",
    "the clockwork of the lens stopped for nineteen minutes",
];

/// The text of a chapter: about 6,000 characters, equal in each run.
fn chapter(number: u64) -> String {
    let pick = |list: &[&'static str], salt: u64| {
        list[((number * 7 + salt * 5) % list.len() as u64) as usize]
    };
    let keeper = pick(&KEEPERS, 1);
    let mut text = format!("# Night {number}\n\nOn watch: {keeper}.\n\n");
    for entry in 0..26 {
        let hour = (18 + entry / 2) % 24;
        let minute = (number * 11 + entry * 17) % 60;
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "{hour:02}:{minute:02} The {} passed at {} cables, course {} degrees, wind {} from {}, sea {}; she showed her \
             lights late, and the glass stood at {} with little change since the watch began.",
            pick(&SHIPS, entry),
            3 + (number + entry * 3) % 40,
            (number * 37 + entry * 23) % 360,
            1 + (number + entry) % 9,
            pick(&["north", "northwest", "west", "southwest", "south"], entry),
            1 + (number * 3 + entry) % 7,
            985 + (number * 5 + entry) % 40,
        );
    }
    let _ = writeln!(
        text,
        "\n04:10 In the last hours {}, and {} wrote down that the {} had waited for the light the whole time, which is \
         the longest entry of this night.",
        pick(&NIGHT, 2),
        keeper,
        pick(&SHIPS, 3)
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chapter_is_as_long_as_the_usage_says() {
        let lengths: Vec<usize> = (1..=24).map(|n| chapter(n).len()).collect();
        assert!(lengths.iter().all(|length| (4_500..6_500).contains(length)), "{lengths:?}");
        assert_ne!(chapter(1), chapter(2));
    }

    #[test]
    fn lines_of_the_index_are_counted_by_their_numbers() {
        assert_eq!(indexed("# Index\n\n01 | Amsel | Adele | x\n03 | y\n99 | z\n", 24), 2);
    }
}
