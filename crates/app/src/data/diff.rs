//! `refrain diff`: what changed between two versions of a page.

pub(crate) mod compare;
pub(crate) mod hunks;
mod paint;

use std::io::IsTerminal;

use refrain_store::warc::Kind;
use refrain_store::{PageRecord, Reader, Version};
use serde_json::{Value, json};

use super::{known_page, spelled, written};
use crate::chart::counted;
use crate::cli::DiffArgs;
use crate::crawl::config::Config;
use crate::crawl::wanted::rules_for;
use crate::failure::Failure;
use crate::output::to_stdout;
pub(crate) use compare::header;
use compare::{Between, Compared, Missing, NotCompared, Same, compare};
use hunks::Hunk;
use paint::Paint;

pub(crate) fn run(args: &DiffArgs) -> Result<(), Failure> {
    let reader = Reader::open(&args.place.data)?;
    let page = known_page(&reader, &args.url)?;
    let versions = reader.versions_of(page.id)?;
    if args.list {
        return list(&versions, args.json);
    }
    let rules = rules_for(&Config::find(args.config.as_deref())?, &page.url)?;
    let wanted = Between { from: args.from, to: args.to, raw: args.raw };
    let (from, to, hunks, note, ignored) = match compare(&reader, &page, &versions, wanted, &rules) {
        Ok(Compared::Not(why)) => return say(args, &page, &why),
        Ok(Compared::Both { from, to, hunks, note, ignored }) => (from, to, hunks, note, ignored),
        Err(NotCompared::Missing(missing)) => {
            let more =
                if matches!(missing, Missing::Version(_)) { "; --list shows those that are" } else { "" };
            return Err(Failure::input(format!("{}: {missing}{more}", page.url)));
        }
        Err(NotCompared::Store(why)) => return Err(why.into()),
    };
    if args.json {
        let all = json!({ "url": page.url, "from": as_json(from), "to": as_json(to), "hunks": hunks, "ignored_places": ignored });
        return to_stdout(|out| writeln!(out, "{all}"));
    }
    match note {
        Some(Same::Body) => say(args, &page, &format!("Versions {} and {} are the same", from.id.0, to.id.0)),
        Some(Same::Lines) => {
            say(args, &page, "The lines are the same; only their ends or their encoding differ")
        }
        Some(Same::ByTheRules) => say(
            args,
            &page,
            "What counts of it, by the rules for its site, is the same; --raw shows the body as it came",
        ),
        Some(Same::Noise) => say(args, &page, NOISE),
        Some(Same::Text) => {
            say(args, &page, "The text is the same, the markup is not; --raw shows the body as it came")
        }
        None => {
            let colours = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
            show(&(from, to), &hunks, ignored, Paint::new(colours))
        }
    }
}

/// Said where only noise differs.
pub(crate) const NOISE: &str =
    "Only noise differs, which does not count: `refrain explain` lists it; --raw shows the body as it came";

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

fn show(
    (from, to): &(&Version, &Version),
    hunks: &[Hunk],
    ignored: usize,
    paint: Paint,
) -> Result<(), Failure> {
    let title = |mark: &str, version: &Version| {
        let line = format!("{mark} {}  version {}, {} UTC", version.url, version.id.0, spelled(version.time));
        paint.title(&line)
    };
    to_stdout(|out| {
        writeln!(out, "{}\n{}", title("---", from), title("+++", to))?;
        hunks.iter().try_for_each(|hunk| hunk.write(out, paint))?;
        if ignored > 0 {
            writeln!(out, "{} with noise left out; --raw shows all of it", counted(ignored, "place"))?;
        }
        Ok(())
    })
}
