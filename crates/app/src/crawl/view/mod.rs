//! The live view on a terminal.

mod draw;
mod state;

use std::time::Duration;

use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use tokio::sync::mpsc::error::TryRecvError;
use tokio::sync::watch;

use super::feed::Feed;
use super::lines::lost;
use crate::failure::Failure;
use refrain_engine::{Told, ToldReceiver};
use state::State;

/// The screen is drawn anew so often.
const EVERY: Duration = Duration::from_millis(100);

/// A line that only the one who runs the crawl can fill, like the truth about a made-up web.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Extra {
    pub(crate) name: String,
    pub(crate) value: String,
    pub(crate) note: String,
    /// Whether it is the one to look at.
    pub(crate) main: bool,
}

/// Whatever fills those lines, asked at every drawing.
pub(crate) type Extras = Box<dyn FnMut() -> Vec<Extra> + Send>;

/// Shows what happens until all is over, or somebody types `q`.
pub(crate) fn watch(
    mut told: ToldReceiver,
    mut feed: Option<Feed>,
    stop: &watch::Sender<bool>,
    mut extras: Option<Extras>,
    board: Option<String>,
) -> Result<(), Failure> {
    let mut terminal = ratatui::try_init()
        .map_err(|why| Failure::system("the terminal cannot be used (--plain does without)", why))?;
    let mut fed = feed.as_mut().map_or(Ok(()), Feed::catch_up);
    let shown = show(&mut terminal, State::watched_at(board), stop, &mut extras, |state| {
        loop {
            match told.try_recv() {
                Ok(Told::Changes(_) | Told::Missed(_)) => {
                    if let (Some(feed), Ok(())) = (&mut feed, &fed) {
                        fed = feed.catch_up();
                        if let Some(sentence) = lost(&fed) {
                            state.hear(Told::Warning(sentence));
                        }
                    }
                }
                Ok(told) => state.hear(told),
                Err(TryRecvError::Empty) => return true,
                Err(TryRecvError::Disconnected) => return false,
            }
        }
    });
    ratatui::restore();
    if shown.is_err() {
        // Without a view there is no crawl to stop by hand.
        stop.send_replace(true);
    }
    shown.map_err(|why| Failure::system("the terminal cannot be used", why))?;
    fed
}

/// `hear` says whether there is more to come.
fn show(
    terminal: &mut DefaultTerminal,
    mut state: State,
    stop: &watch::Sender<bool>,
    extras: &mut Option<Extras>,
    mut hear: impl FnMut(&mut State) -> bool,
) -> std::io::Result<()> {
    while hear(&mut state) {
        let extra = extras.as_mut().map(|extras| extras()).unwrap_or_default();
        terminal.draw(|frame| draw::draw(frame, &state, &extra))?;
        if !event::poll(EVERY)? {
            continue;
        }
        if let Event::Key(key) = event::read()?
            && stops(&key)
        {
            if *stop.borrow() {
                // Asked twice: at once. What was committed is safe.
                ratatui::restore();
                std::process::exit(130);
            }
            stop.send_replace(true);
        }
    }
    Ok(())
}

/// Ctrl-C is a key like others here: the terminal does not make a signal of it.
fn stops(key: &KeyEvent) -> bool {
    let control = key.modifiers.contains(KeyModifiers::CONTROL) && key.code == KeyCode::Char('c');
    key.kind == KeyEventKind::Press && (control || key.code == KeyCode::Char('q'))
}

#[cfg(test)]
mod tests {
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;
    use refrain_core::time::{Span, Time};
    use refrain_engine::{HostPulse, Pulse, Summary, UnderWay};
    use refrain_store::{Outcome, Role};

    use super::*;

    fn pulse(second: u64) -> Told {
        let time = Time::from_nanos(1_700_000_000_000_000_000) + Span::from_whole_secs(second);
        Told::Pulse(Box::new(Pulse {
            time,
            summary: Summary {
                requests: 12 * second,
                looks: 10 * second,
                changed: 3 * second,
                pages: 1_234_567,
                hosts: 321,
                under_way: 1,
                price: Some(0.0123),
                ..Summary::default()
            },
            rate: 12.5,
            waiting: 0,
            freshness: Some(0.5 + second as f64 / 100.0),
            under_way: vec![UnderWay { url: "http://slow.example/a".to_owned(), since: time }],
            backed_off: 1,
            hosts: vec![
                HostPulse {
                    name: "http://busy.example".to_owned(),
                    response: Span::from_millis(20),
                    back_off: Some(time + Span::from_whole_secs(90)),
                },
                HostPulse {
                    name: "http://slow.example".to_owned(),
                    response: Span::from_millis(310),
                    back_off: None,
                },
            ],
        }))
    }

    fn looked(outcome: Outcome, url: &str) -> Told {
        Told::Looked {
            time: Time::from_nanos(1_700_000_019_000_000_000),
            url: url.to_owned(),
            role: Role::Page,
            outcome,
            note: None,
            status: Some(200),
            bytes: 4100,
            took: Span::from_millis(12),
        }
    }

    fn screen(width: u16, height: u16, state: &State, extra: &[Extra]) -> String {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        terminal.draw(|frame| draw::draw(frame, state, extra)).unwrap();
        terminal.backend().to_string()
    }

    fn state() -> State {
        let mut state = State::default();
        for second in 0..20 {
            state.hear(pulse(second));
        }
        state.hear(looked(Outcome::Unchanged, "http://a.example/1"));
        // Nothing that a site says moves the cursor.
        state.hear(looked(Outcome::Changed, "http://a.example/\x1b[2J2"));
        state
    }

    #[test]
    fn a_screen() {
        let extra = Extra {
            name: "refrain".to_owned(),
            value: "83.1 %".to_owned(),
            note: "now".to_owned(),
            main: true,
        };
        insta::assert_snapshot!(screen(96, 24, &state(), &[extra]));
    }

    #[test]
    fn a_screen_with_a_dashboard_beside() {
        let mut state = state();
        state.board = Some("http://127.0.0.1:7070/".to_owned());
        assert!(
            screen(60, 24, &state, &[])
                .lines()
                .nth(1)
                .unwrap()
                .contains("watch it   http://127.0.0.1:7070/ ")
        );
        state.hear(Told::Warning("the disk is full".to_owned()));
        let shown = screen(60, 24, &state, &[]);
        assert!(
            shown.lines().nth(1).unwrap().contains("7070")
                && shown.lines().nth(2).unwrap().contains("the disk")
        );
    }

    #[test]
    fn no_screen_is_too_small() {
        for (width, height) in [(1, 1), (10, 3), (40, 10), (300, 100)] {
            screen(width, height, &state(), &[]);
            screen(width, height, &State::watched_at(Some("http://[::1]:7070/".to_owned())), &[]);
            screen(width, height, &State::default(), &[]);
        }
    }

    #[test]
    fn only_these_keys_stop() {
        let key = |code, modifiers| stops(&KeyEvent::new(code, modifiers));
        assert!(key(KeyCode::Char('q'), KeyModifiers::NONE));
        assert!(key(KeyCode::Char('c'), KeyModifiers::CONTROL));
        assert!(!key(KeyCode::Char('c'), KeyModifiers::NONE));
    }
}
