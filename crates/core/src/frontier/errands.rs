//! Requests that no page is worth: robots.txt, the next hop of a redirect, a second look. They are as polite as others, and paid for.

use super::{Frontier, FrontierError, GroupId, Host, HostId, Manners, Model};
use crate::time::{Span, Time};

/// The answer to a knock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Knock {
    /// The request may be made now; [`Frontier::leave`] when it is over.
    Enter,
    /// Not before this moment; [`Time::MAX`]: as many requests as the host allows are under way.
    Later(Time),
}

impl<M: Model> Frontier<M> {
    /// One more request to a host, beside those that were ordered: may it be made now? It counts against the budget and the
    /// gap as all do, and a host that is left alone is left alone.
    ///
    /// # Errors
    /// If the host is unknown, or time went backwards.
    pub fn knock(&mut self, now: Time, host: HostId) -> Result<Knock, FrontierError> {
        self.advance(now)?;
        let budget = self.pace.next();
        self.host(host)?;
        let ready = self.hosts.ready_at(host.0).max(budget);
        if ready > now {
            return Ok(Knock::Later(ready));
        }
        self.pace.spend(now);
        self.hosts.start(host.0, now);
        self.watch_host(host.0);
        Ok(Knock::Enter)
    }

    /// A request to a host is under way already, by somebody who was told to before this frontier was made; [`Frontier::leave`] when it is over.
    ///
    /// # Errors
    /// If the host is unknown, or time went backwards.
    pub fn occupy(&mut self, now: Time, host: HostId) -> Result<(), FrontierError> {
        self.advance(now)?;
        self.host(host)?;
        self.hosts.start(host.0, now);
        self.watch_host(host.0);
        Ok(())
    }

    /// A request that a knock allowed is over, with this response time if there was a response.
    ///
    /// # Errors
    /// If the host is unknown, or time went backwards.
    pub fn leave(&mut self, now: Time, host: HostId, response: Option<Span>) -> Result<(), FrontierError> {
        self.advance(now)?;
        self.host(host)?;
        self.hosts.finish(host.0, response);
        self.watch_host(host.0);
        Ok(())
    }

    /// A request for a page that was ordered turned into another one to the same host, for robots.txt say: one more, in the same
    /// place among those under way. Whether it may be made now, else when.
    ///
    /// # Errors
    /// If the host is unknown, or time went backwards.
    pub fn knock_again(&mut self, now: Time, host: HostId) -> Result<Knock, FrontierError> {
        self.advance(now)?;
        let budget = self.pace.next();
        let Host { back_off, held, .. } = *self.host(host)?;
        let ready = if held { Time::MAX } else { self.hosts.polite_from(host.0).max(back_off).max(budget) };
        if ready > now {
            return Ok(Knock::Later(ready));
        }
        self.hosts.visited(host.0, now);
        self.pace.spend(now);
        Ok(Knock::Enter)
    }

    /// What is known of a host.
    ///
    /// # Errors
    /// If it is unknown.
    pub fn host_state(&self, host: HostId) -> Result<&super::Host, FrontierError> {
        self.hosts.get(host.index()).ok_or(FrontierError::UnknownHost(host))
    }

    /// The last request to a host was then, as far as is known: before a restart, say.
    ///
    /// # Errors
    /// If the host is unknown, or time went backwards.
    pub fn was_visited(&mut self, now: Time, host: HostId, at: Time) -> Result<(), FrontierError> {
        self.advance(now)?;
        self.host(host)?;
        self.hosts.visited(host.0, at);
        self.watch_host(host.0);
        Ok(())
    }

    /// Nothing is asked of a host for as long as it is held: it is not known yet which groups it is in.
    ///
    /// # Errors
    /// If the host is unknown, or time went backwards.
    pub fn hold(&mut self, now: Time, host: HostId, held: bool) -> Result<(), FrontierError> {
        self.advance(now)?;
        self.host(host)?.held = held;
        self.watch_host(host.0);
        Ok(())
    }

    /// A new group: its hosts share this gap and these parallel requests, beside what each of them allows by itself. The last request to it was
    /// not after `last`.
    pub fn add_group(&mut self, manners: Manners, last: Option<Time>) -> GroupId {
        self.hosts.add_group(manners, last)
    }

    /// A host is in these groups from now on, and in no others. What is under way there counts in them.
    ///
    /// # Errors
    /// If the host or a group is unknown, or time went backwards.
    pub fn set_groups(&mut self, now: Time, host: HostId, groups: Vec<GroupId>) -> Result<(), FrontierError> {
        self.advance(now)?;
        self.host(host)?;
        if !groups.iter().all(|group| self.hosts.has_group(*group)) {
            return Err(FrontierError::UnknownHost(host));
        }
        let left = self.hosts.groups_of(host.0).to_vec();
        self.hosts.set_groups(host.0, groups);
        for group in left {
            self.watch_group(group);
        }
        self.watch_host(host.0);
        Ok(())
    }

    /// The groups that a host is in.
    pub fn groups_of(&self, host: HostId) -> &[GroupId] {
        self.hosts.groups_of(host.0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Budget, Known, Manners, Settings};
    use super::*;
    use crate::page::Belief;
    use crate::value::ValueFunction;

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    /// Pages and errands share gap, budget and the requests that a host allows at a time.
    #[test]
    fn errands_are_polite_and_paid_for() {
        let model = Known::new(ValueFunction::Greedy);
        let mut frontier = Frontier::new(model, Budget::Rate(10.0), Settings::default(), Time::ZERO).unwrap();
        let manners = Manners { gap: Span::from_whole_secs(1), in_flight: 1, patience: 0.0 };
        let (host, other) = (frontier.add_host(manners), frontier.add_host(manners));
        frontier.insert(Time::ZERO, Belief::new(1.0, 1.0).unwrap(), host, at(0)).unwrap();
        let order = frontier.poll(at(5000)).unwrap().unwrap();
        // The host is busy, the budget spent for a tenth of a second.
        assert_eq!(frontier.knock(at(5000), host), Ok(Knock::Later(Time::MAX)));
        assert_eq!(frontier.knock(at(5000), other), Ok(Knock::Later(at(5100))));
        assert_eq!(frontier.knock(at(5100), other), Ok(Knock::Enter));
        // Robots.txt first: then the page itself, in its turn.
        assert_eq!(frontier.knock_again(at(5200), host), Ok(Knock::Later(at(6000))));
        assert_eq!(frontier.knock_again(at(6000), host), Ok(Knock::Enter));
        frontier
            .answer(at(6100), order.id, super::super::Outcome::Failed { retry_after: Span::ZERO }, None)
            .unwrap();
        assert_eq!(frontier.knock(at(6500), host), Ok(Knock::Later(at(7000))));
        // Left alone, it is asked for nothing.
        frontier.back_off(at(6500), host, at(60_000)).unwrap();
        assert_eq!(frontier.knock(at(7000), host), Ok(Knock::Later(at(60_000))));
        assert_eq!(frontier.knock_again(at(7000), host), Ok(Knock::Later(at(60_000))));
        assert!(frontier.poll(at(59_000)).unwrap().is_none());
        frontier.back_off(at(59_000), host, Time::MIN).unwrap();
        frontier.was_visited(at(59_000), host, at(58_900)).unwrap();
        assert!(frontier.poll(at(59_800)).unwrap().is_none());
        assert!(frontier.poll(at(59_900)).unwrap().is_some());
        assert_eq!(frontier.host_state(other).unwrap().in_flight, 1);
    }

    /// Five hundred names of one machine: one request in a gap, whatever it is for, and all names have their turn.
    #[test]
    fn hosts_of_a_group_share_its_gap() {
        let model = Known::new(ValueFunction::Greedy);
        let mut frontier =
            Frontier::new(model, Budget::Rate(1000.0), Settings::default(), Time::ZERO).unwrap();
        let manners = Manners { gap: Span::from_whole_secs(1), in_flight: 1, patience: 0.0 };
        let group = frontier.add_group(manners, Some(Time::ZERO));
        for _ in 0..500 {
            let host = frontier.add_host(manners);
            frontier.set_groups(Time::ZERO, host, vec![group]).unwrap();
            frontier.insert(Time::ZERO, Belief::new(1.0, 1.0).unwrap(), host, Time::ZERO).unwrap();
        }
        let (alone, mut now) = (frontier.add_host(manners), Time::ZERO);
        let mut starts = vec![Time::ZERO];
        let mut asked = std::collections::BTreeSet::new();
        while starts.len() <= 500 {
            now = frontier.next_wakeup().unwrap();
            let Some(order) = frontier.poll(now).unwrap() else { continue };
            starts.push(now);
            asked.insert(order.host);
            assert_eq!(frontier.knock(now + Span::from_millis(1), order.host), Ok(Knock::Later(Time::MAX)));
            now = now + Span::from_millis(2);
            let failed = super::super::Outcome::Failed { retry_after: Span::from_whole_secs(1000) };
            frontier.answer(now, order.id, failed, None).unwrap();
        }
        assert!(starts.windows(2).all(|pair| pair[1].since(pair[0]) >= manners.gap), "{starts:?}");
        assert_eq!(asked.len(), 500);
        assert_eq!(frontier.knock(now + Span::from_millis(2), alone), Ok(Knock::Enter), "it is in no group");
    }

    #[test]
    fn what_is_set_aside_was_no_request() {
        let model = Known::new(ValueFunction::Greedy);
        let mut frontier = Frontier::new(model, Budget::Rate(10.0), Settings::default(), Time::ZERO).unwrap();
        let manners = Manners { gap: Span::from_whole_secs(60), in_flight: 1, patience: 0.0 };
        let host = frontier.add_host(manners);
        frontier.insert(Time::ZERO, Belief::new(1.0, 1.0).unwrap(), host, Time::ZERO).unwrap();
        let order = frontier.poll(at(1000)).unwrap().unwrap();
        frontier.set_aside(at(1000), order.id, Span::ZERO).unwrap();
        frontier.hold(at(1000), host, true).unwrap();
        assert_eq!(frontier.knock(at(1200), host), Ok(Knock::Later(Time::MAX)));
        assert_eq!(frontier.knock_again(at(1200), host), Ok(Knock::Later(Time::MAX)));
        assert!(frontier.poll(at(1200)).unwrap().is_none());
        frontier.hold(at(1300), host, false).unwrap();
        assert!(frontier.poll(at(1300)).unwrap().is_some(), "the gap did not begin");
    }
}
