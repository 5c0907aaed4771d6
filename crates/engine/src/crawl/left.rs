//! Hosts of pages that were forgotten while another fetcher had them: grants know pages by their numbers only, and somebody may still be asking
//! the host, whatever happens to this process.

use std::collections::HashMap;
use std::ops::ControlFlow;

use refrain_store::{Reader, StoreError};

/// How they are kept: `left.`, the grant, and the place in it.
const START: &str = "left.";

/// The hosts, by grant and place.
#[derive(Default)]
pub(super) struct Left(HashMap<(u64, u32), String>);

/// What to keep: empty where nothing is to be kept any more.
pub(super) type Kept = Vec<(String, Vec<u8>)>;

impl Left {
    /// As a store has them.
    pub(super) fn recall(reader: &Reader) -> Result<Self, StoreError> {
        let mut all = HashMap::new();
        reader.metas(START, |name, host| {
            let place = name[START.len()..].split_once('.');
            let place = place.and_then(|(grant, place)| Some((grant.parse().ok()?, place.parse().ok()?)));
            if let (Some(place), Ok(host)) = (place, std::str::from_utf8(host)) {
                all.insert(place, host.to_owned());
            }
            ControlFlow::Continue(())
        })?;
        Ok(Self(all))
    }

    /// The page in this place of a grant is about to be forgotten.
    pub(super) fn leave(&mut self, grant: u64, place: u32, host: &str) -> (String, Vec<u8>) {
        self.0.insert((grant, place), host.to_owned());
        (name(grant, place), host.as_bytes().to_vec())
    }

    /// Whose place this is.
    pub(super) fn host(&self, grant: u64, place: u32) -> Option<&str> {
        self.0.get(&(grant, place)).map(String::as_str)
    }

    /// A grant is over.
    pub(super) fn settle(&mut self, grant: u64) -> Kept {
        let over = self.0.extract_if(|(of, _), _| *of == grant);
        over.map(|((grant, place), _)| (name(grant, place), Vec::new())).collect()
    }
}

fn name(grant: u64, place: u32) -> String {
    format!("{START}{grant}.{place}")
}

#[cfg(test)]
mod tests {
    use refrain_store::{Batch, Options, Store};

    use super::*;

    #[test]
    fn a_place_is_kept_until_its_grant_is_over() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(folder.path(), Options::default()).unwrap();
        let mut left = Left::default();
        let meta = vec![left.leave(7, 2, "http://a.example"), left.leave(8, 0, "http://b.example")];
        store.commit(&Batch { meta, ..Batch::default() }).unwrap();
        let mut again = Left::recall(store.read()).unwrap();
        assert_eq!((again.host(7, 2), again.host(7, 1)), (Some("http://a.example"), None));
        let meta = again.settle(7);
        assert_eq!(meta, [("left.7.2".to_owned(), Vec::new())]);
        store.commit(&Batch { meta, ..Batch::default() }).unwrap();
        let again = Left::recall(store.read()).unwrap();
        assert_eq!((again.host(7, 2), again.host(8, 0)), (None, Some("http://b.example")));
    }
}
