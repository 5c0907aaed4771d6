use refrain_lab::figures::{Look, Scaling};
use roxmltree::Document;

use super::super::record::{Axis, Chart, Curve, Point};
use super::*;

fn axis(label: &str, scaling: Scaling) -> Axis {
    Axis { label: label.to_owned(), scaling, range: None }
}

fn curve(name: &str, look: Look, points: impl IntoIterator<Item = (f64, f64)>) -> Curve {
    let points = points.into_iter().map(|(x, y)| Point { x, y, error: 0.1 * y.abs(), shade: None });
    Curve { name: name.to_owned(), look, points: points.collect() }
}

/// One of everything, with names as hostile as they come.
pub(in super::super) fn hostile() -> Chart {
    let points = || (1..=5).map(|k| (f64::from(k), f64::from(k * k)));
    Chart {
        file: "hostile".to_owned(),
        title: "<script>alert(1)</script> & \"quotes\"".to_owned(),
        x: axis("a < b & c", Scaling::Linear),
        y: axis("]]> ' \"", Scaling::Linear),
        curves: vec![
            curve("Refrain", Look::Line, points()),
            curve("<b>dots</b>", Look::Dots, points()),
            curve("dashes", Look::Dashes, points()),
            curve("bars", Look::Bars, points()),
            curve("bars & more", Look::Bars, points()),
            curve("steps", Look::Steps, points()),
        ],
    }
}

fn drawn(chart: &Chart) -> String {
    let text = file(chart);
    Document::parse(&text).expect("well-formed");
    let page = html(chart, "c").into_string();
    Document::parse(&page).expect("well-formed");
    text
}

/// How many elements of a picture have this class.
fn count(text: &str, class: &str) -> usize {
    let document = Document::parse(text).unwrap();
    let has = |classes: &str| classes.split(' ').any(|one| one == class);
    document.descendants().filter(|node| node.attribute("class").is_some_and(has)).count()
}

#[test]
fn one_of_everything() {
    let text = drawn(&hostile());
    assert!(!text.contains("<script") && !text.contains("<b>"));
    // Two rows of bars and one in the legend for each; an error path for each curve.
    assert_eq!((count(&text, "b"), count(&text, "e")), (12, 6));
    // Every point of four curves can be pointed at, bars by themselves.
    assert_eq!((count(&text, "s"), text.matches("<title>").count()), (20, 30));
    assert!(text.contains("Refrain\na &lt; b &amp; c: 3\n]]&gt; ' &quot;: 9 ± 0.9"), "{text}");
}

#[test]
fn ours_is_always_of_the_same_colour_and_nobody_else_is() {
    let points = [(0.0, 0.0), (1.0, 1.0)];
    let others = [curve("A", Look::Line, points), curve("bound", Look::Dashes, points)];
    assert_eq!(colours(&others), ["c1", "d"]);
    let with_ours = [others.as_slice(), &[curve("Refrain", Look::Line, points)]].concat();
    assert_eq!(colours(&with_ours), ["c1", "d", "c0"]);
    let many: Vec<Curve> = (0..20).map(|k| curve(&k.to_string(), Look::Line, points)).collect();
    assert!(!colours(&many).contains(&"c0".to_owned()));
}

#[test]
fn what_belongs_together_has_one_colour() {
    let curves = |curves: &[(&str, Look)]| -> Vec<String> {
        colours(&curves.iter().map(|(name, look)| curve(name, *look, [(0.0, 0.0)])).collect::<Vec<_>>())
    };
    let fitted = [
        ("a", Look::Dots),
        ("a, fitted", Look::Line),
        ("refrain", Look::Line),
        ("refrain, known", Look::Dashes),
        ("b, known", Look::Dashes),
    ];
    assert_eq!(curves(&fitted), ["c1", "c1", "c0", "c0", "c2"]);
    let bounds = [
        ("a, lower", Look::Line),
        ("a, upper", Look::Line),
        ("b, lower", Look::Line),
        ("b, upper", Look::Line),
    ];
    assert_eq!(curves(&bounds), ["c1", "c1", "c2", "c2"]);
    let alike = [
        ("a, every hour", Look::Line),
        ("a, every day", Look::Line),
        ("a, b, every day", Look::Dashes),
        ("c, every day", Look::Dashes),
    ];
    assert_eq!(curves(&alike), ["c1", "c2", "c3", "c4"]);
}

#[test]
fn thousands_of_dots_stay_small() {
    let point = |k: u32| {
        let share = f64::from(k) / 5000.0;
        Point { x: (f64::from(k) * 0.618).fract(), y: share, error: 0.0, shade: Some(share) }
    };
    let dots = Curve { name: "pages".to_owned(), look: Look::Dots, points: (0..5000).map(point).collect() };
    let chart = Chart { curves: vec![dots], ..hostile() };
    let text = drawn(&chart);
    assert!(text.len() < 120_000, "{}", text.len());
    // Every shade, and a bar that says which is which.
    for shade in 0..SHADES {
        assert!(count(&text, &format!("h{shade}")) >= 2);
    }
}

#[test]
fn bars_stand_side_by_side_and_do_not_touch_their_neighbours() {
    let text = drawn(&hostile());
    let document = Document::parse(&text).unwrap();
    let number = |node: &roxmltree::Node<'_, '_>, name| node.attribute(name).unwrap().parse::<f64>().unwrap();
    let bars = document.descendants().filter(|node| node.attribute("class") == Some("b"));
    let mut spans: Vec<(f64, f64)> = bars
        .filter(|bar| bar.children().any(|child| child.has_tag_name("title")))
        .map(|bar| (number(&bar, "x"), number(&bar, "x") + number(&bar, "width")))
        .collect();
    spans.sort_by(|a, b| a.0.total_cmp(&b.0));
    assert!(spans.windows(2).all(|pair| pair[0].1 <= pair[1].0 + 0.1), "{spans:?}");
    assert!(spans[0].0 >= 0.0 && spans[spans.len() - 1].1 <= WIDTH, "{spans:?}");
}

#[test]
fn nothing_at_all_and_what_is_outside_can_be_drawn() {
    drawn(&Chart { curves: Vec::new(), ..hostile() });
    let one = [(1.0, 5.0)];
    drawn(&Chart { curves: vec![curve("one", Look::Bars, one), curve("none", Look::Line, [])], ..hostile() });
    let narrow = Axis { range: Some((2.0, 3.0)), ..axis("x", Scaling::Linear) };
    let text = drawn(&Chart { x: narrow, ..hostile() });
    assert!(text.contains(r#"overflow="hidden""#));
    let logarithmic = Chart { y: axis("y", Scaling::Logarithmic), ..hostile() };
    let with_zero = curve("zero", Look::Line, [(1.0, 0.0), (2.0, 1.0), (3.0, 1e3)]);
    let text = drawn(&Chart { curves: vec![with_zero], ..logarithmic });
    assert!(!text.contains("NaN") && !text.contains("inf"));
}

proptest::proptest! {
    /// Any numbers give a picture with nothing but numbers in it.
    #[test]
    fn pictures_are_pictures(
        numbers in proptest::collection::vec((proptest::num::f64::ANY, proptest::num::f64::ANY), 0..20),
        look in 0usize..5,
        log in proptest::bool::ANY,
    ) {
        let look = [Look::Line, Look::Dots, Look::Dashes, Look::Bars, Look::Steps][look];
        let scaling = if log { Scaling::Logarithmic } else { Scaling::Linear };
        let points = numbers.into_iter().filter(|(x, y)| x.is_finite() && y.is_finite());
        let chart = Chart {
            x: axis("x", scaling),
            y: axis("y", scaling),
            curves: vec![curve("any", look, points.collect::<Vec<_>>())],
            ..hostile()
        };
        let text = drawn(&chart);
        let document = Document::parse(&text).unwrap();
        for node in document.descendants().filter(roxmltree::Node::is_element) {
            for attribute in node.attributes() {
                proptest::prop_assert!(!attribute.value().contains("NaN") && !attribute.value().contains("inf"), "{:?}", attribute);
            }
        }
    }
}
