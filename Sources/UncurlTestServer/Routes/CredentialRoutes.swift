import UncurlHTTP1
internal import UncurlTLS
import UncurlText

/// Routes behind credentials: Basic and Bearer (RFC 7617, RFC 6750).
extension RouteResponse {
    /// `/basic-auth/user/password?length=n`: n octets of content with the refusal.
    static func basic(_ request: RouteRequest, _ rest: [String]) -> RouteResponse {
        check(request, rest) {
            RouteResponse(401, .bytes([]), [Pair(name: "WWW-Authenticate", value: "Basic realm=\"Fake Realm\"")])
                .withContent(request)
        }
    }

    static func bearer(_ request: RouteRequest, _ rest: [String]) -> RouteResponse {
        guard rest.isEmpty else { return .notFound }
        guard let token = credentials("bearer", request), !token.isEmpty else {
            return RouteResponse(401, .bytes([]), [Pair(name: "WWW-Authenticate", value: "Bearer")])
        }
        return .json(["authenticated": .bool(true), "token": .string(token)])
    }

    static func check(
        _ request: RouteRequest,
        _ rest: [String],
        orElse refuse: () -> RouteResponse
    ) -> RouteResponse {
        guard rest.count == 2 else { return .notFound }
        let wanted = Array("\(rest[0]):\(rest[1])".utf8)
        guard let sent = credentials("basic", request), base64Octets(sent) == wanted else { return refuse() }
        return .json(["authenticated": .bool(true), "user": .string(rest[0])])
    }

    /// The text after the scheme's name in Authorization. The case of the name does not matter (RFC 9110 §11.1).
    static func credentials(_ scheme: String, _ request: RouteRequest) -> String? {
        guard let value = request.field("authorization") else { return nil }
        let parts = value.utf8.split(separator: 0x20, maxSplits: 1)
        guard parts.count == 2, String(Substring(parts[0])).equalsIgnoringCase(scheme) else { return nil }
        return String(Substring(parts[1].drop { $0 == 0x20 }))
    }
}

/// `/digest-auth/QOP/USER/PASSWORD[/ALGORITHM]` (RFC 7616): QOP is auth or auth-int, ALGORITHM is MD5 or SHA-256. All
/// requests share one nonce, so a client may reuse it with a higher count.
extension RouteResponse {
    private static let realm = "Fake Realm"
    private static let nonce = "dcd98b7102dd2f0e8b11d0f600bfb0c093"

    static func digest(_ request: RouteRequest, _ rest: [String]) -> RouteResponse {
        guard (3...4).contains(rest.count), ["auth", "auth-int"].contains(rest[0]) else { return .notFound }
        let algorithm = rest.count == 4 ? rest[3].uppercased() : "MD5"
        guard algorithm == "MD5" || algorithm == "SHA-256" else { return .notFound }
        if let sent = credentials("digest", request).map(parameters) {
            guard sent["uri"].map({ names($0, targetOf: request) }) != false else {
                return .bad("the credentials are for another target")
            }
            if isRight(sent, request, qop: rest[0], user: rest[1], password: rest[2], algorithm) {
                return .json(["authenticated": .bool(true), "user": .string(rest[1])])
            }
        }
        let challenge =
            "Digest realm=\"\(realm)\", nonce=\"\(nonce)\", qop=\"\(rest[0])\", algorithm=\(algorithm), opaque=\"5ccc\""
        return RouteResponse(401, .bytes([]), [Pair(name: "WWW-Authenticate", value: challenge)])
    }

    /// RFC 7616 §3.4.1.
    private static func isRight(
        _ sent: [String: String],
        _ request: RouteRequest,
        qop: String,
        user: String,
        password: String,
        _ algorithm: String
    ) -> Bool {
        // By octets: texts of many combining marks take long to compare.
        func says(_ name: String, _ value: String) -> Bool { sent[name]?.utf8.elementsEqual(value.utf8) == true }
        guard says("username", user), says("realm", realm), says("nonce", nonce), says("qop", qop) else { return false }
        guard let uri = sent["uri"], let count = sent["nc"], let own = sent["cnonce"] else { return false }
        func hash(_ text: [UInt8]) -> String {
            hexText((algorithm == "MD5" ? MessageDigest.md5 : .sha256).hash(text.span) ?? [])
        }
        let secret = hash(Array("\(user):\(realm):\(password)".utf8))
        var action = "\(request.method):\(uri)"
        if qop == "auth-int" { action += ":" + hash(request.body) }
        let proof = "\(secret):\(nonce):\(count):\(own):\(qop):\(hash(Array(action.utf8)))"
        return says("response", hash(Array(proof.utf8)))
    }

    /// Whether the uri parameter and the request's target name the same resource (RFC 7616 §3.4.6). Scheme and
    /// authority do not count: a proxy removes them.
    private static func names(_ uri: String, targetOf request: RouteRequest) -> Bool {
        let slash = UInt8(ascii: "/")
        var path = uri.utf8[...]
        if path.first != slash { path = path.drop { $0 != slash }.dropFirst(2).drop { $0 != slash } }
        let hasQuery = !request.rawQuery.isEmpty || path.last == UInt8(ascii: "?")
        return path.elementsEqual((request.path + (hasQuery ? "?\(request.rawQuery)" : "")).utf8)
    }

    /// Parses name=value or name="value", separated by commas (RFC 9110 §11.2). The case of names does not matter.
    /// Names that are not ASCII are left out.
    private static func parameters(_ text: String) -> [String: String] {
        var result: [String: String] = [:]
        var reader = FieldReader(text.utf8)
        while !reader.isAtEnd {
            let name = reader.take { $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: ",") }
            if reader.take(UInt8(ascii: "=")) {
                reader.skipBlanks()
                let value = String(decoding: value(&reader, before: UInt8(ascii: ",")), as: UTF8.self)
                let name = name.filter { !$0.isBlankOctet }
                if name.allSatisfy({ $0 < 0x80 }) {
                    result[String(decoding: name, as: UTF8.self).lowercased()] = value
                }
            }
            reader.take { $0 != UInt8(ascii: ",") }
            _ = reader.take(UInt8(ascii: ","))
        }
        return result
    }
}
