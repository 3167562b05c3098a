"""Lets clients, and parsers alone, read a thousand hostile responses, and writes what each made of them as a page: run.py TOOLS PAGE [--details FILE]. TOOLS is the folder
of what was built and fetched (see `tools/garden`)."""
import asyncio
import json
import logging
import os
import subprocess
import sys
import tempfile

import responses
import verdicts

HERE = os.path.dirname(os.path.abspath(__file__))


async def serve(items, reader, writer):
    try:
        head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 10)
        item = items[int(head.split()[1][1:])]
        if item.piece:
            for octet in item.octets:
                writer.write(bytes([octet]))
                await asyncio.sleep(0)
        else:
            writer.write(item.octets)
        await asyncio.wait_for(writer.drain(), 10)
        if item.stays_open:
            await asyncio.wait_for(reader.read(1), 5)
    except (OSError, ValueError, IndexError, asyncio.TimeoutError, asyncio.IncompleteReadError):
        pass
    finally:
        writer.close()


async def ask(command):
    environment = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL, env=environment)
    output, _ = await process.communicate()
    return lines_of(output)


def lines_of(output):
    found = {}
    for line in output.decode().splitlines():
        try:
            line = json.loads(line)
            found[line["id"]] = line
        except (ValueError, TypeError, KeyError):
            pass
    return found


async def clients(items, tools):
    server = await asyncio.start_server(lambda reader, writer: serve(items, reader, writer), "127.0.0.1", 0, backlog=512, limit=1 << 20)
    base = "http://127.0.0.1:%d" % server.sockets[0].getsockname()[1]
    python, count = tools + "/python/bin/python", str(len(items))
    commands = {"Uncurl": [tools + "/GardenClient", "fetch", base, count], "curl": [sys.executable, HERE + "/clients.py", "curl", base, count],
                "http.client": [sys.executable, HERE + "/clients.py", "http.client", base, count], "requests": [python, HERE + "/clients.py", "requests", base, count],
                "aiohttp": [python, HERE + "/clients.py", "aiohttp", base, count], "undici": ["node", HERE + "/undici.mjs", base, count], "Go": [tools + "/goclient", base, count]}
    found = {}
    for name, command in commands.items():
        try:
            answers = await ask(command)
        except FileNotFoundError:
            continue
        print(f"garden: {name}: {len(answers)} of {count} answered", file=sys.stderr)
        if answers:
            found[name] = answers
    server.close()
    return found


def parsers(items, tools):
    with tempfile.NamedTemporaryFile() as file:
        for item in items:
            file.write(len(item.octets).to_bytes(4, "big") + item.octets)
        file.flush()
        commands = {"Uncurl": [tools + "/GardenClient", "parse", file.name], "llhttp": [tools + "/parsers", "llhttp", file.name], "picohttpparser": [tools + "/parsers", "pico", file.name]}
        found = {}
        for name, command in commands.items():
            if os.path.exists(command[0]):
                found[name] = lines_of(subprocess.run(command, stdout=subprocess.PIPE, check=False).stdout)
        found["http.client"] = verdicts.by_http_client(items)
        return found


def main():
    tools, page = os.path.abspath(sys.argv[1]), sys.argv[2]
    # Clients that go before the answer is over are what is to be seen, not a fault.
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    items = responses.corpus()
    by_client = asyncio.run(clients(items, tools))
    by_parser = parsers(items, tools)
    if "--details" in sys.argv:
        with open(sys.argv[sys.argv.index("--details") + 1], "w") as file:
            for number, item in enumerate(items):
                json.dump({"id": number, "family": item.family, "octets": item.octets[:400].decode("latin-1"), "open": item.stays_open,
                           "clients": {name: found.get(number) for name, found in by_client.items()}, "parsers": {name: found.get(number) for name, found in by_parser.items()}}, file)
                file.write("\n")
    text, wrong = verdicts.page(items, by_client, by_parser)
    with open(page, "w") as file:
        file.write(text)
    for line in wrong:
        print("garden:", line)
    print(f"garden: {len(items)} responses, {len(by_client)} clients, {len(by_parser)} parsers: {page}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
