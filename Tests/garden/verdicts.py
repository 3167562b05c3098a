"""What clients and parsers made of the garden's responses, compared, and as a page."""
import collections
import http.client
import io

from clients import failed, taken


class Wire:
    """What http.client takes for a socket: a response that is there already."""

    def __init__(self, octets):
        self.octets = octets

    def makefile(self, *_):
        return io.BytesIO(self.octets)


def by_http_client(items):
    found = {}
    for number, item in enumerate(items):
        try:
            response = http.client.HTTPResponse(Wire(item.octets), method="GET")
            response.begin()
            found[number] = taken(number, response.status, response.read())
        except http.client.IncompleteRead as error:
            found[number] = failed(number, error) | {"verdict": "cut"}
        except Exception as error:
            found[number] = failed(number, error)
    return found


def meaning(line):
    """What two readers must agree in to have understood the same."""
    if line is None:
        return "nothing"
    return (line.get("status"), line.get("length"), line.get("sum")) if line["verdict"] == "taken" else line["verdict"]


def is_taken(line):
    return line is not None and line["verdict"] == "taken"


def majority(lines):
    """What more than half of them say; nothing if there is no such word."""
    word, count = collections.Counter(meaning(line) for line in lines).most_common(1)[0]
    return word if count * 2 > len(lines) else None


def grid(items, found):
    names = list(found)
    text = "| family | responses | " + " | ".join(names) + " |\n|---|---|" + "---|" * len(names) + "\n"
    families = collections.defaultdict(list)
    for number, item in enumerate(items):
        families[item.family].append(number)
    for family, numbers in families.items():
        cells = []
        for name in names:
            counts = collections.Counter((found[name].get(number) or {"verdict": "nothing"})["verdict"] for number in numbers)
            cells.append(" ".join(f"{counts[word]} {word}" for word in ["taken", "refused", "cut", "waits", "nothing"] if counts[word]))
        text += f"| {family} | {len(numbers)} | " + " | ".join(cells) + " |\n"
    return text


def differences(items, found, own="Uncurl"):
    """By family and kind, the numbers of the responses on which we and most of the others disagree."""
    kinds = collections.defaultdict(list)
    others = [name for name in found if name != own]
    for number, item in enumerate(items):
        ours = found[own].get(number)
        lines = [found[name].get(number) for name in others]
        takers = sum(is_taken(line) for line in lines)
        if ours is None:
            kinds[item.family, "nothing"].append(number)
        elif is_taken(ours) and takers * 2 < len(lines):
            kinds[item.family, "taken, and most do not"].append(number)
        elif not is_taken(ours) and takers * 2 > len(lines):
            kinds[item.family, f"{ours['verdict']}, and most take it"].append(number)
        elif is_taken(ours) and majority(lines) not in (None, meaning(ours)):
            kinds[item.family, "taken, with other content than by most"].append(number)
    return kinds


def page(items, by_client, by_parser):
    from reasons import REASONS
    text = "# The garden\n\n`tools/garden` makes this page; do not edit it. It serves a thousand hostile responses (`Tests/garden/responses.py`, seed 19) to clients, and passes them to parsers alone.\n"
    text += "*Taken*: the client reports a whole response. *Refused*: it reports an error. *Cut*: a parser expects more octets after the last one. *Waits*: the client's limit of three seconds ended\n"
    text += "the request, as it must for most responses that are cut while the connection stays open. *Nothing*: the client reported no verdict.\n\n"
    wrong = []
    for title, found in [("Clients", by_client), ("Parsers", by_parser)]:
        text += f"## {title}\n\n{grid(items, found)}\n"
        text += "Responses on which Uncurl and most of the others disagree, and why:\n\n| family | Uncurl | responses | numbers | why |\n|---|---|---|---|---|\n"
        for (family, kind), numbers in sorted(differences(items, found).items()):
            why = REASONS.get((family, kind))
            if why is None:
                wrong.append(f"{title}: {family}: {kind}: {len(numbers)} responses ({', '.join(map(str, numbers[:6]))}) have no reason in Tests/garden/reasons.py")
            shown = ", ".join(map(str, numbers[:5])) + (" …" if len(numbers) > 5 else "")
            text += f"| {family} | {kind} | {len(numbers)} | {shown} | {why or '**not explained**'} |\n"
        text += "\n"
    return text, wrong
