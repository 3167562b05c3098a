/// Routes with faults on request. ``RawServer`` has more faults, at exact positions.
enum FaultRoutes {
    /// 103 with a Link, then 200 (RFC 8297).
    static func hints(_ request: RouteRequest, _ rest: [String]) -> RouteResponse {
        var response = RouteResponse.text("hinted\n")
        response.hints = [Pair(name: "Link", value: "</style.css>; rel=preload; as=style")]
        return response
    }

    /// `/headers-large/n`: n octets of fields, in lines of at most 1 KiB.
    static func largeHeaders(_ request: RouteRequest, _ rest: [String]) -> RouteResponse {
        guard rest.count == 1, var left = Arguments.count(rest[0], upTo: RouteLimits.headerBytes) else {
            return .bad("the octets are a number from 0 to \(RouteLimits.headerBytes)")
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

    /// `/reset?after=n`: RST after n of 1,000,000 body octets (half by default).
    static func reset(_ request: RouteRequest, _ rest: [String]) -> RouteResponse {
        cut(request) { .reset(after: $0) }
    }

    /// `/truncate?after=n`: a FIN in place of the RST.
    static func truncate(_ request: RouteRequest, _ rest: [String]) -> RouteResponse {
        cut(request) { .truncated(after: $0) }
    }

    static func never(_ request: RouteRequest, _ rest: [String]) -> RouteResponse {
        var response = RouteResponse()
        response.fate = .silence
        return response
    }

    /// `/freeze?ms=200`: every loop of the server sleeps for this time once, then the answer is sent.
    static func freeze(_ request: RouteRequest, _ rest: [String]) -> RouteResponse {
        guard let pause = Arguments.count(request.argument("ms") ?? "100", upTo: RouteLimits.freeze) else {
            return .bad("ms is at most \(RouteLimits.freeze)")
        }
        var response = RouteResponse.text("thawed\n")
        response.fate = .freeze(.milliseconds(Int(pause)))
        return response
    }

    private static func cut(_ request: RouteRequest, _ fate: (UInt64) -> RouteResponse.Fate) -> RouteResponse {
        let total: UInt64 = 1_000_000
        guard let offset = Arguments.count(request.argument("after") ?? "\(total / 2)", upTo: total) else {
            return .bad("after is at most \(total)")
        }
        let body = RouteResponse.Body.generated(.random(total, seed: 0), .length(total))
        var response = RouteResponse(200, type: "application/octet-stream", body)
        response.fate = fate(offset)
        return response
    }
}
