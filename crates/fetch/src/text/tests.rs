use super::*;
use proptest::prelude::*;

fn blocks(html: &str) -> Vec<String> {
    selected(html, &[], &[])
}

fn selected(html: &str, include: &[&str], ignore: &[&str]) -> Vec<String> {
    let selectors = Selectors::new(include, ignore).expect("selectors");
    Blocks::of_html(html, &selectors).iter().map(str::to_owned).collect()
}

#[test]
fn what_a_reader_sees_in_blocks() {
    let html = "<html><head><title>T &amp; U</title><style>p{}</style><script>x</script></head><body>\n\
                <p>One  <b>bo</b>ld\n word &eacute;<!-- no --><p>two<br>three<div>four</div>five\
                <ul><li><a href=x>six</a><li>seven</ul><noscript>no</noscript><span>8</span> nine <textarea>ten</textarea>";
    assert_eq!(
        blocks(html),
        ["T & U", "One bold word é", "two", "three", "four", "five", "six", "seven", "8", "nine", "ten"]
    );
}

#[test]
fn attributes_and_markup_do_not_count() {
    assert_eq!(
        blocks("<p class=a id=1>x <i>y</i></p>"),
        blocks("<p title='z'>x\n\n<em style='b'>y</em><script>1</script>")
    );
}

#[test]
fn selectors_include_and_ignore() {
    let html = "<title>t</title><nav>menu</nav><article><p>text</p><div class=ad>buy <b>now</b></div>more</article>foot";
    assert_eq!(selected(html, &["article"], &[]), ["text", "buy now", "more"]);
    assert_eq!(selected(html, &["article"], &[".ad"]), ["text", "more"]);
    assert_eq!(selected(html, &[], &["nav", "div.ad"]), ["t", "text", "more", "foot"]);
    assert_eq!(selected(html, &["p", "nav"], &[]), ["menu", "text"]);
    assert_eq!(selected(html, &["[class=ad] b"], &[]), ["now"]);
}

#[test]
fn what_is_ignored_ends_with_its_parent_even_if_never_closed() {
    assert_eq!(selected("<div><p class=ad>buy</div><p>text", &[], &[".ad"]), ["text"]);
}

#[test]
fn bad_selectors_are_named() {
    let said = Selectors::new(&["p", "a["], &[]).expect_err("bad").to_string();
    assert!(said.starts_with("`a[` cannot be used as a CSS selector: "), "{said}");
    let many = vec!["p"; 101];
    assert_eq!(
        Selectors::new(&[], &many).expect_err("many").to_string(),
        "101 CSS selectors; expected at most 100"
    );
}

#[test]
fn plain_text_is_lines() {
    let found = Blocks::of_lines("a  b\r\n\r\n c\n");
    assert_eq!(found.iter().collect::<Vec<_>>(), ["a b", "c"]);
}

#[test]
fn blocks_are_bounded_and_nothing_is_lost() {
    let found = Blocks::of_lines(&"x\n".repeat(3 * MOST_BLOCKS));
    assert_eq!(found.len(), MOST_BLOCKS);
    assert_eq!(found.iter().map(str::len).sum::<usize>(), 3 * MOST_BLOCKS);
}

#[test]
fn selectors_can_be_shared_between_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<Selectors>();
}

proptest! {
    #[test]
    fn no_page_is_too_strange(parts in prop::collection::vec(
        prop::sample::select(vec!["<p>", "</p>", "<div", " ", ">", "x", "<!--", "-->", "<title>", "<script>", "</script>", "</", "&", "&amp", ";", "<![CDATA[", "é", "\0", "<svg>", "<table>", "<br/>", "<textarea>", "<noscript>"]), 0..40)
    ) {
        for block in blocks(&parts.concat()) {
            prop_assert!(!block.is_empty());
            prop_assert_eq!(block.trim(), &block);
            prop_assert!(!block.contains("  "));
        }
    }

    /// Two parsers that have nothing in common but the standard, on pages that are not broken.
    #[test]
    fn both_readers_see_the_same(seed in prop::collection::vec((0..9usize, "[a-z &<é\u{a0}]{0,8}"), 0..30)) {
        let mut html = String::from("<!doctype html><title>a  page</title>");
        for (shape, words) in seed {
            let text = words.replace('&', "&amp;").replace('<', "&lt;");
            html.push_str(&match shape {
                0 => format!("<p class='{text}'>{text}</p>"),
                1 => format!("{text}<b>{text}</b>"),
                2 => format!("<ul><li>{text}<li>{text}</ul>"),
                3 => format!("<script>if (a<b) '{words}'</script>"),
                4 => format!("<svg><style/><title>{text}</title><text>{text}</text></svg>"),
                5 => format!("<!-- {text} --><br>{text}"),
                6 => format!("<textarea>{text}<b></textarea><table><td>{text}</table>"),
                7 => format!("<style>a>b{{}}</style><a href=x>{text}&eacute;&nbsp;</a>"),
                _ => format!("<math><mi>{text}</mi></math>{text}"),
            });
        }
        let one: Vec<String> = blocks(&html);
        let other: Vec<String> = collector::collect(&html, &Selectors::default()).iter().map(str::to_owned).collect();
        prop_assert_eq!(one, other, "{}", html);
    }
}
