//! What first fetches of articles were worth, whoever decided about them.

use super::world::World;

/// When each article was fetched first; the articles in their order.
pub(crate) type Finds = Vec<Option<f64>>;

/// What was earned up to a moment.
pub(crate) fn earned(world: &World, finds: &Finds, until: f64) -> f64 {
    let found = world.articles.iter().zip(finds).filter_map(|(article, found)| Some((article, (*found)?)));
    found.filter(|(_, time)| *time <= until).map(|(article, time)| article.worth(time)).sum()
}

/// The same as a share of what all articles that have appeared by then were worth when they were new.
pub(crate) fn share(world: &World, finds: &Finds, until: f64) -> f64 {
    let possible = world.possible_profit(until);
    if possible > 0.0 { earned(world, finds, until) / possible } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_everywhere_at_once_gets_it_all() {
        let world = World::new(1, 60.0);
        let at_once: Finds = world.articles.iter().map(|article| Some(article.born.max(0.0))).collect();
        let late: Finds = at_once.iter().map(|time| time.map(|time| time + 10.0)).collect();
        let never: Finds = vec![None; world.articles.len()];
        for until in [10.0, 60.0] {
            assert!((share(&world, &at_once, until) - 1.0).abs() < 1e-9);
            assert!(share(&world, &late, until) < 0.5);
            assert_eq!(share(&world, &never, until), 0.0);
        }
    }
}
