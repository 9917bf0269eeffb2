"""Values, verification, and whole runs."""

from chargehand.domain.records import RunStatus
from chargehand.errors import JournalUnusable, RunExists
from chargehand.testing.journals.scenes import (
    Place,
    action,
    batch,
    entry,
    opening,
    refused,
    resealed,
    run_to_end,
    start,
    value,
)


class ArchiveConformance:
    def test_a_value_is_kept_once_and_found_by_its_hash(self, place: Place) -> None:
        async def scene() -> None:
            journal = place()
            hash, body = value("a large value")
            for run in ("one", "two"):
                claim = await start(journal, run)
                journal.append(claim, batch(2, entry(output={"#": hash}), blobs={hash: body}))
                await journal.barrier(claim, 2)

            assert journal.blob(hash) == body
            assert journal.verify("one") == journal.verify("two") == []
            with refused(KeyError):
                journal.blob("0" * 64)

        run_to_end(scene())

    def test_a_missing_value_shows(self, place: Place) -> None:
        async def scene() -> None:
            journal = place()
            claim = await start(journal)
            journal.append(claim, batch(2, entry(output={"#": "0" * 64})))
            await journal.barrier(claim, 2)

            assert [(problem.kind, problem.seq) for problem in journal.verify("run")] == [("blob missing", 2)]

        run_to_end(scene())

    def test_an_exported_run_can_be_taken_in_elsewhere(self, place: Place) -> None:
        async def scene() -> None:
            journal = place()
            hash, body = value("größe")
            claim = await journal.create(opening(at=3.0, tenant="acme"), batch(1, entry("début", at=3.25)))
            journal.append(claim, batch(2, entry(output={"#": hash}), blobs={hash: body}))
            journal.append(claim, batch(3, entry("over"), status="done"))
            journal.post("run", at=9.0, by="ann", kind="guide", body="{}")
            before, head, file = journal.read("run"), journal.head("run"), journal.export("run")

            with refused(RunExists):
                journal.import_(file)
            assert journal.prune(before=100.0).runs == 1
            assert journal.import_(file) == "run"

            assert (journal.read("run"), journal.head("run"), journal.blob(hash)) == (before, head, body)
            assert [message.by for message in journal.inbox("run")] == ["ann"]
            assert journal.verify("run") == []

        run_to_end(scene())

    def test_actions_leave_with_a_pruned_run_and_come_with_an_imported_one(self, place: Place) -> None:
        async def scene() -> None:
            journal = place()
            pay = action("pay")
            for run in ("first", "fork"):
                claim = await start(journal, run, origin="first", wake_at=4.0)
                journal.append(claim, batch(2, entry("intent", action=pay), status="done"))
            journal.flush()
            file = journal.export("fork")

            assert journal.prune(before=100.0).runs == 2
            assert journal.intents("first", pay) == []
            journal.import_(file)
            assert journal.intents("first", pay) == [("fork", 2)]

        run_to_end(scene())

    def test_a_family_is_pruned_together_or_not_at_all(self, place: Place) -> None:
        """What one of them did must not be forgotten while another may come to do the same."""

        async def scene() -> None:
            journal = place()
            pay = action("pay")
            first = await start(journal, "first", origin="first")
            journal.append(first, batch(2, entry("intent", action=pay), status="done"))
            fork = await start(journal, "fork", origin="first")
            other = await start(journal, "other")
            journal.append(other, batch(2, entry("paid"), status="done"))
            journal.flush()

            assert journal.prune(before=100.0).runs == 1
            assert journal.intents("first", pay) == [("first", 2)]
            journal.append(fork, batch(2, entry("paid"), status="failed"))
            journal.flush()
            assert journal.prune(before=100.0, status=["done"]).runs == 0
            assert journal.prune(before=100.0).runs == 2

        run_to_end(scene())

    def test_a_changed_file_is_not_taken_in(self, place: Place) -> None:
        async def scene() -> None:
            journal = place()
            claim = await start(journal)
            journal.append(claim, batch(2, entry("paid", amount=100), status="done"))
            journal.flush()
            file = journal.export("run")
            journal.prune(before=100.0)
            newer = file.replace(b'"format": 1', b'"format": 9')

            changed = [b"", b"\n\n", file[:-20], file.replace(b"100", b"999"), b"\x00" + file, file + file]
            changed += [resealed(file.replace(b"100", b"999")), resealed(file.replace(b'"seq": 2', b'"seq": 3', 1))]
            for bad in changed:
                with refused(JournalUnusable, "taken in"):
                    journal.import_(bad)
            with refused(JournalUnusable, "format 9"):
                journal.import_(resealed(newer))
            assert journal.heads() == []

        run_to_end(scene())

    def test_prune_takes_old_finished_runs_and_the_values_that_only_they_used(self, place: Place) -> None:
        async def scene() -> None:
            journal = place()
            (shared, shared_body), (own, own_body) = value("shared"), value("own")
            ends: list[tuple[str, RunStatus, float]] = [
                ("old", "done", 10.0),
                ("failed", "failed", 10.0),
                ("young", "done", 50.0),
            ]
            for run, status, at in ends:
                claim = await start(journal, run)
                mine = {shared: shared_body} if run != "old" else {shared: shared_body, own: own_body}
                values = [{"#": hash} for hash in mine]
                journal.append(claim, batch(2, entry(at=at, values=values), blobs=mine, status=status))
            await start(journal, "running")
            journal.post("old", at=1.0, by="ann", kind="guide", body="{}")

            pruned = journal.prune(before=20.0, status=["done"])

            assert (pruned.runs, pruned.events, pruned.blobs) == (1, 2, 1)
            assert sorted(head.run for head in journal.heads()) == ["failed", "running", "young"]
            assert journal.blob(shared) == shared_body
            assert journal.inbox("old") == []
            assert journal.verify("young") == []
            assert journal.prune(before=1000.0).runs == 2
            assert journal.prune(before=1000.0).blobs == 0

        run_to_end(scene())
