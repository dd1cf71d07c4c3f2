//! Output about a new session, as text and JSON.

use base::shown::{breaks_even, shell_quote, size, tokens};
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use serde::ser::Error as _;
use serde::{Serialize, Serializer};

use super::made::Made;
use base::shown::group_thousands;
use sessions::cost::{Cost, Lifetime};
use sessions::operation::Fidelity;
use store::extracted::Record;
use surgery::plan::{Lineage, Performed, Place, Plan};
use surgery::ranges;
use surgery::table::short;

/// The name of a split's successor: its engagement.
pub fn child(made: &Made) -> String {
    made.plan.operation.child().unwrap_or_else(|| short(&made.id)).to_owned()
}

/// The context on one line: `412k tokens now, 96k after`.
pub fn context(cost: &Cost) -> String {
    // No response has said what the system prompt and the tools take.
    let without = if cost.base.is_none() { ", without system prompt and tools" } else { "" };
    format!("{} tokens now, {} after{without}", tokens(cost.before), tokens(cost.after))
}

/// The cost on one line: `412k tokens now, 96k after; breaks even after 4 requests`.
pub fn cost(cost: &Cost) -> String {
    let figures = context(cost);
    let saved = match cost.pays_after() {
        None => "saves no tokens".to_owned(),
        Some(_) if cost.cold => "saves at once, as the prompt cache has expired".to_owned(),
        Some(requests) => breaks_even(requests),
    };
    format!("{figures}; {saved}")
}

/// The rounds on one line: `1-46 become lines of the index table; 47-58 stay whole`.
pub fn rounds(plan: &Plan) -> String {
    let (shrunk, whole): (Vec<Place>, Vec<Place>) =
        plan.whole().partition(|place| plan.shrunk.contains_key(place));
    let indexed: Vec<Place> = plan.indexed().collect();
    list(
        plan,
        &[
            (&plan.left.dropped, "are dropped"),
            (&indexed, "become lines of the index table"),
            (&shrunk, "stay with a line in place of each tool result"),
            (&whole, "stay whole"),
        ],
    )
}

/// What it does to the running session, for the user: `rounds 1-46 become lines of the index
/// table; 47-58 stay whole`.
pub fn effect(made: &Made) -> String {
    let effect = made.plan.operation.effect().map(str::to_owned);
    effect.unwrap_or_else(|| format!("rounds {}", rounds(&made.plan)))
}

/// Groups of rounds, each with what becomes of it. Empty groups are left out.
fn list(plan: &Plan, groups: &[(&[Place], &str)]) -> String {
    let groups = groups.iter().filter(|(places, _)| !places.is_empty());
    let groups = groups.map(|(places, what)| format!("{} {what}", numbers(plan, places)));
    groups.collect::<Vec<_>>().join("; ")
}

/// Round numbers; of several sessions, or of another one, prefixed by the session.
fn numbers(plan: &Plan, places: &[Place]) -> String {
    let of_one = plan.sessions.len() == 1 && places.iter().all(|place| place.session == 0);
    let sessions = plan.sessions.iter().chain(&plan.origins).enumerate();
    let parts = sessions.filter_map(|(number, session)| {
        let own = places.iter().filter(|place| place.session == number);
        let mut seqs: Vec<u32> = own.map(|place| place.seq).collect();
        seqs.sort_unstable();
        let shown = ranges::show(&seqs);
        match () {
            () if seqs.is_empty() => None,
            () if of_one => Some(shown),
            () => Some(format!("{}:{shown}", short(&session.id))),
        }
    });
    parts.collect::<Vec<_>>().join(" and ")
}

/// Rounds that were left out, and why; empty if there are none.
fn left(plan: &Plan) -> String {
    list(
        plan,
        &[
            (&plan.left.rewound, "(rewound)"),
            (&plan.left.compacted, "(compacted by the client)"),
            (&plan.left.cut, "(cut off: a later line names a parent that is not in the file)"),
            (&plan.left.doubled, "(also in the other session)"),
        ],
    )
}

/// The command that resumes the new session.
pub fn command(made: &Made) -> String {
    let Some(path) = &made.path else { return String::new() };
    let id = made.by_id.then_some(made.id.as_str());
    resume_command(made.cwd(), id, path)
}

/// The command that resumes a session: by its `id` if the client finds it by that, else by its
/// file.
pub fn resume_command(cwd: Option<&str>, id: Option<&str>, path: &Path) -> String {
    let session = id.map_or_else(|| shell_quote(&path.to_string_lossy()), str::to_owned);
    let run = format!("claude --resume {session}");
    match cwd {
        Some(cwd) => format!("cd {} && {run}", shell_quote(cwd)),
        None => run,
    }
}

/// The extracted values: `9 values, 120.3 KB (7 tool_result, 2 thinking)`.
fn extracted(records: &[Record]) -> String {
    let (mut all, mut kinds) = (0, BTreeMap::new());
    for record in records {
        if let Record::Extract(extract) = record {
            all += extract.bytes;
            *kinds.entry(&*extract.trigger).or_insert(0) += 1;
        }
    }
    let kinds: Vec<String> = kinds.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
    let values = if records.len() == 1 { "value" } else { "values" };
    let count = group_thousands(records.len() as u64);
    format!("{count} {values}, {} ({})", size(all), kinds.join(", "))
}

impl fmt::Display for Made {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plan = &self.plan;
        let sources: Vec<&str> = plan.sessions.iter().map(|s| short(&s.id)).collect();
        write!(f, "{} of {}", plan.operation.shown(), sources.join(" and "))?;
        let mut line = |name: &str, what: &str| write!(f, "\n  {name:<9}{what}");
        line("rounds", &rounds(plan))?;
        let left = left(plan);
        if !left.is_empty() {
            line("left out", &left)?;
        }
        if !self.extracted.is_empty() {
            line("values", &extracted(&self.extracted))?;
        }
        line("context", &cost(&self.cost))?;
        for note in &self.notes {
            line("note", note)?;
        }
        let Some(path) = &self.path else { return line("dry run", "nothing was written") };
        line("session", &self.id)?;
        let (rows, bytes) = (group_thousands(self.rows), size(self.bytes));
        line("file", &format!("{} ({rows} rows, {bytes})", path.display()))?;
        line("continue", &command(self))?;
        line("remove", &format!("brain-guard surgery remove {}", short(&self.id)))
    }
}

/// A round of a session.
#[derive(Serialize)]
struct Numbered<'a> {
    session: &'a str,
    round: u32,
}

/// Rounds that were left out, by reason.
#[derive(Serialize)]
struct LeftOut<'a> {
    rewound: Vec<Numbered<'a>>,
    compacted: Vec<Numbered<'a>>,
    cut: Vec<Numbered<'a>>,
    doubled: Vec<Numbered<'a>>,
    dropped: Vec<Numbered<'a>>,
}

#[derive(Serialize)]
struct Tokens {
    base: Option<u64>,
    before: u64,
    after: u64,
    freed: u64,
    pays_after: Option<u64>,
    cache_cold: bool,
    cache_lifetime: Lifetime,
}

/// The JSON of a new session.
#[derive(Serialize)]
struct MadeFields<'a> {
    #[serde(flatten)]
    operation: &'a Performed,
    #[serde(skip_serializing_if = "Option::is_none")]
    extracted: Option<Vec<ExtractedValue<'a>>>,
    id: Option<&'a str>,
    path: Option<&'a Path>,
    companions: Vec<&'a Path>,
    rows: u64,
    bytes: u64,
    cwd: Option<&'a str>,
    resume: Option<String>,
    lineage: &'a Lineage,
    fidelity: Fidelity,
    indexed: Vec<Numbered<'a>>,
    whole: Vec<Numbered<'a>>,
    left: LeftOut<'a>,
    tokens: Tokens,
    notes: &'a [String],
    dry_run: bool,
}

/// An extracted value, without the fields that are always the same.
struct ExtractedValue<'a>(&'a Record);

impl Serialize for ExtractedValue<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut value = serde_json::to_value(self.0).map_err(S::Error::custom)?;
        for name in ["did", "at", "file"] {
            value.as_object_mut().map(|fields| fields.remove(name));
        }
        value.serialize(serializer)
    }
}

impl Serialize for Made {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let plan = &self.plan;
        let numbered = |places: Vec<Place>| -> Vec<Numbered> {
            let at = places.into_iter().filter_map(|place| plan.at(place));
            at.map(|(session, round)| Numbered { session: &session.id, round: round.seq }).collect()
        };
        let is_extract = matches!(plan.operation, Performed::Extract { .. });
        let cost = &self.cost;
        let fields = MadeFields {
            operation: &plan.operation,
            extracted: is_extract.then(|| self.extracted.iter().map(ExtractedValue).collect()),
            id: self.path.as_ref().map(|_| self.id.as_str()),
            path: self.path.as_deref(),
            companions: self.companions.iter().map(|copy| copy.path.as_path()).collect(),
            rows: self.rows,
            bytes: self.bytes,
            cwd: self.cwd(),
            resume: self.path.as_ref().map(|_| command(self)),
            lineage: &plan.lineage,
            fidelity: plan.fidelity,
            indexed: numbered(plan.indexed().collect()),
            whole: numbered(plan.whole().collect()),
            left: LeftOut {
                rewound: numbered(plan.left.rewound.clone()),
                compacted: numbered(plan.left.compacted.clone()),
                cut: numbered(plan.left.cut.clone()),
                doubled: numbered(plan.left.doubled.clone()),
                dropped: numbered(plan.left.dropped.clone()),
            },
            tokens: Tokens {
                base: cost.base,
                before: cost.before,
                after: cost.after,
                freed: cost.freed(),
                pays_after: cost.pays_after(),
                cache_cold: cost.cold,
                cache_lifetime: cost.cache.lifetime,
            },
            notes: &self.notes,
            dry_run: self.path.is_none(),
        };
        fields.serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sessions::cost::Cache;

    #[test]
    fn figures_are_short() {
        let shown = [0, 999, 1_000, 9_949, 9_950, 96_400, 999_499, 1_250_000].map(tokens);
        assert_eq!(shown, ["0", "999", "1.0k", "9.9k", "10k", "96k", "999k", "1.2M"]);
        assert_eq!([5, 1_500, 3_400_000].map(size), ["5 B", "1.5 KB", "3.4 MB"]);
    }

    #[test]
    fn the_cost_says_when_it_pays() {
        let warm = Cost {
            base: Some(20_000),
            before: 412_000,
            after: 96_000,
            behind: 412_000,
            cache: Cache::default(),
            cold: false,
        };
        assert_eq!(cost(&warm), "412k tokens now, 96k after; breaks even after 4 requests");
        let cold = Cost { cold: true, ..warm };
        assert_eq!(
            cost(&cold),
            "412k tokens now, 96k after; saves at once, as the prompt cache has expired"
        );
        let more = Cost { after: 500_000, ..warm };
        assert_eq!(cost(&more), "412k tokens now, 500k after; saves no tokens");
        assert_eq!(
            cost(&Cost { base: None, ..more }),
            "412k tokens now, 500k after, without system prompt and tools; saves no tokens"
        );
    }

    #[test]
    fn paths_are_words() {
        assert_eq!(shell_quote("/home/ada/x-1.jsonl"), "/home/ada/x-1.jsonl");
        assert_eq!(shell_quote("/a b/it's"), r"'/a b/it'\''s'");
    }
}
