//! Which parts of a page count.

use lol_html::Selector;

/// So many selectors of each kind will do for any site.
const MOST: usize = 100;

/// CSS selectors of what to look at and what to ignore.
#[derive(Clone, Debug, Default)]
pub struct Selectors {
    pub(super) include: Vec<Selector>,
    pub(super) ignore: Vec<Selector>,
    spelled: String,
}

/// A selector that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadSelector {
    /// It is not understood.
    #[error("`{selector}` cannot be used as a CSS selector: {why}")]
    Syntax {
        /// As it was given.
        selector: String,
        /// What is wrong.
        why: String,
    },
    /// There are more than anybody needs.
    #[error("{0} CSS selectors; expected at most {MOST}")]
    TooMany(usize),
}

impl Selectors {
    /// Only what matches one of `include` counts (everything, if there are none), and of that nothing that matches one of
    /// `ignore`. Descendants go with what matches.
    ///
    /// # Errors
    /// [`BadSelector`] names the selector that cannot be used.
    pub fn new(include: &[&str], ignore: &[&str]) -> Result<Self, BadSelector> {
        let read = |list: &[&str]| -> Result<Vec<Selector>, BadSelector> {
            if list.len() > MOST {
                return Err(BadSelector::TooMany(list.len()));
            }
            list.iter().map(|selector| parsed(selector)).collect()
        };
        let spelled = if include.is_empty() && ignore.is_empty() {
            String::new()
        } else {
            format!("{include:?}{ignore:?}")
        };
        Ok(Self { include: read(include)?, ignore: read(ignore)?, spelled })
    }

    /// Does everything count?
    pub fn is_empty(&self) -> bool {
        self.include.is_empty() && self.ignore.is_empty()
    }

    /// All of them as one text: equal texts select equally.
    pub(crate) fn spelled(&self) -> &str {
        &self.spelled
    }
}

fn parsed(selector: &str) -> Result<Selector, BadSelector> {
    selector.parse().map_err(|why: lol_html::errors::SelectorError| BadSelector::Syntax {
        selector: selector.to_owned(),
        why: why.to_string(),
    })
}
