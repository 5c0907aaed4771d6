"""The report of the papers' figures in a real browser: by day and by night, on a desk, on a phone and on paper, without a network."""

import subprocess

import pytest
from browser import DESKTOP, PHONE, Browser
from support import binary

# Fast ones, with every kind of chart: lines, dots with colours, dashes, bars, errors.
EXPERIMENTS = ["cost-1", "cost-2", "cost-3", "cost-4", "cost-8"]


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    done = subprocess.run([binary(), "lab", "run", *EXPERIMENTS, "--out", str(folder)], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return folder / "report.html"


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
    assert {chart["id"].rsplit("-", 1)[0] for chart in charts} == set(EXPERIMENTS)
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


def test_phone_labels_do_not_touch(browser, report):
    browser.look(PHONE)
    browser.open(report.as_uri())
    crowded = browser.run("""return [...document.querySelectorAll('figure.chart')].filter((figure) => {
        const labels = [...figure.querySelectorAll('.xs li')].filter((label) => label.offsetParent).map((label) => label.getBoundingClientRect());
        return labels.some((label, at) => at > 0 && label.left < labels[at - 1].right);
    }).map((figure) => figure.id)""")
    assert crowded == []
