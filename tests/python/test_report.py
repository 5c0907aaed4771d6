"""The report of all the papers' figures, at quick scale, in a real browser: by day and by night, on a desk and on a phone, without a network."""

import json
import subprocess

import pytest
from browser import DESKTOP, PHONE, Browser
from support import binary


@pytest.fixture(scope="module")
def report(whole_report):
    """All experiments, which were measured while other tests ran."""
    return whole_report()


def experiments():
    listed = subprocess.run([binary(), "lab", "list", "--json"], capture_output=True, text=True, check=True)
    return json.loads(listed.stdout)


@pytest.fixture(scope="module")
def browser():
    browser = Browser()
    yield browser
    browser.close()


@pytest.mark.parametrize("size, dark", [(DESKTOP, False), (PHONE, True), (DESKTOP, True), (PHONE, False)],
                         ids=["desk by day", "phone by night", "desk by night", "phone by day"])
def test_it_is_readable(browser, report, size, dark):
    browser.look(size, dark)
    browser.complaints(), browser.asked()
    browser.open(report.as_uri())
    assert browser.run("return document.documentElement.scrollWidth <= innerWidth"), "it is wider than the window"
    assert browser.complaints() == []
    assert [url for url in browser.asked() if url != report.as_uri() and not url.startswith("data:")] == []
    assert browser.findings() == []


def test_every_chart_is_drawn(browser, report):
    browser.look(DESKTOP)
    browser.open(report.as_uri())
    charts = browser.run("""return [...document.querySelectorAll('figure.chart')].map((figure) => {
        const box = figure.querySelector('.frame > svg').getBoundingClientRect();
        const inside = (mark) => { const of = mark.getBoundingClientRect(); return of.right > box.left - 2 && of.left < box.right + 2; };
        const labels = [...figure.querySelectorAll('.xs li')].filter((label) => label.offsetParent).map((label) => label.getBoundingClientRect());
        return {id: figure.id, width: box.width, height: box.height,
                marks: [...figure.querySelectorAll('.frame .l, .frame .p, .frame .b')].filter(inside).length,
                said: figure.querySelectorAll('.frame title').length,
                crowded: labels.some((label, at) => at > 0 && label.left < labels[at - 1].right)};
    })""")
    names = [experiment["name"] for experiment in experiments()["experiments"]]
    without = [name for name in names if not any(chart["id"].startswith(name + "-") for chart in charts)]
    assert len(names) > 30 and without == []
    for chart in charts:
        assert chart["width"] > 400 and chart["height"] > 200, chart
        assert chart["marks"] > 0 and chart["said"] > 0 and not chart["crowded"], chart


def test_contents_and_verdicts_lead_somewhere(browser, report):
    browser.open(report.as_uri())
    broken = browser.run("return [...document.querySelectorAll('a[href^=\"#\"]')].filter((link) => !document.getElementById(link.hash.slice(1))).map((link) => link.hash)")
    assert broken == []
    counts = browser.run("return ['agrees', 'partly', 'disagrees', 'unclear'].map((verdict) => document.querySelectorAll(`.claims .tag.${verdict}`).length)")
    total = sum(counts)
    assert total > 10 and f"{counts[0]} of {total} claims agree" in browser.text()


def test_the_first_page_says_what_was_found(browser, report):
    browser.open(report.as_uri())
    papers = browser.run("""return [...document.querySelectorAll('article.asked')].map((paper) => ({
        name: paper.querySelector('h3 a').hash.slice(1),
        found: [...paper.querySelectorAll('dd p:not(.soft)')].map((found) => found.textContent)}))""")
    assert [paper["name"] for paper in papers] == [paper["name"] for paper in experiments()["papers"]]
    for paper in papers:
        # In numbers.
        assert paper["found"] and all(any(letter.isdigit() for letter in found) for found in paper["found"]), paper


def test_nothing_was_left_out_of_a_sentence(browser, report):
    browser.open(report.as_uri())
    text = browser.text()
    assert [odd for odd in ("NaN", "inf ", "undefined", "{}", "Some(") if odd in text] == []


def test_phone_labels_do_not_touch(browser, report):
    browser.look(PHONE)
    browser.open(report.as_uri())
    crowded = browser.run("""return [...document.querySelectorAll('figure.chart')].filter((figure) => {
        const labels = [...figure.querySelectorAll('.xs li')].filter((label) => label.offsetParent).map((label) => label.getBoundingClientRect());
        return labels.some((label, at) => at > 0 && label.left < labels[at - 1].right);
    }).map((figure) => figure.id)""")
    assert crowded == []
