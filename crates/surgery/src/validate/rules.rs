//! The rules that sessions are checked by.

use super::Level::{self, Error, Warning};

/// A rule: its name, its level in a session that a client wrote, and what it requires. In what
/// surgery wrote it is always an error.
#[derive(Debug)]
pub struct Rule {
    /// Its short name.
    pub name: &'static str,
    /// How serious a violation is.
    pub level: Level,
    /// What it requires.
    pub asks: &'static str,
}

macro_rules! rules {
    ($($constant:ident $name:literal $level:ident $asks:literal;)+) => {
        $(#[doc = $asks] pub(super) const $constant: Rule = Rule { name: $name, level: $level, asks: $asks };)+

        /// All rules.
        pub const RULES: &[Rule] = &[$($constant),+];
    };
}

rules! {
    EMPTY_FILE "nothing" Error "the file holds a message";
    JSON "json" Error "each line is one JSON object in UTF-8";
    LINE "line" Warning "the last line ends with a line break";
    MESSAGE "message" Error "a row of a message has one, with content";
    ROLE "role" Error "a message's role is that of its row";
    UUID "uuid" Error "each row of the chain has an id";
    UNIQUE "uuid-twice" Error "ids are unique";
    CHAIN "chain" Error "a row's parent comes before it in the file";
    ROOT "root" Warning "only the first row has no parent";
    BRANCH "branch" Warning "each row's parent is the row before it";
    LEAF "leaf" Error "the row that a bookmark names is in the file";
    BOUNDARY "boundary" Warning "what a compaction refers to is in the file";
    REFERENCE "reference" Warning "other rows that a row names are in the file";
    FORK "fork" Error "where a row was copied from is told by session and id";
    CALL_OPEN "call-open" Warning "each tool call has a result";
    CALL_TWICE "call-twice" Error "ids of tool calls are unique";
    RESULT_ALONE "result-alone" Error "each tool result has its call ahead of it";
    RESULT_TWICE "result-twice" Error "each tool call has one result";
    RESULT_LATE "result-late" Warning "a result comes before the next message of the agent and of the user";
    RESULT_TYPE "result-type" Error "what the client shows of a result is an object, a list, or a text that is no markup";
    THINKING "thinking" Error "thinking has its text and its signature";
    CHANGED "thinking-changed" Error "thinking is byte for byte that of its source";
    THINKING_LAST "thinking-last" Warning "thinking is not the last of a message";
    SESSION "session" Warning "all rows name one session";
    NAME "session-name" Warning "the session is called as its file";
    TIME "timestamp" Error "each row of the chain says when it was written";
    ORDER "time-order" Warning "no row is written before the one ahead of it";
    SPLIT "message-split" Warning "the rows of one message stand together";
    EMPTY "empty" Warning "a message holds something";
    FIRST "first" Warning "the first message is the user's";
    REFUSED "refused" Error "the API takes what the session holds";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_reasons_are_sentences() {
        let mut names: Vec<_> = RULES.iter().map(|rule| rule.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), RULES.len());
        assert!(RULES.iter().all(|rule| rule.asks.contains(' ')));
    }
}
