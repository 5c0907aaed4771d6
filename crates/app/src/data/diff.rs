//! `refrain diff`: what changed between two versions of a page.

mod hunks;
mod paint;

use std::io::IsTerminal;

use refrain_fetch::change::{Look, Rules};
use refrain_fetch::charset;
use refrain_fetch::client::ContentType;
use refrain_store::warc::{Kind, Record};
use refrain_store::{PageRecord, Reader, Version};
use serde_json::{Value, json};

use super::{known_page, spelled, written};
use crate::chart::{counted, grouped};
use crate::cli::{DiffArgs, Which};
use crate::crawl::config::Config;
use crate::crawl::wanted::rules_for;
use crate::failure::Failure;
use crate::output::to_stdout;
use hunks::{Hunk, hunks};
use paint::Paint;

pub(crate) fn run(args: &DiffArgs) -> Result<(), Failure> {
    let reader = Reader::open(&args.place.data)?;
    let page = known_page(&reader, &args.url)?;
    let versions = reader.versions_of(page.id)?;
    if args.list {
        return list(&versions, args.json);
    }
    let Some(chosen) = choose(args, &page, &versions)? else {
        return say(args, &page, &alone(&reader, &page, &versions)?);
    };
    let (old, new) = (Body::read(&reader, chosen.0)?, Body::read(&reader, chosen.1)?);
    let rules = rules_for(&Config::find(args.config.as_deref())?, &page.url)?;
    let lines = |body: &Body| body.lines(args.raw, &rules);
    let (Some(old_lines), Some(new_lines)) = (lines(&old), lines(&new)) else {
        let (from, to) = (old.bytes().len(), new.bytes().len());
        let what = format!(
            "It is no text: {} bytes of {} became {} of {}",
            grouped(from),
            old.kind(),
            grouped(to),
            new.kind()
        );
        return say(args, &page, &what);
    };
    let hunks = hunks(&old_lines, &new_lines);
    if args.json {
        let all = json!({
            "url": page.url, "from": as_json(chosen.0), "to": as_json(chosen.1), "hunks": hunks,
        });
        return to_stdout(|out| writeln!(out, "{all}"));
    }
    if hunks.is_empty() {
        let same = if chosen.0.digest == chosen.1.digest {
            format!("Versions {} and {} are the same", chosen.0.id.0, chosen.1.id.0)
        } else if args.raw {
            "The lines are the same; only their ends or their encoding differ".to_owned()
        } else if !rules.selectors.is_empty() {
            "What counts of it, by the rules for its site, is the same; --raw shows the body as it came"
                .to_owned()
        } else {
            "The text is the same, the markup is not; --raw shows the body as it came".to_owned()
        };
        return say(args, &page, &same);
    }
    let colours = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    show(&chosen, &hunks, Paint::new(colours))
}

/// The versions to compare, the older first; `None` if there is nothing to compare with.
fn choose<'a>(
    args: &DiffArgs,
    page: &PageRecord,
    latest_first: &'a [Version],
) -> Result<Option<(&'a Version, &'a Version)>, Failure> {
    let to = match args.to {
        Some(which) => Some(find(which, page, latest_first)?),
        // Looks since then saw the same: the change was seen by the first that saw this body.
        None => latest_first.iter().take_while(|version| version.digest == latest_first[0].digest).last(),
    };
    let Some(to) = to else {
        return match args.from {
            Some(which) => find(which, page, latest_first).map(|_| None),
            None => Ok(None),
        };
    };
    if let Some(which) = args.from {
        return find(which, page, latest_first).map(|from| Some((from, to)));
    }
    // A revisit is the same body again: the one before is another.
    let place = latest_first.iter().position(|version| version.id == to.id).unwrap_or(0);
    let before = latest_first[place..].iter().find(|version| version.digest != to.digest);
    Ok(before.map(|from| (from, to)))
}

fn find<'a>(which: Which, page: &PageRecord, latest_first: &'a [Version]) -> Result<&'a Version, Failure> {
    let found = match which {
        Which::Version(number) => latest_first.iter().find(|version| version.id.0 == number),
        Which::Moment(time) => latest_first.iter().find(|version| version.time <= time),
    };
    let Some(oldest) = latest_first.last() else {
        return Err(Failure::input(format!(
            "{}: no version of it is kept; there is nothing to compare",
            page.url
        )));
    };
    found.ok_or_else(|| match which {
        Which::Version(number) => Failure::input(format!(
            "{}: version {number} is not kept, or is of another page; --list shows those that are",
            page.url
        )),
        Which::Moment(time) => Failure::input(format!(
            "{}: no version from before {} is kept; the oldest is of {}",
            page.url,
            spelled(time),
            spelled(oldest.time)
        )),
    })
}

/// Why there is nothing to compare.
fn alone(reader: &Reader, page: &PageRecord, versions: &[Version]) -> Result<String, Failure> {
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

/// A sentence in place of a comparison.
fn say(args: &DiffArgs, page: &PageRecord, what: &str) -> Result<(), Failure> {
    if args.json {
        let all =
            json!({ "url": page.url, "from": Value::Null, "to": Value::Null, "hunks": [], "note": what });
        return to_stdout(|out| writeln!(out, "{all}"));
    }
    to_stdout(|out| writeln!(out, "{}: {}{}.", page.url, what[..1].to_lowercase(), &what[1..]))
}

fn as_json(version: &Version) -> Value {
    json!({
        "version": version.id.0, "time": written(version.time), "digest": version.digest.to_string(),
        "url": version.url, "revisit": version.kind == Kind::Revisit,
    })
}

fn list(versions: &[Version], as_lines: bool) -> Result<(), Failure> {
    to_stdout(|out| {
        if as_lines {
            return versions.iter().try_for_each(|version| writeln!(out, "{}", as_json(version)));
        }
        writeln!(out, "{:>9}  {:<19}  {:<12}", "version", "seen (UTC)", "sha256")?;
        for version in versions {
            let digest = version.digest.to_string();
            let again = if version.kind == Kind::Revisit {
                format!("  as version {}", version.body.0)
            } else {
                String::new()
            };
            let start = digest.trim_start_matches("sha256:").get(..12).unwrap_or_default();
            writeln!(out, "{:>9}  {}  {start}{again}", version.id.0, spelled(version.time))?;
        }
        writeln!(out, "{}", counted(versions.len(), "version"))
    })
}

fn show((from, to): &(&Version, &Version), hunks: &[Hunk], paint: Paint) -> Result<(), Failure> {
    let title = |mark: &str, version: &Version| {
        let line = format!("{mark} {}  version {}, {} UTC", version.url, version.id.0, spelled(version.time));
        paint.title(&line)
    };
    to_stdout(|out| {
        writeln!(out, "{}\n{}", title("---", from), title("+++", to))?;
        hunks.iter().try_for_each(|hunk| hunk.write(out, paint))
    })
}

/// The body of a version, and what it is said to be.
struct Body {
    record: Record,
    content_type: Option<ContentType>,
}

impl Body {
    fn read(reader: &Reader, version: &Version) -> Result<Self, Failure> {
        let record = reader.answer(version.id)?.ok_or_else(|| {
            Failure::OnTheWay(format!("version {} has just been dropped; try again", version.id.0))
        })?;
        let content_type = header(&record.head, "content-type").and_then(|line| ContentType::parse(&line));
        Ok(Self { record, content_type })
    }

    fn bytes(&self) -> &[u8] {
        &self.record.body
    }

    fn kind(&self) -> &str {
        self.content_type.as_ref().map_or("no known type", |kind| kind.essence.as_str())
    }

    /// Its text, or all of it, line by line; `None` if it is made of something else than letters.
    fn lines(&self, raw: bool, rules: &Rules) -> Option<Vec<String>> {
        let look = Look::new(self.bytes(), self.content_type.as_ref(), rules);
        let text = look.text()?;
        if !raw {
            return Some(text.iter().map(str::to_owned).collect());
        }
        let label = self.content_type.as_ref().and_then(|kind| kind.charset.as_deref());
        Some(charset::decoded(self.bytes(), label).lines().map(str::to_owned).collect())
    }
}

/// A header of an HTTP message, by its name.
fn header(head: &[u8], name: &str) -> Option<String> {
    let head = String::from_utf8_lossy(head);
    let fields = head.split("\r\n").filter_map(|line| line.split_once(':'));
    let mut found = fields.filter(|(own, _)| own.eq_ignore_ascii_case(name));
    found.next().map(|(_, value)| value.trim().to_owned())
}
