"""The HTML report of a real study, two batch sizes by two thread counts, in a real browser: charts of the sweeps, an expanded
row, embedded files, a phone's width, dark mode. (tests/report/page.sh tests its parts separately.)"""

import base64
import json

import pytest

import browser as chromium
from hone import sound
from test_engines import engine

pytestmark = pytest.mark.skipif(not chromium.PROGRAM, reason="no chromium here (apt-get install chromium)")


@pytest.fixture
def study(hone, tmp_path):
    sound(hone("bench", "zoo:mlp", "--backend", "native,native:unpinned,onnxruntime", *engine("onnxruntime"), "--batch", "1,4", "--threads", "1,2",
               "--rounds", "12", "--processes", "3", "--min-time", "0.01", "--min-samples", "5", "--warmup", "0.005", "--no-measure",
               "--resume", "never", "-q", "--html", tmp_path / "page.html"))
    return tmp_path / "page.html"


def test_a_sweep_in_a_browser(hone, study):
    page = chromium.Browser()
    try:
        for width, dark in ((1280, False), (400, True)):
            page.show(width, dark)
            page.open(study.as_uri())
            assert page.problems() == []
            assert page.run("document.documentElement.scrollWidth <= innerWidth"), width
            assert page.run("getComputedStyle(document.body).backgroundColor === 'rgb(18, 20, 23)'") == dark
            # the sentence names both rows of one engine by the setting in which they differ
            assert "native unpinned" in " ".join(page.run("document.querySelector('.answer').textContent").split())
            # and so do its cells where a narrow page has them below each other
            assert page.run("Array.from(document.querySelectorAll('.matrix tbody tr td')).map(e => e.dataset.label).slice(0, 3).sort().join()") == \
                "native,native unpinned,onnxruntime"
            titles = page.run("Array.from(document.querySelectorAll('figcaption')).map(e => e.firstChild.textContent.trim())")
            assert [t for t in titles if t.startswith("Scaling")] == [
                "Scaling with the batch at threads 1", "Scaling with the batch at threads 2",
                "Scaling with threads at batch 1", "Scaling with threads at batch 4"]
            # every point and every label of a line is inside its chart
            assert page.run("Array.from(document.querySelectorAll('figure svg')).every(s => Array.from(s.querySelectorAll("
                            "'circle, text')).every(e => e.getBoundingClientRect().right <= s.getBoundingClientRect().right + 1 && "
                            "e.getBoundingClientRect().left >= s.getBoundingClientRect().left - 1))")
            assert page.run("document.querySelectorAll('figure .point').length") >= 24
            page.run("document.querySelector('.open').click()")
            assert page.run("document.querySelector('.detail').getClientRects().length > 0")
            assert page.run("document.querySelector('.detail code').textContent").startswith("hone bench zoo:mlp")
            # an engine that is switched off is in no chart either
            shown = "Array.from(document.querySelectorAll('.charts path.curve')).filter(e => e.getClientRects().length).length"
            before = page.run(shown)
            page.run("document.querySelectorAll('.switch')[1].click()")
            assert page.run(shown) == before / 3 * 2
            page.run("document.querySelectorAll('.switch')[1].click()")
            assert page.run(shown) == before
        files = page.run("Array.from(document.querySelectorAll('a.download')).map(a => [a.download, a.href.split(',')[1]])")
        found = {name.rsplit(".", 1)[1]: base64.b64decode(data) for name, data in files}
    finally:
        page.close()
    assert found == {form: hone("report", "last", f"--{form}", "-").out for form in ("json", "csv")}
    assert len(json.loads(found["json"])["records"]) == 12
