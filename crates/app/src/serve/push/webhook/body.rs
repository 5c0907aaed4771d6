//! The bodies that content management systems and caches send, whatever they call things.

use refrain_core::time::{Span, Time};
use refrain_engine::Said;
use refrain_fetch::announce::when::When;
use refrain_fetch::url::PageUrl;
use serde_json::{Map, Value};

use crate::serve::push::intake::Fields;
use crate::serve::push::problem::Problem;

/// So many addresses in a body.
pub(super) const MOST: usize = 10_000;
/// What an address is called, alone,
const ONE: [&str; 2] = ["url", "loc"];
/// and where there are many,
const MANY: [&str; 3] = ["urls", "files", "urlList"];
/// and when it changed.
const WHEN: [&str; 4] = ["changed", "time", "timestamp", "lastmod"];
/// Lists in lists are not what anybody sends.
const DEEPEST: usize = 4;

/// Reads a body of this kind.
pub(super) fn read(kind: &str, body: &[u8], now: Time) -> Result<Vec<Said>, Problem> {
    let mut reading = Reading { said: Vec::new(), now };
    match kind {
        "application/x-www-form-urlencoded" => {
            let fields = Fields::read(body);
            for url in fields.all("url").chain(fields.all("urls")) {
                reading.add(url, None)?;
            }
        }
        "text/plain" => {
            let text = std::str::from_utf8(body)
                .map_err(|_| Problem::malformed("the text is not UTF-8; expected an address per line"))?;
            for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
                reading.add(line, None)?;
            }
        }
        kind if kind.is_empty() || kind == "application/json" || kind.ends_with("+json") => {
            let value: Value = serde_json::from_slice(body)
                .map_err(|why| Problem::malformed(format!("not JSON ({why}); expected addresses")))?;
            reading.value(&value, None, 0)?;
        }
        other => {
            return Err(Problem::new(
                http::StatusCode::UNSUPPORTED_MEDIA_TYPE,
                format!("{other:?} cannot be read; expected application/json, text/plain or a form"),
            ));
        }
    }
    if reading.said.is_empty() {
        return Err(Problem::malformed(
            "there is no address in it; expected some, like {\"urls\": [\"https://…\"]}",
        ));
    }
    Ok(reading.said)
}

struct Reading {
    said: Vec<Said>,
    now: Time,
}

impl Reading {
    fn add(&mut self, url: &str, changed: Option<Time>) -> Result<(), Problem> {
        if self.said.len() >= MOST {
            return Err(Problem::malformed(format!("there are too many addresses; expected at most {MOST}")));
        }
        let url = PageUrl::parse(url.trim()).map_err(|why| {
            let shown: String = url.chars().take(80).collect();
            Problem::malformed(format!("{shown:?}: {why}"))
        })?;
        self.said.push(Said { url, changed, adds: false });
        Ok(())
    }

    fn value(&mut self, value: &Value, changed: Option<Time>, depth: usize) -> Result<(), Problem> {
        if depth > DEEPEST {
            return Err(Problem::malformed("it is nested too deep; expected a list of addresses"));
        }
        match value {
            Value::String(url) => self.add(url, changed),
            Value::Array(all) => all.iter().try_for_each(|one| self.value(one, changed, depth + 1)),
            Value::Object(fields) => self.object(fields, changed, depth),
            Value::Null | Value::Bool(_) | Value::Number(_) => {
                Err(Problem::malformed(format!("{value} is no address; expected one")))
            }
        }
    }

    fn object(
        &mut self,
        fields: &Map<String, Value>,
        changed: Option<Time>,
        depth: usize,
    ) -> Result<(), Problem> {
        let when = WHEN.iter().find_map(|name| fields.get(*name)).filter(|value| !value.is_null());
        let changed = when.map(|value| self.moment(value)).transpose()?.or(changed);
        let mut places = ONE.iter().chain(&MANY).filter_map(|name| fields.get(*name)).peekable();
        if places.peek().is_none() {
            return Err(Problem::malformed(
                "there is an object without an address; expected url, urls or files",
            ));
        }
        places.try_for_each(|place| self.value(place, changed, depth + 1))
    }

    /// RFC 3339, or Unix seconds; what is still to come is now.
    fn moment(&self, value: &Value) -> Result<Time, Problem> {
        let bad = || {
            let shown: String = value.to_string().chars().take(80).collect();
            Problem::malformed(format!("{shown} is no moment; expected 2026-11-17T05:00:00Z or Unix seconds"))
        };
        let when = match value {
            Value::String(text) => When::parse(text).ok_or_else(bad)?,
            Value::Number(number) => {
                let secs = number.as_f64().filter(|secs| *secs >= 0.0).ok_or_else(bad)?;
                When::exactly(Time::ZERO + Span::from_secs(secs))
            }
            _ => return Err(bad()),
        };
        Ok(when.latest().min(self.now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NOW: Time = Time::from_nanos(1_800_000_000_000_000_000);

    fn said(kind: &str, body: &str) -> Result<Vec<(String, Option<i64>)>, u16> {
        let said = read(kind, body.as_bytes(), NOW).map_err(|problem| problem.status.as_u16())?;
        let secs = |time: Time| time.as_nanos() / 1_000_000_000;
        Ok(said.into_iter().map(|said| (said.url.to_string(), said.changed.map(secs))).collect())
    }

    #[test]
    fn what_systems_send() {
        let (a, b) = ("http://a.example/", "http://b.example/");
        let (one, two) =
            (Ok(vec![(a.to_owned(), None)]), Ok(vec![(a.to_owned(), None), (b.to_owned(), None)]));
        let json = "application/json";
        for (kind, body, expected) in [
            (json, format!(r#"{{"url": "{a}"}}"#), &one),
            (json, format!(r#"{{"urls": ["{a}", "{b}"], "zone": 3}}"#), &two),
            (json, format!(r#"{{"files": ["{a}", {{"url": "{b}", "headers": {{}}}}]}}"#), &two),
            (json, format!(r#"["{a}", {{"loc": "{b}", "changed": null}}]"#), &two),
            ("application/vnd.purge+json", format!("\"{a}\""), &one),
            ("", format!("[\"{a}\"]"), &one),
            ("text/plain", format!("\n  {a}\r\n{b}\n"), &two),
            ("application/x-www-form-urlencoded", format!("url={a}&x=y&url={b}"), &two),
        ] {
            assert_eq!(&said(kind, &body), expected, "{body}");
        }
        let dated =
            |when: &str| said(json, &format!(r#"{{"time": {when}, "urls": ["{a}"]}}"#)).map(|said| said[0].1);
        assert_eq!(dated("\"2026-11-17T05:00:00Z\""), Ok(Some(1_794_891_600)));
        assert_eq!(dated("1794891600"), Ok(Some(1_794_891_600)));
        assert_eq!(dated("1e300"), Ok(Some(1_800_000_000)), "what is still to come is now");
        for wrong in ["-1", "\"soon\"", "[]", "true"] {
            assert_eq!(dated(wrong), Err(400), "{wrong}");
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused_as_a_whole() {
        let json = "application/json";
        for body in [
            "",
            "{",
            "[]",
            "{}",
            "3",
            "null",
            r#"{"tags": ["x"]}"#,
            r#"["http://a.example/", "x"]"#,
            r#"[{"url": 3}]"#,
            r#"[[[[[["http://a.example/"]]]]]]"#,
        ] {
            assert_eq!(said(json, body), Err(400), "{body}");
        }
        assert_eq!(said("text/plain", "\n"), Err(400));
        assert_eq!(said("image/png", "x"), Err(415));
        let many = |count| said("text/plain", &"http://a.example/\n".repeat(count)).map(|said| said.len());
        assert_eq!((many(MOST), many(MOST + 1)), (Ok(MOST), Err(400)));
        assert!(said(json, &"[".repeat(100_000)).is_err());
    }

    proptest! {
        #[test]
        fn no_body_is_too_strange(parts in prop::collection::vec(prop::sample::select(vec![
            "{", "}", "[", "]", ",", ":", "\"url\"", "\"urls\"", "\"time\"", "1", "-1e9", "null", "\"http://a.example/\"", "é",
        ]), 0..30), kind in prop::sample::select(vec!["application/json", "text/plain", "application/x-www-form-urlencoded"])) {
            if let Ok(said) = read(kind, parts.concat().as_bytes(), NOW) {
                prop_assert!(!said.is_empty() && said.iter().all(|said| !said.adds && said.changed.is_none_or(|time| time <= NOW)));
            }
        }
    }
}
