import UncurlText

/// Routes behind credentials (RFC 7617, RFC 6750); ``DigestRoutes`` has the rest.
enum AuthRoutes {
    /// `/basic-auth/user/password?length=n`: n octets of content with the refusal.
    static func basic(_ request: RouteRequest, _ rest: [String]) -> RouteResponse {
        check(request, rest) {
            RouteResponse(401, .bytes([]), [Pair(name: "WWW-Authenticate", value: "Basic realm=\"Fake Realm\"")])
                .withContent(request)
        }
    }

    /// Answers 404 where `/basic-auth` answers 401, and so hides that it exists.
    static func hiddenBasic(_ request: RouteRequest, _ rest: [String]) -> RouteResponse {
        check(request, rest) { .notFound }
    }

    static func bearer(_ request: RouteRequest, _ rest: [String]) -> RouteResponse {
        guard rest.isEmpty else { return .notFound }
        guard let token = credentials("bearer", request), !token.isEmpty else {
            return RouteResponse(401, .bytes([]), [Pair(name: "WWW-Authenticate", value: "Bearer")])
        }
        return .json(["authenticated": .bool(true), "token": .string(token)])
    }

    private static func check(
        _ request: RouteRequest,
        _ rest: [String],
        orElse refuse: () -> RouteResponse
    ) -> RouteResponse {
        guard rest.count == 2 else { return .notFound }
        let wanted = Array("\(rest[0]):\(rest[1])".utf8)
        guard let sent = credentials("basic", request), Base64.decode(sent) == wanted else { return refuse() }
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
