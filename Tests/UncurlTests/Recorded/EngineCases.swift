import Foundation
import Synchronization
import UncurlEngine
import UncurlHTTP1
import UncurlReactor
import UncurlSemantics
import UncurlTestServer

/// What the engine sends for requests that are given to it directly.
enum EngineCases {
    private typealias Content = @Sendable (Wire) throws -> (body: UncurlEngine.Content, parts: [BodyPart])

    private static let contents: [(name: String, make: Content)] = [
        ("none", { _ in (.none, []) }),
        ("empty bytes", { _ in (.bytes([]), []) }),
        ("bytes", { _ in (.bytes(Array(Sample.small)), []) }),
        ("large bytes", { _ in (.bytes(Array(Sample.large)), []) }),
        (
            "stream with a length",
            { _ in (.stream(length: 5, replayable: true), [.bytes([65, 66]), .bytes([]), .bytes([67, 68, 69])]) }
        ),
        (
            "stream in chunks",
            { _ in
                let end = try Sample.fields([("X-Sum", "5")])
                return (.stream(length: nil, replayable: true), [.bytes([65, 66]), .bytes([67]), .end(trailers: end)])
            }
        ),
        (
            "large stream in chunks",
            { _ in (.stream(length: nil, replayable: true), [.bytes(Array(Sample.large)), .bytes(Array(Sample.large))])
            }
        ),
        ("file", { wire in (.file(try FileBody(path: wire.file(Sample.small).path)), []) }),
        ("large file", { wire in (.file(try FileBody(path: wire.file(Sample.large).path)), []) }),
        ("range of a file", { wire in (.file(try FileBody(path: wire.file(Sample.small).path, range: 2..<7)), []) }),
        (
            "segments",
            { wire in
                let file = try FileBody(path: wire.file(Sample.small).path)
                let thread = ThreadedBody(length: 3, replayable: true) { Reader([70, 71, 72]) }
                return (.parts([.bytes([65]), .file(file), .threaded(thread), .bytes([])]), [])
            }
        ),
        ("thread in chunks", { _ in (.threaded(ThreadedBody(length: nil) { Reader([70, 71, 72]) }), []) }),
    ]

    private typealias Change = @Sendable (Wire, inout EngineRequest.Options) throws -> Void

    private static let options: [(name: String, change: Change)] = [
        ("host", { $1.host = "other.test:8080" }),
        ("expectation", { $1.expectsContinueAbove = 0 }),
        ("expectation above 5", { $1.expectsContinueAbove = 5 }),
        ("expectation above 50", { $1.expectsContinueAbove = 50 }),
        ("pipeline of 3", { $1.pipelineDepth = 3 }),
        ("identity", { $1.offersIdentity = true }),
        ("no decoding", { $1.decodesContent = false }),
        ("idempotent", { $1.isIdempotent = true }),
        ("upgrade", { $1.upgrade = ["websocket", "own/2"] }),
        ("rate", { $1.sendingRate = TransferRate(bytesPerSecond: 1 << 20) }),
        ("proxy", { $1.proxies = OriginProxies(try proxy($0)) }),
        ("proxy with credentials", { $1.proxies = OriginProxies(try proxy($0, "u:p@")) }),
        ("preemptive proxy", { $1.proxies = OriginProxies(try proxy($0, "u:p@", isPreemptive: true)) }),
        ("tunnel", { $1.proxies = OriginProxies(try proxy($0, tunnelsAll: true)) }),
        (
            "preemptive tunnel",
            { $1.proxies = OriginProxies(try proxy($0, "u:p@", isPreemptive: true, tunnelsAll: true)) }
        ),
    ]

    private static func proxy(
        _ wire: Wire,
        _ user: String = "",
        isPreemptive: Bool = false,
        tunnelsAll: Bool = false
    ) throws -> Proxy {
        let plain = try Proxy(url: "http://\(user)127.0.0.1:\(wire.port)")
        return Proxy(
            plain.kind,
            host: plain.host,
            port: plain.port,
            credentials: plain.credentials,
            isPreemptive: isPreemptive,
            tunnelsAll: tunnelsAll
        )
    }

    private static let fields: [(name: String, pairs: [(String, String)])] = [
        ("own Host", [("Host", "h.test")]),
        ("own Content-Length", [("Content-Length", "4")]),
        ("Accept-Encoding", [("Accept-Encoding", "br")]),
        ("Range", [("Range", "bytes=1-2")]),
        ("Connection: close", [("Connection", "close")]),
        ("Connection with names", [("connection", "X-Hop, keep-alive"), ("X-Hop", "1")]),
        ("one name twice", [("X-A", "1"), ("x-a", "2"), ("X-A", "")]),
        ("octets", [("X-A", "ä\u{7F}\t b  ")]),
        ("a line end", [("X-A", "b\r\n c")]),
        ("no token", [("X A", "b")]),
        ("many", (0..<40).map { ("X-\($0)", String(repeating: "v", count: $0)) }),
    ]

    private static let authorities: [(host: String, port: UInt16?)] = [
        ("example.test", nil), ("example.test", 80), ("EXAMPLE.test", 443), ("::1", nil), ("[2001:DB8::1]", 8080),
        ("fe80::1%25eth0", nil), ("127.0.0.1", 8), ("x_y.test", nil),
    ]

    private static let targets = ["/", "*", "/a/../b?c=d&e#f", "/%zz", "", "a b", "http://h.test/x", "/ä"]

    static var all: [RecordedCase] { byContent + byOption + byField + byTarget + others }

    private static var byContent: [RecordedCase] {
        (Sample.methods + ["CONNECT"]).flatMap { method in
            contents.map { content in
                RecordedCase("\(method), \(content.name)") { wire in
                    try await send(wire, method, content.make, target: method == "CONNECT" ? "h.test:5" : "/path?q=1")
                }
            }
        }
    }

    private static var byOption: [RecordedCase] {
        options.flatMap { option in
            ["GET", "POST"].map { method -> RecordedCase in
                let content = contents[method == "GET" ? 0 : 2].make
                let isCareful = method == "POST" && ["expectation", "expectation above 5"].contains(option.name)
                let script = isCareful ? Wire.careful : option.name.hasSuffix("tunnel") ? Wire.tunnel : Wire.usual
                return RecordedCase("\(method), option \(option.name)", scripts: { _ in [script] }) { wire in
                    try await send(wire, method, content, change: option.change)
                }
            }
        }
    }

    private static var byField: [RecordedCase] {
        fields.flatMap { given in
            ["GET", "PUT"].map { method in
                RecordedCase("\(method), field \(given.name)") { wire in
                    let content = contents[method == "GET" ? 0 : 2].make
                    return try await send(wire, method, content, fields: given.pairs)
                }
            }
        }
    }

    private static var byTarget: [RecordedCase] {
        let origins = authorities.map { host, port in
            RecordedCase("authority \(host) \(port ?? 0)", scripts: { _ in [Wire.heads] }) { wire in
                try await send(wire, "GET", contents[0].make, origin: try Origin(host: host, port: port)) {
                    $1.endpoint = .host("127.0.0.1", port: UInt16($0.port))
                }
            }
        }
        let targets = targets.map { target in
            RecordedCase("target “\(target)”", scripts: { _ in [Wire.heads] }) {
                try await send($0, "OPTIONS", contents[0].make, target: target)
            }
        }
        return origins + targets
    }

    private static var others: [RecordedCase] {
        [
            RecordedCase("a refused expectation", answers: ["head " + reply("417 No"), Wire.ok]) { wire in
                try await send(wire, "POST", contents[2].make, change: { $1.expectsContinueAbove = 0 })
            },
            RecordedCase("octets as they are", answers: ["head " + Wire.ok]) { wire in
                let octets = Array("GET /odd HTTP/1.1\nHost: x\r\n\r\n".utf8)
                let origin = try Origin(host: "127.0.0.1", port: UInt16(wire.port))
                return try await EngineDoor.outcome(of: EngineRequest(verbatim: octets, origin: origin))
            },
        ]
    }

    private static func send(
        _ wire: Wire,
        _ method: String,
        _ content: Content,
        origin: Origin? = nil,
        target: String = "/path?q=1",
        fields: [(String, String)] = [],
        change: Change = { _, _ in }
    ) async throws -> String {
        var options = EngineRequest.Options()
        try change(wire, &options)
        let (body, parts) = try content(wire)
        let request = try EngineRequest(
            method: method,
            origin: origin ?? Origin(host: "127.0.0.1", port: UInt16(wire.port)),
            target: target,
            fields: Sample.fields(fields),
            body: body,
            options: options
        )
        return try await EngineDoor.outcome(of: request, parts)
    }
}

/// Gives its octets at once.
private final class Reader: BlockingReader {
    private let rest: Mutex<[UInt8]>

    init(_ octets: [UInt8]) { rest = Mutex(octets) }

    func read(atMost count: Int) -> [UInt8] {
        rest.withLock { rest in
            defer { rest = [] }
            return rest
        }
    }
}
