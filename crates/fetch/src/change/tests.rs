use super::*;
use proptest::prelude::*;
use refrain_core::time::{Span, Time};

fn look(html: &str) -> Look {
    Look::new(format!("<html>{html}").as_bytes(), None, &Rules::default())
}

/// A page that is watched.
struct Watch {
    rules: Rules,
    kept: Kept,
    reported: Reported,
    now: Time,
    may_look_again: bool,
    /// Between two looks of a visit.
    pair: Span,
    second_looks: usize,
}

impl Watch {
    fn new(first: &Look) -> Self {
        Self {
            rules: Rules::default(),
            kept: Kept::first(first),
            reported: Reported { look: first.clone(), time: Time::ZERO },
            now: Time::ZERO,
            may_look_again: true,
            pair: SECOND_LOOK,
            second_looks: 0,
        }
    }

    /// A visit, with as many looks as it takes.
    fn visit(&mut self, mut next: impl FnMut() -> Look) -> Verdict {
        let mut doubt = None;
        loop {
            let look = next();
            let visit = Visit {
                rules: &self.rules,
                doubt,
                time: self.now,
                may_look_again: self.may_look_again,
                is_quiet_host: false,
            };
            let Judgement { verdict, kept, doubt: open, .. } =
                judge(&self.kept, &look, visit, || Some(self.reported.clone()));
            doubt = open.map(|doubt| (doubt, self.pair));
            if doubt.is_some() {
                self.second_looks += 1;
                continue;
            }
            assert!(kept.to_bytes().len() <= LARGEST);
            assert_eq!(Kept::from_bytes(&kept.to_bytes()).as_ref(), Ok(&kept));
            self.kept = kept;
            if verdict.changed {
                self.reported = Reported { look, time: self.now };
            }
            return verdict;
        }
    }

    fn see(&mut self, html: &str) -> Verdict {
        self.visit(|| look(html))
    }
}

/// A page with a headline, a counter and an advertisement among text that stays.
fn page(headline: &str, counter: usize, advertisement: &str) -> String {
    format!(
        "<title>The Daily</title><h1>{headline}</h1><p>A first paragraph.<p>Served in <span>{counter} ms</span>\
         <p>A second paragraph.<p>A third paragraph.<div>{advertisement}</div><p>A fourth.<p>A fifth.<p>A sixth."
    )
}

/// A page of which the noise is known.
fn noisy(headline: &str) -> Watch {
    let mut watch = Watch::new(&look(&page(headline, 1, "Buy")));
    let mut looks = [(12, "Fly"), (15, "Eat"), (11, "Run"), (19, "Sit")].into_iter().cycle();
    let verdict = watch.visit(|| {
        let (counter, advertisement) = looks.next().unwrap_or_default();
        look(&page(headline, counter, advertisement))
    });
    assert!(!verdict.changed && watch.second_looks == 3, "{verdict:?}");
    assert_eq!(watch.kept.noise(), 2);
    watch
}

#[test]
fn nothing_new_is_no_change() {
    let mut watch = Watch::new(&look(&page("News", 1, "Buy")));
    let verdict = watch.see(&page("News", 1, "Buy"));
    assert_eq!(verdict, Verdict { changed: false, what: What::Nothing, noise_ignored: 0 });
    assert_eq!(watch.second_looks, 0);
}

#[test]
fn markup_is_no_change_unless_every_byte_counts() {
    let mut watch = Watch::new(&look("<p class=a>x</p><p>y"));
    assert!(!watch.see("<p class=b>x</p><p>y").changed);
    watch.rules.by = By::Exact;
    assert_eq!(watch.see("<p class=c>x</p><p>y").what, What::Exact);
}

#[test]
fn the_first_change_is_reported_after_two_second_looks_and_the_next_after_one() {
    let mut watch = Watch::new(&look(&page("News", 1, "Buy")));
    assert_eq!(watch.see(&page("Fresh news", 1, "Buy")).what, What::Text { changed: 1, of: 11 });
    assert_eq!(watch.second_looks, 2);
    assert!(watch.see(&page("Other news", 1, "Buy")).changed);
    assert_eq!(watch.second_looks, 3);
}

#[test]
fn noise_is_learned_before_it_is_reported_and_news_is_still_news() {
    let mut watch = noisy("News");
    let mut looks = [(99, "Go"), (7, "Sleep"), (23, "Walk")].into_iter().cycle();
    let mut next = |headline| {
        let (counter, advertisement) = looks.next().unwrap_or_default();
        look(&page(headline, counter, advertisement))
    };
    assert!(!watch.visit(|| next("News")).changed);
    let verdict = watch.visit(|| next("Fresh news"));
    assert_eq!(verdict.what, What::Text { changed: 1, of: 11 });
    assert_eq!(verdict.noise_ignored, 2);
}

#[test]
fn what_changed_before_noise_was_known_is_reported() {
    let mut watch = Watch::new(&look("<p>Counter 17 token a<p>text"));
    let mut tokens = ["b", "c", "d", "e", "f"].into_iter();
    let verdict =
        watch.visit(|| look(&format!("<p>Counter 18 token {}<p>text", tokens.next().unwrap_or("g"))));
    assert!(verdict.changed && watch.kept.noise() == 1, "{verdict:?}");
    assert!(!watch.see("<p>Counter 18 token x<p>text").changed);
}

#[test]
fn what_changes_between_quick_looks_is_reported() {
    // Beside noise that is being learned.
    let mut watch = Watch::new(&look("<p>Counter 17 token 0<p>text"));
    let mut token = 0;
    let verdict = watch.visit(|| {
        token += 1;
        look(&format!("<p>Counter {} token {token}<p>text", if token < 3 { 17 } else { 18 }))
    });
    assert!(verdict.changed, "{verdict:?}");
    assert!(watch.see("<p>Counter 19 token 77<p>text").changed);
    // And where there is none.
    let mut watch = Watch::new(&look(&page("Old", 1, "Buy")));
    let mut headlines = ["Newer", "Newest", "Newest", "Newest", "Newest", "Newest"].into_iter();
    assert!(watch.visit(|| look(&page(headlines.next().unwrap_or("Newest"), 1, "Buy"))).changed);
    assert_eq!(watch.kept.noise(), 0);
    assert!(watch.see(&page("Last", 1, "Buy")).changed);
}

#[test]
fn a_headline_that_changes_at_every_visit_is_never_noise() {
    let mut watch = Watch::new(&look(&page("News 0", 1, "Buy")));
    for number in 1..200 {
        assert!(watch.see(&page(&format!("News {number}"), 1, "Buy")).changed);
    }
    assert_eq!(watch.kept.noise(), 0);
    // They get rarer: two at the first, one at the second, fourth … 64th change, and then every 64.
    assert_eq!(watch.second_looks, 10);
}

#[test]
fn noise_that_ends_counts_again() {
    let mut watch = noisy("News");
    let mut reported = 0;
    for number in 0..40 {
        reported += usize::from(watch.see(&page("News", 1, &format!("Story {number}"))).changed);
    }
    assert!(reported >= 25, "{reported} of 40 changes");
}

#[test]
fn what_a_token_is_joined_to_by_a_mark_still_counts() {
    for marks in ["-", ".", "_", ":", "/", "+", "@"] {
        let mut token = 0;
        let mut html = |version: usize| {
            token += 1;
            look(&format!("<p>build{marks}{version}{marks}a{token}f of this page<p>text"))
        };
        let mut watch = Watch::new(&html(17));
        assert!(!watch.visit(|| html(17)).changed && watch.kept.noise() == 1, "{marks}");
        for version in 18..24 {
            assert!(watch.visit(|| html(version)).changed, "{marks}");
            assert!(!watch.visit(|| html(version)).changed, "{marks}");
        }
    }
}

/// A page whose second block takes turns between two texts.
fn turns(texts: [&str; 2]) -> impl FnMut() -> Look {
    let mut number = 0;
    move || {
        number += 1;
        look(&format!("<p>first<p>{}<p>last", texts[number % 2]))
    }
}

#[test]
fn a_new_text_among_those_that_take_turns_is_reported_once() {
    let mut next = turns(["red apples", "blue pears"]);
    let mut watch = Watch::new(&next());
    let _ = (0..4).map(|_| watch.visit(&mut next)).collect::<Vec<_>>();
    assert!(!watch.visit(&mut next).changed && watch.kept.noise() == 1);
    let mut next = turns(["red apples", "green plums"]);
    assert!(watch.visit(&mut next).changed);
    assert!((0..6).all(|_| !watch.visit(&mut next).changed));
    let mut next = turns(["one cherry", "two grapes"]);
    assert!(watch.visit(&mut next).changed);
    assert!((0..6).all(|_| !watch.visit(&mut next).changed));
}

#[test]
fn a_token_that_stays_counts_again_at_once() {
    let mut token = 0u8;
    let mut random = || {
        token += 1;
        let first = char::from(b'a' + token % 26);
        look(&format!("<p>first<p>session {first}{token}<p>last"))
    };
    let mut watch = Watch::new(&random());
    let _ = (0..20).map(|_| watch.visit(&mut random)).collect::<Vec<_>>();
    assert_eq!(watch.kept.noise(), 1);
    // Seen at two visits, it is content.
    watch.see("<p>first<p>session closed<p>last");
    assert!(watch.see("<p>first<p>session closed<p>last").changed);
    assert_eq!(watch.kept.noise(), 0);
    assert!(watch.see("<p>first<p>session open<p>last").changed);
}

#[test]
fn what_stays_beside_blocks_that_come_and_go_is_none_of_them() {
    let mut number = 0;
    let mut html = |item: &str| {
        number += 1;
        let blocks: Vec<String> =
            (0..=number % 3).map(|at| format!("<p>{number} of {at}<p>buy {number}")).collect();
        look(&format!("<p>first{item}{}<p>last", blocks.concat()))
    };
    let mut watch = Watch::new(&html(""));
    let _ = (0..6).map(|_| watch.visit(|| html(""))).collect::<Vec<_>>();
    let reported: Vec<bool> = (0..10).map(|_| watch.visit(|| html("<p>sold out")).changed).collect();
    assert_eq!(reported.iter().filter(|changed| **changed).count(), 1, "{reported:?}");
    assert!(watch.visit(|| html("")).changed);
}

#[test]
fn between_two_looks_that_are_not_quick_only_tokens_are_noise() {
    let slow = |watch: &mut Watch, mut next: Box<dyn FnMut() -> Look>| {
        watch.pair = Span::from_whole_secs(30);
        (0..8).filter(|_| watch.visit(&mut next).changed).count()
    };
    let (mut number, mut token) = (0, 0);
    let counter = Box::new(move || {
        number += 1;
        look(&format!("<p>Counter {number} here"))
    });
    assert_eq!(slow(&mut Watch::new(&look("<p>Counter 0 here")), counter), 8);
    let tokens = Box::new(move || {
        token += 1;
        look(&format!("<p>Session a{token}b{token}c7d here"))
    });
    let mut watch = Watch::new(&look("<p>Session a0b0c7d here"));
    assert!(slow(&mut watch, tokens) <= 1 && watch.kept.noise() == 1);
}

#[test]
fn noise_that_nobody_confirms_counts_again() {
    let mut watch = noisy("News");
    watch.may_look_again = false;
    let visits = (0..40).map(|number| watch.see(&page("News", number, "Buy")).changed).collect::<Vec<_>>();
    assert!(visits[..10].iter().all(|changed| !changed), "{visits:?}");
    assert!(visits[30..].iter().all(|changed| *changed), "{visits:?}");
}

#[test]
fn without_second_looks_every_change_is_reported() {
    let mut watch = Watch::new(&look(&page("News", 0, "Buy")));
    watch.may_look_again = false;
    assert!((1..50).all(|counter| watch.see(&page("News", counter, "Buy")).changed));
}

#[test]
fn a_second_look_that_is_late_settles_nothing_and_loses_nothing() {
    let rules = Rules::default();
    let first = look(&page("News", 1, "Buy"));
    let reported = || Some(Reported { look: first.clone(), time: Time::ZERO });
    let visit =
        |doubt| Visit { rules: &rules, doubt, time: Time::ZERO, may_look_again: true, is_quiet_host: false };
    let now = look(&page("Fresh", 2, "Fly"));
    let judgement = judge(&Kept::first(&first), &now, visit(None), reported);
    let doubt = judgement.doubt.expect("a doubt");
    let late = judge(&Kept::first(&first), &now, visit(Some((doubt, LATE + SECOND_LOOK))), reported);
    assert!(late.verdict.changed && late.doubt.is_none());
}

#[test]
fn an_error_page_that_stays_is_a_change() {
    let mut watch = noisy("News");
    assert!(watch.see("<h1>Service unavailable</h1><p>Please try again.").changed);
}

#[test]
fn blocks_that_come_and_go_are_noise_and_others_are_not() {
    let html = |shown: bool, news: &str| {
        format!(
            "<p>first<p>second{}<p>third<p>{news}<p>fifth",
            if shown { "<p>advertisement<p>buy" } else { "" }
        )
    };
    let mut watch = Watch::new(&look(&html(false, "old")));
    let mut shown = false;
    let verdict = watch.visit(|| {
        shown = !shown;
        look(&html(shown, "old"))
    });
    assert!(!verdict.changed, "{verdict:?}");
    assert!(!watch.see(&html(true, "old")).changed);
    assert!(!watch.see(&html(false, "old")).changed);
    assert!(watch.see(&html(true, "new")).changed);
    assert!(watch.see("<p>first<p>second<p>third<p>new<p>fifth<p>sixth").changed);
}

#[test]
fn an_order_that_varies_is_noise_and_a_new_item_is_not() {
    let html = |items: &[usize]| {
        let items: Vec<String> = items.iter().map(|item| format!("<li>item {item}")).collect();
        format!("<h1>List</h1><ul>{}</ul><p>end", items.concat())
    };
    let mut watch = Watch::new(&look(&html(&[1, 2, 3, 4, 5, 6])));
    let mut orders =
        [[3, 1, 6, 2, 5, 4], [6, 5, 4, 3, 2, 1], [2, 4, 6, 1, 3, 5], [5, 1, 4, 2, 6, 3], [4, 6, 5, 1, 2, 3]]
            .iter()
            .cycle();
    let verdict = watch.visit(|| look(&html(orders.next().unwrap_or(&[1, 2, 3, 4, 5, 6]))));
    assert!(!verdict.changed, "{verdict:?}");
    assert!(!watch.see(&html(&[1, 6, 2, 5, 3, 4])).changed);
    assert!(watch.see(&html(&[1, 6, 2, 7, 3, 4])).changed);
    assert!(!watch.see(&html(&[4, 7, 6, 2, 1, 3])).changed);
}

#[test]
fn long_pages_are_compared_too() {
    let long = |changed: usize, counter: usize| {
        let blocks: Vec<String> = (0..5000)
            .map(|number| match number {
                777 => format!("<p>visitor {counter} of us"),
                number if number == changed => "<p>changed".to_owned(),
                number => format!("<p>paragraph {number}"),
            })
            .collect();
        look(&blocks.concat())
    };
    let mut watch = Watch::new(&long(usize::MAX, 0));
    assert!(watch.kept.grain > 0);
    let mut counter = 0;
    let mut count = || {
        counter += 1;
        counter
    };
    assert!(!watch.visit(|| long(usize::MAX, count())).changed);
    assert!(!watch.visit(|| long(usize::MAX, count())).changed);
    let verdict = watch.visit(|| long(3000, count()));
    assert!(matches!(verdict.what, What::Text { changed: 1..=3, of: 100.. }), "{verdict:?}");
    // Beside the noise, too.
    assert!(watch.visit(|| long(776, count())).changed);
}

#[test]
fn hundreds_of_noisy_places_are_kept() {
    let html = |token: usize, row: usize| {
        let rows: Vec<String> = (0..300)
            .map(|at| format!("<tr><td>{}<td>{token}", if at == row { at + 1000 } else { at }))
            .collect();
        format!("<h1>Table</h1><table>{}</table>", rows.concat())
    };
    let mut watch = Watch::new(&look(&html(0, 999)));
    let mut token = 0;
    let mut next = |row: usize| {
        token += 1;
        look(&html(token, row))
    };
    assert!(!watch.visit(|| next(999)).changed);
    assert!(!watch.visit(|| next(999)).changed);
    assert!(watch.visit(|| next(7)).changed);
}

#[test]
fn sketches_forgive_small_edits_and_noise() {
    let rules = Rules { by: By::Simhash { distance: 3 }, ..Rules::default() };
    let look = |html: &str| Look::new(format!("<html>{html}").as_bytes(), None, &rules);
    let text = |last: &str| {
        let words: Vec<String> = (0..500).map(|number| format!("word{}", number * number % 401)).collect();
        look(&format!("<p>{} {last}", words.join(" ")))
    };
    let mut watch = Watch { rules: rules.clone(), ..Watch::new(&text("end")) };
    assert!(!watch.visit(|| text("finish")).changed);
    let other = || look("<p>something else altogether, with nothing in common");
    assert!(matches!(watch.visit(other).what, What::Simhash { distance: 10.. }));
    let quotes =
        ["alpha beta gamma delta", "one two three four five", "red green blue", "up down left right"];
    let mut quote = quotes.iter().cycle();
    let mut watch = Watch { rules: rules.clone(), ..Watch::new(&look("<h1>Today</h1><p>a saying")) };
    let mut next = || look(&format!("<h1>Today</h1><p>{}", quote.next().unwrap_or(&"")));
    assert!(!watch.visit(&mut next).changed);
    assert!(!watch.visit(&mut next).changed);
}

#[test]
fn digits_do_not_count_where_they_need_not() {
    let rules = Rules { ignore_digits: true, ..Rules::default() };
    let seen = |html: &str| Look::new(format!("<html>{html}").as_bytes(), None, &rules);
    let mut watch = Watch { rules: rules.clone(), ..Watch::new(&seen("<p>9 comments<p>text")) };
    assert!(!watch.visit(|| seen("<p>10 comments<p>text")).changed);
    assert!(watch.visit(|| seen("<p>no comments<p>text")).changed);
}

#[test]
fn other_rules_start_anew() {
    let selectors = crate::text::Selectors::new(&["p"], &[]).expect("selectors");
    let narrow = Rules { selectors, ..Rules::default() };
    let kept = Kept::first(&look("<p>x<div>y</div>"));
    assert!(!kept.suits(&narrow));
    let same = || Look::new(b"<html><p>x<div>y</div>", None, &narrow);
    let mut watch = Watch { rules: narrow.clone(), ..Watch::new(&look("<p>x<div>y</div>")) };
    assert!(!watch.visit(same).changed && watch.kept.suits(&narrow));
}

#[test]
fn other_things_than_html() {
    let plain = |text: &str| Look::new(text.as_bytes(), None, &Rules::default());
    let mut watch = Watch::new(&plain("a\nb\nc\n"));
    assert_eq!(watch.visit(|| plain("a\r\nx\r\nc")).what, What::Text { changed: 1, of: 3 });
    let binary = |byte| Look::new(&[0, 1, 2, byte], None, &Rules::default());
    let mut watch = Watch::new(&binary(3));
    assert_eq!(watch.visit(|| binary(4)).what, What::Exact);
    assert!(watch.kept.to_bytes().len() < 100);
    assert!(!watch.visit(|| binary(4)).changed);
}

#[test]
fn what_is_ignored_can_be_shown() {
    let watch = noisy("News");
    let now = look(&page("News", 5, "Walk"));
    let text = now.text().expect("text");
    let shown: Vec<&str> = watch
        .kept
        .ignored(&now)
        .into_iter()
        .filter_map(|ignored| text.get(ignored.block)?.get(ignored.bytes))
        .collect();
    assert_eq!(shown, ["5", "Walk"]);
    assert!(watch.kept.pairs() >= 3);
}

/// As releases before wrote it.
fn before(look: &Look, noise: bool) -> Vec<u8> {
    let mut bytes = vec![1, 1, 0];
    bytes.extend(look.mark.to_le_bytes());
    bytes.extend(look.digest);
    bytes.extend(0u64.to_le_bytes());
    bytes.extend((look.hashes.len() as u16).to_le_bytes());
    bytes.extend(look.hashes.iter().flat_map(|hash| hash.to_le_bytes()));
    bytes.push(u8::from(noise));
    bytes.extend(vec![0; if noise { 16 } else { 0 }]);
    bytes
}

#[test]
fn what_releases_before_kept_is_read_and_reports_nothing_false() {
    let old = look(&page("News", 1, "Buy"));
    let kept = Kept::from_bytes(&before(&old, false)).expect("bytes of the release before");
    let mut watch = Watch { kept, ..Watch::new(&old) };
    assert!(!watch.see(&page("News", 1, "Buy")).changed);
    assert!(watch.see(&page("Fresh", 1, "Buy")).changed);
    // Its places of noise cannot be used, so its text is learned anew.
    let kept = Kept::from_bytes(&before(&old, true)).expect("bytes of the release before");
    let mut watch = Watch { kept, ..Watch::new(&old) };
    assert!(!watch.see(&page("News", 2, "Fly")).changed);
    assert!(watch.see(&page("Fresh", 2, "Fly")).changed);
}

/// As version 2 was written: without what noise showed and how often the page changed.
fn version_2(kept: &Kept) -> Vec<u8> {
    let mut kept = kept.clone();
    kept.units
        .iter_mut()
        .flat_map(units::Unit::values_mut)
        .for_each(|values| *values = values::Values::default());
    let mut bytes = kept.to_bytes();
    bytes[0] = 2;
    let attention = 1 + 2 + 4 + 16;
    bytes.drain(attention + attention::BYTES_BEFORE..attention + attention::BYTES);
    bytes
}

#[test]
fn what_version_2_kept_is_read_and_reports_nothing_false() {
    let old = look(&page("News", 1, "Buy"));
    let kept = Kept::from_bytes(&version_2(&Kept::first(&old))).expect("bytes of version 2");
    let mut watch = Watch { kept, ..Watch::new(&old) };
    assert!(!watch.see(&page("News", 1, "Buy")).changed);
    assert!(watch.see(&page("Fresh", 1, "Buy")).changed);
    // Words were others then, so a block with noisy words is learned anew.
    let noisy = noisy("News");
    let kept = Kept::from_bytes(&version_2(&noisy.kept)).expect("bytes of version 2");
    let mut watch = Watch { kept, ..noisy };
    assert!(!watch.see(&page("News", 2, "Fly")).changed);
    assert!(watch.see(&page("Fresh", 2, "Fly")).changed);
}

#[test]
fn bytes_of_others_are_refused() {
    for whole in [noisy("News").kept.to_bytes(), before(&look("<p>x"), true)] {
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
}

/// A page of blocks of words, each of which is content or noise.
fn mixed(blocks: &[Vec<bool>], edited: Option<(usize, usize)>, look_number: usize) -> Look {
    let mut html = String::new();
    for (block, words) in blocks.iter().enumerate() {
        html.push_str("<p>");
        for (word, is_noise) in words.iter().enumerate() {
            let text = match (is_noise, edited == Some((block, word))) {
                (true, _) => format!("n{} ", look_number * 1000 + block * 50 + word),
                (false, true) => "edited ".to_owned(),
                (false, false) => format!("w{block}x{word} "),
            };
            html.push_str(&text);
        }
    }
    look(&html)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Whatever is noise, a change of what was the same at all quick looks is reported at the next visit.
    #[test]
    fn no_page_is_deaf(
        blocks in prop::collection::vec(prop::collection::vec(prop::bool::weighted(0.4), 1..7), 1..12),
        spot in any::<prop::sample::Index>(),
        looks_again in any::<bool>(),
    ) {
        let mut number = 0;
        let mut next = |edited| {
            number += 1;
            mixed(&blocks, edited, number)
        };
        let mut watch = Watch::new(&next(None));
        for _ in 0..3 {
            let verdict = watch.visit(|| next(None));
            prop_assert!(!verdict.changed, "noise is no change: {:?}", verdict);
        }
        let content: Vec<(usize, usize)> = blocks
            .iter()
            .enumerate()
            .flat_map(|(block, words)| words.iter().enumerate().map(move |(word, noise)| (block, word, *noise)))
            .filter(|(.., noise)| !noise)
            .map(|(block, word, _)| (block, word))
            .collect();
        if !content.is_empty() {
            let edited = Some(content[spot.index(content.len())]);
            watch.may_look_again = looks_again;
            prop_assert!(watch.visit(|| next(edited)).changed);
            watch.may_look_again = true;
            prop_assert!(!watch.visit(|| next(edited)).changed);
        }
    }

    /// Nothing is ignored that no quick pair has shown.
    #[test]
    fn without_quick_pairs_every_other_text_is_a_change(
        pages in prop::collection::vec(prop::collection::vec(prop::collection::vec(0u32..6, 1..5), 0..12), 2..8),
    ) {
        let looks: Vec<Look> = pages
            .iter()
            .map(|blocks| {
                let words = |block: &Vec<u32>| block.iter().map(|word| format!("w{word} ")).collect::<Vec<_>>();
                let blocks: Vec<String> = blocks.iter().map(|block| format!("<p>{}", words(block).concat())).collect();
                look(&blocks.concat())
            })
            .collect();
        let mut watch = Watch::new(&looks[0]);
        watch.may_look_again = false;
        for pair in looks.windows(2) {
            let verdict = watch.visit(|| pair[1].clone());
            prop_assert_eq!(verdict.changed, pair[0].text() != pair[1].text());
        }
    }

    /// Whatever comes, what is kept is bounded and can be read, and the same page again is no change.
    #[test]
    fn no_page_is_too_strange(
        looks in prop::collection::vec((prop::collection::vec(0u32..30, 0..60), 1u32..40), 2..12),
    ) {
        let looks: Vec<Look> = looks
            .into_iter()
            .map(|(blocks, repeat)| {
                let html: Vec<String> = blocks.iter().map(|number| format!("<p>{} of {}", number * repeat, number % 7)).collect();
                look(&html.concat().repeat(repeat as usize))
            })
            .collect();
        let mut watch = Watch::new(&looks[0]);
        let mut place = 0;
        for _ in 0..looks.len() {
            watch.visit(|| {
                place += 1;
                looks[place % looks.len()].clone()
            });
            let same = looks[place % looks.len()].clone();
            // What was put off is reported if it cannot be settled.
            let is_put_off = watch.kept.attention.is_put_off();
            watch.may_look_again = false;
            prop_assert!(is_put_off || !watch.visit(|| same.clone()).changed);
            watch.may_look_again = true;
        }
    }

    #[test]
    fn hostile_bytes_are_harmless(bytes in prop::collection::vec(any::<u8>(), 0..400), spot in 0usize..400, value in any::<u8>()) {
        let _ = Kept::from_bytes(&bytes);
        let watch = noisy("News");
        let mut damaged = watch.kept.to_bytes();
        let spot = spot % damaged.len();
        damaged[spot] = value;
        if let Ok(kept) = Kept::from_bytes(&damaged) {
            let mut watch = Watch { kept, ..watch };
            let mut number = 0;
            for _ in 0..3 {
                watch.visit(|| {
                    number += 1;
                    look(&page("x", number, "y"))
                });
            }
        }
    }
}

#[test]
fn a_clock_and_an_age_are_no_change_and_what_stands_beside_them_is() {
    let page = |minutes: u64, headline: &str| {
        let (hour, minute) = (9 + minutes / 60, minutes % 60);
        look(&format!(
            "<h1>{headline}</h1><p>It is {hour}:{minute:02} now.<p>A first paragraph.<p>Posted {} minutes ago by us.<p>A second one.",
            3 + minutes
        ))
    };
    // With second looks and without.
    for may_look_again in [true, false] {
        let mut watch = Watch { may_look_again, ..Watch::new(&page(0, "News")) };
        let mut see = |minutes, headline| {
            watch.now = Time::ZERO + Span::from_whole_secs(60 * minutes);
            watch.visit(|| page(minutes, headline)).changed
        };
        assert!((1..30).all(|visit| !see(7 * visit, "News")));
        assert!(see(220, "Fresh"));
        assert!((1..9).all(|visit| !see(220 + 7 * visit, "Fresh")));
        // Two hours have passed, and the page tells of one.
        watch.now = Time::ZERO + Span::from_whole_secs(60 * 400);
        assert!(watch.visit(|| page(340, "Fresh")).changed);
    }
}

#[test]
fn a_clock_beside_words_that_are_noise_is_no_change() {
    let mut token = 0;
    let mut page = |minutes: u64, price: u32| {
        token += 1;
        look(&format!("<p>Session x{token} at 10:{minutes:02} costs {price} euros<p>A paragraph.<p>Another."))
    };
    let mut watch = Watch::new(&page(0, 7));
    for (minutes, price, changed) in
        [(5, 7, false), (11, 7, false), (17, 8, true), (24, 8, false), (31, 9, true)]
    {
        watch.now = Time::ZERO + Span::from_whole_secs(60 * minutes);
        assert_eq!(watch.visit(|| page(minutes, price)).changed, changed, "at {minutes}");
    }
}
