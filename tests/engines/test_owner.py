"""A session on a thread of its own."""

import threading
import time

import pytest

from weighbridge_engines.api import SILENCE, Chunk, Request
from weighbridge_engines.owner import LOOK_S, OwnedSession

ASKED = Request([{"role": "user", "content": "x"}])


class Session:
    """Tells what it was asked, and on which thread."""

    def __init__(self, pause_s=0.0, pieces=3):
        self.pause_s, self.pieces = pause_s, pieces
        self.threads = {threading.current_thread()}
        self.at_work = self.most_at_work = 0
        self.left = threading.Event()
        self.closed = False

    def stream(self, request):
        self.threads.add(threading.current_thread())
        self.at_work += 1
        self.most_at_work = max(self.most_at_work, self.at_work)
        try:
            for number in range(self.pieces):
                time.sleep(self.pause_s)
                yield Chunk(str(number), 1)
        finally:
            self.at_work -= 1
            self.left.set()

    def tokens(self, text):
        self.threads.add(threading.current_thread())
        return [ord(letter) for letter in text]

    def score(self, tokens):
        self.threads.add(threading.current_thread())
        yield [None]
        yield [-1.0] * (len(tokens) - 1)

    def close(self):
        self.threads.add(threading.current_thread())
        self.closed = True


@pytest.fixture
def owned():
    made = []

    def open_it(**values):
        made.append(OwnedSession(lambda: made.append(Session(**values)) or made[-1]))
        session, owner = made[-2:]
        return owner, session

    yield open_it
    for owner in made[1::2]:
        owner.close()


def texts(chunks):
    return [chunk.text for chunk in chunks if chunk != SILENCE]


def test_one_thread_opens_answers_scores_and_closes(owned):
    owner, session = owned()
    assert texts(owner.stream(ASKED)) == ["0", "1", "2"]
    assert owner.tokens("ab") == [97, 98]
    assert [one for part in owner.score([1, 2, 3]) for one in part] == [None, -1.0, -1.0]
    owner.close()
    assert session.closed
    assert len(session.threads) == 1
    assert threading.current_thread() not in session.threads


def test_two_streams_wait_for_each_other_and_both_are_whole(owned):
    owner, session = owned(pause_s=0.01, pieces=10)
    told = {}

    def ask(name):
        told[name] = texts(owner.stream(ASKED))

    threads = [threading.Thread(target=ask, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert list(told.values()) == [[str(number) for number in range(10)]] * 4
    assert session.most_at_work == 1


def test_leaving_a_stream_ends_its_work(owned):
    owner, session = owned(pause_s=0.01, pieces=100_000)
    stream = owner.stream(ASKED)
    next(stream)
    stream.close()
    assert session.left.wait(10)
    assert owner.tokens("a") == [97]


def test_while_nothing_comes_there_is_a_chance_to_look(owned):
    owner, _ = owned(pause_s=LOOK_S * 3, pieces=1)
    told = list(owner.stream(ASKED))
    assert told.count(SILENCE) >= 1
    assert texts(told) == ["0"]


def test_what_goes_wrong_is_raised_where_it_was_asked(owned):
    def fail():
        raise OSError("no such model")

    with pytest.raises(OSError, match="no such model"):
        OwnedSession(fail)
    owner, session = owned()
    session.stream = lambda request: (_ for _ in ()).throw(ValueError("bad"))
    with pytest.raises(ValueError, match="bad"):
        list(owner.stream(ASKED))
    assert owner.tokens("a") == [97]


def test_closing_amid_an_answer_is_no_end_of_the_answer(owned):
    owner, _ = owned(pause_s=0.01, pieces=100_000)
    stream = owner.stream(ASKED)
    next(stream)
    owner.close()
    with pytest.raises(RuntimeError, match="closed"):
        list(stream)
    with pytest.raises(RuntimeError, match="closed"):
        list(owner.stream(ASKED))
