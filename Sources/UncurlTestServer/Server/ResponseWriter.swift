internal import UncurlHTTP1

/// Writes the head of a response. Every head passes the checks of the serializer.
enum ResponseWriter {
    /// How the body that follows is to be framed.
    enum Framing: Equatable {
        case none
        case length(UInt64)
        case chunked
        case untilClose
    }

    static func appendHead(
        _ response: RouteResponse,
        _ framing: Framing,
        _ exchange: ServerExchange,
        _ shared: ServerScratch
    ) throws(HTTP1Error) {
        var fields = HTTPFields()
        try fields.append("Server", "uncurl-httpbin")
        try fields.append("Date", shared.fast.date(shared.now))
        for field in response.fields { try fields.append(field.name, field.value) }
        switch framing {
        case .none, .untilClose: break
        case .length(let count): try fields.append("Content-Length", String(count))
        case .chunked: try fields.append("Transfer-Encoding", "chunked")
        }
        if !exchange.keepsAlive {
            try fields.append("Connection", "close")
        } else if exchange.version.minor == 0 {
            try fields.append("Connection", "keep-alive")
        }
        let head = try ResponseHead(status: response.status, reason: reason(response.status), fields: fields)
        try MessageSerializer.append(head, to: &shared.output)
    }

    /// Writes a 103 before the response (RFC 8297). HTTP/1.0 has no 1xx (RFC 9110 §15.2).
    static func appendHints(
        _ response: RouteResponse,
        _ exchange: ServerExchange,
        _ shared: ServerScratch
    ) throws(HTTP1Error) {
        guard !response.hints.isEmpty, exchange.version.minor > 0 else { return }
        var fields = HTTPFields()
        for field in response.hints { try fields.append(field.name, field.value) }
        try MessageSerializer.append(
            ResponseHead(status: 103, reason: "Early Hints", fields: fields),
            to: &shared.output
        )
    }

    /// Writes a complete response that ends the connection, for a faulty request.
    static func appendRefusal(_ status: Int, _ text: String, _ shared: ServerScratch) {
        let body = Array("\(text)\n".utf8)
        shared.output += "HTTP/1.1 \(status) \(reason(status))\r\nServer: uncurl-httpbin\r\n".utf8
        shared.output += "Date: \(shared.fast.date(shared.now))\r\nContent-Type: text/plain; charset=utf-8\r\n".utf8
        shared.output += "Content-Length: \(body.count)\r\nConnection: close\r\n\r\n".utf8
        shared.output += body
        shared.finishedResponses += 1
    }

    /// The reason phrases of the statuses that this server uses, from the IANA registry; empty for others.
    static func reason(_ status: Int) -> String {
        switch status {
        case 101: "Switching Protocols"
        case 200: "OK"
        case 201: "Created"
        case 202: "Accepted"
        case 204: "No Content"
        case 206: "Partial Content"
        case 301: "Moved Permanently"
        case 302: "Found"
        case 303: "See Other"
        case 304: "Not Modified"
        case 307: "Temporary Redirect"
        case 308: "Permanent Redirect"
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 407: "Proxy Authentication Required"
        case 408: "Request Timeout"
        case 412: "Precondition Failed"
        case 413: "Content Too Large"
        case 414: "URI Too Long"
        case 416: "Range Not Satisfiable"
        case 417: "Expectation Failed"
        case 418: "I'm a teapot"
        case 426: "Upgrade Required"
        case 429: "Too Many Requests"
        case 431: "Request Header Fields Too Large"
        case 500: "Internal Server Error"
        case 501: "Not Implemented"
        case 502: "Bad Gateway"
        case 503: "Service Unavailable"
        case 504: "Gateway Timeout"
        case 505: "HTTP Version Not Supported"
        default: ""
        }
    }
}
