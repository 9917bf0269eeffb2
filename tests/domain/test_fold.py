"""State is a fold of the journal: the same events give the same state, however often and from wherever they come."""

from collections.abc import Callable, Iterator
from functools import cache

import pytest
from tests.engine.stories import LARGE, STORIES, Story, tell

from chargehand.domain.events import KINDS, Event, decode_event, encode_event
from chargehand.domain.fold import fold
from chargehand.domain.records import Recorded
from chargehand.domain.state import State

Told = Callable[[Story], None]
every_story = pytest.mark.parametrize("what", STORIES, ids=lambda story: story.__name__.replace("_", " "))
told = cache(tell)


def runs(story: Story) -> list[str]:
    return [head.run for head in story.desk.runs()]


def recorded(story: Story, run: str) -> Iterator[tuple[Recorded, Event]]:
    for one in story.journal.read(run):
        yield one, decode_event(one.kind, one.body, story.journal.blob)


def state_of(events: list[tuple[Event, float]]) -> State:
    state = State()
    for event, at in events:
        fold(state, event, at)
    return state


def again(event: Event) -> Event:
    """An event as another process reads it."""
    body, blobs = encode_event(event)
    return decode_event(event.kind, body, blobs.__getitem__)


@every_story
def test_the_same_events_fold_to_the_same_state(what: Told) -> None:
    story = told(what)
    for run in runs(story):
        events = [(event, one.at) for one, event in recorded(story, run)]

        assert state_of(events) == state_of(events)


@every_story
def test_events_that_were_written_and_read_fold_to_the_same_state(what: Told) -> None:
    story = told(what)
    for run in runs(story):
        events = [(event, one.at) for one, event in recorded(story, run)]

        assert state_of([(again(event), at) for event, at in events]) == state_of(events)


@every_story
def test_an_event_reads_back_as_itself_and_is_written_in_one_way(what: Told) -> None:
    story = told(what)
    for run in runs(story):
        for one, event in recorded(story, run):
            assert again(event) == event
            assert encode_event(event)[0] == one.body


@every_story
def test_a_run_can_be_shown_as_it_stood_after_each_of_its_events(what: Told) -> None:
    story = told(what)
    for run in runs(story):
        shown = [story.desk.show(run, at=at) for at in range(len(story.journal.read(run)) + 1)]

        assert shown[-1] == story.desk.show(run)
        assert shown[0].reports == ()


@every_story
def test_what_has_ended_says_so_to_its_journal(what: Told) -> None:
    story = told(what)
    for head in story.desk.runs():
        assert story.desk.show(head.run).status == head.status
        assert story.desk.verify(head.run) == []


@every_story
def test_an_earlier_state_is_not_changed_by_later_events(what: Told) -> None:
    """Events are shared by whoever folds them; none of them may be altered on the way."""
    story = told(what)
    for run in runs(story):
        events = [(event, one.at) for one, event in recorded(story, run)]
        before = [encode_event(event) for event, _ in events]

        state_of(events)

        assert [encode_event(event) for event, _ in events] == before


def test_the_stories_tell_of_every_kind_of_event() -> None:
    seen = {one.kind for what in STORIES for run in runs(told(what)) for one in told(what).journal.read(run)}

    assert seen == KINDS.keys()


def test_large_values_are_kept_aside_and_small_ones_are_not() -> None:
    from chargehand.domain.events import CallFinished

    large = CallFinished(step="a", item=0, attempt=1, output=LARGE)
    small = CallFinished(step="a", item=0, attempt=1, output={"rows": []})

    assert (len(encode_event(large)[1]), len(encode_event(small)[1])) == (1, 0)
    assert again(large) == large
