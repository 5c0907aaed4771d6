//! What may be spent, as somebody decided while a crawl ran: it holds after a restart, unless the settings say something else by then.

use refrain_core::frontier::Budget;
use refrain_core::time::Time;
use refrain_store::Reader;

use crate::CrawlError;
use crate::restore::Scheduler;
use crate::settings::Settings;

/// Under what it is kept: the rate that the settings had, then the rate, or the price and its cap.
const KEY: &str = "crawl.budget";

/// A decision, to be kept.
pub(crate) fn kept(settings: &Settings, budget: Budget) -> (String, Vec<u8>) {
    let text = match budget {
        Budget::Rate(rate) => format!("{} {rate}", settings.rate),
        Budget::Price { price, cap } => format!("{} {price} {cap}", settings.rate),
    };
    (KEY.to_owned(), text.into_bytes())
}

/// A crawl begins: what was decided before goes on.
pub(crate) fn resume(
    reader: &Reader,
    settings: &Settings,
    scheduler: &mut Scheduler,
    now: Time,
) -> Result<(), CrawlError> {
    let text = reader.meta(KEY)?.map(|kept| String::from_utf8_lossy(&kept).into_owned()).unwrap_or_default();
    if let Some(budget) = read(&text, settings.rate)
        && scheduler.frontier.set_budget(now, budget).is_ok()
    {
        scheduler.rate = budget.rate();
    }
    Ok(())
}

fn read(text: &str, rate: f64) -> Option<Budget> {
    let numbers: Vec<f64> = text.split(' ').map(str::parse).collect::<Result<_, _>>().ok()?;
    match numbers[..] {
        [then, live] if then == rate => Some(Budget::Rate(live)),
        [then, price, cap] if then == rate => Some(Budget::Price { price, cap }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decision_holds_until_the_settings_change() {
        let settings = Settings { rate: 2.5, ..Settings::default() };
        for budget in [Budget::Rate(0.1), Budget::Price { price: 3.0, cap: 7.5 }] {
            let (_, bytes) = kept(&settings, budget);
            let text = String::from_utf8(bytes).unwrap();
            assert_eq!(read(&text, 2.5), Some(budget));
            assert_eq!(read(&text, 2.0), None);
        }
        assert_eq!((read("", 2.5), read("2.5", 2.5), read("2.5 x", 2.5)), (None, None, None));
    }
}
