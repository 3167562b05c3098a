internal import UncurlHTTP1
import UncurlText

/// One request while it is received and answered. It is a class because the collected body grows in place.
final class ServerExchange {
    var request: RouteRequest
    let intake: Intake
    let version: HTTPVersion
    var keepsAlive: Bool
    /// Only for `/resumable-upload`.
    private(set) var upload: ServerUploadTurn?
    /// The trailers of a generated body in chunks; nil for another framing.
    private(set) var trailers: [Pair]?
    /// How many octets of a generated body may still be sent, and how the connection ends where it is cut.
    private var left = UInt64.max
    private var ending: ServerMachine.Ending?

    var isHead: Bool { request.method == "HEAD" }

    init(_ request: RouteRequest, _ intake: Intake, _ version: HTTPVersion, keepsAlive: Bool) {
        self.request = request
        self.intake = intake
        self.version = version
        self.keepsAlive = keepsAlive
    }

    /// Announces a resumable upload before its content comes.
    func beginUpload(_ shared: ServerScratch) {
        guard case .resume = intake, let turn = ServerUploadTurn(request, shared.uploads) else { return }
        upload = turn
        // HTTP/1.0 has no 1xx (RFC 9110 §15.2).
        if version.minor > 0 { turn.announce(to: &shared.output) }
    }

    /// Begins a generated body, which the fate may cut.
    func beginBody(_ framing: BodyFraming, of response: RouteResponse) {
        trailers = framing == .chunked ? response.trailers : nil
        switch response.fate {
        case .truncated(let offset): (left, ending) = (offset, .linger)
        case .reset(let offset): (left, ending) = (offset, .reset)
        case .normal, .silence, .freeze: (left, ending) = (.max, nil)
        }
    }

    /// How the connection ends, once the body has come to its cut.
    var cut: ServerMachine.Ending? { left == 0 ? ending : nil }

    /// Returns how many of the next octets are sent.
    func take(_ count: Int) -> Int {
        let taken = min(UInt64(count), left)
        if left != .max { left -= taken }
        return Int(taken)
    }

    /// The answer to the complete request.
    func response() -> RouteResponse { upload?.response() ?? RouteResponse.respond(to: request) }
}

extension RequestHead {
    /// RFC 9110 §4.2.1, RFC 9112 §3.3: where the target has no authority, Host is the authority, and that of an http or
    /// https URI is never empty.
    @inline(__always)
    var lacksHost: Bool {
        guard let host = fields.first(.host), host.isEmpty else { return false }
        let first = fields.block[targetRange.lowerBound]
        return first == UInt8(ascii: "/") || first == UInt8(ascii: "*")
    }
}

extension RouteRequest {
    /// Makes strings of the head's octets. The fast routes do not need them.
    init(_ head: RequestHead, origin: String, scheme: String, random: UInt64, requestCount: UInt64) {
        method = head.method
        isHTTP10 = head.version.minor == 0
        let target = head.target.utf8
        var pathAndQuery = target[...]
        authority = head.fields["host"] ?? ""
        // In absolute form, the target's authority replaces Host (RFC 9112 §3.2.2). An empty path means "/".
        if let first = target.first, first != UInt8(ascii: "/"), first != UInt8(ascii: "*"), method != "CONNECT" {
            let afterScheme = target.drop { $0 != UInt8(ascii: "/") }.dropFirst(2)
            let name = afterScheme.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
            authority = String(decoding: name, as: UTF8.self)
            pathAndQuery = afterScheme[name.endIndex...]
        }
        let parts = pathAndQuery.split(separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
        path = parts.first.map { String(decoding: $0, as: UTF8.self) } ?? ""
        if path.isEmpty { path = "/" }
        rawQuery = parts.count > 1 ? String(decoding: parts[1], as: UTF8.self) : ""
        let headFields = head.fields
        fields = (0..<headFields.count).map { Pair(name: headFields.name(at: $0), value: headFields.value(at: $0)) }
        self.origin = origin
        self.scheme = scheme
        self.random = random
        self.requestCount = requestCount
    }
}
