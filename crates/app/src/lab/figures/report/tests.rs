use refrain_lab::figures::Verdict;
use roxmltree::Document;

use super::super::draw::tests::hostile;
use super::super::record::{Claim, Table};
use super::*;

const HOSTILE: &str = "<img src=x onerror=alert(1)> & \"quotes\" ' ]]> </style></script>";

pub(in super::super) fn record(name: &str, paper: &str, verdicts: &[Verdict]) -> Record {
    let text = || HOSTILE.to_owned();
    let claim = |verdict: &Verdict| Claim { paper: text(), measured: text(), verdict: *verdict };
    Record {
        refrain: "0.0.0".to_owned(),
        name: name.to_owned(),
        paper: paper.to_owned(),
        figure: "Fig 3".to_owned(),
        title: text(),
        scale: "quick".to_owned(),
        seed: 7,
        command: format!("refrain lab run {name} --scale quick --seed 7"),
        seconds: Some(3.0),
        asked: text(),
        found: Some(text()),
        setting: text(),
        use_of_it: text(),
        claims: verdicts.iter().map(claim).collect(),
        charts: vec![hostile()],
        tables: vec![Table {
            file: "table".to_owned(),
            title: text(),
            columns: vec![text(), text()],
            rows: vec![vec![text(), text()]],
        }],
    }
}

/// The body, which is XML as well.
fn body(page: &str) -> String {
    let (from, to) = (page.find("<body>").unwrap(), page.find("</body>").unwrap());
    page[from..to + "</body>".len()].to_owned()
}

#[test]
fn names_between_backticks_are_typed() {
    let said = prose("`refrain plan` & <more>, `b`").into_string();
    assert_eq!(said, "<code>refrain plan</code> &amp; &lt;more&gt;, <code>b</code>");
}

#[test]
fn everything_is_in_it_and_nothing_comes_from_elsewhere() {
    let records = [
        record("signals-2", "signals", &[Verdict::Agrees, Verdict::Unclear]),
        record("polite-3", "polite", &[Verdict::Disagrees, Verdict::Partly]),
    ];
    let page = page(&records).into_string();
    let body = body(&page);
    let document = Document::parse(&body).expect("well-formed");
    let ids: Vec<&str> = document.descendants().filter_map(|node| node.attribute("id")).collect();
    for wanted in
        ["signals", "polite", "signals-2", "polite-3", "signals-2-hostile", "polite-3-hostile", "parted"]
    {
        assert_eq!(ids.iter().filter(|id| **id == wanted).count(), 1, "{wanted}");
    }
    for node in document.descendants().filter(roxmltree::Node::is_element) {
        let name = node.tag_name().name();
        assert!(!["script", "img", "iframe", "object", "base", "form"].contains(&name), "{name}");
        for attribute in node.attributes() {
            assert!(!attribute.name().starts_with("on") && attribute.name() != "src", "{attribute:?}");
            if attribute.name() == "href" {
                let target = attribute.value().strip_prefix('#').expect("nothing but places in this file");
                assert!(ids.contains(&target), "{target}");
            }
        }
    }
    assert!(!STYLE.contains("url(") && !STYLE.contains("@import"));
    let text: String = document.descendants().filter_map(|node| node.text()).collect();
    for part in
        [HOSTILE, "refrain lab run polite-3 --scale quick --seed 7", "refrain 0.0.0, quick scale, seed 7"]
    {
        assert!(text.contains(part), "{part}");
    }
    assert!(
        text.contains("1 of 4 claims agree") && text.contains("2 claims: 0 agree, 1 in part, 1 disagrees")
    );
}

#[test]
fn findings_are_read_again_as_they_were_written() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path();
    std::fs::create_dir_all(files::folder(out)).unwrap();
    let written = record("polite-3", "polite", &[Verdict::Disagrees]);
    files::write(out, &written).unwrap();
    let read = files::read(out).unwrap();
    assert_eq!(serde_json::to_value(&read[0]).unwrap(), serde_json::to_value(&written).unwrap());
    let file = |name: &str| std::fs::read_to_string(files::folder(out).join(name)).unwrap();
    assert!(file("polite-3-hostile.csv").contains("\nRefrain,3,9,0.9,\n"));
    assert!(file("polite-3-table-table.csv").starts_with("\"<img src=x onerror=alert(1)> & \"\"quotes\"\""));
    assert!(file("polite-3.md").contains("- **disagrees.**"));
    Document::parse(&file("polite-3-hostile.svg")).unwrap();
    assert!(write_report(out).unwrap().exists());
}

#[test]
fn a_folder_without_findings_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let said = |out: &Path| write_report(out).unwrap_err().to_string();
    assert!(said(folder.path()).contains("expected a folder that refrain lab run has written"));
    std::fs::create_dir(files::folder(folder.path())).unwrap();
    assert!(said(folder.path()).contains("there are no findings"));
    std::fs::write(files::folder(folder.path()).join("x.json"), "{").unwrap();
    assert!(said(folder.path()).contains("x.json: cannot be read"));
}
