//! The public Bing freshness dataset: tab-separated files about URLs by number.
//!
//! `url_urlid_hostid.txt` names the URLs and their hosts, `host_hostid_isconstrained.txt` the hosts, `urlid_imp.txt` has importances,
//! `urlid_offset_history.txt` what crawls saw, `[[days since the previous crawl, changed], …]`, and
//! `urlid_chrate_compl_obs_hist.txt` change rates per day of URLs that were watched completely. There are no dates: all histories
//! begin on the same day.

use std::collections::HashMap;
use std::path::Path;

use refrain_core::time::{Span, Time};
use refrain_lab::trace::{LookedAt, unix};

use super::ids::Ids;
use super::lines::Lines;
use super::source::Source;
use crate::failure::Failure;

/// The day on which all histories begin: 2024-01-01.
const START: f64 = 1_704_067_200.0;
const DAY: f64 = 86_400.0;

/// URLs with what is known of them.
pub(crate) struct Bing {
    pub(crate) ids: Ids,
    pub(crate) hosts: Vec<String>,
    /// How many of the hosts may be fetched from only so often.
    pub(crate) constrained: usize,
    pub(crate) pages: Vec<LookedAt>,
    /// Changes per day, where they were counted.
    pub(crate) change_rates: Vec<Option<f64>>,
}

/// A file of tab-separated fields without a header.
struct Tabbed {
    lines: Lines,
}

impl Tabbed {
    fn open(folder: &Path, name: &str) -> Result<Self, Failure> {
        Ok(Self { lines: Lines::new(Source::open(&folder.join(name))?) })
    }

    /// Reads all lines, each cut into at least so many fields; a complaint gets its place.
    fn each(
        mut self,
        fields: usize,
        mut line: impl FnMut(&[&str], u64) -> Result<(), String>,
    ) -> Result<(), Failure> {
        loop {
            let number = self.lines.number() + 1;
            let Some(bytes) = self.lines.next()? else { return Ok(()) };
            if bytes.is_empty() {
                continue;
            }
            let read = std::str::from_utf8(bytes).map_err(|_| "is not UTF-8; expected text".to_owned());
            let read = read.and_then(|text| {
                let cut: Vec<&str> = text.split('\t').map(str::trim).collect();
                if cut.len() < fields {
                    return Err(format!("{} fields; expected {fields}, separated by tabs", cut.len()));
                }
                line(&cut, number)
            });
            if let Err(what) = read {
                return Err(Failure::input(format!("{}: line {number}: {what}", self.lines.name())));
            }
        }
    }
}

fn number(text: &str, what: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0);
    number.ok_or_else(|| format!("the {what} '{text}' is not a finite number that is not negative"))
}

impl Bing {
    pub(crate) fn read(folder: &Path) -> Result<Self, Failure> {
        let mut hosts = Vec::new();
        let mut host_numbers: HashMap<String, u32> = HashMap::new();
        let mut constrained = 0;
        Tabbed::open(folder, "host_hostid_isconstrained.txt")?.each(3, |cut, _| {
            if host_numbers.insert(cut[1].to_owned(), hosts.len() as u32).is_some() {
                return Err(format!("the host {} came before; expected each once", cut[1]));
            }
            hosts.push(cut[0].to_owned());
            constrained += usize::from(matches!(cut[2], "1" | "true" | "True"));
            Ok(())
        })?;
        let mut all =
            Self { ids: Ids::default(), hosts, constrained, pages: Vec::new(), change_rates: Vec::new() };
        let mut urls: HashMap<String, usize> = HashMap::new();
        let first = unix(START).unwrap_or(Time::ZERO);
        Tabbed::open(folder, "url_urlid_hostid.txt")?.each(3, |cut, line| {
            let group = *host_numbers.get(cut[2]).ok_or_else(|| format!("there is no host {}", cut[2]))?;
            if urls.insert(cut[1].to_owned(), all.pages.len()).is_some() {
                return Err(format!("the URL {} came before; expected each once", cut[1]));
            }
            all.ids.push(cut[0], line);
            all.pages.push(LookedAt { importance: 0.0, group, first, looks: Vec::new() });
            all.change_rates.push(None);
            Ok(())
        })?;
        let url = |id: &str| urls.get(id).copied().ok_or_else(|| format!("there is no URL {id}"));
        Tabbed::open(folder, "urlid_imp.txt")?.each(2, |cut, _| {
            all.pages[url(cut[0])?].importance = number(cut[1], "importance")?;
            Ok(())
        })?;
        Tabbed::open(folder, "urlid_offset_history.txt")?.each(2, |cut, _| {
            let page = &mut all.pages[url(cut[0])?];
            // Some have the day of the first crawl in between.
            if let [_, offset, _] = cut {
                page.first = first + Span::from_secs(number(offset, "offset")? * DAY);
            }
            page.looks = history(cut[cut.len() - 1], page.first)?;
            Ok(())
        })?;
        Tabbed::open(folder, "urlid_chrate_compl_obs_hist.txt")?.each(2, |cut, _| {
            all.change_rates[url(cut[0])?] = Some(number(cut[1], "change rate")?);
            Ok(())
        })?;
        Ok(all)
    }
}

/// `[[days since the previous crawl, changed], …]`
fn history(text: &str, first: Time) -> Result<Vec<(Time, bool)>, String> {
    const EXPECTED: &str = "expected [[days since the previous crawl, 0 or 1], …]";
    let pairs: Vec<(f64, f64)> = serde_json::from_str(text).map_err(|_| format!("no history; {EXPECTED}"))?;
    let mut days = 0.0;
    let mut looks = Vec::with_capacity(pairs.len());
    for (after, changed) in pairs {
        if !(0.0..36_500.0).contains(&after) || !(changed == 0.0 || changed == 1.0) {
            return Err(format!("[{after}, {changed}] in a history; {EXPECTED}"));
        }
        days += after;
        looks.push((first + Span::from_secs(days * DAY), changed == 1.0));
    }
    Ok(looks)
}
