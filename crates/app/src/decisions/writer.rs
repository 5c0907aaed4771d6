//! From what the engine tells to lines. Pages are introduced where they first appear in a file, so that each file stands alone.

use std::collections::HashSet;

use refrain_core::frontier::Budget;
use refrain_core::time::Time;
use refrain_engine::Decision;
use refrain_store::{PageId, Reader, StoreError};
use tokio::sync::mpsc::Receiver;

use super::files::Files;
use super::line::Line;
use crate::failure::Failure;

/// So many decisions are written at a time, if they come that fast.
const AT_A_TIME: usize = 1000;

/// Writes lines.
pub(super) struct Writer {
    files: Files,
    reader: Reader,
    /// Pages that this file has introduced, as far as this process knows: one that goes on with a file introduces them again.
    introduced: HashSet<PageId>,
    /// For the heads of files.
    budget: Option<Budget>,
}

impl Writer {
    pub(super) fn new(files: Files, reader: Reader) -> Self {
        Self { files, reader, introduced: HashSet::new(), budget: None }
    }

    /// Until all who send are gone.
    pub(super) fn write_all(&mut self, mut decisions: Receiver<Decision>) -> Result<(), Failure> {
        let mut some = Vec::new();
        while decisions.blocking_recv_many(&mut some, AT_A_TIME) > 0 {
            self.write(&some)?;
            some.clear();
        }
        Ok(())
    }

    fn write(&mut self, decisions: &[Decision]) -> Result<(), Failure> {
        let mut lines = String::new();
        for decision in decisions {
            if self.files.is_empty() && lines.is_empty() {
                self.begin_file(decision.time(), &mut lines);
            }
            if let Decision::Begins { budget, .. } | Decision::Budget { budget, .. } = decision {
                self.budget = Some(*budget);
            }
            if let Some(page) = decision.page()
                && !self.introduce(page, &mut lines).map_err(|why| Failure::OnTheWay(why.to_string()))?
            {
                continue;
            }
            lines.push_str(&Line::from(decision).text());
        }
        if self.files.append(&lines)? {
            self.files.next()?;
            self.introduced.clear();
        }
        Ok(())
    }

    /// What holds already at the start of a file.
    fn begin_file(&self, time: Time, lines: &mut String) {
        if let Some(budget) = self.budget {
            lines.push_str(&Line::of_budget(time, budget).text());
        }
    }

    /// Says who a page is, if that was not said. `false`: somebody removed it since, and nothing is said of it any more.
    fn introduce(&mut self, page: PageId, lines: &mut String) -> Result<bool, StoreError> {
        if self.introduced.contains(&page) {
            return Ok(true);
        }
        let Some(record) = self.reader.page_by_id(page)? else { return Ok(false) };
        let host = self.reader.host_by_id(record.host)?.map(|host| host.name).unwrap_or_default();
        lines.push_str(&Line::introducing(record, host).text());
        self.introduced.insert(page);
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use refrain_core::time::Span;
    use refrain_engine::{Kind, Seed, add_seeds};
    use refrain_fetch::url::PageUrl;
    use refrain_store::{Options, Store};
    use tokio::sync::mpsc::channel;

    use super::super::{Wanted, listed};
    use super::*;

    /// Whatever file a page appears in says who it is.
    #[test]
    fn every_file_stands_alone() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let mut store = Store::open(&data, Options::default()).unwrap();
        let url = PageUrl::parse("http://a.example/x").unwrap();
        add_seeds(&mut store, &[Seed { url, importance: Some(3.0), max_age: None }], Time::ZERO).unwrap();
        let page = store.read().page("http://a.example/x").unwrap().unwrap().id;
        let wanted = Wanted { folder: folder.path().join("log"), file_size: 2000, files: 10 };
        let mut writer = Writer::new(Files::open(&wanted).unwrap(), Reader::open(&data).unwrap());
        let heard = |second, page| Decision::Heard {
            time: Time::ZERO + Span::from_whole_secs(second),
            page,
            kind: Kind::Feed,
            counts: true,
        };
        let (to, decisions) = channel(3000);
        to.try_send(Decision::Begins { time: Time::ZERO, budget: Budget::Rate(2.0) }).unwrap();
        to.try_send(heard(0, PageId(page.0 + 1))).unwrap();
        (1..=2500).for_each(|second| to.try_send(heard(second, page)).unwrap());
        drop(to);
        writer.write_all(decisions).unwrap();
        let files = listed(&wanted.folder).unwrap();
        assert_eq!(files.len(), 3 + 1, "{files:?}");
        let mut seen = 0;
        for (number, file) in files.iter().enumerate() {
            let mut text = String::new();
            let source = std::fs::File::open(file).unwrap();
            if file.extension().is_some_and(|ending| ending == "gz") {
                std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(source), &mut text).unwrap();
            } else {
                std::io::Read::read_to_string(&mut { source }, &mut text).unwrap();
            }
            let mut lines = text.lines().map(|line| serde_json::from_str::<Line>(line).unwrap());
            match lines.next() {
                Some(Line::Begins { .. }) if number == 0 => {}
                Some(Line::Budget { .. }) if number > 0 => {}
                None if number == files.len() - 1 => break,
                other => panic!("{number}: {other:?}"),
            }
            let Some(Line::Page { url, host, importance, role, .. }) = lines.next() else { panic!("{text}") };
            assert_eq!(
                (url.as_str(), host.as_str(), importance, role.as_str()),
                ("http://a.example/x", "http://a.example", 3.0, "page")
            );
            let rest = lines.inspect(|line| assert!(matches!(line, Line::Signal { .. }), "{line:?}"));
            seen += rest.count();
        }
        assert_eq!(seen, 2500, "what is said of a page that is not there is left out");
    }
}
