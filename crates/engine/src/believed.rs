//! What the crawler believes of its pages, from what the store has: the same as it would believe if it were started now.

use std::ops::ControlFlow;

use refrain_core::estimate::Posterior;
use refrain_core::time::Time;
use refrain_store::Reader;

use crate::CrawlError;
use crate::restore::Scheduler;
use crate::settings::Settings;

/// What is believed of each page of which anything is: `each` gets its address and how often it changes, per second.
///
/// # Errors
/// If the store cannot be read.
pub fn beliefs(reader: &Reader, now: Time, mut each: impl FnMut(&str, Posterior)) -> Result<(), CrawlError> {
    let scheduler = Scheduler::restore(reader, &Settings::default(), now)?;
    reader.pages(|row| {
        let page = scheduler.pages.scheduled(row.id);
        let belief = page.and_then(|page| scheduler.frontier.past(page).ok()?.belief());
        if let Some(belief) = belief {
            each(row.url, belief);
        }
        ControlFlow::Continue(())
    })?;
    Ok(())
}
