//! Detailed tracing to stderr with `BRAIN_GUARD_LOG=debug` (or `TARGET=LEVEL,…`).
//! `BRAIN_GUARD_LOG_FORMAT=json` prints a JSON object per line instead of text. It is off by
//! default, and the hook never uses it.

use std::fmt;
use std::io;

use serde_json::{Map, Value};
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

use super::err;
use base::clock;
use base::env::Env;

/// The variable that selects what is printed.
const FILTER: &str = "BRAIN_GUARD_LOG";

/// The variable that selects the format.
const FORMAT: &str = "BRAIN_GUARD_LOG_FORMAT";

/// The field of an event that `tracing` puts its message in.
const MESSAGE: &str = "message";

/// Starts tracing if the variable is set. A wrong value is reported, and the verb runs on.
pub fn begin(env: &Env) {
    let Some(asked) = env.get(FILTER) else { return };
    let filter = match EnvFilter::builder().parse(&asked) {
        Ok(filter) => filter,
        Err(e) => {
            let way_out = "write a level, as in `debug`, or `TARGET=LEVEL`, several with commas";
            return err(format_args!("{FILTER}: `{asked}` is not a filter ({e}); {way_out}"));
        }
    };
    let format = env.get(FORMAT);
    let lines = match format.as_deref() {
        None | Some("text") => false,
        Some("json") => true,
        Some(other) => {
            err(format_args!("{FORMAT}: `{other}` is neither `text` nor `json`; it is text now"));
            false
        }
    };
    let told = tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr);
    // A test that runs a verb may have set a subscriber already; then that one stays.
    let _ = if lines {
        tracing::subscriber::set_global_default(told.event_format(Lines).finish())
    } else {
        tracing::subscriber::set_global_default(told.with_ansi(false).finish())
    };
}

/// Formats events as one JSON object per line. Fields that hold JSON are embedded.
struct Lines;

impl<S, N> FormatEvent<S, N> for Lines
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        _: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let mut fields = Fields(Map::new());
        event.record(&mut fields);
        let Fields(mut line) = fields;
        let about = event.metadata();
        line.insert("timestamp".into(), clock::now().to_rfc3339().into());
        line.insert("level".into(), about.level().as_str().to_lowercase().into());
        line.insert("target".into(), about.target().into());
        writeln!(writer, "{}", Value::Object(line))
    }
}

/// An event's fields.
struct Fields(Map<String, Value>);

impl Fields {
    fn keep(&mut self, field: &Field, value: impl Into<Value>) {
        self.0.insert(field.name().to_owned(), value.into());
    }
}

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.keep(field, value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.keep(field, value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.keep(field, value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.keep(field, value);
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.keep(field, value);
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let text = format!("{value:?}");
        // `tracing` fields are flat, so lists and objects arrive as JSON text.
        let tree = field.name() != MESSAGE && text.starts_with(['[', '{']);
        match serde_json::from_str::<Value>(&text).ok().filter(|_| tree) {
            Some(tree) => self.keep(field, tree),
            None => self.keep(field, text),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use serde_json::json;

    use super::*;

    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn an_event_is_a_line_of_json_with_lists_and_objects() {
        let kept = Kept::default();
        let writer = kept.clone();
        let told = tracing_subscriber::fmt()
            .with_max_level(tracing::Level::DEBUG)
            .with_writer(move || writer.clone())
            .event_format(Lines)
            .finish();
        tracing::subscriber::with_default(told, || {
            let keys = json!(["content", "a\"b\nc"]);
            let sizes = json!({"content": 4520});
            tracing::debug!(module = "x", keys = %keys, sizes = %sizes, redacted = true, n = 1_u64, text = "[1]", "[2]");
            tracing::debug!(broken = %"[1", "{}", "two\nlines");
        });
        let text = String::from_utf8(kept.0.lock().unwrap().clone()).unwrap();
        let lines: Vec<Value> = text.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
        let [first, second] = lines.as_slice() else { panic!("{text}") };
        assert_eq!(first["keys"], json!(["content", "a\"b\nc"]));
        assert_eq!(first["sizes"], json!({"content": 4520}));
        assert_eq!((&first["redacted"], &first["n"]), (&json!(true), &json!(1)));
        assert_eq!((&first["text"], &first["message"]), (&json!("[1]"), &json!("[2]")));
        assert_eq!((&first["level"], &first["module"]), (&json!("debug"), &json!("x")));
        assert_eq!((&second["broken"], &second["message"]), (&json!("[1"), &json!("two\nlines")));
        assert!(second["timestamp"].as_str().unwrap().parse::<clock::Time>().is_ok());
    }
}
