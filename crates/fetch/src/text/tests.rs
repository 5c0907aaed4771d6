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
}
