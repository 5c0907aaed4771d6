use super::*;

const MOST: usize = 64 << 10;

fn read_again(body: &str, index: &Index) -> Announced {
    let url = PageUrl::parse("http://a.example/sitemap.xml").unwrap();
    let known = Known { index, follow: Some(&Follow::SameHost), now: Time::ZERO, most: MOST };
    read(Kind::Sitemap, body.as_bytes(), None, &url, known)
}

/// Long addresses and addresses that grow as they are made canonical: all of them are found, as many at a time as fit.
#[test]
fn a_long_announcement_is_taken_up_a_part_at_a_time() {
    let (long, growing) = ("/long".repeat(200), "/ü".repeat(500));
    let entries = |name: &str| -> String {
        let entry = |number| {
            format!(
                "<{name}><loc>{long}/{number}</loc></{name}><{name}><loc>{growing}/{number}</loc></{name}>"
            )
        };
        (0..100).map(entry).collect()
    };
    for (kind, name) in [("urlset", "url"), ("sitemapindex", "sitemap")] {
        let body = format!("<{kind}>{}</{kind}>", entries(name));
        let (index, mut found, mut readings) = (Index::default(), 0, 0);
        loop {
            let announced = read_again(&body, &index);
            let urls = announced.unknown.iter().map(|one| &one.url).chain(&announced.sitemaps);
            let size: usize = urls.clone().map(|url| url.as_str().len()).sum();
            assert!(size <= announced.size && announced.size <= MOST, "{size} {}", announced.size);
            let new = urls.filter(|url| index.know(url.as_str())).count();
            assert_eq!(announced.left_out, 200 - found - new as u64);
            assert_eq!(announced.complaint.is_some(), announced.left_out > 0);
            (found, readings) = (found + new as u64, readings + 1);
            if announced.left_out == 0 {
                break;
            }
            assert!(new > 0, "each reading finds more");
        }
        assert_eq!((found, readings > 4), (200, true), "{kind}");
    }
}
