import UncurlText

/// Routes that answer with a status or with fields of the client's choice.
enum StatusRoutes {
    /// `/status/418`, `/status/200,503`, or weighted: `/status/200:0.9,503:0.1`.
    static func status(_ request: RouteRequest, _ rest: [String]) -> RouteResponse {
        guard rest.count == 1 else { return .notFound }
        var choices: [(status: Int, weight: Double)] = []
        for part in rest[0].utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
            let pieces = part.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
                .map { Substring($0) }
            // A 1xx is not a final answer: the client would wait for another.
            guard let status = Int(pieces[0]), (200...999).contains(status) else {
                return .bad("a status is a number from 200 to 999")
            }
            guard let weight = pieces.count == 1 ? 1 : Double(pieces[1]), weight >= 0, weight.isFinite else {
                return .bad("a weight is a number from 0 up")
            }
            choices.append((status, weight))
        }
        return answer(choose(choices, by: request.random))
    }

    private static func choose(_ choices: [(status: Int, weight: Double)], by random: UInt64) -> Int {
        let total = choices.reduce(0) { $0 + $1.weight }
        var point = Double(random >> 11) / Double(1 << 53) * total
        for choice in choices {
            point -= choice.weight
            if point < 0 { return choice.status }
        }
        return choices.last?.status ?? 200
    }

    /// The answer with the fields that the status requires.
    static func answer(_ status: Int) -> RouteResponse {
        switch status {
        case 204, 304: RouteResponse(status, .none)
        case 301, 302, 303, 305, 307, 308: .redirect(status, to: "/redirect/1")
        case 401:
            RouteResponse(status, .bytes([]), [Pair(name: "WWW-Authenticate", value: "Basic realm=\"Fake Realm\"")])
        case 407:
            RouteResponse(status, .bytes([]), [Pair(name: "Proxy-Authenticate", value: "Basic realm=\"Fake Realm\"")])
        case 418: .text("I'm a teapot\n", status: status)
        default: RouteResponse(status)
        }
    }

    /// Each argument becomes a field, and the body shows them.
    static func responseHeaders(_ request: RouteRequest, _ rest: [String]) -> RouteResponse {
        let arguments = request.arguments
        guard arguments.allSatisfy({ isField($0) }) else {
            return .bad("a field name is a token, and a value holds no control characters")
        }
        let framing = ["content-length", "transfer-encoding", "connection", "content-type", "date", "server"]
        let own = arguments.filter { pair in !framing.contains { $0.equalsIgnoringCase(pair.name) } }
        let type = arguments.first { $0.name.equalsIgnoringCase("content-type") }?.value ?? "application/json"
        let shown = own + [Pair(name: "Content-Type", value: type)]
        return RouteResponse(200, .bytes(JSONTree.grouping(shown).serialized()), shown)
    }

    /// Whether the pair is a valid field (RFC 9110 §5.6.2 and §5.5): a CR or LF in the query must not make another
    /// field.
    static func isField(_ pair: Pair) -> Bool {
        let separators = Array("\"(),/:;<=>?@[\\]{}".utf8)
        return !pair.name.isEmpty
            && pair.name.utf8.allSatisfy { (33...126).contains($0) && !separators.contains($0) }
            && pair.value.utf8.allSatisfy { $0 >= 32 && $0 != 127 || $0 == 9 }
    }
}
