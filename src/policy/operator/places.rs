//! Which paths are the operator's.

/// Paths of the operator's things, absolute and as they resolve.
#[derive(Debug, Clone, Default)]
pub struct Guarded {
    /// The user's home folder, for `~` and `$HOME`.
    pub home: Option<String>,
    /// The folder that holds the state of every project.
    pub states: String,
    /// Files no tool of the agent's may write: the user's settings.
    pub kept: Vec<String>,
    /// The program, its plugin's folder and its link. Naming them is no harm.
    pub program: Vec<String>,
}

/// What of a project's state no tool of the agent's may write. Saved outputs, jobs and
/// sealed versions are its own.
const OPERATORS: [&str; 7] =
    ["sessions", "boundary", "snapshots", "claims", "commits", "merged", "log.jsonl"];

const PROJECT_SETTINGS: &str = ".brain-guard/settings.json";

impl Guarded {
    /// Whether a path is of the settings or the state.
    pub fn holds(&self, path: &str) -> bool {
        self.kept.iter().any(|k| below(path, k).is_some())
            || self.state_part(path).is_some_and(|part| part == Part::Operators)
            || path.ends_with(&format!("/{PROJECT_SETTINGS}"))
    }

    /// Whether a path is the program, or of the folder that the client runs it from.
    pub fn is_program(&self, word: &str) -> bool {
        if !may_be_ours(word) {
            return false;
        }
        let path = self.expanded(word);
        self.program.iter().any(|p| below(&path, p).is_some())
    }

    /// Whether code names the program's place.
    pub fn names_program(&self, code: &str) -> bool {
        let code = self.expanded(code);
        self.program.iter().any(|p| code.contains(p.as_str()))
    }

    /// Whether a word names settings or state.
    pub fn mentioned(&self, word: &str) -> bool {
        if !may_be_ours(word) {
            return false;
        }
        let word = self.expanded(word);
        let glob = |c: char| matches!(c, '*' | '?' | '[');
        // `.brain-guard/sett*`
        let globbed = word.match_indices(".brain-guard/").any(|(at, name)| {
            let last = word[at + name.len()..].split([' ', '/']).next().unwrap_or_default();
            last.find(glob).is_some_and(|at| {
                let behind = last[at..].trim_start_matches(|c| glob(c) || c == ']');
                (at > 0 || !behind.is_empty())
                    && "settings.json".starts_with(&last[..at])
                    && "settings.json".ends_with(behind.rsplit(glob).next().unwrap_or_default())
            })
        });
        globbed
            || word.contains(PROJECT_SETTINGS)
            || self.kept.iter().any(|k| word.contains(k.as_str()))
            || word.match_indices(self.states.as_str()).any(|(at, _)| {
                // A part has 255 bytes at most, and two of them tell.
                let behind = &word[at + self.states.len()..];
                let end = behind.char_indices().take(600).find(|(_, c)| c.is_whitespace());
                let path =
                    end.map_or(&word[at..], |(end, _)| &word[at..][..self.states.len() + end]);
                !self.states.is_empty() && self.state_part(path) == Some(Part::Operators)
            })
    }

    /// Whether a word is a folder that holds ours and would take it along.
    pub fn encloses(&self, word: &str) -> bool {
        may_be_ours(word)
            && (self.is_state(word) || self.kept.iter().any(|k| self.holds_file(word, k)))
    }

    /// Whether a word is the state's folder, or one in it that is not the agent's.
    pub fn is_state(&self, word: &str) -> bool {
        let path = self.expanded(word);
        self.state_part(path.trim_end_matches('/')).is_some_and(|part| part != Part::Agents)
    }

    /// Whether a word is a folder in which `settings.json` is ours.
    pub fn beside_settings(&self, word: &str) -> bool {
        let project = word.trim_end_matches('/');
        project == ".brain-guard"
            || project.ends_with("/.brain-guard")
            || self.kept.iter().any(|k| self.holds_file(word, k))
    }

    fn holds_file(&self, word: &str, file: &str) -> bool {
        let folder = self.expanded(word);
        file.rsplit_once('/').is_some_and(|(f, _)| f == folder.trim_end_matches('/'))
    }

    fn state_part(&self, path: &str) -> Option<Part> {
        let inside = below(path, &self.states).filter(|_| !self.states.is_empty())?;
        let mut parts = inside.split('/').filter(|p| !p.is_empty());
        let first = parts.next();
        // Commits are claimed across projects.
        if first == Some("commits") {
            return Some(Part::Operators);
        }
        let Some(part) = parts.next() else { return Some(Part::Whole) };
        let globbed = part.contains(['*', '?', '[']);
        Some(if globbed || OPERATORS.contains(&part) { Part::Operators } else { Part::Agents })
    }

    /// The word with the home folder spelled out and its path made plain.
    fn expanded(&self, word: &str) -> String {
        let mut word = word.replace("//", "/").replace("/./", "/");
        if let Some(home) = &self.home {
            word = word.replace("${HOME}", home).replace("$HOME", home);
            word = word.replace(" ~/", &format!(" {home}/")).replace("=~/", &format!("={home}/"));
            if let Some(rest) = word.strip_prefix("~/") {
                word = format!("{home}/{rest}");
            }
        }
        word
    }
}

/// A quick look, since a command may have hundreds of thousands of words.
fn may_be_ours(word: &str) -> bool {
    word.contains('/')
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// A project's state, or all of them.
    Whole,
    /// What only the hooks write.
    Operators,
    /// What the agent may.
    Agents,
}

/// What a path is below a folder: empty for the folder itself.
fn below<'a>(path: &'a str, folder: &str) -> Option<&'a str> {
    path.strip_prefix(folder).filter(|rest| rest.is_empty() || rest.starts_with('/'))
}
