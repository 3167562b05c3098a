internal import UncurlWebSocket

/// `/websocket` sends each message back (RFC 6455), compressed unless `?deflate=0`. It accepts every subprotocol.
enum WebSocketRoutes {
    static func echo(_ request: RouteRequest, _ rest: [String]) -> RouteResponse {
        let values = { (name: String) in
            request.fields.filter { $0.name.equalsIgnoringCase(name) }.map(\.value)
        }
        guard names(values("Connection"), "upgrade"), names(values("Upgrade"), "websocket"), request.method == "GET",
            !request.isHTTP10,
            let handshake = try? ServerHandshake(
                values,
                deflates: request.argument("deflate") != "0",
                speaking: { _ in true }
            )
        else {
            // RFC 6455 §4.4, RFC 9110 §15.5.22.
            return RouteResponse.text("this route speaks WebSocket 13\n", status: 426)
                .with("Connection", "Upgrade").with("Upgrade", "websocket")
                .with(ServerHandshake.version.name, ServerHandshake.version.value)
        }
        var response = RouteResponse(101, .none).with("Connection", "Upgrade").with("Upgrade", "websocket")
        for (name, value) in handshake.fields { response = response.with(name, value) }
        response.upgrade = handshake.agreement
        return response
    }

    private static func names(_ values: [String], _ token: String) -> Bool {
        values.flatMap { $0.utf8.split(separator: UInt8(ascii: ",")) }.contains { element in
            String(decoding: element.filter { $0 != 0x20 && $0 != 0x09 }, as: UTF8.self).equalsIgnoringCase(token)
        }
    }
}
