"""The page in a real browser."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import odradek
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
    broker.set_offsets("shipping", {("t", 0): 0})
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
    page.run("document.querySelector('[name=api]').value = 'Produc'")
    click(page, "Add")
    page.wait("document.querySelector('#problem').innerText.includes(\"did you mean 'Produce'\")")
    page.run("document.querySelector('[name=api]').value = 'Produce'")
    page.run("document.querySelector('[name=answer]').value = 'NOT_LEADER_OR_FOLLOWER'")
    click(page, "Add")
    page.wait(has("NOT_LEADER_OR_FOLLOWER"))
    assert broker.clock.now_ms() == before + 3_600_000
    assert [each.answer for each in broker.faults] == [odradek.ErrorCode.NOT_LEADER_OR_FOLLOWER]
    click(page, "Clear all")
    page.wait(has("No faults are set."))
    click(page, "Resume")
    page.wait(f"!{has('frozen')}")
    page.told[:] = [each for each in page.told if "400" not in str(each)]


def test_nodes_join_and_leave(broker: odradek.KafkaBroker, page: Page, url: str) -> None:
    page.open(f"{url}/#nodes")
    page.wait(has("Node 3"))
    click(page, "Add a node")
    page.wait(has("Node 4"))
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


def test_dark_mode_is_dark(page: Page, url: str) -> None:
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
    page.told[:] = [each for each in page.told if "400" not in str(each)]


def test_requests_come_live(broker: odradek.KafkaBroker, page: Page, url: str) -> None:
    page.open(f"{url}/#requests")
    page.wait(has("No requests."))
    host, _, port = broker.bootstrap_servers.partition(",")[0].rpartition(":")
    with WireClient(host, int(port), client_id="somebody") as client:
        client.request(ApiVersionsRequest(), 0)
        page.wait(has("somebody"))
        click(page, "Forget")
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
    host, _, port = broker.bootstrap_servers.partition(":")
    with WireClient(host, int(port)) as client:
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
