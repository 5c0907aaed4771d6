//! What a check found.

/// A thousand sentences tell as much as a million.
const MOST_FINDINGS: usize = 1000;

/// What a check found, and how much it looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// What is not as it should be, at most a thousand.
    pub findings: Vec<Finding>,
    /// How many more there are.
    pub more: u64,
    /// How much was looked at.
    pub checked: Checked,
    damaged: bool,
}

/// One thing that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// How bad it is.
    pub weight: Weight,
    /// What it is.
    pub sentence: String,
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// Worth knowing; nothing is lost.
    Note,
    /// Something that was committed is not there, or is not what was committed.
    Damage,
}

/// How much was looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// Pages.
    pub pages: u64,
    /// Looks.
    pub observations: u64,
    /// Changes.
    pub changes: u64,
    /// Versions.
    pub versions: u64,
    /// Segments.
    pub segments: u64,
    /// Bytes of records, compressed.
    pub bytes: u64,
    /// Queues of other crawlers.
    pub queues: u64,
    /// URLs in them.
    pub urls: u64,
}

/// How far a check has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// What is being looked at.
    pub what: &'static str,
    /// How many so far,
    pub done: u64,
    /// of how many, where that is known.
    pub of: Option<u64>,
}

impl Report {
    /// Whether all that was committed is there.
    pub fn is_sound(&self) -> bool {
        !self.damaged
    }

    pub(super) fn note(&mut self, sentence: String) {
        self.push(Weight::Note, sentence);
    }

    pub(super) fn damage(&mut self, sentence: String) {
        self.damaged = true;
        self.push(Weight::Damage, sentence);
    }

    fn push(&mut self, weight: Weight, sentence: String) {
        let finding = Finding { weight, sentence };
        if self.findings.len() < MOST_FINDINGS {
            self.findings.push(finding);
            return;
        }
        self.more += 1;
        // Damage takes the place of a note.
        if weight == Weight::Damage
            && let Some(note) = self.findings.iter_mut().rfind(|other| other.weight == Weight::Note)
        {
            *note = finding;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damage_is_told_of_however_many_notes_there_are() {
        let mut report = Report::default();
        for number in 0..MOST_FINDINGS + 5 {
            report.note(number.to_string());
        }
        assert!(report.is_sound());
        report.damage("broken".to_owned());
        assert!(!report.is_sound());
        assert_eq!((report.findings.len(), report.more), (MOST_FINDINGS, 6));
        assert!(report.findings.iter().any(|finding| finding.sentence == "broken"));
    }
}
