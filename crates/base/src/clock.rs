//! The only module that reads the clock; all others get the time as an argument.
#![allow(clippy::disallowed_methods, reason = "this module owns the clock")]

use chrono::{DateTime, Utc};

/// Time as the guard stores and compares it.
pub type Time = DateTime<Utc>;

/// The current time, UTC.
pub fn now() -> Time {
    Utc::now()
}

/// Today's local date as `YYYYMMDD`, for names people read.
pub fn local_date() -> String {
    chrono::Local::now().format("%Y%m%d").to_string()
}
