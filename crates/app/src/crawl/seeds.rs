//! Where a crawl begins: addresses, and files of addresses.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};

use flate2::read::MultiGzDecoder;
use refrain_core::time::Span;
use refrain_engine::Seed;
use refrain_fetch::url::PageUrl;
use refrain_store::GREATEST_IMPORTANCE;

use crate::failure::Failure;
use crate::units;

/// A line of a file of addresses is no longer than this.
const LONGEST_LINE: u64 = 64 * 1024;

/// All seeds, of addresses and files.
pub(crate) fn read(seeds: &[String]) -> Result<Vec<Seed>, Failure> {
    let mut all = Vec::new();
    for seed in seeds {
        if seed.contains("://") {
            all.push(seed_of(seed).map_err(Failure::input)?);
        } else {
            read_file(seed, &mut all)?;
        }
    }
    Ok(all)
}

fn read_file(name: &str, all: &mut Vec<Seed>) -> Result<(), Failure> {
    let failed = |why| Failure::system(format!("{name}: cannot be read"), why);
    let source: Box<dyn Read> = if name == "-" {
        Box::new(io::stdin())
    } else {
        Box::new(File::open(name).map_err(|why| match why.kind() {
            io::ErrorKind::NotFound => Failure::input(format!(
                "{name}: no such file; expected an address like https://example.org/ or a file of addresses"
            )),
            _ => failed(why),
        })?)
    };
    let mut source = BufReader::new(source);
    let is_gzip = source.fill_buf().map_err(failed)?.starts_with(&[0x1f, 0x8b]);
    let mut lines: Box<dyn BufRead> =
        if is_gzip { Box::new(BufReader::new(MultiGzDecoder::new(source))) } else { Box::new(source) };
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        if lines.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line).map_err(failed)? == 0 {
            break;
        }
        let text = String::from_utf8_lossy(&line);
        let text = text.trim();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        all.push(seed_of(text).map_err(|why| Failure::input(format!("{name}, line {number}: {why}")))?);
    }
    Ok(())
}

/// An address, with an importance and a greatest age if they are there.
fn seed_of(text: &str) -> Result<Seed, String> {
    let mut fields = text.split([' ', '\t', ',']).filter(|field| !field.is_empty());
    let address = fields.next().unwrap_or_default();
    let url = PageUrl::parse(address).map_err(|why| format!("{address}: {why}"))?;
    let importance = match fields.next() {
        Some(field) => {
            let number = field
                .parse()
                .ok()
                .filter(|importance: &f64| (0.0..=GREATEST_IMPORTANCE).contains(importance));
            Some(number.ok_or_else(|| {
                format!("the importance is '{field}'; expected a number from 0 to {GREATEST_IMPORTANCE:e}")
            })?)
        }
        None => None,
    };
    let max_age: Option<Span> = match fields.next() {
        Some(field) => {
            Some(units::some_span(field).map_err(|why| format!("the greatest age is '{field}'; {why}"))?)
        }
        None => None,
    };
    match fields.next() {
        Some(more) => {
            Err(format!("'{more}' is too much; expected an address, an importance and a greatest age"))
        }
        None => Ok(Seed { url, importance, max_age }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_have_up_to_three_fields() {
        let seed = seed_of("https://example.org/a 10\t1h").unwrap();
        assert_eq!((seed.importance, seed.max_age), (Some(10.0), Some(Span::from_whole_secs(3600))));
        assert_eq!(seed_of("http://example.org,2").unwrap().importance, Some(2.0));
        for (wrong, says) in [
            ("ftp://example.org/", "ftp://example.org/: "),
            ("http://a/ x", "the importance is 'x'"),
            ("http://a/ -1", "expected a number"),
            ("http://a/ 1 soon", "the greatest age is 'soon'"),
            ("http://a/ 1 1h more", "'more' is too much"),
        ] {
            let why = seed_of(wrong).unwrap_err();
            assert!(why.contains(says), "{wrong}: {why}");
        }
    }
}
