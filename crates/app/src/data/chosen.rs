//! Which pages a command is about.

use refrain_store::{HostId, PageId, PageRow, Reader, Role};
use std::ops::ControlFlow;

use crate::failure::Failure;

/// Pages of some hosts, or whose addresses begin alike; all of them unless somebody says otherwise.
pub(super) struct Chosen {
    hosts: Option<Vec<HostId>>,
    prefix: String,
}

/// So many pages are read at a time: in between, the crawl that writes them may empty its log.
const AT_A_TIME: usize = 20_000;

impl Chosen {
    pub(super) fn new(reader: &Reader, host: Option<&str>, prefix: Option<&str>) -> Result<Self, Failure> {
        let hosts = match host {
            Some(name) => {
                let found = reader.hosts_named(name.trim_end_matches('/'))?;
                if found.is_empty() {
                    return Err(Failure::input(format!(
                        "--host {name}: no page is of this host; expected a name like example.org or https://example.org:8443"
                    )));
                }
                Some(found)
            }
            None => None,
        };
        Ok(Self { hosts, prefix: prefix.unwrap_or_default().to_owned() })
    }

    pub(super) fn has(&self, url: &str, host: HostId) -> bool {
        self.hosts.as_ref().is_none_or(|hosts| hosts.contains(&host)) && url.starts_with(&self.prefix)
    }

    /// Each of the pages, in the order in which they were added.
    pub(super) fn each(
        &self,
        reader: &Reader,
        mut each: impl FnMut(&PageRow<'_>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let mut last = PageId(0);
        loop {
            let (before, mut read, mut failed) = (last, 0, None);
            reader.pages_after(before, |row| {
                (last, read) = (row.id, read + 1);
                // Sitemaps and feeds are there for what they say of pages.
                if row.origin.role == Role::Page
                    && self.has(row.url, row.host)
                    && let Err(why) = each(&row)
                {
                    failed = Some(why);
                }
                if failed.is_some() || read == AT_A_TIME {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            })?;
            if let Some(why) = failed {
                return Err(why);
            }
            if read < AT_A_TIME {
                return Ok(());
            }
        }
    }
}
