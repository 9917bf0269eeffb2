"""A head while it moves."""

from chargehand.domain.records import Head


class Standing:
    """Where a run stands, for whoever writes to it. An append moves it in place: making a head for each would take
    longer than all the rest of the append."""

    __slots__ = ("chain", "changed", "head", "seq", "turned")

    def __init__(self, head: Head, *, turned: bool) -> None:
        """`turned`: more than its place has changed since the store last heard of it."""
        self.head, self.turned = head, turned
        self.seq, self.chain, self.changed = head.seq, head.chain, head.changed

    def now(self) -> Head:
        """The head as it has become."""
        if self.head.seq != self.seq:
            self.head = self.head.moved(self.seq, self.chain, self.changed)
        return self.head

    def turn(self, head: Head) -> None:
        """Takes on a head that has changed in any way."""
        before = self.head
        self.turned = self.turned or (before.epoch, before.driver, before.status, before.wake_at) != (
            head.epoch,
            head.driver,
            head.status,
            head.wake_at,
        )
        self.head = head
        self.seq, self.chain, self.changed = head.seq, head.chain, head.changed
