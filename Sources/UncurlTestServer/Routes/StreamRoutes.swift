import UncurlHTTP1
import UncurlText

/// Routes about bytes and time: lengths, chunks, delays.
extension RouteResponse {
    /// `/bytes/n?seed=s`: n octets, the same for the same seed (0 if none is given).
    static func bytes(_ request: RouteRequest, _ rest: [String]) -> RouteResponse {
        sized(rest) { count in
            guard let seed = seed(request) else { return badSeed }
            return octets(.generated(.random(count, seed: seed), .length(count)))
        }
    }

    /// The same octets in chunks of `chunk_size` (10,240 if not given).
    static func streamBytes(_ request: RouteRequest, _ rest: [String]) -> RouteResponse {
        sized(rest) { count in
            guard let seed = seed(request) else { return badSeed }
            guard let size = number(request.argument("chunk_size") ?? "10240", upTo: 1 << 20), size > 0 else {
                return .bad("chunk_size is a number from 1 to 1048576")
            }
            return octets(.generated(.random(count, seed: seed, piece: Int(size)), .chunked))
        }
    }

    /// `/stream/n`: n JSON lines, one per chunk, at most 100 as in httpbin.
    static func stream(_ request: RouteRequest, _ rest: [String]) -> RouteResponse {
        guard rest.count == 1, let count = number(rest[0], upTo: mostPieces) else {
            return .bad("the lines are a number from 0 to \(mostPieces)")
        }
        // The members are sorted: `args`, `headers`, `id`, `origin`, `url`.
        let common = common(request)
        let start = JSONTree.object(Array(common.prefix(2))).serialized(pretty: false).dropLast()
        let end = JSONTree.object(Array(common.dropFirst(2))).serialized(pretty: false).dropFirst()
        let body = BodyGenerator.numbered(0..<min(count, 100)) { id in
            start + Array(", \"id\": \(id), ".utf8) + end + [0x0A]
        }
        return RouteResponse(200, type: "application/json", .generated(body, .chunked))
    }

    /// `/chunked/n/delay`: n chunks, with this delay in seconds between them.
    static func chunked(_ request: RouteRequest, _ rest: [String]) -> RouteResponse {
        paced(rest) { count, delay in
            let body = BodyGenerator.repeating(Array("chunk\n".utf8), times: count, every: delay)
            return RouteResponse(200, type: "text/plain", .generated(body, .chunked))
        }
    }

    /// `/payloads/n/delay`: n JSON objects, with this delay in seconds between them.
    static func payloads(_ request: RouteRequest, _ rest: [String]) -> RouteResponse {
        paced(rest) { count, delay in
            let body = BodyGenerator.numbered(0..<count, every: delay) { id in
                JSONTree.object(["id": .integer(id)]).serialized(pretty: false) + [0x0A]
            }
            return RouteResponse(200, type: "application/json", .generated(body, .chunked))
        }
    }

    /// `/sse?count=5&delay=0.1`: this many events (HTML §9.2) with their numbers as ids, and this delay in seconds
    /// between them. A request with `Last-Event-ID` gets the events after that one. Where there are none, a 204 ends
    /// the client's stream.
    static func events(_ request: RouteRequest, _ rest: [String]) -> RouteResponse {
        guard rest.isEmpty else { return .notFound }
        guard let count = number(request.argument("count") ?? "5", upTo: mostPieces),
            let delay = seconds(request.argument("delay") ?? "0.1", upTo: mostSeconds)
        else { return .bad("count is at most \(mostPieces), delay in seconds") }
        let first = request.field("last-event-id").flatMap { number($0, upTo: count) }.map { $0 + 1 } ?? 1
        guard first <= count else { return RouteResponse(204, .none) }
        let body = BodyGenerator.numbered(first..<count + 1, every: delay) {
            Array("id: \($0)\nevent: count\ndata: {\"number\": \($0)}\n\n".utf8)
        }
        let response = RouteResponse(200, type: "text/event-stream", .generated(body, .chunked))
        return response.with("Cache-Control", "no-store")
    }

    /// A body without end, as fast as the client reads.
    static func infinite(_ request: RouteRequest, _ rest: [String]) -> RouteResponse {
        let piece = Array(repeating: UInt8(ascii: "x"), count: 4096)
        return octets(.generated(.repeating(piece, times: .max), .chunked))
    }

    /// `/download/n`: n octets; with `?shouldProduceError=true` the connection ends after half of them.
    static func download(_ request: RouteRequest, _ rest: [String]) -> RouteResponse {
        sized(rest) { count in
            let isCut = request.argument("shouldProduceError")?.equalsIgnoringCase("true") == true
            return octets(.generated(.random(count, seed: 0), .length(count)))
                .with(\.fate, isCut ? .truncated(after: count / 2) : .normal)
        }
    }

    /// `/drip?duration=2&numbytes=10&code=200&delay=0`: that many octets spread over that time.
    static func drip(_ request: RouteRequest, _ rest: [String]) -> RouteResponse {
        guard rest.isEmpty else { return .notFound }
        guard let count = number(request.argument("numbytes") ?? "10", upTo: 10 << 20), count > 0,
            let duration = seconds(request.argument("duration") ?? "2", upTo: mostSeconds),
            let delay = seconds(request.argument("delay") ?? "0", upTo: mostSeconds),
            let status = number(request.argument("code") ?? "200", upTo: 599), status >= 200, status != 204,
            status != 304
        else { return .bad("duration and delay are seconds, numbytes 1 to 10485760, code a status with a body") }
        let body = BodyGenerator.repeating([UInt8(ascii: "*")], times: count, every: duration / Int(count))
        return octets(.generated(body, .length(count))).with(\.status, Int(status)).with(\.delay, delay)
    }

    /// `/slow-body?ms=100&count=5`: Content-Length, and one octet every `ms`.
    static func slowBody(_ request: RouteRequest, _ rest: [String]) -> RouteResponse {
        guard rest.isEmpty, let pause = number(request.argument("ms") ?? "100", upTo: 60_000),
            let count = number(request.argument("count") ?? "5", upTo: mostPieces)
        else { return .bad("ms is at most 60000, count at most \(mostPieces)") }
        let body = BodyGenerator.repeating([UInt8(ascii: "s")], times: count, every: .milliseconds(Int(pause)))
        return octets(.generated(body, .length(count)))
    }

    /// `/delay/n`: the answer of `/anything` without the method, n seconds later.
    static func delay(_ request: RouteRequest, _ rest: [String]) -> RouteResponse {
        guard rest.count == 1, let delay = seconds(rest[0], upTo: mostSeconds) else {
            return .bad("the delay is a number of seconds")
        }
        return RouteResponse.json(.object(common(request) + body(of: request))).with(\.delay, delay)
    }

    /// `/latency?ms=10`, or evenly distributed `/latency?from=1&to=100`: an answer after this many milliseconds, which
    /// may have a fraction.
    static func latency(_ request: RouteRequest, _ rest: [String]) -> RouteResponse {
        guard rest.isEmpty else { return .notFound }
        let names = request.argument("ms") == nil ? ("from", "to") : ("ms", "ms")
        guard let low = milliseconds(request.argument(names.0)), let high = milliseconds(request.argument(names.1)),
            low <= high
        else { return .bad("ms, or from and to, are milliseconds from 0 to \(Int(mostSeconds * 1_000))") }
        let fraction = Double(request.random >> 11) / Double(1 << 53)
        return RouteResponse.text("late\n").with(\.delay, .nanoseconds(Int64(low + (high - low) * fraction)))
    }

    /// In nanoseconds.
    private static func milliseconds(_ text: String?) -> Double? {
        guard let text, let value = Double(text), value >= 0, value <= mostSeconds * 1_000 else { return nil }
        return value * 1e6
    }

    /// Chunks, then a trailer section (RFC 9112 §7.1.2).
    static func trailers(_ request: RouteRequest, _ rest: [String]) -> RouteResponse {
        let trailers = [Pair(name: "X-Checksum", value: "42"), Pair(name: "X-Pieces", value: "3")]
        let body = BodyGenerator.repeating(Array("piece\n".utf8), times: 3)
        let response = RouteResponse(200, type: "text/plain", .generated(body, .chunked)).with(\.trailers, trailers)
        return response.with("Trailer", "X-Checksum, X-Pieces")
    }

    /// A body that ends with the connection (RFC 9112 §6.3, item 8).
    static func closeDelimited(_ request: RouteRequest, _ rest: [String]) -> RouteResponse {
        let body = BodyGenerator.repeating(Array("until the end\n".utf8), times: 3)
        return RouteResponse(200, type: "text/plain", .generated(body, .untilClose))
    }

    private static let badSeed = RouteResponse.bad("the seed is a whole number")

    private static func seed(_ request: RouteRequest) -> UInt64? {
        number(request.argument("seed") ?? "0", upTo: .max)
    }

    private static func octets(_ body: RouteResponse.Body) -> RouteResponse {
        RouteResponse(200, type: "application/octet-stream", body)
    }

    private static func sized(_ rest: [String], _ answer: (UInt64) -> RouteResponse) -> RouteResponse {
        guard rest.count == 1 else { return .notFound }
        guard let count = number(rest[0], upTo: mostBytes) else {
            return .bad("the length is a number from 0 to \(mostBytes)")
        }
        return answer(count)
    }

    private static func paced(_ rest: [String], _ answer: (UInt64, Duration) -> RouteResponse) -> RouteResponse {
        guard (1...2).contains(rest.count), let count = number(rest[0], upTo: mostPieces),
            let delay = seconds(rest.count == 2 ? rest[1] : "0", upTo: mostSeconds)
        else { return .bad("the pieces are at most \(mostPieces), the delay a number of seconds") }
        return answer(count, delay)
    }
}

/// Routes with faults on request.
extension RouteResponse {
    /// `/headers-large/n`: n octets of fields, in lines of at most 1 KiB.
    static func largeHeaders(_ request: RouteRequest, _ rest: [String]) -> RouteResponse {
        guard rest.count == 1, var left = number(rest[0], upTo: mostHeaderBytes) else {
            return .bad("the octets are a number from 0 to \(mostHeaderBytes)")
        }
        var response = RouteResponse.text("large head\n")
        while left > 0 {
            let count = min(left, 1024)
            // The line's name, colon, space and line end count too, where they fit.
            let value = String(repeating: "a", count: Int(count > 16 ? count - 16 : count))
            response.fields.append(Pair(name: "X-Large-Fill", value: value))
            left -= count
        }
        return response
    }

    /// `/freeze?ms=200`: every loop of the server sleeps for this time once, then the answer is sent.
    static func freeze(_ request: RouteRequest, _ rest: [String]) -> RouteResponse {
        guard let pause = number(request.argument("ms") ?? "100", upTo: mostFreeze) else {
            return .bad("ms is at most \(mostFreeze)")
        }
        return RouteResponse.text("thawed\n").with(\.fate, .freeze(.milliseconds(Int(pause))))
    }

    static func cut(_ request: RouteRequest, _ fate: (UInt64) -> RouteResponse.Fate) -> RouteResponse {
        let total: UInt64 = 1_000_000
        guard let offset = number(request.argument("after") ?? "\(total / 2)", upTo: total) else {
            return .bad("after is at most \(total)")
        }
        let body = RouteResponse.Body.generated(.random(total, seed: 0), .length(total))
        return octets(body).with(\.fate, fate(offset))
    }
}
