//! `time,url`

use refrain_core::time::Time;
use refrain_fetch::announce::when::{Precision, When};
use refrain_fetch::url::PageUrl;

use super::{Request, Skip, past};

/// Is a line one of a table? A log has its date in brackets, before any comma.
pub(super) fn is_row(line: &str) -> bool {
    match (line.find(','), line.find('[')) {
        (Some(comma), Some(bracket)) => comma < bracket,
        (Some(_), None) => true,
        (None, _) => false,
    }
}

/// The request of a row; `None` if it is the header.
pub(super) fn request(line: &str, number: u64, now: Time) -> Option<Result<Request, Skip>> {
    let line = line.strip_prefix('\u{feff}').unwrap_or(line);
    // A URL may have commas of its own, and quotes because of them.
    let (time, url) = split(line)?;
    let Some(when) = When::parse(time) else {
        let is_header = number == 1 && url.trim().eq_ignore_ascii_case("url");
        return (!is_header).then(|| Err(bad("its first field is no date")));
    };
    Some(read(when, url, now))
}

/// The first field, and all the rest, both without quotes.
fn split(line: &str) -> Option<(&str, &str)> {
    let (time, url) = match line.strip_prefix('"') {
        Some(quoted) => quoted.split_once("\",")?,
        None => line.split_once(',')?,
    };
    let url = url.trim();
    Some((time.trim(), url.strip_prefix('"').and_then(|url| url.strip_suffix('"')).unwrap_or(url)))
}

fn read(when: When, url: &str, now: Time) -> Result<Request, Skip> {
    if when.precision() < Precision::Hour {
        return Err(bad("its date has no time of day"));
    }
    let time = past(when, now)?;
    let url = PageUrl::parse(url).map_err(|why| Skip::Bad(why.to_string()))?;
    Ok(Request { time, url })
}

fn bad(why: &str) -> Skip {
    Skip::Bad(why.to_owned())
}
