//! Two versions of a page, compared: for `refrain diff` and for the API.

use std::fmt;

use refrain_core::time::Time;
use refrain_fetch::change::{Look, Rules};
use refrain_fetch::charset;
use refrain_fetch::client::ContentType;
use refrain_store::warc::Record;
use refrain_store::{PageRecord, Reader, StoreError, Version};

use super::hunks::{Hunk, hunks};
use crate::chart::grouped;
use crate::cli::Which;
use crate::data::ignored::{kept, masked};
use crate::data::spelled;

/// What to compare; the last change, if nothing is said.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Between {
    pub(crate) from: Option<Which>,
    pub(crate) to: Option<Which>,
    /// The bodies as they came rather than their text.
    pub(crate) raw: bool,
}

/// What came of a comparison.
pub(crate) enum Compared<'a> {
    /// There is nothing to compare: a sentence says why.
    Not(String),
    /// Where they differ; if they do not, why not.
    Both {
        from: &'a Version,
        to: &'a Version,
        hunks: Vec<Hunk>,
        note: Option<Same>,
        /// In so many places the page has noise, which is left out.
        ignored: usize,
    },
}

/// Why versions do not differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Same {
    /// They have the same body.
    Body,
    /// Only the ends of lines, or the encoding, are others.
    Lines,
    /// What counts, by the rules for the site, is the same.
    ByTheRules,
    /// Only noise differs, which does not count.
    Noise,
    /// Only the markup is another.
    Text,
}

/// A version that is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    /// None is.
    All,
    /// The one with this number.
    Version(i64),
    /// One from before the first moment; the oldest is of the second.
    Before(Time, Time),
}

/// Why nothing was compared.
#[derive(Debug)]
pub(crate) enum NotCompared {
    Missing(Missing),
    Store(StoreError),
}

impl From<StoreError> for NotCompared {
    fn from(why: StoreError) -> Self {
        Self::Store(why)
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::All => f.write_str("no version of it is kept; there is nothing to compare"),
            Self::Version(number) => write!(f, "version {number} is not kept, or is of another page"),
            Self::Before(time, oldest) => {
                let (time, oldest) = (spelled(time), spelled(oldest));
                write!(f, "no version from before {time} is kept; the oldest is of {oldest}")
            }
        }
    }
}

/// Compares two versions of a page; these are all that are kept, the latest first.
pub(crate) fn compare<'a>(
    reader: &Reader,
    page: &PageRecord,
    versions: &'a [Version],
    between: Between,
    rules: &Rules,
) -> Result<Compared<'a>, NotCompared> {
    let Some((from, to)) = choose(between, versions).map_err(NotCompared::Missing)? else {
        return Ok(Compared::Not(alone(reader, page, versions)?));
    };
    let body = |version: &Version| {
        Body::read(reader, version)?.ok_or(NotCompared::Missing(Missing::Version(version.id.0)))
    };
    let (old, new) = (body(from)?, body(to)?);
    let lines = |body: &Body| body.lines(between.raw, rules);
    let (Some(old_lines), Some(new_lines)) = (lines(&old), lines(&new)) else {
        return Ok(Compared::Not(format!(
            "It is no text: {} bytes of {} became {} of {}",
            grouped(old.bytes().len()),
            old.kind(),
            grouped(new.bytes().len()),
            new.kind()
        )));
    };
    let (mut old_lines, mut new_lines, mut ignored) = (old_lines, new_lines, 0);
    let differs = old_lines != new_lines;
    if let Some(kept) = kept(page).filter(|kept| !between.raw && kept.noise() > 0)
        && let Some((old, new)) = masked(&kept, &old.look(rules), &new.look(rules))
    {
        (old_lines, new_lines, ignored) = (old, new, kept.noise());
    }
    let hunks = hunks(&old_lines, &new_lines);
    let note = hunks.is_empty().then(|| {
        if from.digest == to.digest {
            Same::Body
        } else if differs && ignored > 0 {
            Same::Noise
        } else if between.raw {
            Same::Lines
        } else if rules.selectors.is_empty() {
            Same::Text
        } else {
            Same::ByTheRules
        }
    });
    Ok(Compared::Both { from, to, hunks, note, ignored })
}

/// The versions to compare, the older first; `None` if there is nothing to compare with.
fn choose(between: Between, latest_first: &[Version]) -> Result<Option<(&Version, &Version)>, Missing> {
    let to = match between.to {
        Some(which) => Some(find(which, latest_first)?),
        // Looks since then saw the same: the change was seen by the first that saw this body.
        None => latest_first.iter().take_while(|version| version.digest == latest_first[0].digest).last(),
    };
    let Some(to) = to else {
        return match between.from {
            Some(which) => find(which, latest_first).map(|_| None),
            None => Ok(None),
        };
    };
    if let Some(which) = between.from {
        return find(which, latest_first).map(|from| Some((from, to)));
    }
    // A revisit is the same body again: the one before is another.
    let place = latest_first.iter().position(|version| version.id == to.id).unwrap_or(0);
    let before = latest_first[place..].iter().find(|version| version.digest != to.digest);
    Ok(before.map(|from| (from, to)))
}

fn find(which: Which, latest_first: &[Version]) -> Result<&Version, Missing> {
    let oldest = latest_first.last().ok_or(Missing::All)?;
    match which {
        Which::Version(number) => {
            latest_first.iter().find(|version| version.id.0 == number).ok_or(Missing::Version(number))
        }
        Which::Moment(time) => {
            latest_first.iter().find(|version| version.time <= time).ok_or(Missing::Before(time, oldest.time))
        }
    }
}

/// Why there is nothing to compare.
fn alone(reader: &Reader, page: &PageRecord, versions: &[Version]) -> Result<String, StoreError> {
    let seen = reader.bodies_seen(page.id)?;
    Ok(match versions {
        [] if page.fetched.is_none() => "It was not fetched yet: there is nothing to compare".to_owned(),
        [] => "No version of it is kept: there is nothing to compare".to_owned(),
        [.., first] if seen <= 1 => {
            format!("There is only one version, of {}: it has not changed since", spelled(first.time))
        }
        [.., first] => format!(
            "Only one version is kept, of {}; {} dropped, as was asked for",
            spelled(first.time),
            if seen == 2 { "the other was".to_owned() } else { format!("the other {} were", seen - 1) }
        ),
    })
}

/// The body of a version, and what it is said to be.
struct Body {
    record: Record,
    content_type: Option<ContentType>,
}

impl Body {
    /// `None` if it has just been dropped.
    fn read(reader: &Reader, version: &Version) -> Result<Option<Self>, StoreError> {
        let Some(record) = reader.answer(version.id)? else { return Ok(None) };
        let content_type = header(&record.head, "content-type").and_then(|line| ContentType::parse(&line));
        Ok(Some(Self { record, content_type }))
    }

    fn bytes(&self) -> &[u8] {
        &self.record.body
    }

    fn kind(&self) -> &str {
        self.content_type.as_ref().map_or("no known type", |kind| kind.essence.as_str())
    }

    fn look(&self, rules: &Rules) -> Look {
        Look::new(self.bytes(), self.content_type.as_ref(), rules)
    }

    /// Its text, or all of it, line by line; `None` if it is made of something else than letters.
    fn lines(&self, raw: bool, rules: &Rules) -> Option<Vec<String>> {
        let look = self.look(rules);
        let text = look.text()?;
        if !raw {
            return Some(text.iter().map(str::to_owned).collect());
        }
        let label = self.content_type.as_ref().and_then(|kind| kind.charset.as_deref());
        Some(charset::decoded(self.bytes(), label).lines().map(str::to_owned).collect())
    }
}

/// The text of a version, line by line; `None` if it is made of something else than letters, or was just dropped.
pub(crate) fn text_of(
    reader: &Reader,
    version: &Version,
    rules: &Rules,
) -> Result<Option<Vec<String>>, StoreError> {
    Ok(Body::read(reader, version)?.and_then(|body| body.lines(false, rules)))
}

/// A header of an HTTP message, by its name.
pub(crate) fn header(head: &[u8], name: &str) -> Option<String> {
    let head = String::from_utf8_lossy(head);
    let fields = head.split("\r\n").filter_map(|line| line.split_once(':'));
    let mut found = fields.filter(|(own, _)| own.eq_ignore_ascii_case(name));
    found.next().map(|(_, value)| value.trim().to_owned())
}
