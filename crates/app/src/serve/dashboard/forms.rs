//! What people decide: forms that are sent, done, and followed by the page again.

use axum::extract::{Request, State};
use axum::response::Response;
use http::StatusCode;
use refrain_core::frontier::Budget;
use refrain_core::time::{Span, Time};
use refrain_engine::HostEdit;
use refrain_store::{Edit, PageId, PageState};

use super::hosts::{Name, no_host};
use super::{Shared, door, frame, words};
use crate::serve::api::input::{GREATEST, LONGEST, Number};
use crate::serve::api::pages::known;
use crate::serve::problem::{Answer, Problem};
use crate::units;

/// What a form says.
struct Form(Vec<(String, String)>);

impl Form {
    async fn read(request: Request) -> Answer<Self> {
        door::fields(request.into_body()).await.map(Self)
    }

    fn get(&self, name: &str) -> &str {
        self.0.iter().find(|(own, _)| own == name).map_or("", |(_, value)| value.trim())
    }

    fn number(&self, name: &str, what: &str, within: std::ops::RangeInclusive<f64>) -> Answer<f64> {
        let text = self.get(name);
        let number = text.parse::<f64>().ok().filter(|number| within.contains(number));
        number.ok_or_else(|| {
            let shown: String = text.chars().take(40).collect();
            Problem::impossible(format!(
                "`{shown}` is no {what}; expected a number from {} to {}",
                within.start(),
                within.end()
            ))
        })
    }
}

fn unknown(what: &str) -> Problem {
    let shown: String = what.chars().take(40).collect();
    Problem::impossible(format!("`{shown}` cannot be done here"))
}

/// Something is wanted of a page.
pub(super) async fn page(
    State(board): State<Shared>,
    Number(id): Number,
    request: Request,
) -> Answer<Response> {
    let (form, page, handle) = (Form::read(request).await?, PageId(id), &board.app.handle);
    let record = board.app.readers.look(|reader| known(reader, id))?;
    let path = format!("/pages/{id}");
    let (edit, done) = match form.get("do") {
        "fetch" => {
            // Without a key it is never one that was used.
            let missing = handle.hurry(vec![page], None).await?.unwrap_or_default();
            if missing.is_empty() {
                return Ok(frame::done(&path, "fetch"));
            }
            return Err(Problem::new(
                StatusCode::CONFLICT,
                "not-crawled",
                format!(
                    "page {id} is {}, or waits after a failure, and is not crawled at the moment",
                    record.state.as_str()
                ),
            ));
        }
        "pause" => (Edit { state: Some(PageState::Paused), ..Edit::of(page) }, "pause"),
        "resume" => (Edit { state: Some(PageState::Active), ..Edit::of(page) }, "resume"),
        "importance" => {
            let importance = form.number("importance", "importance", 0.0..=GREATEST)?;
            (Edit { importance: Some(importance), ..Edit::of(page) }, "importance")
        }
        "max-age" => match form.get("max-age") {
            "" => (Edit { max_age: Some(None), ..Edit::of(page) }, "no-max-age"),
            text => {
                let age = units::some_span(text).map_err(|why| {
                    Problem::impossible(format!("`{}`: {why}", text.chars().take(40).collect::<String>()))
                })?;
                (Edit { max_age: Some(Some(age)), ..Edit::of(page) }, "max-age")
            }
        },
        other => return Err(unknown(other)),
    };
    if handle.edit(vec![edit]).await?.is_empty() {
        Ok(frame::done(&path, done))
    } else {
        Err(Problem::no_page(id))
    }
}

/// Something is wanted of a host.
pub(super) async fn host(
    State(board): State<Shared>,
    Name(name): Name,
    request: Request,
) -> Answer<Response> {
    let form = Form::read(request).await?;
    let (edit, done) = match form.get("do") {
        "pause" => (HostEdit { paused: Some(true), ..HostEdit::default() }, "host-pause"),
        "resume" => (HostEdit { paused: Some(false), ..HostEdit::default() }, "host-resume"),
        "back-off" => (HostEdit { back_off: Some(Time::MIN), ..HostEdit::default() }, "back-off"),
        "gap" if form.get("gap").is_empty() => {
            (HostEdit { gap: Some(None), ..HostEdit::default() }, "no-gap")
        }
        "gap" => {
            let gap = form.number("gap", "number of seconds", 0.0..=LONGEST)?;
            (HostEdit { gap: Some(Some(Span::from_secs(gap))), ..HostEdit::default() }, "gap")
        }
        other => return Err(unknown(other)),
    };
    board.app.handle.set_host(name.clone(), edit).await?.ok_or_else(no_host)?;
    Ok(frame::done(&words::host_path(&name), done))
}

/// Another budget, or a replay.
pub(super) async fn plan(State(board): State<Shared>, request: Request) -> Answer<Response> {
    let form = Form::read(request).await?;
    match form.get("do") {
        "budget" => {
            let rate = form.number("rate", "budget", 1e-10..=1e9)?;
            let set = board.app.handle.set_budget(Budget::Rate(rate)).await?;
            set.map_err(|why| Problem::impossible(why.to_string()))?;
            Ok(frame::done("/plan", "budget"))
        }
        "what-if" if board.plans.replay(board.app.clock.now()) => Ok(frame::done("/plan", "what-if")),
        "what-if" => Err(Problem::impossible(
            "decisions are not logged here; expected --decisions DIR when it is started",
        )),
        other => Err(unknown(other)),
    }
}
