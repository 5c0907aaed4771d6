//! Models that learn, and values of any kind.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::super::*;
use super::{at, rate};
use crate::estimate::Answer;
use crate::page::Belief;
use crate::time::Span;

/// The greatest value of all pages, computed anew; of equals the first.
fn best_of<M: Model>(frontier: &Frontier<M>, ids: &[PageId], now: Time) -> (f64, PageId) {
    let worth = |id: &PageId| {
        let (page, since) = frontier.page(*id).unwrap();
        frontier.model.value(page, &since, now)
    };
    let all = ids.iter().map(|id| (worth(id), *id));
    all.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1))).unwrap()
}

/// Learning frontiers against all values, computed anew for each decision: prices that fall and rise, beliefs that
/// change, signals.
fn learning_picks<M: Model>(model: M, make: impl Fn(&mut M, HostId, f32) -> M::Page, refresh: u32) {
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let settings = Settings { refresh, ..Settings::default() };
    let mut frontier = Frontier::new(model, rate(50.0), settings, Time::ZERO).unwrap();
    let mut ids = Vec::new();
    for _ in 0..1500 {
        let host = frontier.add_host(Manners::default());
        let page = make(frontier.model_mut(), host, random.random());
        ids.push(frontier.insert(Time::ZERO, page, host, at(-60.0 * random.random::<f64>())).unwrap());
    }
    for decision in 0..4500 {
        // Three times the budget, later a third.
        if decision % 1500 == 500 {
            let other = if decision < 1500 { 150.0 } else { 50.0 };
            frontier.set_budget(frontier.now, rate(other)).unwrap();
        }
        let now = frontier.next_wakeup().unwrap();
        for _ in 0..3 {
            frontier.signal(now, ids[random.random_range(0..ids.len())]).unwrap();
        }
        let order = frontier.poll(now).unwrap().unwrap();
        assert_eq!((order.value, order.page), best_of(&frontier, &ids, now), "decision {decision}");
        let answer = if random.random::<f64>() < 0.4 { Answer::Changed } else { Answer::Unchanged };
        frontier.answer(now, order.id, Outcome::Seen(answer), None).unwrap();
    }
}

#[test]
fn learning_frontiers_are_exact() {
    learning_picks(
        Learning::default(),
        |model, host, importance| model.page(host, 0, importance).unwrap(),
        0,
    );
    learning_picks(
        Learning::default(),
        |model, host, importance| model.page(host, 0, importance).unwrap(),
        3,
    );
    learning_picks(
        Attentive::default(),
        |model, host, importance| model.page(host, 0, importance).unwrap(),
        0,
    );
}

/// Any value function plugs in: mixtures and survival curves, picked as a scan of all would.
#[test]
fn given_functions_are_exact() {
    use crate::value::{CrawlValue, Greedy, GreedyNcis, Mixture, PiecewiseHazard, SurvivalValue};

    fn picks<V: CrawlValue + Clone>(make: impl Fn(f64, f64) -> V) {
        let mut random = ChaCha8Rng::seed_from_u64(9);
        let mut frontier =
            Frontier::new(Given::<V>::default(), rate(5.0), Settings::default(), Time::ZERO).unwrap();
        let host = frontier.add_host(Manners { in_flight: 9, ..Manners::default() });
        let ids: Vec<PageId> = (0..400)
            .map(|_| {
                let page = make(random.random(), random.random());
                frontier.insert(Time::ZERO, page, host, at(-40.0 * random.random::<f64>())).unwrap()
            })
            .collect();
        for _ in 0..600 {
            let now = frontier.next_wakeup().unwrap();
            frontier.signal(now, ids[random.random_range(0..ids.len())]).unwrap();
            let order = frontier.poll(now).unwrap().unwrap();
            let worth = |id: PageId| {
                let (page, since) = frontier.page(id).unwrap();
                page.value(since.elapsed(now).as_secs(), since.signals())
            };
            let best = ids.iter().map(|id| worth(*id)).fold(0.0, f64::max);
            assert_eq!((order.value, worth(order.page)), (best, best));
            frontier.answer(now, order.id, Outcome::Seen(Answer::Changed), None).unwrap();
        }
    }

    picks(|x, y| Greedy::new(&Belief::new(0.02 + x, y).unwrap()));
    picks(|x, y| {
        let part =
            |rate: f64| GreedyNcis::new(&Belief::new(rate, y).unwrap().with_signals(0.5, 0.1).unwrap());
        Mixture::new([(0.7, part(0.02 + x)), (0.3, part(0.01 + 0.1 * x))]).unwrap()
    });
    picks(|x, y| {
        let daily = PiecewiseHazard::new([(0.0, 0.01 * x), (20.0 + 8.0 * x, 2.0), (30.0, 0.1)]).unwrap();
        SurvivalValue::new(daily, y)
    });
}

/// A page that is removed takes back what it taught about others.
#[test]
fn removed_pages_teach_nothing() {
    let mut frontier =
        Frontier::new(Learning::default(), rate(1.0), Settings::default(), Time::ZERO).unwrap();
    let host = frontier.add_host(Manners::default());
    let page = frontier.model_mut().page(host, 1, 1.0).unwrap();
    let untaught = page.belief().unwrap();
    let id = frontier.insert(Time::ZERO, page, host, Time::ZERO).unwrap();
    for second in 1..200 {
        let now = at(f64::from(second));
        let order = frontier.poll(now).unwrap().unwrap();
        frontier.answer(now, order.id, Outcome::Seen(Answer::Changed), None).unwrap();
    }
    let taught = frontier.model_mut().page(host, 1, 1.0).unwrap().belief().unwrap();
    assert!(taught.mean() > 10.0 * untaught.mean());
    frontier.remove(at(200.0), id).unwrap();
    // Fits are renewed every few updates: teach and take back until they were.
    for _ in 0..40 {
        let page = frontier.model_mut().page(host, 1, 1.0).unwrap();
        let id = frontier.insert(frontier.now, page, host, Time::ZERO).unwrap();
        let order = frontier.poll(frontier.now + Span::from_whole_secs(1)).unwrap().unwrap();
        frontier.answer(frontier.now, order.id, Outcome::Seen(Answer::Unchanged), None).unwrap();
        frontier.remove(frontier.now, id).unwrap();
    }
    let forgotten = frontier.model_mut().page(host, 1, 1.0).unwrap().belief().unwrap();
    assert!(forgotten.mean() < 2.0 * untaught.mean(), "{forgotten:?} {untaught:?}");
}

/// With a bound on risk, pages of which little is known are fetched before they can be too stale.
#[test]
fn risk_bounds_the_age_of_unknown_pages() {
    use crate::estimate::risk::VeryStale;
    let fetched = |risk: Option<Risk>| {
        let model = Learning::default();
        let model = risk.map_or(model.clone(), |risk| model.with_risk(risk));
        let budget = Budget::Price { price: 40_000.0, cap: 1.0 };
        let mut frontier = Frontier::new(model, budget, Settings::default(), Time::ZERO).unwrap();
        let host = frontier.add_host(Manners::default());
        let page = frontier.model_mut().page(host, 0, 1.0).unwrap();
        frontier.insert(Time::ZERO, page, host, Time::ZERO).unwrap();
        let mut times = Vec::new();
        let mut now = Time::ZERO;
        while times.len() < 12 {
            now = frontier.next_wakeup().unwrap().max(now);
            if let Some(order) = frontier.poll(now).unwrap() {
                times.push(now.since(Time::ZERO).as_secs());
                frontier.answer(now, order.id, Outcome::Seen(Answer::Unchanged), None).unwrap();
            }
        }
        times
    };
    let risk = Risk { limit: VeryStale::After(3600.0), chance: 0.05, until_seen: 6 };
    let (free, careful) = (fetched(None), fetched(Some(risk)));
    // After the first look, which makes no difference, they come sooner,
    assert_eq!(free[0], careful[0]);
    assert!(careful[1] - careful[0] < 0.8 * (free[1] - free[0]), "{careful:?} {free:?}");
    // until enough is known.
    let (last, at_last) = (careful[11] - careful[10], free[11] - free[10]);
    assert!((last / at_last - 1.0).abs() < 0.3, "{last} {at_last}");
}

/// Three hosts whose pages change in working hours, some every day at the same hour: what is learned of hours, gaps and rates changes
/// values, and picks are still those of a scan of all pages.
fn picks_of_a_working_week<M: Model>(model: M, make: impl Fn(&mut M, HostId, f32) -> M::Page) -> Frontier<M> {
    let mut random = ChaCha8Rng::seed_from_u64(6);
    let settings = Settings { refresh: 2, ..Settings::default() };
    let every_two_minutes = rate(1.0 / 120.0);
    let mut frontier = Frontier::new(model, every_two_minutes, settings, Time::ZERO).unwrap();
    let hosts = [(); 3].map(|()| frontier.add_host(Manners::default()));
    let ids: Vec<PageId> = (0..180)
        .map(|k| {
            let page = make(frontier.model_mut(), hosts[k % 3], random.random());
            let fetched = at(-86_400.0 * random.random::<f64>());
            frontier.insert(Time::ZERO, page, hosts[k % 3], fetched).unwrap()
        })
        .collect();
    for decision in 0..6000 {
        let now = frontier.next_wakeup().unwrap();
        if decision % 7 == 0 {
            frontier.signal(now, ids[random.random_range(0..ids.len())]).unwrap();
        }
        let order = frontier.poll(now).unwrap().unwrap();
        assert_eq!((order.value, order.page), best_of(&frontier, &ids, now), "decision {decision}");
        let (_, since) = frontier.page(order.page).unwrap();
        // The last ten o'clock, or some hour of the day.
        let daily = order.page.index().is_multiple_of(2);
        let hour = if daily { 10.0 } else { 8.0 + 10.0 * random.random::<f64>() };
        let day = (now.since(Time::ZERO).as_secs() / 86_400.0).floor();
        let this_day = at(86_400.0 * day + 3600.0 * hour);
        let modified = if this_day <= now { this_day } else { at(86_400.0 * (day - 1.0) + 3600.0 * hour) };
        let changed = modified > since.fetched() && (daily || random.random::<f64>() < 0.5);
        let answer = if changed { Answer::Changed } else { Answer::Unchanged };
        frontier.answer(now, order.id, Outcome::Dated { answer, modified }, None).unwrap();
    }
    frontier
}

#[test]
fn clocks_and_curves_are_exact() {
    let frontier = picks_of_a_working_week(Hourly::new(Attentive::default()), |model, host, importance| {
        let mut page = model.inner_mut().page(host, 0, importance).unwrap();
        // Signals of the first host are not listened to.
        page.set_heard(host.index() > 0);
        HourlyPage::new(page)
    });
    // There, at ten o'clock, time flies.
    let page = &frontier.pages[0];
    let value = |hour: f64| {
        let since = crate::page::SinceFetch::fetched_at(at(86_400.0 * 9.0 + 3600.0 * hour));
        frontier.model.value(&page.page, &since, since.fetched() + Span::from_whole_secs(3600))
    };
    assert!(value(10.0) > 5.0 * value(22.0), "{} {}", value(10.0), value(22.0));
    for refinement in [Refinement::Gaps, Refinement::Points] {
        picks_of_a_working_week(Refined::new(refinement), |model, host, importance| {
            model.page(host, 0, importance).unwrap()
        });
    }
}
