import UncurlText

/// Routes that show the request, in httpbin's format.
enum Inspection {
    static func get(_ request: RouteRequest, _ rest: [String]) -> RouteResponse {
        guard rest.isEmpty else { return .notFound }
        return .json(.object(common(request)))
    }

    static func withBody(_ request: RouteRequest, _ rest: [String]) -> RouteResponse {
        guard rest.isEmpty else { return .notFound }
        return .json(.object(common(request) + body(of: request)))
    }

    static func anything(_ request: RouteRequest, _ rest: [String]) -> RouteResponse {
        .json(everything(request))
    }

    static func everything(_ request: RouteRequest) -> JSONTree {
        let method = ("method", JSONTree.string(request.method))
        return .object(common(request) + body(of: request) + [method])
    }

    static func headers(_ request: RouteRequest, _ rest: [String]) -> RouteResponse {
        .json(["headers": headers(request)])
    }

    static func ip(_ request: RouteRequest, _ rest: [String]) -> RouteResponse {
        .json(["origin": .string(request.origin)])
    }

    static func userAgent(_ request: RouteRequest, _ rest: [String]) -> RouteResponse {
        .json(["user-agent": request.field("user-agent").map { .string($0) } ?? .null])
    }

    /// Counts the bytes of a body and keeps none of them.
    static func upload(_ request: RouteRequest, _ rest: [String]) -> RouteResponse {
        .json(["bytes": .number(String(request.bodyLength))])
    }

    /// `/echo` without a body. With a body, the connection answers while the body comes.
    static func echoNothing(_ request: RouteRequest, _ rest: [String]) -> RouteResponse {
        RouteResponse(200, type: request.field("content-type") ?? "application/octet-stream")
    }

    /// Names as httpbin shows them, `User-Agent`; values of equal names joined.
    static func headers(_ request: RouteRequest) -> JSONTree {
        var joined: [Pair] = []
        var indices: [String: Int] = [:]
        for field in request.fields {
            let name = titled(field.name)
            if let index = indices[name] {
                joined[index].value += "," + field.value
            } else {
                indices[name] = joined.count
                joined.append(Pair(name: name, value: field.value))
            }
        }
        return .object(joined.map { ($0.name, JSONTree.string($0.value)) })
    }

    static func common(_ request: RouteRequest) -> [(String, JSONTree)] {
        [
            ("args", .grouping(request.arguments)),
            ("headers", headers(request)),
            ("origin", .string(request.origin)),
            ("url", .string(request.url)),
        ]
    }

    /// `data`, `form`, `files` and `json`: a form fills `form` and `files`, any other body fills `data`.
    static func body(of request: RouteRequest) -> [(String, JSONTree)] {
        let type = request.field("content-type") ?? ""
        var form = DecodedForm()
        var data = JSONTree.string("")
        var json = JSONTree.null
        switch MediaType.essence(of: type) {
        case "application/x-www-form-urlencoded":
            form.fields = PercentCoding.pairs(String(decoding: request.body, as: UTF8.self))
        case "multipart/form-data":
            guard let decoded = DecodedForm.multipart(request.body, contentType: type) else { fallthrough }
            form = decoded
        default:
            data = .string(text(of: request.body, type: type.isEmpty ? "application/octet-stream" : type))
            json = (try? JSONReader.read(request.body, loneSurrogates: true)) ?? .null
        }
        return [
            ("data", data),
            ("files", .grouping(form.files)),
            ("form", .grouping(form.fields)),
            ("json", json),
        ]
    }

    /// UTF-8 as it is; other octets as a data URL (RFC 2397).
    static func text(of bytes: [UInt8], type: String) -> String {
        String(validating: bytes, as: UTF8.self) ?? "data:\(type);base64,\(Base64.encode(bytes))"
    }

    private static func titled(_ name: String) -> String {
        var startsWord = true
        let bytes = name.utf8.map { byte in
            defer { startsWord = byte == UInt8(ascii: "-") }
            switch byte {
            case 0x61...0x7A where startsWord: return byte - 32
            case 0x41...0x5A where !startsWord: return byte + 32
            default: return byte
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension RouteResponse {
    static func json(_ members: KeyValuePairs<String, JSONTree>) -> RouteResponse { .json(.object(members)) }
}
