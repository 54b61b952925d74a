"""The page in a real browser."""

from __future__ import annotations

import json
from collections.abc import Iterator
from urllib.parse import quote

import pytest

import odradek
from odradek.broker.facade.console import Console
from odradek.control.server import ControlServer
from odradek.protocol.generated.messages.api_versions import ApiVersionsRequest
from odradek.protocol.generated.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from odradek.protocol.record_batch import Record, build_batch
from tests.fakes.chromium import PROGRAM, Page, chromium
from tests.fakes.wire_client import WireClient
from tests.frontdoor.control.conftest import ask

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(PROGRAM is None, reason="no Chromium: apt-get install chromium"),
]
ROW = "document.querySelector('main .row[aria-selected=true]')?.textContent ?? ''"
MANY = 10_000


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with chromium(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.fixture
def url(broker: odradek.KafkaBroker, page: Page) -> Iterator[str]:
    """Its page; what the browser complained of fails the test."""
    page.told.clear()
    with ControlServer(broker) as server:
        yield server.url
        page.open("about:blank")
        assert page.told == []


def has(text: str) -> str:
    return f"document.querySelector('main').innerText.includes({text!r})"


def click(page: Page, label: str) -> None:
    page.run(f"[...document.querySelectorAll('main button')].find(each => each.innerText === {label!r}).click()")


def fill(page: Page, **values: str | int | bool) -> None:
    """Fill in the form of the dialog that is open."""
    page.wait("document.querySelector('dialog[open] form')")
    for name, value in values.items():
        property_name = "checked" if isinstance(value, bool) else "value"
        page.run(f"document.querySelector('dialog[open] [name={name}]').{property_name} = {json.dumps(value)}")


def submit(page: Page, open: int = 0) -> None:
    """Send the form of the last dialog, and wait until it is taken, and only so many dialogs are left."""
    page.run("[...document.querySelectorAll('dialog[open] button.main')].at(-1).click()")
    page.wait(f"document.querySelectorAll('dialog[open]').length === {open}")


def refused(page: Page, words: str, status: int | None = None) -> None:
    """Send the form, and wait until it is told that it is not taken; ``status``: by the broker."""
    page.run("document.querySelector('dialog[open] button.main').click()")
    page.wait(f"document.querySelector('dialog[open] [role=alert]').innerText.includes({words!r})")
    if status is not None:
        forgive(page, status)


def forgive(page: Page, status: int) -> None:
    """Wait until the browser complains of an answer with a status, which it does in its own time, and forget it."""
    page.wait_told(f"status of {status}")


def choose(page: Page, text: str) -> None:
    """Choose the row of a list with a text in it."""
    row = f"[...document.querySelectorAll('main .row')].find(each => each.innerText.includes({text!r}))"
    page.wait(f"{row} !== undefined")
    page.run(f"{row}.click()")


def column(page: Page, number: int) -> list[str]:
    """What a column of the first list shows."""
    rows = "[...document.querySelector('main .grid').querySelectorAll('.row')]"
    found: list[str] = page.run(
        f"{rows}.sort((a, b) => a.ariaRowIndex - b.ariaRowIndex).map(each => each.children[{number}].innerText)"
    )
    return found


def test_records_are_text_and_never_html(broker: odradek.KafkaBroker, page: Page, url: str) -> None:
    evil = "<img src=x onerror=\"document.title='owned'\">"
    broker.produce("t", evil, key=evil, headers={evil: evil}, partition=0)
    page.open(f"{url}/#records/t")
    page.wait(has("<img src=x"))
    page.run("document.querySelector('main .grid').focus()")
    page.press("ArrowDown")
    page.wait("document.querySelector('.detail').innerText.includes('Header <img')")
    assert page.run("document.images.length") == 0
    assert page.run("document.title") == "odradek"


def test_a_value_is_shown_as_text_json_and_hex(broker: odradek.KafkaBroker, page: Page, url: str) -> None:
    broker.produce("t", '{"a":[1]}', partition=0)
    page.open(f"{url}/#records/t/0")
    page.wait(has('{"a":[1]}'))
    page.run("document.querySelector('main .grid').focus()")
    page.press("End")
    for label, expected in (
        ("JSON", '{\n  "a": [\n    1\n  ]\n}'),
        ("Hex", "000000  7b 22 61 22"),
        ("Text", '{"a":[1]}'),
    ):
        page.run(f"[...document.querySelectorAll('.detail button')].find(each => each.innerText === {label!r}).click()")
        assert page.run("document.querySelector('.detail pre').textContent").startswith(expected)
    broker.produce("t", b"\x00\xff", partition=0)
    page.wait(has("0x00ff"))


def test_records_are_read_from_an_offset_on(broker: odradek.KafkaBroker, page: Page, url: str) -> None:
    broker.produce_all("t", [odradek.ProducerRecord(f"v{number}", partition=0) for number in range(5000)])
    page.open(f"{url}/#records/t/0/4000")
    page.wait(has("v4000"))
    page.wait("document.querySelector('main .grid').getAttribute('aria-rowcount') === '201'")
    assert not page.run(has("v4999"))


def test_ten_thousand_topics_are_walked_through(page: Page) -> None:
    with (
        odradek.KafkaBroker(topics={f"t{number:05}": 1 for number in range(MANY)}) as broker,
        ControlServer(broker) as server,
    ):
        page.open(f"{server.url}/#topics")
        page.wait(has("t00000"))
        page.run("document.querySelector('main .grid').focus()")
        page.press("End")
        page.wait(f"({ROW}).startsWith('t09999')")
        assert page.run("document.querySelectorAll('main .row').length") < 100
        page.press("/")
        page.write("t01234")
        page.wait("document.querySelector('main .grid').getAttribute('aria-rowcount') === '2'")
        page.open("about:blank")


def test_keys_lead_to_each_view(broker: odradek.KafkaBroker, page: Page, url: str) -> None:
    broker.produce("t", "v", transactional_id="payments", transaction="open")
    broker.group("shipping").set_offsets({("t", 0): 0})
    page.open(f"{url}/")
    page.wait(has("Partitions"))
    for key, text in (
        ("3", "shipping"),
        ("4", "payments"),
        ("5", "Pause"),
        ("6", "Node 3"),
        ("7", "Clock"),
        ("1", "t"),
    ):
        page.press(key)
        page.wait(
            f"document.querySelector('[role=tab][aria-selected=true]').getAttribute('aria-keyshortcuts') === '{key}'"
        )
        page.wait(has(text))
    page.wait("document.querySelectorAll('main .row').length > 0")
    page.press("ArrowDown")
    page.wait(f"({ROW}).startsWith('t')")
    page.press("Enter")
    page.wait("location.hash === '#records/t'")


def test_clock_and_faults_have_buttons(broker: odradek.KafkaBroker, page: Page, url: str) -> None:
    page.open(f"{url}/#lab")
    page.wait(has("No faults are set."))
    click(page, "Freeze")
    page.wait(has("frozen"))
    before = broker.clock.now_ms()
    assert broker.clock.frozen
    time = "document.querySelector('[role=timer]').innerText"
    shown = page.run(time)
    click(page, "+1 h")
    page.wait(f"{time} !== {shown!r}")  # the answer to one click takes the error of another away
    click(page, "Add")
    fill(page, api="Produce")
    refused(page, "Say what the fault does")
    fill(page, api="Produc", answer="NOT_LEADER_OR_FOLLOWER")
    refused(page, "did you mean 'Produce'", 400)
    fill(page, api="Produce")
    submit(page)
    page.wait(has("NOT_LEADER_OR_FOLLOWER"))
    assert broker.clock.now_ms() == before + 3_600_000
    assert [each.answer for each in broker.faults] == [odradek.ErrorCode.NOT_LEADER_OR_FOLLOWER]
    broker.add_fault(odradek.Fault("Fetch", delay_ms=7))
    page.wait(has("wait 7 ms"))
    page.run("document.querySelector('main .grid').focus()")
    page.press("ArrowDown")
    page.press("Delete")
    page.wait(f"!{has('NOT_LEADER_OR_FOLLOWER')}")
    assert [each.delay_ms for each in broker.faults] == [7]
    click(page, "Clear all")
    page.wait(has("No faults are set."))
    click(page, "Resume")
    page.wait(f"!{has('frozen')}")


def test_page_lets_nodes_join_and_leave(broker: odradek.KafkaBroker, page: Page, url: str) -> None:
    page.open(f"{url}/#nodes")
    page.wait(has("Node 3"))
    page.run("document.querySelector('[aria-label=\"Configs of node 2\"]').click()")
    page.wait("document.querySelector('dialog .row') !== null")
    page.press("/")
    page.write("message.max.bytes")
    page.wait("document.querySelectorAll('dialog .row').length === 1")
    page.run("document.querySelector('dialog .grid').focus()")
    page.press("ArrowDown")
    page.press("Enter")
    fill(page, value="1234")
    submit(page, open=1)
    page.wait("document.querySelector('dialog .row').innerText === 'message.max.bytes\\n1234\\nset on the broker'")
    page.press("Escape")
    click(page, "Cut a link")
    fill(page, a=1, b=2)
    submit(page)
    assert list(broker.cluster.replicator.cuts) == [frozenset((1, 2))]
    click(page, "Slow a link down")
    fill(page, a=3, ms=1)
    submit(page)
    [link] = broker.cluster.server.links.client_links
    assert (link.client, link.node_id, link.terms.answers.delay_ms) == ("*", 3, 1)
    click(page, "Heal")
    page.wait("document.querySelector('#problem').hidden")
    click(page, "Add a node")
    page.wait(has("Node 4"))
    assert not broker.cluster.replicator.cuts
    assert list(broker.nodes) == [1, 2, 3, 4]
    page.run("document.querySelector('[aria-label=\"Stop node 4\"]').click()")
    page.wait("!document.querySelector('[aria-label=\"Remove node 4\"]').closest('.bar').hidden")
    page.run("document.querySelector('[aria-label=\"Remove node 4\"]').click()")
    page.wait(f"!{has('Node 4')}")
    assert list(broker.nodes) == [1, 2, 3]


def test_the_token_is_asked_for_once(broker: odradek.KafkaBroker, page: Page) -> None:
    with ControlServer(broker, token="s3cret") as server:
        page.open(f"{server.url}/")
        page.wait("document.querySelector('#ask')?.open")
        page.write("s3cret")
        page.press("Enter")
        page.wait(has("t"))
        page.reload()
        page.wait(f"{has('Partitions')} && document.querySelectorAll('.row').length")
        assert not page.run("document.querySelector('#ask').open")
        page.open("about:blank")


def test_page_is_dark_in_dark_mode(page: Page, url: str) -> None:
    page.dark(True)
    page.open(f"{url}/")
    page.wait("document.querySelector('main .grid') !== null")
    assert page.run("getComputedStyle(document.body).backgroundColor") == "rgb(20, 23, 28)"
    page.dark(False)
    assert page.run("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


def test_records_come_live_and_decoded(broker: odradek.KafkaBroker, page: Page, url: str) -> None:
    broker.produce("t", b"\x00\x00\x00\x00\x07\x54", partition=0)
    page.open(f"{url}/#records/t")
    page.wait(has("0x000000000754"))
    click(page, "Schemas")
    page.wait("document.querySelector('dialog[open]') !== null")
    page.run("document.querySelector('dialog textarea').value = '{'")
    click(page, "Set")
    page.wait("document.querySelector('dialog [role=alert]').innerText.includes('not an Avro schema')")
    forgive(page, 400)
    page.run("document.querySelector('dialog textarea').value = '\"int\"'")
    click(page, "Set")
    page.wait("document.querySelector('dialog').innerText.includes('values: int (avro)')")
    click(page, "Close")
    page.wait(f"!{has('0x000000000754')} && {has('42')}")
    broker.produce("t", b"\x03", partition=0)
    page.wait(has("-2"))
    broker.produce("t", b"\x02more", partition=0)
    page.wait(has("0x026d6f7265"))
    page.run("document.querySelector('main .grid').focus()")
    page.press("Home")
    page.wait(has("does not fit int: 4 bytes are left over"))
    page.press("End")
    page.wait("document.querySelector('.detail .tag').innerText === 'int, id 7'")


def test_page_shows_requests_as_they_come(broker: odradek.KafkaBroker, page: Page, url: str) -> None:
    page.open(f"{url}/#requests")
    page.wait(has("No requests."))
    with WireClient.at(broker.bootstrap_servers, client_id="somebody") as client:
        client.request(ApiVersionsRequest(), 0)
        page.wait(has("somebody"))
        click(page, "Clear")
        page.wait(has("No requests."))
        click(page, "Pause")
        client.request(ApiVersionsRequest(), 0)
        page.wait(has("Go on"))
        click(page, "Go on")
        page.wait(has("somebody"))


def test_a_broker_that_is_gone_and_comes_back_is_told(broker: odradek.KafkaBroker, page: Page) -> None:
    broker.produce("t", "first", partition=0)
    with ControlServer(broker) as server:
        port = int(server.url.rpartition(":")[2])
        page.open(f"{server.url}/#records/t")
        page.wait(has("first"))
    page.wait("document.querySelector('#problem').innerText.includes('does not answer')")
    assert page.run(has("first"))
    assert page.run("document.querySelector('#link').getAttribute('aria-label')") == "not connected"
    broker.produce("t", "second", partition=0)
    with ControlServer(broker, port=port):
        page.wait(f"document.querySelector('#problem').hidden && {has('second')}")
        page.open("about:blank")
    page.told.clear()


def fill_with_a_million(broker: odradek.KafkaBroker) -> None:
    """100 batches of 10,000 records: v0 to v9999 again and again."""
    batch = build_batch([Record(0, 1_700_000_000_000, None, b"v%d" % number, ()) for number in range(10_000)])
    data = [TopicProduceData("t", partition_data=[PartitionProduceData(0, batch)])]
    with WireClient.at(broker.bootstrap_servers) as client:
        for _ in range(100):
            answer = client.request(ProduceRequest(None, -1, 10_000, data), 9)
            assert answer.responses[0].partition_responses[0].error_code == 0


def test_a_million_records_are_looked_at(page: Page) -> None:
    with odradek.KafkaBroker(topics={"t": 1}) as broker, ControlServer(broker) as server:
        fill_with_a_million(broker)
        page.open(f"{server.url}/#records/t")
        page.wait(f"{has('999,999')} && {has('v9999')}")
        page.open(f"{server.url}/#records/t/0/500000")
        page.wait(f"{has('500,000')} && {has('v0')}")
        broker.produce("t", "another")
        page.open(f"{server.url}/#records/t")
        page.wait(f"{has('1,000,000')} && {has('another')}")
        page.open("about:blank")


def test_records_are_decoded_by_the_registry_and_its_requests_are_listed(page: Page) -> None:
    page.told.clear()
    schema = {"schema": '{"type":"record","name":"Order","fields":[{"name":"number","type":"int"}]}'}
    with odradek.KafkaBroker(topics=["orders"], registry=True) as broker, ControlServer(broker) as server:
        registered = ask(broker.schema_registry_url, "POST", "/subjects/orders-value/versions", schema)
        assert registered == (200, {"id": 1})
        broker.produce("orders", b"\x00\x00\x00\x00\x01\x0e")
        page.open(f"{server.url}/#records/orders")
        page.wait(has('{"number":7}'))
        page.open(f"{server.url}/#requests")
        page.wait(has("SchemaRegistry"))
        page.open("about:blank")
    assert page.told == []


VIEWS = (
    "topics/t",
    "records/t",
    "groups/g",
    "transactions",
    "requests",
    "nodes",
    "lab",
    "registry",
    "security",
    "records",
)
OVERFLOW = """[document.documentElement, ...document.querySelectorAll('main .grid :is(.head, .body)')]
  .filter(each => each.scrollWidth > each.clientWidth).map(each => each.parentElement?.ariaLabel ?? 'page')"""
ASKEW = """[...document.querySelectorAll('main .grid')].filter(grid => {
  const left = each => Math.round(each.getBoundingClientRect().left);
  const [cells, heads] = ['.row', '.head'].map(each => [...grid.querySelector(each)?.children ?? []].map(left));
  return cells.length && cells.join() !== heads.join(); }).map(each => each.ariaLabel)"""


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("pixels", [400, 900, 1400])
def test_page_fits_narrow_and_wide_windows(
    broker: odradek.KafkaBroker, page: Page, url: str, pixels: int, dark: bool
) -> None:
    broker.produce_all("t", [json.dumps({"number": each, "text": "long " * 40}) for each in range(50)])
    broker.produce("t", "v", transactional_id="payments-of-a-long-name-" * 4, transaction="open")
    broker.group("g").set_offsets({("t", 0): 3})
    page.width(pixels)
    page.dark(dark)
    for view in VIEWS:
        page.open(f"{url}/#{view}")
        page.wait("document.querySelector('#link').className === 'dot on'")
        page.wait("document.querySelector('main .grid, main .cards') !== null")
        page.run("new Promise(requestAnimationFrame)")
        assert (view, page.run(OVERFLOW), page.run(ASKEW)) == (view, [], [])
    page.width(1200)
    page.dark(False)


def test_everything_is_done_with_the_keyboard_alone(broker: odradek.KafkaBroker, page: Page, url: str) -> None:
    page.open(f"{url}/#topics")
    page.wait(has("Partitions"))

    def tab_to(label: str) -> None:
        for _ in range(40):
            page.press("Tab")
            if page.run("document.activeElement.innerText") == label:
                return
        raise AssertionError(f"no way to {label}")

    tab_to("Create")
    page.press("Enter")
    page.wait("document.activeElement.name === 'name'")
    page.write("made")
    page.press("Enter")
    page.wait(f"location.hash === '#topics/made' && {has('Groups that read it')}")
    tab_to("Produce")
    page.press("Enter")
    page.wait("document.activeElement.name === 'key'")
    page.press("Escape")
    page.wait("document.querySelector('dialog[open]') === null")
    tab_to("Configs")
    page.press("Enter")
    page.wait("document.querySelector('dialog .row') !== null")
    for key in ("End", "Enter"):
        page.press(key)
    page.wait("document.activeElement.name === 'value'")
    page.press("Escape")
    page.press("Escape")
    page.wait("document.querySelector('dialog[open]') === null")
    tab_to("Delete")
    page.press("Enter")
    page.wait("document.querySelector('dialog[open]') !== null")
    page.press("Enter")
    page.wait("document.querySelector('dialog[open]') === null")
    assert "made" not in broker.topics
    page.press("1")
    page.wait("location.hash === '#topics'")


def test_a_topic_is_made_changed_emptied_and_deleted(broker: odradek.KafkaBroker, page: Page, url: str) -> None:
    page.open(f"{url}/#topics")
    page.wait(has("Partitions"))
    click(page, "Create")
    fill(page, name="t")
    refused(page, "already exists", 409)
    fill(page, name="new", partitions=2, config="cleanup.policy=compact\nretention.ms=1000")
    submit(page)
    page.wait(has("retention.ms"))
    assert broker.topic("new").config == {"cleanup.policy": "compact", "retention.ms": "1000"}
    click(page, "Add partitions")
    fill(page, count=3)
    submit(page)
    assert len(broker.topic("new").partitions) == 3
    leader = broker.topic("new").partitions[0].leader
    other = leader % 3 + 1
    click(page, "Reassign")
    fill(page, partition=0, replicas=f"{leader}, {other}")
    submit(page)
    click(page, "Move a leader")
    fill(page, partition=0, node_id=other)
    submit(page)
    assert broker.topic("new").partitions[0].leader == other
    click(page, "Configs")
    page.wait("document.querySelector('dialog .row')?.innerText === 'cleanup.policy\\ncompact\\nset here'")
    page.run("document.querySelector('dialog .row').click()")
    page.run(
        "[...document.querySelectorAll('dialog button')].find(each => each.innerText === 'Take the default').click()"
    )
    page.wait("document.querySelectorAll('dialog[open]').length === 2")
    submit(page, open=1)
    assert broker.topic("new").config == {"retention.ms": "1000"}
    page.press("Escape")
    broker.produce_all("t", ["a", "b"])
    choose(page, "t")
    click(page, "Delete records")
    submit(page)
    assert list(broker.records("t")) == []
    click(page, "Delete")
    submit(page)
    page.wait(has("No topic chosen."))
    assert list(broker.topics) == ["new"]


def test_page_produces_records(broker: odradek.KafkaBroker, page: Page, url: str) -> None:
    page.open(f"{url}/#records/t")
    page.wait(has("No records."))
    click(page, "Produce")
    fill(page, key="k", value='{"a": 1}', headers="h=1=2\ni=3", partition=1, timestamp="2026-01-02T03:04:05")
    submit(page)
    page.wait(has('{"a": 1}'))
    click(page, "Produce")
    fill(page, key="k", tombstone=True)
    submit(page)
    page.wait(has("null"))
    first, second = sorted(broker.records("t"), key=lambda each: each.value is None)
    assert (first.partition, first.key, first.value, first.timestamp) == (1, b"k", b'{"a": 1}', 1_767_323_045_000)
    assert list(first.headers) == [("h", b"1=2"), ("i", b"3")]
    assert second.value is None


def test_one_pages_through_all_partitions(broker: odradek.KafkaBroker, page: Page, url: str) -> None:
    for partition, number in ((0, 1000), (1, 40)):
        broker.produce_all(
            "t", [odradek.ProducerRecord(f"{partition}-{each}", partition=partition) for each in range(number)]
        )
    page.open(f"{url}/#records/t")
    page.wait(has("1-39"))
    click(page, "Older")
    page.wait("location.hash.startsWith('#records/t//')")
    page.wait(f"{has('1-')} || {has('0-')}")
    offsets = page.run("decodeURIComponent(location.hash.split('/').at(-1))").split(",")
    assert len(offsets) == 2
    assert 700 <= int(offsets[0]) < 1000
    assert int(offsets[1]) == 0
    click(page, "Older")
    page.wait(f"decodeURIComponent(location.hash.split('/').at(-1)) !== {','.join(offsets)!r}")
    before = page.run("decodeURIComponent(location.hash.split('/').at(-1))").split(",")
    assert int(before[0]) == int(offsets[0]) - 100
    page.wait(has(f"0-{before[0]}"))
    click(page, "Newer")
    page.wait(f"Number(decodeURIComponent(location.hash.split('/').at(-1)).split(',')[0]) > {before[0]}")
    page.wait(f"document.querySelectorAll('main .row').length > 0 && !{has('0-' + before[0])}")


def test_records_are_found_by_time_and_text(broker: odradek.KafkaBroker, page: Page, url: str) -> None:
    start = 1_767_323_000_000
    broker.produce_all(
        "t",
        [odradek.ProducerRecord(f"v{each}", partition=each % 2, timestamp=start + each * 1000) for each in range(3000)],
    )
    page.open(f"{url}/#records/t")
    page.wait(has("v2999"))
    page.run("document.querySelector('[aria-label=Filter]').value = 'V1234'")
    click(page, "Search all")
    page.wait(has("1 found in all 3,000 records"))
    assert column(page, 4) == ["v1234"]
    page.run("const box = document.querySelector('[aria-label=Filter]'); box.value = 'v'; box.focus()")
    page.press("Enter")
    page.wait(has("the first 500 are shown"))
    page.run(
        "const at = document.querySelector('[type=datetime-local]'); at.value = '2026-01-02T03:04:00'; at.onchange?.();"
        "at.dispatchEvent(new Event('change'))"
    )
    page.wait("decodeURIComponent(location.hash) === '#records/t//20,20'")
    page.wait(has("v40"))
    assert not page.run(has("v39"))


def test_rows_are_sorted_copied_and_downloaded(broker: odradek.KafkaBroker, page: Page, url: str) -> None:
    broker.produce_all("t", [odradek.ProducerRecord(each, partition=0) for each in ("a", "b", "c")])
    page.open(f"{url}/#records/t/0/0")
    page.wait("document.querySelectorAll('main .row').length === 3")
    page.run("document.querySelector('main .grid').focus()")
    assert column(page, 1) == ["0", "1", "2"]
    for expected in (["0", "1", "2"], ["0", "1", "2"], ["0", "1", "2"], ["2", "1", "0"]):  # by partition, by offset
        page.press("s")
        assert column(page, 1) == expected
    assert page.run("document.querySelector('[aria-sort=descending]').innerText") == "Offset ↓"
    page.run("navigator.clipboard.writeText = async text => { window.copied = text }")
    page.press("Home")
    page.press("c")
    assert json.loads(page.run("window.copied"))["value"] == "c"
    click(page, "Copy")
    assert page.run("window.copied") == "c"
    page.run("URL.createObjectURL = blob => { window.made = blob; return '#records/t/0/0' }")
    click(page, "Download")
    lines = page.run("window.made.text()").splitlines()
    assert [json.loads(each)["value"] for each in lines] == ["c", "b", "a"]
    page.run("window.made = undefined")
    click(page, "Download all")
    page.wait("window.made !== undefined")
    lines = page.run("window.made.text()").splitlines()
    assert [json.loads(each)["value"] for each in lines] == ["a", "b", "c"]


def test_topics_are_sorted_by_the_broker(broker: odradek.KafkaBroker, page: Page, url: str) -> None:
    broker.create_topic("a")
    broker.produce("t", "v")
    page.open(f"{url}/#topics")
    page.wait("document.querySelectorAll('main .grid .row').length > 1")
    assert column(page, 0)[:2] == ["a", "t"]
    for expected in (["a", "t"], ["t", "a"]):
        click(page, "Records" if expected[0] == "a" else "Records ↑")
        page.wait(f"document.querySelectorAll('main .grid .row')[0].innerText.startsWith({expected[0]!r})")
        assert column(page, 0)[:2] == expected


def test_offsets_are_reset_and_a_group_is_deleted(broker: odradek.KafkaBroker, page: Page, url: str) -> None:
    broker.produce_all("t", [odradek.ProducerRecord("v", partition=each % 2) for each in range(10)])
    broker.group("g").set_offsets({("t", 0): 1})
    page.open(f"{url}/#groups/g")
    page.wait(has("t-0"))
    click(page, "Reset offsets")
    fill(page, topic="t", to="the end")
    submit(page)
    assert {place: each.offset for place, each in broker.group("g").offsets.items()} == {("t", 0): 5, ("t", 1): 5}
    click(page, "Reset offsets")
    fill(page, topic="t", partition=1, to="an offset")
    refused(page, "Which offset?")
    fill(page, offset=2)
    submit(page)
    rows = "[...document.querySelectorAll('[aria-label=Offsets] .row')].map(each => each.innerText).join('|')"
    page.wait(f"{rows} === 't-0\\n5\\n5\\n0|t-1\\n2\\n5\\n3'")
    page.open(f"{url}/#topics/t")
    page.wait(has("Groups that read it"))
    page.wait("document.querySelector('[aria-label=Groups] .row')?.innerText.startsWith('g')")
    page.open(f"{url}/#groups/g")
    page.wait(has("t-0"))
    click(page, "Delete")
    submit(page)
    page.wait(has("No group chosen."))
    assert broker.groups == {}


def test_a_request_is_shown_with_its_answer(broker: odradek.KafkaBroker, page: Page, url: str) -> None:
    with WireClient.at(broker.bootstrap_servers, client_id="somebody") as client:
        client.request(ApiVersionsRequest("odd", "1"), 3)
    page.open(f"{url}/#requests")
    choose(page, "ApiVersions")
    page.wait(has('"clientSoftwareName": "odd"'))
    page.wait(has('"throttleTimeMs": 0'))


def test_schemas_are_registered_compared_and_used(page: Page) -> None:
    page.told.clear()
    with odradek.KafkaBroker(topics=["orders"], registry=True) as broker, ControlServer(broker) as server:
        page.open(f"{server.url}/#registry")
        page.wait(has("No subjects."))
        field = {"name": "number", "type": "int"}
        schema = {"type": "record", "name": "Order", "fields": [field]}
        click(page, "Register")
        fill(page, subject="orders-value", schema=json.dumps(schema))
        submit(page)
        choose(page, "orders-value")
        page.wait(has('"Order"'))
        click(page, "New version")
        fill(page, schema=json.dumps({**schema, "fields": [field, {"name": "item", "type": "string", "default": ""}]}))
        submit(page)
        page.wait("document.querySelector('[aria-label=Version]').length === 2")
        page.run(
            "const other = document.querySelector('[aria-label=\"Compared with\"]'); other.value = '1';"
            "other.dispatchEvent(new Event('change'))"
        )
        added = page.run("[...document.querySelectorAll('pre .good')].map(each => each.innerText.trim())")
        assert added == [
            "+     },",
            "+     {",
            '+       "name": "item",',
            '+       "type": "string",',
            '+       "default": ""',
        ]
        assert page.run("document.querySelectorAll('pre .bad').length") == 0
        page.open(f"{server.url}/#records/orders")
        page.wait(has("No records."))
        click(page, "Produce")
        fill(page, value='{"numer": 7}', value_schema=1)
        refused(page, "does not fit Order", 400)
        fill(page, value='{"number": 7}')
        submit(page)
        page.wait(has('{"number":7}'))
        assert [each.value for each in broker.records("orders")] == [b"\0\0\0\0\x01\x0e"]
        page.open(f"{server.url}/#registry/orders-value")
        page.wait(has('"Order"'))
        click(page, "Delete")
        fill(page, permanent=True)
        submit(page)
        page.wait(has("No subjects."))
        page.open("about:blank")
    assert page.told == []


def test_users_and_acls_are_made_and_removed(page: Page) -> None:
    page.told.clear()
    security = odradek.Security(users={"admin": "pw"}, super_users=["admin"], mechanisms=["SCRAM-SHA-256"])
    with odradek.KafkaBroker(topics=["t"], security=security) as broker, ControlServer(broker) as server:
        page.open(f"{server.url}/#security")
        page.wait(has("No ACLs."))
        page.run("document.querySelector('[aria-label=\"Add: user\"]').click()")
        fill(page, name="alice", password="wonder")
        submit(page)
        page.wait(has("alice"))
        page.run("document.querySelector('[aria-label=\"Add: acl\"]').click()")
        fill(page, principal="User:alice", operation="4", resourceType="2", resourceName="t")
        submit(page)
        page.wait(
            "document.querySelector('[aria-label=ACLs] .row')?.innerText === 'User:alice\\nyes\\nWrite\\ntopic\\nt\\n*'"
        )
        from confluent_kafka import Producer

        producer = Producer({**broker.client_config("admin"), "sasl.username": "alice", "sasl.password": "wonder"})
        producer.produce("t", "v", partition=0)
        assert producer.flush(30) == 0
        assert [each.value for each in broker.records("t")] == [b"v"]
        for text in ("User:alice", "alice"):
            choose(page, text)
            page.run("document.activeElement.blur()")
            page.run(
                f"[...document.querySelectorAll('main .grid')].find(each => each.innerText.includes({text!r})).focus()"
            )
            page.press("Delete")
            page.wait("document.querySelector('dialog[open]') !== null")
            submit(page)
        page.wait(f"!{has('alice')}")
        page.open("about:blank")
    assert page.told == []


def test_quotas_are_set_and_removed(url: str, page: Page) -> None:
    page.open(f"{url}/#security")
    page.wait(has("No quotas."))
    page.run("document.querySelector('[aria-label=\"Add: quota\"]').click()")
    fill(page, user="alice", key="producer_byte_rate", value=1024)
    submit(page)
    page.wait(has("user alice"))
    choose(page, "user alice")
    page.run("document.activeElement.blur()")
    page.run("document.querySelector('[aria-label=Quotas]').focus()")
    page.press("Delete")
    page.wait("document.querySelector('dialog[open]') !== null")
    submit(page)
    page.wait(has("No quotas."))


def test_an_open_transaction_is_aborted(broker: odradek.KafkaBroker, url: str, page: Page) -> None:
    broker.create_topic("tills")
    broker.produce("tills", "v", transactional_id="till-9", transaction="open")
    page.open(f"{url}/#transactions")
    choose(page, "till-9")
    click(page, "Abort")
    submit(page)
    forgive(page, 409)
    page.wait(has("CompleteAbort"))
    assert broker.transactions["till-9"].state == "CompleteAbort"
    assert broker.records("tills", isolation="read_committed") == []


def test_hostile_names_are_text_in_every_view(page: Page) -> None:
    page.told.clear()
    evil = "<img src=x onerror=\"document.title='owned'\">"
    security = odradek.Security(users={"admin": "pw"}, super_users=["admin", "ANONYMOUS"])
    with (
        odradek.KafkaBroker(topics=["t"], registry=True, security=security) as broker,
        ControlServer(broker) as server,
    ):
        broker.produce("t", evil, key=evil, headers={evil: evil}, transactional_id=evil, transaction="open")
        broker.group(evil).set_offsets({("t", 0): 0})
        broker.set_faults(odradek.Fault("Produce", topic=evil, delay_ms=1))
        told = Console(broker.cluster, broker._look)
        told.registry(
            "POST",
            f"/subjects/{quote(evil, safe='')}/versions",
            {"schema": json.dumps({"type": "string", "doc": evil})},
        )
        acl = {
            "resourceType": 2,
            "resourceName": evil,
            "resourcePatternType": 3,
            "principal": f"User:{evil}",
            "host": "*",
        }
        told.admin("CreateAcls", {"creations": [{**acl, "operation": 3, "permissionType": 3}]})
        for view in (
            "topics/t",
            "records/t",
            f"groups/{quote(evil)}",
            "transactions",
            "requests",
            "lab",
            f"registry/{quote(evil)}",
            "security",
        ):
            page.open(f"{server.url}/#{view}")
            page.wait(
                has("<img src=x")
                if view not in ("topics/t", "requests")
                else has("Answer" if view == "requests" else "Groups that read it")
            )
            page.run("new Promise(requestAnimationFrame)")
            if view.startswith("groups"):
                click(page, "Reset offsets")
                page.wait("document.querySelector('dialog[open]').innerText.includes('<img src=x')")
            assert (page.run("document.images.length"), page.run("document.title")) == (0, "odradek")
        page.open("about:blank")
    assert page.told == []
