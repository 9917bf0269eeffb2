"""What everyone may read and follow."""

import asyncio

from chargehand.testing.journals.scenes import Place, action, batch, collect, entry, kinds, run_to_end, start


class HistoryConformance:
    def test_runs_are_listed_newest_first_and_by_page(self, place: Place) -> None:
        async def scene() -> None:
            journal = place()
            for number in range(6):
                claim = await start(journal, f"run {number}", at=float(number // 2), tenant="ab"[number % 2])
                if number < 3:
                    journal.append(claim, batch(2, status="done"))
            journal.flush()

            first = [head.run for head in journal.heads(limit=4)]
            rest = [head.run for head in journal.heads(before=first[-1])]
            assert [*first, *rest] == [f"run {number}" for number in (5, 4, 3, 2, 1, 0)]
            assert [head.run for head in journal.heads(status=["done"], tenant="a")] == ["run 2", "run 0"]
            assert journal.heads(status=["failed"]) == []

        run_to_end(scene())

    def test_runs_are_due_when_their_time_has_come_or_mail_waits(self, place: Place) -> None:
        async def scene() -> None:
            journal = place()
            for run, wake_at in (("early", 10.0), ("late", 20.0), ("mail", None), ("quiet", None)):
                claim = await start(journal, run)
                await journal.park(claim, batch(2, status="waiting", wake_at=wake_at))
            await start(journal, "driven", wake_at=5.0)
            over = await start(journal, "over", wake_at=5.0)
            journal.append(over, batch(2, status="done"))
            failed = await start(journal, "failed", wake_at=5.0)
            journal.append(failed, batch(2, status="failed"))
            journal.post("mail", at=1.0, by="ann", kind="approve", body="{}")
            journal.post("failed", at=1.0, by="ann", kind="retry", body="{}")

            assert sorted(journal.due(9.0)) == ["failed", "mail"]
            assert sorted(journal.due(15.0)) == ["early", "failed", "mail"]
            await journal.claim("early")
            assert sorted(journal.due(15.0)) == ["failed", "mail"]

        run_to_end(scene())

    def test_the_due_run_of_highest_priority_comes_first(self, place: Place) -> None:
        async def scene() -> None:
            journal = place()
            for run, priority in (("low", 0), ("high", 9), ("middle", 5)):
                journal.release(await start(journal, run, priority=priority, wake_at=1.0))
            journal.flush()
            assert journal.due(2.0) == ["high", "middle", "low"]

        run_to_end(scene())

    def test_the_next_wake_is_the_earliest_of_the_runs_that_nobody_drives(self, place: Place) -> None:
        async def scene() -> None:
            journal, other = place(), place()
            assert journal.next_wake() is None
            for run, wake_at in (("late", 20.0), ("early", 10.0), ("quiet", None)):
                await journal.park(await start(journal, run), batch(2, status="waiting", wake_at=wake_at))
            over = await start(journal, "over", wake_at=5.0)
            journal.append(over, batch(2, status="done", wake_at=5.0))
            await start(other, "driven", wake_at=7.0)
            await start(journal, "mine", wake_at=6.0)
            assert journal.next_wake() == 10.0

            early = await journal.claim("early")
            assert journal.next_wake() == 20.0
            await journal.park(early, batch(3, status="waiting", wake_at=30.0))
            assert journal.next_wake() == 20.0
            other.close()
            assert journal.next_wake() == 7.0

        run_to_end(scene())

    def test_an_action_is_found_in_a_run_and_its_forks(self, place: Place) -> None:
        async def scene() -> None:
            journal, other = place(), place()
            pay, ship = action("pay"), action("ship")
            fork = await start(journal, "a fork", at=2.0, origin="first")
            first = await start(journal, "first", at=1.0)
            stranger = await start(journal, "stranger")
            for claim in (fork, first, stranger):
                intents = [entry("intent", action=pay, step="pay"), entry("intent", other={"action": pay}, z=ship)]
                journal.append(claim, batch(2, entry(), *intents))
            journal.append(first, batch(5, entry(all=[{"action": ship}, {"action": pay}, {"action": pay}])))
            journal.flush()

            assert other.intents("first", pay) == [
                ("first", 3),
                ("first", 4),
                ("first", 5),
                ("a fork", 3),
                ("a fork", 4),
            ]
            assert other.intents("first", ship) == [("first", 5)]
            assert other.intents("first", ship, besides="first") == []
            assert other.intents("first", pay, besides="first") == [
                place for place in other.intents("first", pay) if place[0] != "first"
            ]
            assert other.intents("stranger", pay) == [("stranger", 3), ("stranger", 4)]
            assert other.intents("a fork", pay) == other.intents("first", action("sleep")) == []

        run_to_end(scene())

    def test_the_actions_of_a_refused_batch_are_not_found(self, place: Place) -> None:
        async def scene() -> None:
            journal = place()
            claim = await start(journal)
            journal.append(claim, batch(2, entry("intent", action=action("pay"))))
            journal.append(claim, batch(2, entry("intent", action=action("pay"))))
            journal.append(claim, batch(4, entry("intent", action=action("pay"))))
            journal.flush()

            assert journal.intents("run", action("pay")) == [("run", 2)]

        run_to_end(scene())

    def test_runs_are_listed_by_origin(self, place: Place) -> None:
        async def scene() -> None:
            journal = place()
            await start(journal, "first", at=1.0)
            await start(journal, "fork", at=2.0, origin="first")
            await start(journal, "stranger", at=3.0)

            assert [head.run for head in journal.heads(origin="first")] == ["fork", "first"]
            assert [head.run for head in journal.heads(origin="first", limit=1)] == ["fork"]
            assert journal.heads(origin="fork") == []

        run_to_end(scene())

    def test_reading_goes_on_after_a_place(self, place: Place) -> None:
        async def scene() -> None:
            journal = place()
            claim = await start(journal)
            journal.append(claim, batch(2, *[entry(f"{n}") for n in range(2, 11)]))
            await journal.barrier(claim, 10)

            assert [event.seq for event in journal.read("run", after=3, limit=4)] == [4, 5, 6, 7]
            assert journal.read("run", after=10) == []

        run_to_end(scene())

    def test_followers_see_every_event_until_the_run_is_over(self, place: Place) -> None:
        async def scene() -> None:
            journal, other = place(), place()
            claim = await start(journal)
            here = asyncio.ensure_future(collect(journal.follow("run")))
            abroad = asyncio.ensure_future(collect(other.follow("run", after=1)))
            for seq in range(2, 50):
                journal.append(claim, batch(seq, entry(f"{seq}")))
                await asyncio.sleep(0)
            journal.append(claim, batch(50, entry("over"), status="cancelled"))

            assert [event.seq for event in await here] == list(range(1, 51))
            assert [event.seq for event in await abroad] == list(range(2, 51))

        run_to_end(scene())

    def test_followers_of_a_finished_run_read_it_and_stop(self, place: Place) -> None:
        async def scene() -> None:
            journal = place()
            claim = await start(journal)
            journal.append(claim, batch(2, *[entry() for _ in range(2_500)], status="done"))
            await journal.barrier(claim, 2_501)

            assert len(await collect(journal.follow("run"))) == 2_501

        run_to_end(scene())

    def test_refused_events_are_never_followed(self, place: Place) -> None:
        async def scene() -> None:
            one, other = place(), place()
            old = await start(one)
            following = asyncio.ensure_future(collect(one.follow("run")))
            await asyncio.sleep(0)
            new = await other.claim("run", take_over=True)
            one.append(old, batch(2, entry("never")))
            other.append(new, batch(2, entry("over"), status="done"))

            assert kinds(await following) == ["started", "over"]

        run_to_end(scene())
