"""The protocol between the test and a client program, for those in Python. It is described in member/member.go."""

import json
import os
import queue
import sys
import threading
from types import SimpleNamespace


class Teller:
    """Tells what is observed."""

    def __init__(self):
        self.owned = set()
        self.next = {}  # after the newest record of each partition that is owned

    def say(self, event, **what):
        sys.stdout.write(json.dumps({"event": event, **what}) + "\n")
        sys.stdout.flush()

    def assigned(self, partitions):
        partitions = sorted(partitions)
        self.owned.update(partitions)
        for p in partitions:
            self.next.pop(p, None)
        self.say("assigned", partitions=partitions)

    def revoked(self, partitions):
        partitions = sorted(partitions)
        self.owned.difference_update(partitions)
        for p in partitions:
            self.next.pop(p, None)
        self.say("revoked", partitions=partitions)

    def consumed(self, partition, offset):
        if partition in self.owned:
            self.next[partition] = offset + 1
            self.say("consumed", partition=partition, offset=offset)

    def offsets(self, event, offsets):
        self.say(event, offsets={str(p): at for p, at in offsets.items() if at is not None})

    def error(self, text):
        self.say("error", text=str(text))


class Commands:
    """The commands on standard input. The program ends where that ends."""

    def __init__(self):
        self.waiting = queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in sys.stdin:
            self.waiting.put(line.strip())
        os._exit(2)

    def take(self):
        """The next command, or None where there is none yet."""
        try:
            return self.waiting.get_nowait()
        except queue.Empty:
            return None


def start(version):
    """Returns the arguments, a Teller and the Commands."""
    _, brokers, group, topic, name, session, heartbeat, assignor = sys.argv
    teller = Teller()
    teller.say("hello", version=version)
    options = SimpleNamespace(brokers=brokers.split(","), group=group, topic=topic, name=name, session=int(session), heartbeat=int(heartbeat), assignor=assignor)
    return options, teller, Commands()
