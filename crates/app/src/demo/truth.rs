//! What is true: who had fresh copies, for how long, whoever decided about the fetches.

use super::world::World;

/// When each page was fetched, in seconds; the pages in their order.
pub(crate) type Fetches = Vec<Vec<f64>>;

/// The share of time between two moments at which a copy was fresh, weighted by importance. A page without a copy is not fresh.
pub(crate) fn freshness(world: &World, fetches: &Fetches, from: f64, to: f64) -> f64 {
    let (mut fresh, mut all) = (0.0, 0.0);
    for (page, fetches) in world.pages.iter().zip(fetches).filter(|(page, _)| !page.forbidden) {
        let mut known_until = from;
        for fetch in fetches.iter().copied().filter(|fetch| *fetch < to) {
            let (begin, end) = (fetch.max(known_until), page.next_change(fetch).min(to));
            if end > begin {
                fresh += page.importance * (end - begin);
                known_until = end;
            }
        }
        all += page.importance * (to - from);
    }
    if all > 0.0 { fresh / all } else { 0.0 }
}

/// The weighted share of copies that are fresh at a moment.
pub(crate) fn fresh_at(world: &World, fetches: &Fetches, time: f64) -> f64 {
    let (mut fresh, mut all) = (0.0, 0.0);
    for (page, fetches) in world.pages.iter().zip(fetches).filter(|(page, _)| !page.forbidden) {
        let last = fetches.iter().copied().take_while(|fetch| *fetch <= time).last();
        if last.is_some_and(|last| page.next_change(last) > time) {
            fresh += page.importance;
        }
        all += page.importance;
    }
    if all > 0.0 { fresh / all } else { 0.0 }
}

/// Points of a curve.
const POINTS: usize = 240;

/// Something over time.
pub(crate) fn curve(seconds: f64, of: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
    let moments = (0..=POINTS).map(|point| seconds * point as f64 / POINTS as f64);
    moments.map(|time| (time, of(time))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_integral_is_the_mean_of_its_moments() {
        let world = World::new(11, 30.0);
        let count = world.pages.len();
        let fetches: Fetches = (0..count)
            .map(|page| (0..5).map(|k| f64::from(k) * 6.0 + page as f64 * 0.01).collect())
            .collect();
        let (from, to) = (5.0, 29.0);
        let parts = 20_000;
        let mean = (0..parts)
            .map(|part| from + (to - from) * (f64::from(part) + 0.5) / f64::from(parts))
            .map(|time| fresh_at(&world, &fetches, time))
            .sum::<f64>()
            / f64::from(parts);
        let exact = freshness(&world, &fetches, from, to);
        assert!((exact - mean).abs() < 1e-3, "{exact} {mean}");
    }
}
