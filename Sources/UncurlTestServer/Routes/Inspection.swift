import UncurlHTTP1
import UncurlText

/// Routes that show the request, in httpbin's format.
extension RouteResponse {
    static func shown(_ request: RouteRequest, _ rest: [String]) -> RouteResponse {
        guard rest.isEmpty else { return .notFound }
        return .json(.object(common(request)))
    }

    static func shownWithBody(_ request: RouteRequest, _ rest: [String]) -> RouteResponse {
        guard rest.isEmpty else { return .notFound }
        return .json(.object(common(request) + body(of: request)))
    }

    static func everything(_ request: RouteRequest) -> JSONTree {
        let method = ("method", JSONTree.string(request.method))
        return .object(common(request) + body(of: request) + [method])
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
        var form: Form = ([], [])
        var data = JSONTree.string("")
        var json = JSONTree.null
        switch essence(of: type) {
        case "application/x-www-form-urlencoded":
            form.fields = formPairs(String(decoding: request.body, as: UTF8.self))
        case "multipart/form-data":
            guard let decoded = multipart(request.body, contentType: type) else { fallthrough }
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
        String(validating: bytes, as: UTF8.self) ?? "data:\(type);base64,\(base64Text(bytes))"
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

/// Forms.
extension RouteResponse {
    typealias Form = (fields: [Pair], files: [Pair])

    /// The most characters of a boundary (RFC 2046 §5.1.1).
    private static let boundaryLimit = 70

    /// `multipart/form-data` (RFC 7578, RFC 2046 §5.1). Nil if the boundary is missing or too long, or the parts do not
    /// end.
    static func multipart(_ body: [UInt8], contentType: String) -> Form? {
        guard let boundary = parameter("boundary", of: contentType),
            (1...boundaryLimit).contains(boundary.utf8.count)
        else { return nil }
        let delimiter = Array("--\(boundary)".utf8)
        let (line, emptyLine) = (ByteSearch([13, 10]), ByteSearch([13, 10, 13, 10]))
        let partEnd = ByteSearch([13, 10] + delimiter)
        guard var position = ByteSearch(delimiter).first(in: body).map({ $0 + delimiter.count }) else { return nil }
        var form: Form = ([], [])
        while !body[position...].starts(with: "--".utf8) {
            guard let start = line.first(in: body, from: position),
                let headEnd = emptyLine.first(in: body, from: start),
                let end = partEnd.first(in: body, from: headEnd + 2)
            else { return nil }
            add(body[(start + 2)..<max(start + 2, headEnd)], Array(body[min(headEnd + 4, end)..<end]), to: &form)
            position = end + 2 + delimiter.count
        }
        return form
    }

    private static func add(_ head: ArraySlice<UInt8>, _ content: [UInt8], to form: inout Form) {
        var (disposition, type) = ("", "application/octet-stream")
        for line in head.split(separator: UInt8(ascii: "\n")) {
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { continue }
            let name = String(decoding: line[..<colon], as: UTF8.self)
            let content = line[colon...].dropFirst().drop { $0 == 0x20 }
            let value = String(decoding: content.last == 13 ? content.dropLast() : content, as: UTF8.self)
            if name.equalsIgnoringCase("content-disposition") { disposition = value }
            if name.equalsIgnoringCase("content-type") { type = value }
        }
        guard let name = parameter("name", of: disposition) else { return }
        let pair = Pair(name: name, value: text(of: content, type: type))
        if parameter("filename", of: disposition) == nil {
            form.fields.append(pair)
        } else {
            form.files.append(pair)
        }
    }
}

/// Values with parameters: `type/subtype; name=value; name="quoted"` (RFC 9110 §5.6.6).
extension RouteResponse {
    /// The part before the parameters, in lower case; empty if it is not ASCII, which no type is.
    static func essence(of value: String) -> String {
        let bytes = value.utf8.prefix { $0 != UInt8(ascii: ";") }
        guard bytes.allSatisfy({ $0 < 0x80 }) else { return "" }
        return String(decoding: bytes.filter { !$0.isBlankOctet }, as: UTF8.self).lowercased()
    }

    static func parameter(_ name: String, of value: String) -> String? {
        var reader = FieldReader(value.utf8)
        reader.take { $0 != UInt8(ascii: ";") }
        while reader.take(UInt8(ascii: ";")) {
            reader.skipBlanks()
            let key = reader.take { $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: ";") }
            let text = reader.take(UInt8(ascii: "=")) ? self.value(&reader, before: UInt8(ascii: ";")) : []
            if String(decoding: key, as: UTF8.self).equalsIgnoringCase(name) {
                return String(decoding: text, as: UTF8.self)
            }
            reader.take { $0 != UInt8(ascii: ";") }
        }
        return nil
    }

    /// Takes a quoted string, or else what comes before the separator or a space.
    static func value(_ reader: inout FieldReader, before separator: UInt8) -> [UInt8] {
        reader.quotedString()?.text ?? Array(reader.take { $0 != separator && $0 != 0x20 })
    }
}
