"""What the page in the browser asks for besides the broker's verbs: Kafka's admin requests, the registry, messages."""

from __future__ import annotations

import base64
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYetError
from copy import copy
from typing import TYPE_CHECKING, Any, Literal

from odradek.broker.faults.fault import FaultSet
from odradek.broker.requests.context import CloseConnection, ConnectionInfo, RequestContext
from odradek.broker.requests.handlers import LONG_BYTES
from odradek.broker.requests.parked_request import Parked, is_coroutine, response_of
from odradek.broker.requests.request_log import problems_of
from odradek.broker.security.authorizer import Authorizer
from odradek.broker.security.principal import ANONYMOUS
from odradek.protocol.apis import API_BY_NAME
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.json_form import from_json, to_json
from odradek.protocol.message_codec import codec

if TYPE_CHECKING:
    from odradek.broker.cluster import Cluster
    from odradek.broker.facade.thread_bridge import Call
    from odradek.broker.schemas.record_schemas import Part
    from odradek.protocol.apis import ApiSpec
    from odradek.protocol.message import ApiMessage

AdminApi = Literal[
    "AlterClientQuotas",
    "AlterUserScramCredentials",
    "CreateAcls",
    "CreatePartitions",
    "DeleteAcls",
    "DeleteGroups",
    "DescribeAcls",
    "DescribeClientQuotas",
    "DescribeConfigs",
    "DescribeUserScramCredentials",
    "IncrementalAlterConfigs",
    "InitProducerId",
    "ListOffsets",
    "OffsetDelete",
]
"""The requests of an admin client that `Console.admin` takes: what no verb of the broker does."""
_PATIENCE_S = 30


class Console:
    """Operations of the page; the control API serves them to others, too."""

    def __init__(self, cluster: Cluster, look: Call) -> None:
        self._cluster = cluster
        self._look = look

    def admin(self, api: AdminApi, body: dict[str, Any], *, node: int | None = None) -> dict[str, Any]:
        """Answer a request of Kafka's protocol, as JSON in the form of Kafka's own tools and of `odradek decode`.

        The request has the newest version. It needs no rights, meets no fault, and is in no transcript. ``node``: which
        one is asked; by default the first that is up. Raises ProtocolError for a body of another shape, ValueError for
        a request above 16 KiB, KafkaError for the first error in the answer, or if the node is not up
        (BROKER_NOT_AVAILABLE), TimeoutError after 30 seconds.
        """
        spec = API_BY_NAME[api]
        version = spec.request.MAX_VERSION
        request = from_json(spec.request, version, body)
        if (size := len(codec(spec.request, version).encode(request))) > LONG_BYTES:
            raise ValueError(f"{api} of {size} bytes: at most {LONG_BYTES} are answered here")
        answer: Future[Any] = Future()
        try:
            self._look(lambda: self._begin(spec, request, node, answer))
            found = answer.result(_PATIENCE_S)
        except NotYetError:
            raise TimeoutError(f"no answer to {api} after {_PATIENCE_S} s") from None
        except CloseConnection as closed:
            raise KafkaError(ErrorCode.BROKER_NOT_AVAILABLE, f"the node closes the connection: {closed}") from None

        for code, text in problems_of(found):
            raise KafkaError(ErrorCode(code), text)
        return to_json(found, spec.response.MAX_VERSION)

    def _begin(self, spec: ApiSpec, request: ApiMessage, node_id: int | None, answer: Future[Any]) -> None:
        """In the broker's thread."""
        up = {each.id: each for each in self._cluster.up_nodes()}
        node = next(iter(up.values()), None) if node_id is None else up.get(node_id)
        services = copy(self._cluster.services)
        if services.authorizer is not None or services.controller_authorizer is not None:
            services.authorizer = services.controller_authorizer = Authorizer([ANONYMOUS])
        handler = None if node is None else services.handlers(node).find(spec.key)
        if node is None or handler is None:
            raise KafkaError(ErrorCode.BROKER_NOT_AVAILABLE, f"no node that answers {spec.name} is up")
        context = RequestContext(services, node, ConnectionInfo(), spec.key, spec.request.MAX_VERSION, 0, "odradek")
        found = handler.function(context, request)
        if is_coroutine(found) or isinstance(found, Parked):
            self._cluster.start(self._finish, found, answer)
        else:
            answer.set_result(found)

    async def _finish(self, found: Any, answer: Future[Any]) -> None:
        try:
            answer.set_result(await response_of(found, self._cluster.clock))
        except Exception as error:
            answer.set_exception(error)

    def registry(self, method: Literal["GET", "POST", "PUT", "DELETE"], path: str, body: Any = None) -> Any:
        """The answer of the schema registry that runs with the broker, also while it is stopped. In no transcript.

        ``path`` is one of its REST API, such as ``/subjects?deleted=true``. Raises RuntimeError without a registry, or
        with what it refuses.
        """
        registry = self._cluster.schema_registry
        if registry is None:
            raise RuntimeError("there is no schema registry: start the broker with registry=True, or --registry-port")
        return registry.ask(method, path, body)

    def encode(self, topic: str, data: Any, schema_id: int, *, part: Part = "value") -> dict[str, str]:
        """JSON as the bytes that a serializer writes by a registered schema, as ``{"base64": ...}``.

        Raises ValueError if there is no such schema, or the data do not fit it.
        """
        encoded = self._cluster.record_schemas.encoded(topic, part, schema_id, data)
        return {"base64": base64.b64encode(encoded).decode()}

    def messages(self, request: dict[str, Any]) -> dict[str, Any]:
        """The ``request`` and the ``response`` of a request that the transcript listed, as JSON; null for what was not
        kept. Raises ValueError for another object.
        """
        import json

        from odradek.broker.transcript.json_lines import parse_lines

        [[recorded], _] = parse_lines([json.dumps(request)])
        both = {"request": recorded.request, "response": recorded.response}
        return {
            name: None if each is None else to_json(each, min(recorded.version, each.MAX_VERSION), record_sizes=True)
            for name, each in both.items()
        }

    def remove_fault(self, fault: int) -> None:
        """Remove a fault, by its place in ``faults``; ValueError if there is none."""

        def remove() -> None:
            faults = self._cluster.dispatcher.faults
            left = list(faults.faults) if isinstance(faults, FaultSet) else []
            if not 0 <= fault < len(left):
                raise ValueError(f"there is no fault {fault}: {len(left)} are set, counted from 0")
            del left[fault]
            self._cluster.set_faults(left)

        self._look(remove)
