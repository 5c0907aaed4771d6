use super::*;
use proptest::prelude::*;
use refrain_core::time::Span;

const SECONDS: Span = Span::from_whole_secs(5);
const DAY: Span = Span::from_whole_secs(86_400);

fn look(html: &str) -> Look {
    Look::new(format!("<html>{html}").as_bytes(), None, &Rules::default())
}

/// A page with a headline, a counter and an advertisement among text that stays.
fn page(headline: &str, counter: u32, advertisement: &str) -> Look {
    look(&format!(
        "<title>The Daily</title><h1>{headline}</h1><p>A first paragraph.<p>Served in <span>{counter} ms</span>\
         <p>A second paragraph.<p>A third paragraph.<div>{advertisement}</div><p>A fourth.<p>A fifth.<p>A sixth."
    ))
}

/// Looks one after the other; gives the last verdict and what is kept.
fn visits(looks: &[(Span, Look)]) -> (Verdict, Kept) {
    let rules = Rules::default();
    let mut kept = Kept::first(&looks[0].1);
    let mut last = None;
    for (elapsed, look) in &looks[1..] {
        let (verdict, next) = compare(&kept, look, *elapsed, &rules);
        kept = Kept::from_bytes(&next.to_bytes()).expect("what was written");
        assert_eq!(kept, next);
        last = Some(verdict);
    }
    (last.expect("two looks"), kept)
}

#[test]
fn nothing_new_is_no_change() {
    let (verdict, _) = visits(&[(DAY, page("News", 1, "Buy")), (DAY, page("News", 1, "Buy"))]);
    assert_eq!(verdict, Verdict { changed: false, what: What::Nothing, noise_ignored: 0, look_again: false });
}

#[test]
fn markup_is_no_change_unless_every_byte_counts() {
    let (old, new) = (look("<p class=a>x</p><p>y"), look("<p class=b>x</p><p>y"));
    let kept = Kept::first(&old);
    assert!(!compare(&kept, &new, DAY, &Rules::default()).0.changed);
    let exact = Rules { by: By::Exact, ..Rules::default() };
    assert_eq!(compare(&kept, &new, DAY, &exact).0.what, What::Exact);
}

#[test]
fn what_differs_seconds_apart_is_noise_and_news_is_still_news() {
    let (verdict, kept) = visits(&[(DAY, page("News", 12, "Buy")), (SECONDS, page("News", 15, "Fly"))]);
    assert!(!verdict.changed);
    assert_eq!((verdict.noise_ignored, kept.noise().places()), (2, 2));
    let rules = Rules::default();
    let (verdict, same) = compare(&kept, &page("News", 99, "Run now"), DAY, &rules);
    assert_eq!((verdict.changed, verdict.noise_ignored), (false, 2));
    let (verdict, _) = compare(&same, &page("Fresh news", 7, "Eat"), DAY, &rules);
    assert_eq!(verdict.what, What::Text { changed: 1, of: 9 });
    assert_eq!(verdict.noise_ignored, 2);
}

#[test]
fn a_headline_that_changes_at_every_visit_is_never_noise() {
    let rules = Rules::default();
    let mut kept = Kept::first(&page("News 0", 1, "Buy"));
    let mut asked = 0;
    for number in 1..200 {
        let now = page(&format!("News {number}"), 1, "Buy");
        let (verdict, next) = compare(&kept, &now, DAY, &rules);
        assert!(verdict.changed);
        kept = next;
        if verdict.look_again {
            asked += 1;
            let (second, next) = compare(&kept, &now, SECONDS, &rules);
            assert!(!second.changed && !second.look_again);
            kept = next;
        }
    }
    assert_eq!(kept.noise().places(), 0);
    // Second looks get rarer: after 2, 4, 8, 16, 32 and 64 changes in a row, and then every 64.
    assert!((4..=7).contains(&asked), "asked for {asked} second looks in 199 visits");
}

#[test]
fn a_place_that_differs_at_every_visit_is_worth_a_second_look() {
    let (verdict, kept) = visits(&[(DAY, page("News", 1, "Buy")), (DAY, page("News", 2, "Buy"))]);
    assert!(verdict.changed && !verdict.look_again);
    let rules = Rules::default();
    let (verdict, kept) = compare(&kept, &page("News", 3, "Buy"), DAY, &rules);
    assert!(verdict.changed && verdict.look_again);
    let (verdict, kept) = compare(&kept, &page("News", 4, "Buy"), SECONDS, &rules);
    assert!(!verdict.changed && !verdict.look_again);
    // One pair may be chance: at the next difference, another is asked for; it settles the matter.
    let (verdict, kept) = compare(&kept, &page("News", 5, "Buy"), DAY, &rules);
    assert!(!verdict.changed && verdict.look_again);
    let (_, kept) = compare(&kept, &page("News", 6, "Buy"), SECONDS, &rules);
    let (verdict, _) = compare(&kept, &page("News", 7, "Buy"), DAY, &rules);
    assert!(!verdict.changed && !verdict.look_again);
}

#[test]
fn news_that_came_between_two_quick_looks_is_soon_seen_again() {
    let rules = Rules::default();
    let (_, kept) = visits(&[(DAY, page("Old news", 1, "Buy")), (SECONDS, page("News", 1, "Buy"))]);
    assert_eq!(kept.noise().places(), 1);
    // It stays for a day, as news does and noise does not.
    let (_, kept) = compare(&kept, &page("News", 1, "Buy"), DAY, &rules);
    assert_eq!(kept.noise().places(), 0);
    assert!(compare(&kept, &page("Fresh news", 1, "Buy"), DAY, &rules).0.changed);
}

#[test]
fn more_than_was_ever_seen_in_a_place_is_news() {
    let (_, kept) = visits(&[(DAY, page("News", 1, "Buy")), (SECONDS, page("News", 1, "Fly"))]);
    let (verdict, _) =
        compare(&kept, &page("News", 1, "Run<p>An important addition."), DAY, &Rules::default());
    assert!(verdict.changed);
}

#[test]
fn another_page_seconds_later_is_no_noise() {
    let error = look("<h1>Service unavailable</h1><p>Please try again.");
    let (verdict, kept) = visits(&[(DAY, page("News", 1, "Buy")), (SECONDS, error)]);
    assert!(verdict.changed);
    assert_eq!(kept.noise().places(), 0);
}

#[test]
fn long_pages_are_compared_too() {
    let long = |changed: usize, counter: u32| {
        let blocks: Vec<String> = (0..5000)
            .map(|number| match number {
                777 => format!("<p>visitor {counter}"),
                number if number == changed => "<p>changed".to_owned(),
                number => format!("<p>paragraph {number}"),
            })
            .collect();
        look(&blocks.concat())
    };
    let rules = Rules::default();
    let kept = Kept::first(&long(usize::MAX, 1));
    assert!(kept.to_bytes().len() <= LARGEST);
    assert!(kept.grain > 0);
    let (verdict, kept) = compare(&kept, &long(usize::MAX, 2), SECONDS, &rules);
    assert!(!verdict.changed);
    let (verdict, kept) = compare(&kept, &long(usize::MAX, 3), DAY, &rules);
    assert_eq!((verdict.changed, verdict.noise_ignored), (false, 1));
    let (verdict, _) = compare(&kept, &long(3000, 4), DAY, &rules);
    assert!(matches!(verdict.what, What::Text { changed: 1..=3, of: 100.. }), "{verdict:?}");
}

#[test]
fn sketches_forgive_small_edits() {
    let rules = Rules { by: By::Simhash { distance: 3 }, ..Rules::default() };
    let look = |html: &str| Look::new(format!("<html>{html}").as_bytes(), None, &rules);
    let text = |last: &str| {
        let words: Vec<String> = (0..500).map(|number| format!("word{}", number * number % 401)).collect();
        look(&format!("<p>{} {last}", words.join(" ")))
    };
    let kept = Kept::first(&text("end"));
    assert!(!compare(&kept, &text("finish"), DAY, &rules).0.changed);
    let other = look("<p>something else altogether, with nothing in common");
    assert!(matches!(compare(&kept, &other, DAY, &rules).0.what, What::Simhash { distance: 10.. }));
}

#[test]
fn digits_do_not_count_where_they_need_not() {
    let rules = Rules { ignore_digits: true, ..Rules::default() };
    let seen = |html: &str| Look::new(format!("<html>{html}").as_bytes(), None, &rules);
    let kept = Kept::first(&seen("<p>9 comments<p>text"));
    assert!(!compare(&kept, &seen("<p>10 comments<p>text"), DAY, &rules).0.changed);
    assert!(compare(&kept, &seen("<p>no comments<p>text"), DAY, &rules).0.changed);
}

#[test]
fn other_rules_start_anew() {
    let selectors = crate::text::Selectors::new(&["p"], &[]).expect("selectors");
    let narrow = Rules { selectors, ..Rules::default() };
    let kept = Kept::first(&look("<p>x<div>y</div>"));
    assert!(!kept.suits(&narrow));
    let same = Look::new(b"<html><p>x<div>y</div>", None, &narrow);
    let (verdict, kept) = compare(&kept, &same, DAY, &narrow);
    assert!(!verdict.changed && kept.suits(&narrow));
}

#[test]
fn other_things_than_html() {
    let rules = Rules::default();
    let plain = |text: &str| Look::new(text.as_bytes(), None, &rules);
    let (verdict, _) = compare(&Kept::first(&plain("a\nb\nc\n")), &plain("a\r\nx\r\nc"), DAY, &rules);
    assert_eq!(verdict.what, What::Text { changed: 1, of: 3 });
    let binary = |byte| Look::new(&[0, 1, 2, byte], None, &rules);
    let (verdict, kept) = compare(&Kept::first(&binary(3)), &binary(4), DAY, &rules);
    assert_eq!((verdict.what, kept.to_bytes().len() < 100), (What::Exact, true));
    assert!(!compare(&kept, &binary(4), DAY, &rules).0.changed);
}

#[test]
fn bytes_of_others_are_refused() {
    let whole = Kept::first(&page("News", 1, "Buy")).to_bytes();
    for cut in 0..whole.len() {
        assert!(Kept::from_bytes(&whole[..cut]).is_err(), "{cut}");
    }
    let mut other = whole.clone();
    other[0] = 9;
    let said = Kept::from_bytes(&other).expect_err("another version").to_string();
    assert_eq!(said, "not what was kept of a page: another version");
    other = whole;
    other.push(0);
    assert!(Kept::from_bytes(&other).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn whatever_comes_what_is_kept_is_bounded_and_the_same_page_is_no_change(
        pages in prop::collection::vec((prop::collection::vec(0u32..30, 0..60), any::<bool>(), 1u32..40), 1..8),
    ) {
        let rules = Rules::default();
        let mut kept = Kept::first(&look(""));
        for (blocks, quick, repeat) in pages {
            let html: Vec<String> = blocks.iter().map(|number| format!("<p>{}", number * repeat)).collect();
            let seen = look(&html.concat().repeat(repeat as usize));
            let (_, next) = compare(&kept, &seen, if quick { SECONDS } else { DAY }, &rules);
            prop_assert!(next.to_bytes().len() <= LARGEST);
            prop_assert_eq!(&Kept::from_bytes(&next.to_bytes()), &Ok(next.clone()));
            prop_assert!(!compare(&next, &seen, DAY, &rules).0.changed);
            kept = next;
        }
    }

    #[test]
    fn hostile_bytes_are_harmless(bytes in prop::collection::vec(any::<u8>(), 0..400), spot in 0usize..200, value in any::<u8>()) {
        let _ = Kept::from_bytes(&bytes);
        let _ = Noise::from_bytes(&bytes);
        let (_, kept) = visits(&[(DAY, page("News", 1, "Buy")), (SECONDS, page("News", 2, "Fly"))]);
        let mut damaged = kept.to_bytes();
        let spot = spot % damaged.len();
        damaged[spot] = value;
        if let Ok(kept) = Kept::from_bytes(&damaged) {
            let (_, next) = compare(&kept, &page("x", 3, "y"), DAY, &Rules::default());
            prop_assert!(next.to_bytes().len() <= LARGEST);
        }
    }
}
