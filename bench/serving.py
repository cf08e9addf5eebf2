"""Serving under load: capacity, latency, overload, drains, memory, bad clients; RUN is a run folder.

python bench/serving.py load RUN       requests per second, p50 and p99 at 80% of capacity, 5 times
                                       overload, next to a plain FastAPI loop without batching
python bench/serving.py drain RUN      stops under load; requests that got no answer
python bench/serving.py memory RUN     memory after many requests
python bench/serving.py equal RUN      the same texts alone and mixed
python bench/serving.py bad RUN        malformed and slow connections
"""

import argparse
import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import asynccontextmanager
from pathlib import Path

from regard.account.limits import cores

PLAIN = """
import json, sys
import uvicorn
from fastapi import FastAPI
import regard
model, app = regard.load(sys.argv[1]), FastAPI()
@app.post("/api/predict")
def predict(body: dict):
    return [one._asdict() for one in model.predict(body["texts"])]
@app.get("/healthz")
def healthz():
    return {}
uvicorn.run(app, port=int(sys.argv[2]), log_level="critical")
"""


class Client:
    """One connection that is kept alive."""

    def __init__(self, port):
        self.port, self.writer = port, None

    async def ask(self, text, path="/api/predict"):
        """Return the status and the body; None if the connection ended without an answer."""
        body = json.dumps({"texts": [text]}).encode()
        head = f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        if self.writer is None:
            self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            self.writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
            raw = await self.reader.readuntil(b"\r\n\r\n")
            headers = raw.decode().lower()
            size = int(headers.partition("content-length: ")[2].partition("\r\n")[0])
            answer = await self.reader.readexactly(size)
        except (ConnectionError, asyncio.IncompleteReadError):
            self.close()
            return None
        if "connection: close" in headers:
            self.close()
        return int(headers.split()[1]), answer

    def close(self):
        if self.writer is not None:
            self.writer.close()
            self.writer = None


@asynccontextmanager
async def serving(run, *more):
    command = [sys.executable, "-m", "regard", "serve", str(run), "--port", "0", "--json", *more]
    process = await asyncio.create_subprocess_exec(
        *command, "--quiet", stdout=asyncio.subprocess.PIPE
    )
    line = json.loads(await process.stdout.readline())
    process.port = int(line["address"].rpartition(":")[2])
    process.line = line
    try:
        await Client(process.port).ask("a", "/api/predict")
        yield process
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGTERM)
            await process.wait()


@asynccontextmanager
async def plain(run):
    port = random.randint(20_000, 40_000)
    process = subprocess.Popen([sys.executable, "-c", PLAIN, str(run), str(port)])
    client = Client(port)
    while process.poll() is None:
        try:
            await client.ask("a")
            break
        except OSError:
            await asyncio.sleep(0.1)
    try:
        yield port
    finally:
        process.kill()
        process.wait()


def memory(pid):
    """Add up the proportional memory of a process and of all below it, in MB."""
    total, left = 0, [pid]
    while left:
        one = left.pop()
        try:
            rollup = Path(f"/proc/{one}/smaps_rollup").read_text()
            for task in Path(f"/proc/{one}/task").iterdir():
                left += map(int, (task / "children").read_text().split())
        except OSError:
            continue
        total += int(rollup.partition("Pss:")[2].split()[0])
    return total / 1024


def quantile(values, share):
    return (
        sorted(values)[min(len(values) - 1, int(share * len(values)))] if values else float("nan")
    )


def shown(latencies):
    """Write p50 and p99 in milliseconds."""
    return f"p50 {1000 * quantile(latencies, 0.5):.1f} ms, p99 {1000 * quantile(latencies, 0.99):.1f} ms"


async def closed(port, texts, clients, seconds):
    """Ask as fast as answers come, by some clients; return latencies by status."""
    found, until = {}, time.perf_counter() + seconds

    async def work(number):
        client, rng = Client(port), random.Random(number)
        while time.perf_counter() < until:
            begin = time.perf_counter()
            answer = await client.ask(rng.choice(texts))
            status = answer[0] if answer else 0
            found.setdefault(status, []).append(time.perf_counter() - begin)
        client.close()

    await asyncio.gather(*map(work, range(clients)))
    return found


async def opened(port, texts, rate, seconds):
    """Ask at random times, whether answers come or not; return latencies by status."""
    found, free, tasks = {}, [], set()
    rng, begin = random.Random(1), time.perf_counter()
    due = begin

    async def work(due):
        client = free.pop() if free else Client(port)
        try:
            answer = await client.ask(rng.choice(texts))
        except OSError:
            answer = None
        status = answer[0] if answer else 0
        found.setdefault(status, []).append(time.perf_counter() - due)
        free.append(client)

    while due < begin + seconds:
        due += rng.expovariate(rate)
        if (left := due - time.perf_counter()) > 0:
            await asyncio.sleep(left)
        task = asyncio.create_task(work(time.perf_counter()))
        tasks.add(task)
        task.add_done_callback(tasks.discard)
    await asyncio.gather(*tasks)
    for client in free:
        client.close()
    return found


async def load(run, texts, seconds):
    async with serving(run) as server:
        port = server.port
        print(f"workers {server.line['workers']} x {server.line['threads']} threads")
        alone = (await closed(port, texts, 1, seconds))[200]
        print(f"one client:      {shown(alone)}")
        full = (await closed(port, texts, 32, seconds))[200]
        capacity = len(full) / seconds
        print(f"capacity:        {capacity:.0f} requests/s; {shown(full)}")
        steady = await opened(port, texts, 0.8 * capacity, seconds)
        counts = {status: len(some) for status, some in steady.items()}
        print(f"80% of capacity: {shown(steady[200])}; {counts}")
        before = memory(server.pid)
        over = await opened(port, texts, 5 * capacity, seconds)
        counts = {status: len(some) for status, some in over.items()}
        print(f"5 x overload:    answered {shown(over[200])}; {counts}")
        print(f"                 refused {shown(over.get(429, []))}")
        await asyncio.sleep(5)
        later = (await closed(port, texts, 1, seconds / 2))[200]
        print(f"5 s later:       {shown(later)}; memory {memory(server.pid) / before - 1:+.1%}")
    async with plain(run) as port:
        full = (await closed(port, texts, 32, seconds))[200]
        print(f"plain FastAPI:   {len(full) / seconds:.0f} requests/s; {shown(full)}")
        print(f"ratio:           {capacity / (len(full) / seconds):.1f}")


async def drain(run, texts, times):
    answered, lost, codes = 0, Counter(), []
    for _ in range(times):
        async with serving(run, "--workers", str(cores())) as server:
            found = {}

            async def work(number, port=server.port, found=found):
                client, rng = Client(port), random.Random(number)
                while True:
                    try:
                        answer = await client.ask(rng.choice(texts))
                    except OSError:  # no connection: nothing was accepted
                        return
                    status = answer[0] if answer else 0
                    found[status] = found.get(status, 0) + 1

            clients = [asyncio.create_task(work(n)) for n in range(16)]
            await asyncio.sleep(1 + random.random())
            server.send_signal(signal.SIGTERM)
            codes.append(await server.wait())
            await asyncio.gather(*clients)
            answered += found.get(200, 0)
            lost.update({status: count for status, count in found.items() if status != 200})
    said = f"{lost.total()} lost {dict(lost)}" if lost else "0 lost"
    print(f"{times} stops: {answered} answered, {said}, exit codes {sorted(set(codes))}")


async def remember(run, texts, requests):
    async with serving(run, "--workers", str(cores())) as server:
        done = 0
        for goal in (1_000, requests // 10, requests):
            clients = [Client(server.port) for _ in range(32)]

            async def work(client, count):
                for _ in range(count):
                    await client.ask(random.choice(texts))

            await asyncio.gather(*(work(one, (goal - done) // 32) for one in clients))
            done = goal
            print(f"after {done:,} requests: {memory(server.pid):.1f} MB")
            for one in clients:
                one.close()


async def equal(run, texts, requests):
    rng = random.Random(7)
    asked = [
        " ".join(rng.sample(rng.choice(texts).split(), 3)) + " " + rng.choice(texts)
        for _ in range(requests)
    ]
    async with serving(run, "--workers", str(cores())) as server:
        one = Client(server.port)
        alone = [json.loads((await one.ask(text))[1])["answers"][0] for text in asked]
        mixed = [None] * requests

        async def work(begin):
            client = Client(server.port)
            for place in range(begin, requests, 48):
                status = 429
                while status == 429:  # the queue holds 2 s of work
                    status, body = await client.ask(asked[place])
                mixed[place] = json.loads(body)["answers"][0]

        await asyncio.gather(*map(work, range(48)))
    texts_differ = sum(a["text"] != b["text"] for a, b in zip(alone, mixed, strict=True))
    bits = sum(a != b for a, b in zip(alone, mixed, strict=True))
    far = max(
        abs(a["log_probability"] - b["log_probability"]) for a, b in zip(alone, mixed, strict=True)
    )
    print(
        f"{requests} texts: {texts_differ} answers differ; {bits} not to the bit; log p by at most {far:.1e}"
    )


async def bad(run, texts, connections):
    rng = random.Random(3)
    request = b'POST /api/predict HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 20\r\n\r\n{"texts": ["a b c"]}'
    statuses = {}
    async with serving(run, "--workers", "1") as server:

        async def work(number):
            reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
            kind = number % 4
            try:
                if kind == 0:
                    writer.write(rng.randbytes(rng.randint(1, 5000)))
                elif kind == 1:
                    broken = bytearray(request)
                    for _ in range(rng.randint(1, 9)):
                        broken[rng.randrange(len(broken))] = rng.randrange(256)
                    writer.write(bytes(broken))
                elif kind == 2:
                    for byte in request[: rng.randint(1, 60)]:
                        writer.write(bytes([byte]))
                        await asyncio.sleep(0.1)
                else:
                    writer.write(request[: rng.randrange(len(request))])
                said = await asyncio.wait_for(reader.read(4096), 40)
            except (ConnectionError, TimeoutError) as error:
                said = type(error).__name__.encode()
            status = (
                said[9:12].decode("latin-1")
                if said.startswith(b"HTTP")
                else said[:20].decode("latin-1") or "closed"
            )
            statuses[status] = statuses.get(status, 0) + 1
            writer.close()

        await asyncio.gather(*map(work, range(connections)))
        alive = await Client(server.port).ask("a b c")
    print(f"{connections} connections: {statuses}; afterwards {alive[0]}")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("what", choices=["load", "drain", "memory", "equal", "bad"])
    parser.add_argument("run", type=Path)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--count", type=int)
    given = parser.parse_args()
    lines = (given.run / "answers.jsonl").read_text().split("\n")
    texts = [json.loads(line)["asked"] for line in lines if line][:500]
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    count = given.count
    work = {
        "load": lambda: load(given.run, texts, given.seconds),
        "drain": lambda: drain(given.run, texts, count or 20),
        "memory": lambda: remember(given.run, texts, count or 100_000),
        "equal": lambda: equal(given.run, texts, count or 1_000),
        "bad": lambda: bad(given.run, texts, count or 1_000),
    }
    asyncio.run(work[given.what]())


if __name__ == "__main__":
    main()
