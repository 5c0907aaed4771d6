use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;

fn at(seconds: f64) -> Time {
    Time::ZERO + Span::from_secs(seconds)
}

/// Fingerprints of made-up addresses.
fn print(queue: QueueId, number: u32) -> u64 {
    (u64::from(queue.0) << 32 | u64::from(number)) + 1
}

fn any(queues: usize, each: usize) -> Wanted {
    Wanted { crawl: None, key: None, queues, each, most: usize::MAX, lease: Span::from_whole_secs(30) }
}

fn filled(keys: &[&str], each: u32) -> Queues {
    let mut queues = Queues::default();
    for key in keys {
        let (queue, _) = queues.open("a", key);
        for number in 0..each {
            assert!(matches!(
                queues.put(at(100.0), queue, print(queue, number), Said::Discovered, None),
                Became::New(_)
            ));
        }
    }
    queues
}

fn counts(taken: &Taken) -> Vec<(u32, usize)> {
    taken.items.iter().map(|(queue, items)| (queue.0, items.len())).collect()
}

#[test]
fn queues_take_turns_and_wait_for_their_delay() {
    let mut queues = filled(&["x", "y", "z"], 5);
    assert_eq!(counts(&queues.take(at(100.0), &any(2, 2))), [(0, 2), (1, 2)]);
    assert_eq!(counts(&queues.take(at(100.2), &any(2, 3))), [(2, 3)], "the others were asked a moment ago");
    assert_eq!(counts(&queues.take(at(100.9), &any(9, 9))), []);
    assert_eq!(counts(&queues.take(at(101.0), &any(9, 9))), [(0, 3), (1, 3)], "the rest");
    assert_eq!(counts(&queues.take(at(101.2), &any(9, 9))), [(2, 2)]);
}

#[test]
fn who_has_as_many_as_it_gets_at_a_time_gets_no_more() {
    let mut queues = filled(&["x"], 5);
    assert_eq!(counts(&queues.take(at(100.0), &any(1, 2))), [(0, 2)]);
    assert_eq!(counts(&queues.take(at(102.0), &any(1, 2))), []);
    queues.put(at(103.0), QueueId(0), print(QueueId(0), 0), Said::Known(0), None);
    assert_eq!(counts(&queues.take(at(103.0), &any(1, 2))), [(0, 2)], "one was brought back");
}

#[test]
fn leases_end_and_dates_come() {
    let mut queues = filled(&["x"], 1);
    let first = queues.take(at(100.0), &any(1, 1));
    assert_eq!(counts(&first), [(0, 1)]);
    assert_eq!(counts(&queues.take(at(129.9), &any(1, 1))), []);
    assert_eq!(queues.take(at(131.0), &any(1, 1)).items, first.items, "nobody said what became of it");
    assert_eq!(
        queues.put(at(132.0), QueueId(0), print(QueueId(0), 0), Said::Known(200), None),
        Became::Updated(ItemId(1))
    );
    assert_eq!(counts(&queues.take(at(199.9), &any(1, 1))), []);
    assert_eq!(queues.take(at(200.0), &any(1, 1)).items, first.items);
    queues.put(at(201.0), QueueId(0), print(QueueId(0), 0), Said::Known(0), None);
    assert_eq!(counts(&queues.take(at(10_000.0), &any(1, 1))), [], "never again");
    assert_eq!(
        queues.put(at(201.0), QueueId(0), print(QueueId(0), 0), Said::Discovered, None),
        Became::Ignored(ItemId(1))
    );
}

#[test]
fn a_lease_is_at_most_as_long_as_wanted() {
    let mut queues = filled(&["x"], 1);
    // Begun at the end of a second: it ends at a whole second.
    assert_eq!(counts(&queues.take(at(100.9), &any(1, 1))), [(0, 1)]);
    assert_eq!(counts(&queues.take(at(129.9), &any(1, 1))), []);
    assert_eq!(counts(&queues.take(at(130.0), &any(1, 1))), [(0, 1)], "29.1 seconds, not 30.1");
}

#[test]
fn a_queue_rests_while_its_host_is_not_asked() {
    let mut queues = filled(&["x", "y"], 2);
    queues.rest(QueueId(0), at(200.0));
    assert_eq!(counts(&queues.take(at(100.0), &any(9, 1))), [(1, 1)]);
    queues.rest(QueueId(0), Time::MIN);
    assert_eq!(counts(&queues.take(at(101.0), &any(9, 1))), [(0, 1)]);
    queues.rest(QueueId(0), at(200.0));
    assert_eq!(counts(&queues.take(at(199.0), &any(9, 2))), [(1, 2)]);
    assert_eq!(counts(&queues.take(at(200.0), &any(9, 2))), [(0, 2)], "that is over");
}

#[test]
fn nothing_given_starts_no_delay() {
    let mut queues = filled(&["x"], 1);
    queues.put(at(100.0), QueueId(0), print(QueueId(0), 0), Said::Known(150), None);
    assert_eq!(counts(&queues.take(at(149.8), &any(1, 1))), []);
    assert_eq!(counts(&queues.take(at(150.0), &any(1, 1))), [(0, 1)]);
}

#[test]
fn blocked_queues_wait_and_limits_count_what_is_completed_or_given() {
    let mut queues = filled(&["x", "y"], 5);
    let queue = QueueId(0);
    queues.set_manners(
        at(100.0),
        queue,
        Manners { blocked_until: Some(at(200.0)), limit: Some(3), ..queues.manners(queue) },
    );
    assert_eq!(counts(&queues.take(at(100.0), &any(9, 2))), [(1, 2)]);
    assert_eq!(queues.tally(at(100.0), &[queue]).active, 0);
    assert_eq!(
        counts(&queues.take(at(200.0), &any(9, 2))),
        [(1, 2), (0, 2)],
        "who could be asked for longer goes first"
    );
    let both = [print(queue, 0), print(queue, 1)];
    for print in both {
        queues.put(at(201.0), queue, print, Said::Known(0), None);
    }
    assert_eq!(counts(&queues.take(at(202.0), &any(9, 2))), [(0, 1)], "two are completed");
    queues.put(at(203.0), queue, print(queue, 2), Said::Known(0), None);
    assert_eq!(counts(&queues.take(at(300.0), &any(1, 9))), [(1, 5)]);
    queues.set_manners(at(100.0), queue, Manners { limit: None, ..queues.manners(queue) });
    assert_eq!(counts(&queues.take(at(400.0), &any(9, 9)))[..1], [(0, 2)]);
}

#[test]
fn what_is_paused_takes_but_gives_nothing() {
    let mut queues = filled(&["x"], 1);
    queues.set_active(false);
    let (queue, new) = queues.open("a", "y");
    assert!(new);
    queues.put(at(100.0), queue, print(queue, 0), Said::Discovered, None);
    assert_eq!(counts(&queues.take(at(100.0), &any(9, 9))), []);
    queues.set_active(true);
    assert_eq!(counts(&queues.take(at(100.0), &any(9, 9))), [(0, 1), (1, 1)]);
}

#[test]
fn crawls_take_turns_too() {
    let mut queues = filled(&["x", "y"], 2);
    let (queue, _) = queues.open("b", "x");
    queues.put(at(100.0), queue, print(queue, 0), Said::Discovered, None);
    assert_eq!(counts(&queues.take(at(100.0), &any(2, 1))), [(0, 1), (2, 1)], "one of each crawl");
    let wanted = Wanted { crawl: Some("a".into()), ..any(9, 9) };
    assert_eq!(counts(&queues.take(at(100.5), &wanted)), [(1, 2)]);
    assert_eq!(queues.crawls().collect::<Vec<_>>(), ["a", "b"]);
}

#[test]
fn what_is_removed_is_nowhere_and_its_number_is_used_again() {
    let mut queues = filled(&["x"], 3);
    assert!(queues.remove(ItemId(2)) && !queues.remove(ItemId(2)));
    assert_eq!(queues.sweep(&[QueueId(0)]), []);
    assert_eq!(queues.list(&[QueueId(0)]), [ItemId(1), ItemId(3)]);
    assert_eq!(
        queues.put(at(101.0), QueueId(0), print(QueueId(0), 7), Said::Discovered, None),
        Became::New(ItemId(2))
    );
    for id in 1..=3 {
        queues.remove(ItemId(id));
    }
    assert_eq!(queues.sweep(&[QueueId(0)]), [QueueId(0)], "nothing is left of it");
    assert_eq!(queues.find("a", "x"), None);
    assert_eq!(queues.take(at(101.0), &any(9, 9)).items, []);
}

#[test]
fn after_a_restart_all_is_as_it_was() {
    let mut queues = Queues::default();
    let (queue, _) = queues.open("a", "x");
    queues.restore(ItemId(2), queue, print(queue, 2), 50, 60);
    queues.restore(ItemId(5), queue, print(queue, 5), 50, 0);
    queues.restore(ItemId(6), queue, print(queue, 6), 50, 70);
    queues.lease(ItemId(6), 130);
    queues.begin();
    assert_eq!(queues.take(at(101.0), &any(9, 9)).items, [(queue, vec![ItemId(2)])]);
    assert_eq!(
        queues.tally(at(101.0), &[queue]),
        Tally { waiting: 2, leased: 2, completed: 1, queues: 1, active: 1 }
    );
    assert_eq!(queues.take(at(130.0), &any(9, 9)).items, [(queue, vec![ItemId(6)])]);
    let mut numbers = BTreeSet::new();
    for number in 10..13 {
        let Became::New(id) = queues.put(at(100.0), queue, print(queue, number), Said::Discovered, None)
        else {
            panic!()
        };
        numbers.insert(id.0);
    }
    assert_eq!(numbers, BTreeSet::from([1, 3, 4]), "numbers that nobody has");
}

#[test]
fn a_few_at_a_time_and_in_the_end_all() {
    let mut queues = filled(&["x", "y", "xx"], 5);
    queues.open("empty", "k");
    queues.put(at(100.0), QueueId(1), print(QueueId(1), 0), Said::Known(0), None);
    let shown = |crawl: CrawlNow| (crawl.name, crawl.queues, crawl.items, crawl.completed);
    let (first, next) = queues.crawls_from(0, "", (1, 9));
    assert_eq!(
        (first.into_iter().map(shown).collect::<Vec<_>>(), next),
        (vec![("a".to_owned(), 3, 15, 1)], Some(1))
    );
    assert_eq!(queues.crawls_from(1, "no", (9, 9)), (vec![], None));
    let keys = |(found, next): (Vec<QueueNow>, _)| {
        (found.into_iter().map(|queue| (queue.key, queue.items, queue.completed)).collect::<Vec<_>>(), next)
    };
    assert_eq!(
        keys(queues.queues_from(at(100.0), "a", 0, "x", (1, 9))),
        (vec![("x".to_owned(), 5, 0)], Some(1)),
    );
    assert_eq!(keys(queues.queues_from(at(100.0), "a", 1, "x", (9, 1))), (vec![], Some(2)));
    assert_eq!(
        keys(queues.queues_from(at(100.0), "a", 2, "x", (9, 9))),
        (vec![("xx".to_owned(), 5, 0)], None)
    );
    assert_eq!(queues.items_from(QueueId(0), 3, 9).len(), 2);
    queues.take(at(100.0), &any(9, 2));
    let now = queues.queue_now(at(100.0), QueueId(1));
    assert_eq!((now.leased, now.completed, now.ready), (2, 1, Some(at(101.0))));
    assert!(queues.remove(ItemId(1)));
    assert_eq!(queues.items_from(QueueId(0), 0, 9).len(), 4);
    assert_eq!(queues.crawls_from(0, "a", (9, 9)).0[0].items, 14);
}

/// Whoever says the same again and again does not fill the memory.
#[test]
fn what_is_superseded_is_forgotten() {
    let mut queues = filled(&["x"], 3);
    for again in 0..1000 {
        queues.put(at(100.0), QueueId(0), print(QueueId(0), 0), Said::Known(1_000_000 - again), None);
        queues.set_manners(
            at(100.0),
            QueueId(0),
            Manners { blocked_until: Some(at(f64::from(1000 + again))), ..Manners::default() },
        );
    }
    assert!(queues.queues[0].entries() < 100, "{}", queues.queues[0].entries());
    assert!(queues.crawls[0].rotation.len() < 100);
    assert_eq!(queues.take(at(5000.0), &any(9, 9)).items.len(), 1);
    assert_eq!(
        queues.take(at(999_001.0), &any(9, 9)).items,
        [(QueueId(0), vec![ItemId(2), ItemId(3), ItemId(1)])]
    );
}

#[test]
fn what_counts_is_told_once_and_counts_again_after_a_restart() {
    let mut queues = filled(&["x"], 3);
    let limited = |limit| Manners { limit, ..Manners::default() };
    queues.put(at(100.0), QueueId(0), print(QueueId(0), 0), Said::Known(0), None);
    assert_eq!(queues.take_counted(), [], "without a limit nothing counts");
    queues.set_manners(at(100.0), QueueId(0), limited(Some(2)));
    assert_eq!(queues.take_counted(), [(QueueId(0), ItemId(1))]);
    assert_eq!(counts(&queues.take(at(102.0), &any(9, 9))), [(0, 1)]);
    assert_eq!(queues.take_counted(), [(QueueId(0), ItemId(2))]);
    for number in 0..2 {
        queues.put(at(103.0), QueueId(0), print(QueueId(0), number), Said::Known(104), None);
    }
    let mut after = filled(&["x"], 3);
    after.set_manners(at(104.0), QueueId(0), limited(Some(2)));
    for id in [1, 2] {
        after.restore_count(QueueId(0), ItemId(id));
    }
    // One that is in another queue now does not count here.
    let (other, _) = after.open("a", "y");
    after.restore_count(other, ItemId(3));
    for queues in [&mut queues, &mut after] {
        assert_eq!(counts(&queues.take(at(110.0), &any(9, 9))), [], "two of two counted before");
        assert_eq!(queues.take_counted(), []);
    }
}

#[derive(Clone, Debug)]
enum Step {
    Put(u8, u8),
    Bring(u8, u8, u8),
    Take { queues: usize, each: usize, lease: u8 },
    Delay(u8, u8),
    Block(u8, u8),
    Limit(u8, u8),
    Wait(u8),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (0..4u8, 0..8u8).prop_map(|(queue, number)| Step::Put(queue, number)),
        3 => (0..4u8, 0..8u8, 0..6u8).prop_map(|(queue, number, after)| Step::Bring(queue, number, after)),
        4 => (1..5usize, 1..4usize, 1..9u8).prop_map(|(queues, each, lease)| Step::Take { queues, each, lease }),
        1 => (0..4u8, 0..5u8).prop_map(|(queue, delay)| Step::Delay(queue, delay)),
        1 => (0..4u8, 0..9u8).prop_map(|(queue, span)| Step::Block(queue, span)),
        1 => (0..4u8, 0..5u8).prop_map(|(queue, limit)| Step::Limit(queue, limit)),
        4 => (0..30u8).prop_map(Step::Wait),
    ];
    prop::collection::vec(step, 1..120)
}

/// What a queue should be, told in the plainest way.
#[derive(Clone, Default)]
struct Plain {
    /// By number: the date, and until when somebody has it.
    items: BTreeMap<u8, (u32, u32)>,
    manners: Manners,
    /// Under a limit: those that count.
    used: BTreeSet<u8>,
}

impl Plain {
    fn due(&self, now: Time) -> usize {
        self.items.values().filter(|(due, lease)| *due != 0 && moment((*due).max(*lease)) <= now).count()
    }

    fn leased(&self, now: Time) -> usize {
        self.items.values().filter(|(_, lease)| moment(*lease) > now).count()
    }

    fn count(&mut self, number: u8) {
        if self.manners.limit.is_some() {
            self.used.insert(number);
        }
    }

    fn limit(&mut self, now: Time, limit: u8) {
        let counts = |(_, (due, lease)): &(&u8, &(u32, u32))| *due == 0 || moment(*lease) > now;
        if limit == 0 {
            self.used.clear();
        } else if self.manners.limit.is_none() {
            self.used = self.items.iter().filter(counts).map(|(number, _)| *number).collect();
        }
        self.manners.limit = (limit > 0).then(|| limit.into());
    }

    fn completed(&self) -> usize {
        self.items.values().filter(|(due, _)| *due == 0).count()
    }

    /// How many it gives, by every rule.
    fn gives(&self, now: Time, each: usize) -> usize {
        let polite = self
            .manners
            .served
            .is_none_or(|served| served + self.manners.delay.unwrap_or(Span::from_whole_secs(1)) <= now);
        let blocked = self.manners.blocked_until.is_some_and(|until| until > now);
        let limit = self.manners.limit.map_or(usize::MAX, |limit| limit as usize);
        if !polite || blocked || self.leased(now) >= each {
            return 0;
        }
        self.due(now).min(each).min(limit.saturating_sub(self.used.len()))
    }
}

proptest! {
    /// Whatever is done in whatever order: a queue gives just what the rules say, never an address twice, and none of those that could give
    /// something is passed over while there is room.
    #[test]
    fn a_plain_telling_of_the_rules_agrees(steps in steps()) {
        let mut queues = Queues::default();
        let mut plain = vec![Plain::default(); 4];
        let ids: Vec<QueueId> = ["w", "x", "y", "z"].iter().map(|key| queues.open("a", key).0).collect();
        let mut now = at(1000.0);
        for step in steps {
            match step {
                Step::Put(queue, number) => {
                    let id = ids[queue as usize];
                    queues.put(now, id, print(id, number.into()), Said::Discovered, None);
                    plain[queue as usize].items.entry(number).or_insert((second(now), 0));
                }
                Step::Bring(queue, number, after) => {
                    let id = ids[queue as usize];
                    let due = if after == 0 { 0 } else { second(now) + u32::from(after) };
                    queues.put(now, id, print(id, number.into()), Said::Known(due), None);
                    plain[queue as usize].items.insert(number, (due, 0));
                    if due == 0 {
                        plain[queue as usize].count(number);
                    }
                }
                Step::Take { queues: most, each, lease } => {
                    let lease = Span::from_whole_secs(lease.into());
                    let expected: Vec<usize> = plain.iter().map(|queue| queue.gives(now, each)).collect();
                    let taken = queues.take(now, &Wanted { lease, ..any(most, each) });
                    prop_assert_eq!(taken.items.len(), expected.iter().filter(|gives| **gives > 0).count().min(most));
                    for (queue, items) in &taken.items {
                        let place = queue.0 as usize;
                        prop_assert_eq!(items.len(), expected[place]);
                        for id in items {
                            let number = (0..8u8).find(|number| queues.known(print(*queue, (*number).into())) == Some(*id));
                            let item = plain[place].items.get_mut(&number.unwrap()).unwrap();
                            prop_assert!(item.0 != 0 && moment(item.0.max(item.1)) <= now);
                            item.1 = taken.until;
                            plain[place].count(number.unwrap());
                        }
                        plain[place].manners.served = Some(now);
                    }
                }
                Step::Delay(queue, delay) => {
                    plain[queue as usize].manners.delay = Some(Span::from_whole_secs(delay.into()));
                    queues.set_manners(now, ids[queue as usize], plain[queue as usize].manners);
                }
                Step::Block(queue, span) => {
                    plain[queue as usize].manners.blocked_until = Some(now + Span::from_whole_secs(span.into()));
                    queues.set_manners(now, ids[queue as usize], plain[queue as usize].manners);
                }
                Step::Limit(queue, limit) => {
                    plain[queue as usize].limit(now, limit);
                    queues.set_manners(now, ids[queue as usize], plain[queue as usize].manners);
                }
                Step::Wait(tenths) => now = now + Span::from_millis(100 * u64::from(tenths)),
            }
            for (id, plain) in ids.iter().zip(&plain) {
                let tally = queues.tally(now, &[*id]);
                prop_assert_eq!(tally.leased as usize, plain.leased(now));
                prop_assert_eq!(tally.completed as usize, plain.completed());
                prop_assert_eq!((tally.waiting + tally.completed) as usize, plain.items.len());
            }
        }
    }
}
