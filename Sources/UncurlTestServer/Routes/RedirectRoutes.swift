/// Routes that redirect the client (RFC 9110 §15.4).
enum RedirectRoutes {
    /// `/redirect/n`: n hops to `/get`; relative ones unless `?absolute=true`.
    static func redirect(_ request: RouteRequest, _ rest: [String]) -> RouteResponse {
        let isAbsolute = request.argument("absolute")?.equalsIgnoringCase("true") == true
        return hop(request, rest, isAbsolute ? "/absolute-redirect" : "/relative-redirect", isAbsolute: isAbsolute)
    }

    static func relative(_ request: RouteRequest, _ rest: [String]) -> RouteResponse {
        hop(request, rest, "/relative-redirect", isAbsolute: false)
    }

    static func absolute(_ request: RouteRequest, _ rest: [String]) -> RouteResponse {
        hop(request, rest, "/absolute-redirect", isAbsolute: true)
    }

    /// `/redirect-to?url=…&status_code=307` (or `statusCode`); `&length=n`: n octets of content.
    static func redirectTo(_ request: RouteRequest, _ rest: [String]) -> RouteResponse {
        guard rest.isEmpty else { return .notFound }
        guard let url = request.argument("url") else { return .bad("url is missing") }
        guard StatusRoutes.isField(Pair(name: "location", value: url)) else {
            return .bad("url holds control characters")
        }
        var status = 302
        if let text = request.argument("status_code") ?? request.argument("statusCode") {
            guard let code = Int(text), (300...399).contains(code) else {
                return .bad("status_code is a number from 300 to 399")
            }
            status = code
        }
        return .redirect(status, to: url).withContent(request)
    }

    private static func hop(
        _ request: RouteRequest,
        _ rest: [String],
        _ next: String,
        isAbsolute: Bool
    ) -> RouteResponse {
        guard rest.count == 1 else { return .notFound }
        guard let left = Arguments.count(rest[0], upTo: RouteLimits.redirects), left > 0 else {
            return .bad("the hops are a number from 1 to \(RouteLimits.redirects)")
        }
        let path = left == 1 ? "/get" : "\(next)/\(left - 1)"
        return .redirect(302, to: isAbsolute ? "\(request.scheme)://\(request.authority)\(path)" : path)
    }
}
