"""Clients in Python: clients.py NAME URL COUNT asks for URL/0, URL/1 ... and prints a line of JSON for what came of each."""
import asyncio
import concurrent.futures
import http.client
import json
import subprocess
import sys
import tempfile
import urllib.parse

LIMIT = 3


def fnv(octets):
    value = 0x811c9dc5
    for octet in octets:
        value = (value ^ octet) * 0x1000193 & 0xffffffff
    return "%x" % value


def taken(number, status, body):
    return {"id": number, "verdict": "taken", "status": status, "length": len(body), "sum": fnv(body)}


def failed(number, error):
    late = isinstance(error, (TimeoutError, asyncio.TimeoutError)) or "timed out" in str(error).lower()
    return {"id": number, "verdict": "waits" if late else "refused", "why": type(error).__name__}


def by_http_client(base, number):
    address = urllib.parse.urlsplit(base)
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=LIMIT)
    try:
        connection.request("GET", f"/{number}")
        response = connection.getresponse()
        return taken(number, response.status, response.read())
    finally:
        connection.close()


def by_requests(base, number):
    import requests
    with requests.get(f"{base}/{number}", timeout=LIMIT, allow_redirects=False) as response:
        return taken(number, response.status_code, response.content)


def by_curl(base, number):
    with tempfile.NamedTemporaryFile() as file:
        done = subprocess.run(["curl", "-s", "--compressed", "--noproxy", "*", "--max-time", str(LIMIT), "-o", file.name, "-w", "%{http_code}", f"{base}/{number}"], capture_output=True)
        if done.returncode:
            return {"id": number, "verdict": "waits" if done.returncode == 28 else "refused", "why": f"exit {done.returncode}"}
        return taken(number, int(done.stdout), file.read())


async def by_aiohttp(base, count):
    import aiohttp
    lines = []
    limit = asyncio.Semaphore(16)
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=LIMIT), connector=aiohttp.TCPConnector(force_close=True)) as session:
        async def one(number):
            async with limit:
                try:
                    async with session.get(f"{base}/{number}", allow_redirects=False) as response:
                        lines.append(taken(number, response.status, await response.read()))
                except Exception as error:
                    lines.append(failed(number, error))
        await asyncio.gather(*(one(number) for number in range(count)))
    return lines


def main(name, base, count):
    if name == "aiohttp":
        lines = asyncio.run(by_aiohttp(base, count))
    else:
        one = {"http.client": by_http_client, "requests": by_requests, "curl": by_curl}[name]

        def guarded(number):
            try:
                return one(base, number)
            except Exception as error:
                return failed(number, error)
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            lines = list(pool.map(guarded, range(count)))
    for line in lines:
        print(json.dumps(line))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
