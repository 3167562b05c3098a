#!/usr/bin/env python3
"""Checks a documentation site as docc has built it, and looks at it in a browser.

usage: site.py SITE     SITE is the folder with index.html

A link of a page must lead to a page of the site, or out of it. A public symbol must stand in a topic that its catalogue
wrote. The browser draws the landing page of each module and every page of guides: text and code must be there, without a
complaint on its console.
"""
import functools
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading

# Symbols that a build with all traits has besides: no topic can name what other builds lack.
BY_TRAITS = {"LoggingMonitor", "MetricsMonitor", "TracingInterceptor"}
BROWSERS = ["chromium", "chromium-browser", "google-chrome"]


def documents(site):
    """Each page's path within the site, with its content as docc wrote it."""
    data = os.path.join(site, "data")
    for folder, _, names in os.walk(data):
        for name in sorted(names):
            if name.endswith(".json"):
                place = os.path.join(folder, name)
                with open(place) as file:
                    yield "/" + os.path.relpath(place, data)[:-len(".json")], json.load(file)


def text_of(node):
    """The text and the code of a page, in pieces that a browser shows as they are."""
    if isinstance(node, list):
        for child in node:
            yield from text_of(child)
    elif isinstance(node, dict):
        if node.get("type") in ("text", "heading"):
            yield node["text"]
        elif node.get("type") == "codeListing":
            yield from (line for line in node["code"] if line.strip())
        for child in node.values():
            if isinstance(child, (dict, list)):
                yield from text_of(child)


def check_pages(pages):
    """What is wrong with links and topics."""
    known = {path.lower() for path in pages}
    for path, page in pages.items():
        for reference in page.get("references", {}).values():
            url = reference.get("url") or reference.get("destination") or ""
            # What docc could not resolve it has refused itself, but for protocols of modules that are not here, which are no links.
            if url.startswith("/"):
                if url.split("#")[0].rstrip("/").lower() not in known:
                    yield "%s: no page %s" % (path, url)
            elif reference.get("type") == "link" and not re.match(r"https?://|mailto:", url):
                yield "%s: %s is no page of the site" % (path, url)
        # Of the modules themselves: what a module adds to the types of others stands together.
        if page.get("metadata", {}).get("role") == "collection" and path.count("/") == 2:
            for section in page.get("topicSections", []):
                if section.get("generated") and section.get("title") != "Extended Modules":
                    names = {name.rsplit("/", 1)[-1] for name in section["identifiers"]} - BY_TRAITS
                    if names:
                        yield "%s: in no topic: %s" % (path, ", ".join(sorted(names)))


class Server:
    """Serves a folder on a free port of 127.0.0.1, and one page besides."""

    def __init__(self, folder, page):
        class Handler(http.server.SimpleHTTPRequestHandler):
            def log_message(self, *words):
                pass

            def do_GET(self):
                if self.path != LOOK:
                    return super().do_GET()
                self.send_response(200)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.end_headers()
                self.wfile.write(page.encode())

        handler = functools.partial(Handler, directory=folder)
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.base = "http://127.0.0.1:%d" % self.server.server_address[1]


LOOK = "/look.html"
# Shows one page after the other in a frame until it has all that it should have, or ten seconds have passed. Blanks do not
# matter: a browser breaks lines in its own way.
LOOKING = """<!doctype html><title>Looking</title><pre id="told"></pre><iframe id="frame" width="1200" height="900"></iframe>
<script>
const pages = PAGES;
const [frame, told] = [document.getElementById("frame"), document.getElementById("told")];
const plain = text => text.replace(/\\s+/g, "");
const tell = text => { told.textContent += text + "\\n"; };
async function look(path, wanted) {
    await new Promise(done => { frame.onload = done; frame.src = path + "/"; });
    frame.contentWindow.addEventListener("error", event => tell(path + ": " + event.message));
    let missing = wanted;
    for (let tries = 0; tries < 100 && missing.length > 0; tries++) {
        await new Promise(done => setTimeout(done, 100));
        const shown = plain(frame.contentDocument.body.textContent);
        missing = missing.filter(piece => !shown.includes(plain(piece)));
    }
    if (missing.length > 0) tell(path + ": a browser does not show: " + missing[0]);
}
(async () => {
    for (const [path, wanted] of pages) await look(path, wanted);
    tell("looked at " + pages.length);
})();
</script>
"""


def look(browser, site, pages):
    """What a browser shows otherwise than the pages say."""
    wanted = [(path, [page["metadata"]["title"]] + list(text_of(page.get("primaryContentSections", []))))
              for path, page in sorted(pages.items())]
    # No text of a page's ends the script.
    server = Server(site, LOOKING.replace("PAGES", json.dumps(wanted).replace("</", "<\\/")))
    profile = tempfile.mkdtemp(prefix="uncurl-docs-")
    try:
        ended = subprocess.run(
            [browser, "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir=" + profile, "--enable-logging=stderr",
             "--v=0", "--virtual-time-budget=600000", "--dump-dom", server.base + LOOK],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300)
    finally:
        shutil.rmtree(profile, ignore_errors=True)
    told = re.search(r'<pre id="told">(.*?)</pre>', ended.stdout, re.S)
    lines = told.group(1).strip().split("\n") if told else []
    if not lines or lines[-1] != "looked at %d" % len(wanted):
        yield "the browser did not come to the end: %s" % (ended.stderr or ended.stdout)[-2000:]
    yield from lines[:-1]
    for line in ended.stderr.split("\n"):
        if "CONSOLE" in line and "error" in line.lower():
            yield line


def main():
    site = os.path.abspath(sys.argv[1])
    pages = dict(documents(site))
    faults = sorted(set(check_pages(pages)))
    guides = {path: page for path, page in pages.items() if page.get("metadata", {}).get("role") == "article"
              or path.count("/") == 2 and page.get("metadata", {}).get("role") == "collection"}
    browser = next((found for found in map(shutil.which, BROWSERS) if found), None)
    if browser is None:
        print("site: no chromium: nothing has looked at the pages", file=sys.stderr)
    else:
        faults += look(browser, site, guides)
    for fault in faults:
        print("site:", fault, file=sys.stderr)
    if faults or not guides:
        sys.exit(1)
    print("site: %d pages, %d of them guides%s" % (len(pages), len(guides), ", seen in a browser" if browser else ""))


if __name__ == "__main__":
    main()
