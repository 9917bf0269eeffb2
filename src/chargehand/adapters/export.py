"""One run as one file: JSON lines with its head, events, values and waiting mail, sealed by a hash of all of it."""

import base64
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Annotated, Any, Literal, cast

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, TypeAdapter, ValidationError

from chargehand.adapters.audit import audit
from chargehand.adapters.fence import Pages, post
from chargehand.adapters.sealing import Sealed, actions_of
from chargehand.adapters.standing import Standing
from chargehand.domain.records import Batch, Head, Message, Recorded, RunStatus, blobs_in
from chargehand.errors import JournalUnusable, RunExists

FORMAT = 1


@dataclass(frozen=True, slots=True)
class Exported:
    """What a file holds. The head names no driver: whoever takes the run in may claim it."""

    head: Head
    events: list[Recorded]
    blobs: Mapping[str, bytes]
    messages: list[Message]


_Whole = Annotated[int, Field(ge=-(2**63), lt=2**63)]  # what a table can hold


class _Line(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class _HeadLine(_Line):
    line: Literal["head"]
    format: _Whole
    run: str
    epoch: _Whole
    seq: _Whole
    chain: str
    driver: None
    status: RunStatus
    wake_at: FiniteFloat | None
    created: FiniteFloat
    changed: FiniteFloat
    parent: str | None
    origin: str
    goal: str
    tenant: str
    priority: _Whole


class _EventLine(_Line):
    line: Literal["event"]
    seq: _Whole
    at: FiniteFloat
    by: str
    kind: str
    body: str
    chain: str


class _BlobLine(_Line):
    line: Literal["blob"]
    hash: str
    body: str


class _MailLine(_Line):
    line: Literal["mail"]
    at: FiniteFloat
    by: str
    kind: str
    body: str


class _EndLine(_Line):
    line: Literal["end"]
    sha256: str


_AnyLine = Annotated[_HeadLine | _EventLine | _BlobLine | _MailLine | _EndLine, Field(discriminator="line")]
_lines: TypeAdapter[_AnyLine] = TypeAdapter(_AnyLine)


def write_export(exported: Exported) -> bytes:
    """The file of a run."""
    body = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in _write_lines(exported)).encode()
    end = {"line": "end", "sha256": hashlib.sha256(body).hexdigest()}
    return body + json.dumps(end).encode() + b"\n"


def _write_lines(exported: Exported) -> Iterator[dict[str, object]]:
    head = asdict(exported.head) | {"chain": exported.head.chain.hex(), "driver": None}
    yield {"line": "head", "format": FORMAT, **head}
    for event in exported.events:
        fields = asdict(event) | {"chain": event.chain.hex()}
        del fields["run"]
        yield {"line": "event", **fields}
    for hash, body in exported.blobs.items():
        yield {"line": "blob", "hash": hash, "body": base64.b64encode(body).decode()}
    for message in exported.messages:
        yield {"line": "mail", "at": message.at, "by": message.by, "kind": message.kind, "body": message.body}


def read_export(file: bytes) -> Exported:
    """What a file holds; raises JournalUnusable if it is not whole, was changed, or is from a newer version."""
    body, _, end = file.rstrip(b"\n").rpartition(b"\n")
    last = _read_line(end)
    if not isinstance(last, _EndLine) or last.sha256 != hashlib.sha256(body + b"\n").hexdigest():
        raise _refused("it is cut off, or was changed")
    lines = [_read_line(line) for line in body.split(b"\n")]
    head = lines[0]
    if not isinstance(head, _HeadLine):
        raise _refused("it does not begin with the head of a run")
    exported = _gather(head, lines[1:])
    problems = audit(exported.head, exported.events, exported.blobs.get)
    if problems:
        raise _refused(problems[0].message)
    return exported


def _gather(line: _HeadLine, lines: Iterable[_AnyLine]) -> Exported:
    fields: dict[str, Any] = line.model_dump(exclude={"line", "format"})
    fields["chain"] = _unhex(line.chain)
    exported = Exported(Head(**fields), [], blobs := dict[str, bytes](), [])
    for each in lines:
        match each:
            case _EventLine():
                event = Recorded(line.run, each.seq, each.at, each.by, each.kind, each.body, _unhex(each.chain))
                exported.events.append(event)
            case _BlobLine():
                blobs[each.hash] = _unbase64(each.body)
            case _MailLine():
                exported.messages.append(Message(0, line.run, each.at, each.by, each.kind, each.body))
            case _HeadLine() | _EndLine():
                raise _refused(f"a second {each.line} stands in it")
    return exported


def _read_line(line: bytes) -> _AnyLine:
    try:
        fields: object = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise _refused("a line of it is not JSON") from error
    version = cast(dict[str, object], fields).get("format", FORMAT) if isinstance(fields, dict) else FORMAT
    if isinstance(version, int) and version > FORMAT:
        raise _refused(f"it has format {version}, and this Chargehand reads up to {FORMAT}: update Chargehand")
    try:
        return _lines.validate_python(fields)
    except ValidationError as error:
        raise _refused("a line of it has the wrong form") from error


def _unhex(text: str) -> bytes:
    try:
        return bytes.fromhex(text)
    except ValueError as error:
        raise _refused("a hash in it is not one") from error


def _unbase64(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except ValueError as error:
        raise _refused("a value in it is not base64") from error


def _refused(why: str) -> JournalUnusable:
    hint = "Export the run again from the journal that it is in."
    return JournalUnusable(f"this file is no run that can be taken in: {why}", hint=hint)


def take_in(pages: Pages, exported: Exported) -> str:
    """Puts an exported run into a store and gives its id; raises RunExists."""
    head, events = exported.head, exported.events
    if pages.standing(head.run) is not None:
        raise RunExists(head.run)
    batch = Batch(first_seq=1, entries=(), blobs=exported.blobs)
    sealed = Sealed(batch, [], [*exported.blobs], actions_of((event.seq, event.body) for event in events))
    rows = [(one.run, one.seq, one.at, one.by, one.kind, one.body, one.chain) for one in events]
    pages.add(Standing(head, turned=True), rows, sealed)
    for message in exported.messages:
        post(pages, message)
    return head.run


def needed_blobs(events: Iterable[Recorded]) -> list[str]:
    """The hashes that events refer to, each once, in order."""
    return list(dict.fromkeys(hash for event in events for hash in blobs_in(event.body)))
