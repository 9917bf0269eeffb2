"""Whole runs inside a transaction: taking one in, taking old ones away."""

from collections.abc import Collection

from chargehand.adapters.export import Exported
from chargehand.adapters.fence import Sealed
from chargehand.adapters.sqlite.transaction import Transaction
from chargehand.domain.records import FINAL, Batch, Pruned, RunStatus
from chargehand.errors import RunExists


def take_in(transaction: Transaction, exported: Exported) -> str:
    """Writes an exported run; raises RunExists."""
    run = exported.head.run
    if transaction.head(run) is not None:
        raise RunExists(run)
    batch = Batch(first_seq=1, entries=(), blobs=exported.blobs)
    transaction.add(run, exported.events, Sealed(batch, [], list(exported.blobs)))
    transaction.put_head(exported.head)
    for message in exported.messages:
        transaction.put_mail(run, message.at, message.by, message.kind, message.body)
    return run


def prune(transaction: Transaction, before: float, status: Collection[RunStatus] | None) -> Pruned:
    """Deletes finished runs that did not change since a time, and the values that only they used."""
    transaction.write()
    db = transaction.db
    ended = sorted(FINAL.intersection(FINAL if status is None else status))
    marks = ", ".join("?" for _ in ended)
    db.execute("create temp table if not exists pruned(run text primary key)")
    db.execute("delete from temp.pruned")
    db.execute(
        f"insert into temp.pruned select run from heads where changed < ? and driver is null and status in ({marks})",
        (before, *ended),
    )
    gone = {table: _delete(transaction, table) for table in ("heads", "events", "inbox", "uses")}
    unused = "delete from blobs where not exists (select 1 from uses where uses.hash = blobs.hash)"
    return Pruned(runs=gone["heads"], events=gone["events"], blobs=db.execute(unused).rowcount)


def _delete(transaction: Transaction, table: str) -> int:
    return transaction.db.execute(f"delete from {table} where run in (select run from temp.pruned)").rowcount
