//! The copy of a page that was reported last, read from the store.

use refrain_fetch::change::{Look, Reported};
use refrain_fetch::client::ContentType;
use refrain_store::{PageId, Reader, StoreError};

use crate::memo::Memo;
use crate::settings::Settings;
use crate::visit::Kit;

/// The copy of a page that was reported last, if it is kept. Without it a page is compared with its last fetch.
pub(crate) fn reported(kit: &Kit, reader: &Reader, page: PageId, memo: &Memo) -> Option<Reported> {
    read(reader, page, memo, &kit.settings).unwrap_or_else(|why| {
        kit.door.warn(format!(
            "the last copy of {} cannot be read: {why}; it is compared with its last fetch",
            memo.url
        ));
        None
    })
}

fn read(
    reader: &Reader,
    page: PageId,
    memo: &Memo,
    settings: &Settings,
) -> Result<Option<Reported>, StoreError> {
    let Some(digest) = memo.digest else { return Ok(None) };
    let Some(version) = reader.version_with(page, &digest)? else { return Ok(None) };
    let Some(record) = reader.answer(version.id)? else { return Ok(None) };
    let head = String::from_utf8_lossy(&record.head);
    let mut fields = head.split("\r\n").filter_map(|line| line.split_once(':'));
    let kind = fields.find(|(name, _)| name.eq_ignore_ascii_case("content-type"));
    let kind = kind.and_then(|(_, value)| ContentType::parse(value.trim()));
    let look = Look::new(&record.body, kind.as_ref(), &settings.rules_for(&memo.url));
    Ok(Some(Reported { look, time: version.time }))
}
