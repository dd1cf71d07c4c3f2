//! The one place that asks what time it is; everything else is told.
#![allow(clippy::disallowed_methods, reason = "this module owns the clock")]

use chrono::{DateTime, Utc};

/// Time as the guard stores and compares it.
pub type Time = DateTime<Utc>;

/// The current time, UTC.
pub fn now() -> Time {
    Utc::now()
}

/// Today's date where the user is, `YYYYMMDD`, for names people read.
pub fn local_date() -> String {
    chrono::Local::now().format("%Y%m%d").to_string()
}
