//! Parses the map of a split: `{"shared":"1-15","engagements":{"console-work":"16-25"}}`.

use std::fmt;
use std::ops::RangeInclusive;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

use super::plan::Refused;
use super::ranges;
use sessions::operation::Map;
use store::engagement::id_fault;

/// The name of shared rounds in a map.
const SHARED: &str = "shared";

/// Parses a map. Whether its rounds exist is checked by the split.
///
/// # Errors
/// [`Refused::Map`], with the key.
pub fn parse(json: &str) -> Result<Map, Refused> {
    let json = json.trim_start_matches('\u{feff}').trim();
    if json.is_empty() {
        return refuse(
            "the map",
            "it is empty; write {\"engagements\":{\"console-work\":\"16-25\"}}",
        );
    }
    if !json.starts_with('{') {
        return refuse(
            "the map",
            "it is not an object: {\"engagements\":{\"console-work\":\"16-25\"}}",
        );
    }
    object(json)
}

fn refuse<T>(key: &str, fault: impl Into<String>) -> Result<T, Refused> {
    Err(Refused::Map { key: key.to_owned(), fault: fault.into() })
}

fn read<'a, T: Deserialize<'a>>(key: &str, json: &'a str) -> Result<T, Refused> {
    serde_json::from_str(json).or_else(|e| refuse(key, e.to_string()))
}

fn object(json: &str) -> Result<Map, Refused> {
    let mut map = Map::default();
    for (key, value) in read::<Pairs>("the map", json)?.once("")? {
        match key.as_str() {
            SHARED => map.shared = self::ranges(SHARED, value.get())?,
            "engagements" => {
                if !value.get().starts_with('{') {
                    return refuse(
                        &key,
                        "it is not an object of engagements: {\"console-work\":\"16-25\"}",
                    );
                }
                for (id, value) in read::<Pairs>(&key, value.get())?.once("engagements.")? {
                    let key = format!("engagements.{id}");
                    let ranges = self::ranges(&key, value.get())?;
                    if id == SHARED {
                        map.shared.extend(ranges);
                    } else if let Some(fault) = id_fault(&id) {
                        return refuse(&key, fault);
                    } else {
                        map.engagements.insert(id, ranges);
                    }
                }
            }
            _ => {
                let fault = "there is no such key; a map has \"shared\" and \"engagements\": \
                             {\"console-work\":\"16-25\"}";
                return refuse(&key, fault);
            }
        }
    }
    if map.engagements.is_empty() {
        return refuse("engagements", "it names no engagement: {\"console-work\":\"16-25\"}");
    }
    Ok(map)
}

/// Parses ranges: `"1-15,18"`, a number, or a list of these.
fn ranges(key: &str, json: &str) -> Result<Vec<RangeInclusive<u32>>, Refused> {
    let one = |value: &Value| {
        let found = match value {
            Value::String(text) => ranges::parse(text),
            Value::Number(number) => ranges::parse(&number.to_string()),
            other => {
                return refuse(key, format!("{other} is not a range of rounds: write \"1-15,18\""));
            }
        };
        found.or_else(|fault| refuse(key, fault.to_string()))
    };
    match read(key, json)? {
        Value::Array(parts) if parts.is_empty() => refuse(key, "no rounds: write \"1-15,18\""),
        Value::Array(parts) => Ok(parts.iter().map(one).collect::<Result<Vec<_>, _>>()?.concat()),
        value => one(&value),
    }
}

/// The fields of an object in order, so that duplicate keys can be found.
struct Pairs<'a>(Vec<(String, &'a RawValue)>);

impl<'a> Pairs<'a> {
    fn once(self, prefix: &str) -> Result<Vec<(String, &'a RawValue)>, Refused> {
        for (n, (key, _)) in self.0.iter().enumerate() {
            if self.0[..n].iter().any(|(earlier, _)| earlier == key) {
                return refuse(&format!("{prefix}{key}"), "the key stands there twice");
            }
        }
        Ok(self.0)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Pairs<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = Vec<(String, &'de RawValue)>;

            fn expecting(&self, to: &mut fmt::Formatter) -> fmt::Result {
                to.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(pairs)
            }
        }
        deserializer.deserialize_map(Fields).map(Pairs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_names_ranges() {
        let json = r#"{"shared":"1-15","engagements":{"console-work":"16-25","inscription":[33,"26–30"]}}"#;
        let map = parse(json).unwrap();
        assert_eq!(map.shared, [1..=15]);
        assert_eq!(map.engagements["console-work"], [16..=25]);
        assert_eq!(map.engagements["inscription"], [33..=33, 26..=30]);
        let shared = r#"{"engagements":{"shared":"1","a":"2"}}"#;
        assert_eq!(parse(shared).unwrap().shared, [1..=1]);
    }

    #[test]
    fn what_is_wrong_is_told_by_its_key() {
        for (json, error) in [
            ("", "the map: it is empty"),
            ("{\"engagements\":", "the map: EOF while parsing a value at line 1"),
            ("7", "the map: it is not an object"),
            ("[]", "the map: it is not an object"),
            ("{}", "engagements: it names no engagement"),
            (r#"{"engagements":[]}"#, "engagements: it is not an object"),
            (r#"{"console-work":"1"}"#, "console-work: there is no such key; a map has"),
            (r#"{"engagements":{"a":"x"}}"#, "engagements.a: \"x\" is not a range of rounds"),
            (r#"{"engagements":{"a":"5-2"}}"#, "engagements.a: \"5-2\" is not a range"),
            (r#"{"engagements":{"a":1.5}}"#, "engagements.a: \"1.5\" is not a range"),
            (r#"{"engagements":{"a":{}}}"#, "engagements.a: {} is not a range"),
            (r#"{"engagements":{"a":[]}}"#, "engagements.a: no rounds"),
            (r#"{"engagements":{"a":"1","a":"2"}}"#, "engagements.a: the key stands there twice"),
            (r#"{"shared":"1","shared":"2"}"#, "shared: the key stands there twice"),
            (
                r#"{"engagements":{"a b":"1"}}"#,
                "engagements.a b: \"a b\" is not an engagement's id",
            ),
        ] {
            let refused = parse(json).unwrap_err().to_string();
            assert!(refused.starts_with(error), "{json}: {refused}");
        }
    }
}
