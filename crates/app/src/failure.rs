//! How a command fails: one sentence on stderr, and an exit code that means something.

use std::io;
use std::process::ExitCode;

/// Why a command did not do what it was asked to.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// What the user gave cannot be used; the sentence says what, where, and what was expected.
    #[error("{0}")]
    Input(String),
    /// Something went wrong on the way, and says so itself in a sentence.
    #[error("{0}")]
    OnTheWay(String),
    /// The world did not cooperate: a disk, a pipe.
    #[error("{what}: {why}")]
    System {
        /// What was attempted, on what.
        what: String,
        /// What the system said.
        why: io::Error,
    },
}

impl Failure {
    pub(crate) fn input(sentence: impl Into<String>) -> Self {
        Self::Input(sentence.into())
    }

    pub(crate) fn system(what: impl Into<String>, why: io::Error) -> Self {
        Self::System { what: what.into(), why }
    }

    /// Says it, and gives the exit code: 2 for what the user can mend, 1 for the rest.
    pub(crate) fn report(&self) -> ExitCode {
        match self {
            // Whoever reads us has had enough (`refrain … | head`): not an error.
            Self::System { why, .. } if why.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
            Self::Input(_) => {
                eprintln!("refrain: {self}");
                ExitCode::from(2)
            }
            Self::System { .. } | Self::OnTheWay(_) => {
                eprintln!("refrain: {self}");
                ExitCode::FAILURE
            }
        }
    }
}
