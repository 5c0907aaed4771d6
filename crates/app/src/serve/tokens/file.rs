//! `tokens.json` in the data directory: read by the server, changed by `refrain token`, always whole.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::Token;
use crate::failure::Failure;

const NAME: &str = "tokens.json";
/// Nobody has this many tokens; a file that is longer is something else.
const LONGEST: u64 = 4 << 20;

#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Tokens {
    tokens: Vec<Token>,
}

/// What distinguishes one state of a file from the next: every change is a new file with a name that was taken over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark(Option<(u64, i64, i64, u64)>);

impl Mark {
    pub(super) fn of(data: &Path) -> Self {
        let found = fs::metadata(path(data)).ok();
        Self(found.map(|found| (found.ino(), found.mtime(), found.mtime_nsec(), found.len())))
    }
}

pub(super) fn path(data: &Path) -> PathBuf {
    data.join(NAME)
}

/// The tokens there are; none if there is no file. An error is a sentence.
pub(super) fn read(data: &Path) -> Result<Vec<Token>, Failure> {
    let path = path(data);
    let failed = |why| Failure::system(format!("{}: cannot be read", path.display()), why);
    let text = match fs::metadata(&path) {
        Ok(found) if found.len() > LONGEST => {
            return Err(Failure::input(format!("{}: too long for a list of tokens", path.display())));
        }
        Ok(_) => fs::read(&path).map_err(failed)?,
        Err(why) if why.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(why) => return Err(failed(why)),
    };
    let tokens: Tokens = serde_json::from_slice(&text).map_err(|why| {
        Failure::input(format!("{}: {why}; expected what `refrain token` wrote", path.display()))
    })?;
    Ok(tokens.tokens)
}

/// Changes the list, one process at a time; who reads sees the old or the new one.
pub(super) fn change<T>(
    data: &Path,
    change: impl FnOnce(&mut Vec<Token>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let path = path(data);
    let failed = |why| Failure::system(format!("{}: cannot be written", path.display()), why);
    fs::create_dir_all(data).map_err(failed)?;
    let lock = data.join("tokens.lock");
    let lock = OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(lock);
    let lock = lock.map_err(failed)?;
    lock.lock().map_err(failed)?;
    let mut tokens = read(data)?;
    let done = change(&mut tokens)?;
    let text = serde_json::to_vec_pretty(&Tokens { tokens }).map_err(|why| failed(why.into()))?;
    let new = data.join(format!("{NAME}.new"));
    // What a process that was killed left behind; its rights are not ours to trust.
    match fs::remove_file(&new) {
        Err(why) if why.kind() != io::ErrorKind::NotFound => return Err(failed(why)),
        _ => {}
    }
    let mut file = OpenOptions::new().create_new(true).write(true).mode(0o600).open(&new).map_err(failed)?;
    file.write_all(&text).and_then(|()| file.sync_all()).map_err(failed)?;
    fs::rename(&new, &path).and_then(|()| File::open(data)?.sync_all()).map_err(failed)?;
    Ok(done)
}
