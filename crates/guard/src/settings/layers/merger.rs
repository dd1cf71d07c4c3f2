//! Adds one layer after the other. It sets keys one by one if a file has an error, so that the
//! good keys still apply.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::keys::Keys;
use super::project;
use super::tree::{
    Leaf, collect, read, scalar, set, split_known_keys, tier_of, weigh, weigh_text, without_schema,
};
use super::{Diagnostic, File, Origin, Place};
use crate::settings::diagnostic::{Foreign, Why, in_words};
use crate::settings::locate::Lines;
use crate::settings::{Settings, rules};

/// An error in one key of a file.
enum Fault {
    /// The key is not one of these.
    Unknown(&'static Keys),
    /// The value is invalid.
    Value(Value, Why),
}

impl Fault {
    fn why(self, path: &[String]) -> Why {
        match self {
            Self::Unknown(keys) => keys.unknown(path.last().map_or("", String::as_str)),
            Self::Value(_, why) => why,
        }
    }

    fn leaf(self, path: Vec<String>) -> Option<Leaf> {
        match self {
            Self::Unknown(_) => None,
            Self::Value(value, _) => Some((path, value)),
        }
    }
}

/// Maximum work that a project's file may cause. Trying a key costs the weight of all keys before
/// it, because each try checks the whole tree.
const MOST_WORK: usize = 1_000_000;

/// Fixed cost of trying a key.
const TRY: usize = 1_000;

/// The layers merged so far.
pub(super) struct Merger {
    tree: Value,
    pub(super) settings: Settings,
    /// The errors, up to `most`.
    diagnostics: Vec<Diagnostic>,
    most: usize,
    /// How many errors exceed `most`.
    more: usize,
    /// Weight of the project's keys that apply.
    weight: usize,
    /// Work spent on trying the project's keys.
    work: usize,
    /// The origin of each key, if requested.
    pub(super) origins: Option<Vec<Origin>>,
}

impl Default for Merger {
    fn default() -> Self {
        Self {
            tree: Value::Object(Map::new()),
            settings: Settings::default(),
            diagnostics: Vec::new(),
            most: usize::MAX,
            more: 0,
            weight: 0,
            work: 0,
            origins: None,
        }
    }
}

impl Merger {
    /// A merger that reports at most this many errors.
    pub(super) fn with_max_errors(most: usize) -> Self {
        Self { most, ..Self::default() }
    }

    /// Records an error, or counts it beyond the maximum.
    fn tell(&mut self, fault: impl FnOnce() -> Diagnostic) {
        if self.diagnostics.len() < self.most {
            self.diagnostics.push(fault());
        } else {
            self.more += 1;
        }
    }

    /// Takes the errors. The last one stands for those that were only counted.
    pub(super) fn faults(&mut self) -> Vec<Diagnostic> {
        let more = (self.more > 0).then(|| Diagnostic::more(self.more));
        self.diagnostics.drain(..).chain(more).collect()
    }

    /// Adds the keys of a file and reports those that are left out. A project's file may only
    /// tighten the settings.
    pub(super) fn file(&mut self, file: &File, project: bool) {
        let (text, map) = match parse(file) {
            Ok(parsed) => parsed,
            Err(diagnostic) => return self.tell(|| *diagnostic),
        };
        let keys = without_schema(map);
        if keys.is_empty() {
            return;
        }
        let lines = Lines::new(text);
        let place =
            |path: &[String]| Place { source: file.path.clone(), line: Some(lines.line(path)) };
        let (mut leaves, mut unknown) = (Vec::new(), Vec::new());
        split_known_keys(
            Value::Object(keys),
            Keys::all(),
            &mut Vec::new(),
            &mut leaves,
            &mut unknown,
        );
        let tiers: BTreeSet<String> = leaves.iter().filter_map(tier_of).collect();
        let mut faults: Vec<_> =
            unknown.into_iter().map(|(path, keys)| (path, Fault::Unknown(keys))).collect();
        if !project && self.set_all(&leaves) {
            self.record_origins(leaves, &place);
        } else {
            faults.extend(self.one_by_one(leaves, project, &file.path, &place));
            faults.sort_by(|(path, _), (other, _)| path.cmp(other));
        }
        for (path, fault) in faults {
            match fault {
                Fault::Value(Value::Array(list), _) if path == ["when"] && !project => {
                    self.when(list, &place);
                }
                fault => self.tell(|| fault.why(&path).left_out(place(&path), &path)),
            }
        }
        self.tell_placeless(&tiers, &place);
    }

    /// Sets all keys at once. Returns whether the settings are valid with them; if not, nothing is
    /// set.
    fn set_all(&mut self, leaves: &[Leaf]) -> bool {
        let mut tree = self.tree.clone();
        for (path, value) in leaves {
            set(&mut tree, path, value.clone());
        }
        self.try_tree(tree).is_ok()
    }

    /// Reports those of the file's tiers that have no place in the ramp.
    fn tell_placeless(&mut self, tiers: &BTreeSet<String>, place: &dyn Fn(&[String]) -> Place) {
        let placeless: Vec<String> = self.settings.placeless().map(str::to_owned).collect();
        for name in placeless.into_iter().filter(|name| tiers.contains(name)) {
            let why = Why::rule(rules::incomplete_message(&name));
            let path = ["tiers".to_owned(), name];
            self.tell(|| why.left_out(place(&path), &path));
        }
    }

    /// Sets each valid key and returns the invalid ones. It retries failed keys, because one may
    /// need another first: a route its section, a tier its neighbor's new threshold.
    fn one_by_one(
        &mut self,
        leaves: Vec<Leaf>,
        project: bool,
        source: &str,
        place: &dyn Fn(&[String]) -> Place,
    ) -> Vec<(Vec<String>, Fault)> {
        let mut waiting = leaves;
        loop {
            let before = waiting.len();
            let (mut failed, mut untried) = (Vec::new(), 0);
            for (path, value) in waiting {
                if project && self.work > MOST_WORK {
                    untried += 1;
                    continue;
                }
                let done =
                    if project { self.tighten(&path, &value) } else { self.set(&path, &value) };
                match done {
                    Ok(()) => self.record_origin(path.clone(), value, place(&path)),
                    Err(why) => failed.push((path, Fault::Value(value, why))),
                }
            }
            if untried > 0 {
                self.tell(|| Diagnostic::too_much(source, untried));
            }
            if untried > 0 || failed.len() == before || failed.is_empty() {
                return failed;
            }
            waiting = failed.into_iter().filter_map(|(path, fault)| fault.leaf(path)).collect();
        }
    }

    /// Sets the valid entries of `when`. An entry with a bad key is ignored as a whole; without
    /// that key it might apply to other models.
    fn when(&mut self, list: Vec<Value>, place: &dyn Fn(&[String]) -> Place) {
        let mut kept = Vec::new();
        for (index, entry) in list.into_iter().enumerate() {
            let mut tried = kept.clone();
            tried.push(entry.clone());
            let at = vec!["when".to_owned(), index.to_string()];
            match self.set(&["when"], &Value::Array(tried)) {
                Ok(()) => {
                    kept.push(entry.clone());
                    self.record_origin(at.clone(), entry, place(&at));
                }
                Err(why) => {
                    let at = self.culprit(&kept, &entry, at);
                    self.tell(|| why.left_out(place(&at), &at));
                }
            }
        }
    }

    /// The path of the key that makes the entry invalid, or of the entry if no single key does.
    fn culprit(&self, kept: &[Value], entry: &Value, at: Vec<String>) -> Vec<String> {
        let mut leaves = Vec::new();
        collect(entry, &mut Vec::new(), &mut leaves);
        let without = |path: &[String]| {
            let mut rest = Value::Object(Map::new());
            for (other, value) in leaves.iter().filter(|(other, _)| other != path) {
                set(&mut rest, other, value.clone());
            }
            let mut tree = self.tree.clone();
            let list = kept.iter().cloned().chain([rest]).collect();
            set(&mut tree, &["when"], Value::Array(list));
            read(&tree).is_ok()
        };
        let found = leaves.iter().map(|(path, _)| path).find(|path| without(path));
        found.map_or(at.clone(), |path| [at, path.clone()].concat())
    }

    /// Adds an option or variable that the user set.
    pub(super) fn variable(&mut self, key: &[String], text: &str, source: String) {
        let (value, place) = (scalar(text), Place { source, line: None });
        match Keys::all().unknown_part(key).map_or_else(|| self.set(key, &value), Err) {
            Ok(()) => self.record_origin(key.to_owned(), value, place),
            Err(why) => self.tell(|| why.left_out(place, key)),
        }
    }

    /// Adds a variable that the project set.
    pub(super) fn foreign(&mut self, key: &[String], text: &str, by: &Foreign) {
        let value = scalar(text);
        let done = match Keys::all().unknown_part(key) {
            Some(why) => Err(why),
            None if self.work > MOST_WORK => {
                Err(Why::rule("the project sets too many keys".to_owned()))
            }
            None => self.tighten(key, &value),
        };
        match done {
            Ok(()) => {
                let place = Place { source: format!("{} in {}", by.name, by.file), line: None };
                self.record_origin(key.to_owned(), value, place);
            }
            Err(why) => self.tell(|| why.into_variable_diagnostic(by, key)),
        }
    }

    /// Sets one key of the project, unless it loosens the settings.
    fn tighten(&mut self, path: &[String], value: &Value) -> Result<(), Why> {
        let weight = path.iter().map(|part| weigh_text(part)).sum::<usize>() + weigh(value);
        self.work += TRY + self.weight + weight;
        let names: Vec<&str> = path.iter().map(String::as_str).collect();
        if let Some(why) = project::forbid_loosening(&self.settings, &names, value) {
            return Err(Why::project(why));
        }
        self.set(path, value)?;
        self.weight += weight;
        Ok(())
    }

    /// Sets one key, unless the settings would be invalid with it.
    fn set(&mut self, path: &[impl AsRef<str>], value: &Value) -> Result<(), Why> {
        let mut tree = self.tree.clone();
        set(&mut tree, path, value.clone());
        self.try_tree(tree)
    }

    fn try_tree(&mut self, tree: Value) -> Result<(), Why> {
        self.settings = read(&tree)?;
        self.tree = tree;
        Ok(())
    }

    /// Records where the keys were set. Finds their lines only if origins are wanted.
    fn record_origins(&mut self, leaves: Vec<Leaf>, place: &dyn Fn(&[String]) -> Place) {
        if self.origins.is_none() {
            return;
        }
        for (path, value) in leaves {
            let place = place(&path);
            self.record_origin(path, value, place);
        }
    }

    /// Records where a key was set.
    fn record_origin(&mut self, key: Vec<String>, value: Value, place: Place) {
        let Some(origins) = &mut self.origins else { return };
        origins.retain(|origin| !origin.key.starts_with(&key) && !key.starts_with(&origin.key));
        origins.push(Origin { key, value, place });
    }
}

/// The text of a file, and the object in it.
fn parse(file: &File) -> Result<(&str, Map<String, Value>), Box<Diagnostic>> {
    let text = match &file.text {
        Ok(text) => text,
        Err(why) => return Err(Diagnostic::unreadable(&file.path, &why.to_string()).into()),
    };
    match serde_json::from_str(text) {
        Ok(Value::Object(map)) => Ok((text, map)),
        Ok(_) => Err(Diagnostic::file(&file.path, 1, "1", "not a JSON object".to_owned()).into()),
        Err(e) => {
            let at = format!("{}:{}", e.line(), e.column());
            let hint = if text.contains("//") { "; JSON has no comments" } else { "" };
            let why = format!("not JSON ({}{hint})", in_words(&e));
            Err(Diagnostic::file(&file.path, e.line(), &at, why).into())
        }
    }
}
