//! Several frontiers, one budget: the optimum has one price everywhere.
//!
//! Each frontier reports its price and its part of the budget. Where the price is above that of the others, a fetch is worth
//! more: budget moves there. A price falls about with the square of the rate (a page's value grows with the square of its
//! age, as long as it is likely fresh), so a part that is scaled by the root of its price relative to the others' is about
//! right at once; a few rounds make the rest.

use super::pace::BudgetError;

/// What a frontier reports.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shard {
    /// What its last fetches were worth ([`super::Frontier::mean_price`]).
    pub price: f64,
    /// Its part of the budget, in fetches per second.
    pub rate: f64,
}

/// No part shrinks or grows by more than this factor at once: what a frontier reports may be a moment's whim.
const MOST: f64 = 2.0;
/// No part is ever less than this share of an equal one: a frontier that fetches nothing reports nothing.
const LEAST: f64 = 0.01;

/// The parts of a budget of `total` fetches per second, in the order of the shards, so that their prices come closer. Those
/// whose price is not known yet (0 or not a number) keep their part of the whole.
///
/// # Errors
/// If the total is not a rate.
pub fn rebalance(shards: &[Shard], total: f64) -> Result<Vec<f64>, BudgetError> {
    if !(total.is_finite() && total > 0.0) {
        return Err(BudgetError::Rate(total));
    }
    let equal = total / shards.len() as f64;
    let known = |shard: &&Shard| shard.price > 0.0 && shard.price.is_finite() && shard.rate > 0.0;
    let weight: f64 = shards.iter().filter(known).map(|shard| shard.rate).sum();
    let log: f64 = shards.iter().filter(known).map(|shard| shard.rate * shard.price.ln()).sum();
    let common = (log / weight).exp();
    let part = |shard: &Shard| {
        let rate = if shard.rate > 0.0 && shard.rate.is_finite() { shard.rate } else { equal };
        let factor = if known(&shard) { (shard.price / common).sqrt().clamp(1.0 / MOST, MOST) } else { 1.0 };
        (rate * factor).max(LEAST * equal)
    };
    let parts: Vec<f64> = shards.iter().map(part).collect();
    let sum: f64 = parts.iter().sum();
    Ok(parts.into_iter().map(|part| part * total / sum).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::Answer;
    use crate::frontier::{Budget, Frontier, Known, Manners, Outcome, Settings};
    use crate::page::Belief;
    use crate::time::{Span, Time};
    use crate::value::ValueFunction;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    const RATE: f64 = 200.0;
    const START: f64 = 60.0;
    const END: f64 = 200.0;

    /// The share of requests that find a fresh copy after the start, pages split between frontiers by `shard`, and what the
    /// prices were at the end.
    fn freshness(
        pages: &[Belief],
        shards: usize,
        shard: impl Fn(usize) -> usize,
        balanced: bool,
    ) -> (f64, Vec<f64>) {
        let model = Known::new(ValueFunction::Greedy);
        let equal = Budget::Rate(RATE / shards as f64);
        let mut frontiers: Vec<Frontier<Known>> = (0..shards)
            .map(|_| Frontier::new(model, equal, Settings::default(), Time::ZERO).unwrap())
            .collect();
        let mut who: Vec<Vec<usize>> = vec![Vec::new(); shards];
        for (number, page) in pages.iter().enumerate() {
            let k = shard(number);
            let host = frontiers[k].add_host(Manners::default());
            frontiers[k].insert(Time::ZERO, *page, host, Time::ZERO).unwrap();
            who[k].push(number);
        }
        let mut fresh = 0.0;
        let mut gain = |page: &Belief, from: f64, to: f64, fetched: f64| {
            // ∫ e^{-Δ(t - fetched)} over what counts of it.
            let (from, delta) = (from.max(START), page.change_rate());
            if to > from {
                fresh += page.importance() / delta
                    * ((-delta * (from - fetched)).exp() - (-delta * (to - fetched)).exp());
            }
        };
        let mut last = vec![0.0; pages.len()];
        let mut rates = vec![RATE / shards as f64; shards];
        for round in 1..=(END as u32) {
            for (k, frontier) in frontiers.iter_mut().enumerate() {
                loop {
                    let now = frontier.next_wakeup().unwrap();
                    let secs = now.since(Time::ZERO).as_secs();
                    if secs >= f64::from(round) {
                        break;
                    }
                    let Some(order) = frontier.poll(now).unwrap() else { continue };
                    let number = who[k][order.page.index() as usize];
                    gain(&pages[number], last[number], secs, last[number]);
                    last[number] = secs;
                    frontier.answer(now, order.id, Outcome::Seen(Answer::Unchanged), None).unwrap();
                }
            }
            if balanced && round % 2 == 0 {
                let reports: Vec<Shard> = frontiers
                    .iter()
                    .zip(&rates)
                    .map(|(frontier, rate)| Shard { price: frontier.mean_price(), rate: *rate })
                    .collect();
                rates = rebalance(&reports, RATE).unwrap();
                for (frontier, rate) in frontiers.iter_mut().zip(&rates) {
                    let now = Time::ZERO + Span::from_whole_secs(u64::from(round));
                    frontier.set_budget(now, Budget::Rate(*rate)).unwrap();
                }
            }
        }
        for (page, fetched) in pages.iter().zip(&last) {
            gain(page, *fetched, END, *fetched);
        }
        let all: f64 = pages.iter().map(Belief::importance).sum();
        (fresh / (all * (END - START)), frontiers.iter().map(Frontier::mean_price).collect())
    }

    #[test]
    fn balanced_shards_are_as_good_as_one() {
        let mut random = ChaCha8Rng::seed_from_u64(7);
        let pages: Vec<Belief> = (0..2000)
            .map(|number| {
                // The first pages matter more, and change more often.
                let hot = if number < 500 { 4.0 } else { 1.0 };
                Belief::new(hot * (0.02 + 0.5 * random.random::<f64>()), hot * random.random::<f64>())
                    .unwrap()
            })
            .collect();
        let (one, _) = freshness(&pages, 1, |_| 0, false);
        let by_rank = |number: usize| number / 500;
        let (equal, apart) = freshness(&pages, 4, by_rank, false);
        let (balanced, prices) = freshness(&pages, 4, by_rank, true);
        assert!(equal < 0.99 * one, "an equal split should lose: {equal} {one}, prices {apart:?}");
        assert!(balanced > 0.999 * one, "{balanced} {one} {prices:?}");
        assert!(prices.iter().all(|price| (price / prices[0] - 1.0).abs() < 0.1), "{prices:?}");
        // Pages that were split by chance need no balance.
        let (hashed, _) = freshness(&pages, 4, |number| number % 4, false);
        assert!(hashed > 0.998 * one, "{hashed} {one}");
    }

    #[test]
    fn parts_are_always_a_whole() {
        let shard = |price, rate| Shard { price, rate };
        assert_eq!(rebalance(&[], 4.0).unwrap(), Vec::<f64>::new());
        assert!(rebalance(&[shard(1.0, 1.0)], f64::NAN).is_err());
        assert_eq!(rebalance(&[shard(0.0, 0.0), shard(0.0, 0.0)], 4.0).unwrap(), [2.0, 2.0]);
        for parts in [
            [shard(1.0, 1.0), shard(1.0, 3.0)],
            [shard(0.0, 1.0), shard(1e9, 3.0)],
            [shard(f64::NAN, f64::INFINITY), shard(1e-30, 1e-30)],
        ] {
            let split = rebalance(&parts, 4.0).unwrap();
            assert!(
                (split.iter().sum::<f64>() - 4.0).abs() < 1e-9 && split.iter().all(|part| *part > 0.0),
                "{split:?}"
            );
        }
        // Equal prices stay, dear ones get more.
        assert_eq!(rebalance(&[shard(1.0, 1.0), shard(1.0, 3.0)], 4.0).unwrap(), [1.0, 3.0]);
        let moved = rebalance(&[shard(4.0, 2.0), shard(1.0, 2.0)], 4.0).unwrap();
        assert!((moved[0] / moved[1] - 2.0).abs() < 1e-9);
    }
}
