//! Commands in pages and help texts.

/// The simple commands of a script, as words. It splits lines at pipes and lists, which is enough
/// for examples.
pub fn all_commands(script: &str) -> Vec<Vec<String>> {
    let joined = script.replace("\\\n", " ");
    let parts = joined.lines().flat_map(|line| line.split(" && "));
    let parts = parts.flat_map(|part| part.split("; ")).flat_map(|part| part.split(" | "));
    parts
        // Heredocs, redirections and comments are no part of a command.
        .filter_map(|part| {
            let command =
                [" <<", " #", " > ", " < "].iter().try_fold(part, |p, end| p.split(end).next());
            shlex::split(command?.trim())
        })
        .filter(|words| !words.is_empty())
        .collect()
}
