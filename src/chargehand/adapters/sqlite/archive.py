"""Taking old runs away, inside a transaction."""

from collections.abc import Collection

from chargehand.adapters.sqlite.transaction import Transaction
from chargehand.domain.records import FINAL, Pruned, RunStatus


def prune(transaction: Transaction, before: float, status: Collection[RunStatus] | None) -> Pruned:
    """Deletes finished runs that did not change since a time, and the values that only they used. A run, its children
    and its forks go together: what one of them did must not be done again by another."""
    transaction.write()
    transaction.forget()
    db = transaction.db
    ended = sorted(FINAL.intersection(FINAL if status is None else status))
    marks = ", ".join("?" for _ in ended)
    db.execute("create temp table if not exists pruned(run text primary key, origin text not null)")
    db.execute("delete from temp.pruned")
    old = f"changed < ? and driver is null and status in ({marks})"
    db.execute(
        f"insert into temp.pruned select run, origin from heads"
        f" where {old} and origin not in (select origin from heads where not ({old}))",
        (before, *ended, before, *ended),
    )
    gone = {table: _delete(transaction, table) for table in ("heads", "events", "inbox", "uses")}
    # Its key begins with the origin.
    db.execute("delete from intents where (origin, run) in (select origin, run from temp.pruned)")
    unused = "delete from blobs where not exists (select 1 from uses where uses.hash = blobs.hash)"
    return Pruned(runs=gone["heads"], events=gone["events"], blobs=db.execute(unused).rowcount)


def _delete(transaction: Transaction, table: str) -> int:
    return transaction.db.execute(f"delete from {table} where run in (select run from temp.pruned)").rowcount
