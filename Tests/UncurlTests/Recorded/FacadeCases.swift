import FacadeTestSupport
import Foundation
import TestSupport
import Uncurl
import UncurlTestServer

/// What managers and operations send.
enum FacadeCases {
    private struct Value: Encodable, Sendable {
        var name = "a b"
        var list = [1, 2]
        var inner = ["k": "v/ü"]
    }

    private static let verbs: [HTTPMethod] = [.get, .head, .post, .put, .patch, .delete, .query, "OWN"]

    private static let serializers: [(name: String, make: @Sendable () -> any RequestSerializer)] = [
        ("form", { HTTPRequestSerializer() }),
        ("query", { HTTPRequestSerializer(placement: .query) }),
        (
            "other form",
            {
                var query = QueryEncoding()
                (query.arrays, query.spaces, query.booleans, query.nulls) = (.indexed, .plus, .literal, .bareName)
                (query.nesting, query.order) = (.dots, .byName)
                return HTTPRequestSerializer(query: .encoded(query), placement: .body, stringEncoding: .isoLatin1)
            }
        ),
        ("JSON", { JSONRequestSerializer() }),
        ("property list", { PropertyListRequestSerializer() }),
        ("binary property list", { PropertyListRequestSerializer(format: .binary) }),
        ("encoder", { EncodableRequestSerializer(encoder: JSONEncoder.sorted) }),
    ]

    private static let parameters: [(name: String, value: Parameters?)] = [
        ("no parameters", nil), ("empty parameters", [:]), ("two parameters", ["b": "x y&z", "a": 1]),
        (
            "nested parameters",
            [
                "list": [1, "two", true, 2.5], "object": ["k": ["l": "ü"], "e": ""], "flag": false,
                "data": .data(Data([0, 255])), "date": .date(Date(timeIntervalSince1970: 0)), "set": .set(["s"]),
            ]
        ),
    ]

    private static let bodies: [(name: String, make: @Sendable (Wire) throws -> RequestBody)] = [
        ("data", { _ in .data(Sample.small) }),
        ("data with a type", { _ in .data(Sample.small, contentType: "a/b") }),
        ("empty data", { _ in .data(Data()) }),
        ("large data", { _ in .data(Sample.large) }),
        ("a file", { .file(try $0.file(Sample.small)) }),
        ("a page's file", { .file(try $0.file(Sample.large, "page.html")) }),
        ("a stream", { _ in .stream { InputStream(data: Sample.small) } }),
        (
            "a stream with a length",
            { _ in .stream(length: 11, contentType: "a/b") { InputStream(data: Sample.small) } }
        ),
        ("JSON", { _ in .json(Value(), encoder: .sorted) }),
        ("a form", { _ in .form(Value()) }),
        ("a value", { _ in .encoded(Value()) }),
        ("an empty multipart form", { _ in .multipart(try MultipartForm(boundary: "b")) }),
        ("a multipart form", { .multipart(try form($0)) }),
        (
            "a multipart form in chunks",
            { wire in
                var form = try form(wire)
                try form.append(.stream(length: nil) { InputStream(data: Sample.small) }, name: "open")
                return .multipart(form)
            }
        ),
        (
            "a multipart form with a random boundary",
            { _ in
                var form = MultipartForm()
                try form.append(.text("v"), name: "n")
                return .multipart(form)
            }
        ),
    ]

    private static func form(_ wire: Wire) throws -> MultipartForm {
        var form = try MultipartForm(boundary: "edge")
        try form.append(.text("v ü\r\n"), name: "te\"xt")
        try form.append(.data(Data([0, 1, 13, 10])), name: "data", fileName: "d.bin", contentType: "x/y")
        try form.append(.file(try wire.file(Sample.small, "part.json")), name: "file")
        try form.append(.stream(length: 11) { InputStream(data: Sample.small) }, name: "stream")
        try form.append(.text("own"), headers: [("Content-Disposition", "form-data; name=own"), ("X-Own", "1")])
        return form
    }

    private typealias Change = @Sendable (Wire, inout HTTPRequest) throws -> Void

    private static let options: [(name: String, change: Change)] = [
        (
            "timeouts",
            {
                $1.options.timeout = .seconds(20)
                ($1.options.connectTimeout, $1.options.firstByteTimeout) = (.seconds(20), .seconds(20))
            }
        ),
        ("content with GET", { ($1.options.sendsContentWithGET, $1.method) = (true, .get) }),
        ("gzip", { $1.options.compression = RequestCompression(.gzip) }),
        ("deflate", { $1.options.compression = RequestCompression(.deflate) }),
        (
            "gzip beside a coding",
            {
                $1.options.compression = RequestCompression(.gzip, existing: .skip)
                $1.headers["Content-Encoding"] = "own"
            }
        ),
        ("throttle", { $1.options.throttle = Throttle(upload: 1 << 20) }),
        ("priority", { $1.options.priority = 1 }),
        ("cache policy", { $1.options.cachePolicy = .reloadIgnoringLocalAndRemoteCacheData }),
        ("credential", { $1.options.credential = URLCredential(user: "u", password: "p", persistence: .none) }),
        (
            "connectTo",
            {
                $1.path = "http://other.test:81/x"
                $1.options.connectTo = try ConnectTo(host: "127.0.0.1", port: $0.port)
            }
        ),
        (
            "proxy",
            {
                $1.path = "http://other.test:81/x"
                $1.options.proxy = try RequestProxy("http://127.0.0.1:\($0.port)")
            }
        ),
        (
            "headers",
            { $1.headers = ["X-B": "2", "x-a": "1", "Accept": "a/b", "User-Agent": "me", "Content-Type": "c/d"] }
        ),
        ("repeated headers", { $1.headers = [.init("X-A", "1"), .init("X-A", "2"), .accept("a/b")] }),
        ("a header that cannot be sent", { $1.headers["X-A"] = "a\nb" }),
        (
            "interceptors",
            {
                $1.options.interceptors = [
                    .adapting { request, attempt in
                        var request = request
                        request.setValue("\(attempt.retryCount)", forHTTPHeaderField: "X-Attempt")
                        return request
                    }
                ]
            }
        ),
        ("whole request", { $1 = HTTPRequest(SessionCases.request($0.url("/whole"), "PUT", [("X-Whole", "1")])) }),
    ]

    private static let paths = [
        "", "x", "/x", "../x", "x?q=1", "?q=1", "x y", "ü/ö", "//h.test/x", "http://127.0.0.1:1/x", "x#f", "a%2Fb",
    ]

    static var all: [RecordedCase] {
        bySerializer + byBody + byOption + byPath + byDefault + byVerb + byMethod + byOperation + byUpload + byTask
    }

    private static var bySerializer: [RecordedCase] {
        verbs.flatMap { method in
            serializers.flatMap { serializer in
                parameters.filter { $0.name != "empty parameters" || method == .post }.map { parameters in
                    RecordedCase("\(method), \(serializer.name), \(parameters.name)") { wire in
                        let manager = wire.manager()
                        manager.requestSerializer = serializer.make()
                        return await send(HTTPRequest(method, "path?q=1", parameters: parameters.value), by: manager)
                    }
                }
            }
        }
    }

    private static var byBody: [RecordedCase] {
        bodies.flatMap { body in
            [HTTPMethod.post, .put, .get].flatMap { method in
                [nil, ["p": 1]].map { (parameters: Parameters?) in
                    RecordedCase("\(method) of \(body.name)\(parameters == nil ? "" : " with parameters")") { wire in
                        var request = HTTPRequest(method, "path", parameters: parameters)
                        request.body = try body.make(wire)
                        return await send(request, by: wire.manager())
                    }
                }
            }
        }
    }

    private static var byOption: [RecordedCase] {
        options.map { option in
            RecordedCase("option \(option.name)") { wire in
                var request = HTTPRequest(.post, "path", parameters: ["a": 1])
                try option.change(wire, &request)
                return await send(request, by: wire.manager())
            }
        }
    }

    private static var byPath: [RecordedCase] {
        paths.map { path in
            RecordedCase("path “\(path)”") { wire in
                var request = HTTPRequest(path)
                request.options.connectTo = try ConnectTo(host: "127.0.0.1", port: wire.port)
                return await send(request, by: wire.manager())
            }
        }
    }

    private static var byDefault: [RecordedCase] {
        [
            RecordedCase("defaults of a manager") { wire in
                let manager = wire.manager { $0.httpAdditionalHeaders = ["X-Session": "1", "X-Own": "session"] }
                try manager.requestDefaults.setHeader("X-Own", to: "manager")
                try manager.requestDefaults.setAuthorization(user: "ü", password: "p:")
                var serializer = HTTPRequestSerializer()
                try serializer.defaults.setHeader("X-Serializer", to: "1")
                try serializer.defaults.setHeader("X-Own", to: "serializer")
                manager.requestSerializer = serializer
                let first = await send(HTTPRequest("one", parameters: ["a": 1]), by: manager)
                let second = await send(HTTPRequest(.post, "two", headers: ["x-own": "request"]), by: manager)
                return "\(first) \(second)"
            }
        ]
    }

    private typealias Verb = @Sendable (HTTPSessionManager) async throws(UncurlError) -> Void

    private static let verbCalls: [(name: String, call: Verb)] = [
        ("get", { (m) throws(UncurlError) in _ = try await m.get("p", parameters: ["a": 1], as: EmptyResponse.self) }),
        (
            "get of a value",
            { (m) throws(UncurlError) in _ = try await m.get("p", parameters: Value(), as: EmptyResponse.self) }
        ),
        ("head", { (m) throws(UncurlError) in _ = try await m.head("p", parameters: ["a": 1]) }),
        ("post", { (m) throws(UncurlError) in try await m.post("p", parameters: ["a": 1]) }),
        ("post of a value", { (m) throws(UncurlError) in try await m.post("p", parameters: Value()) }),
        ("put", { (m) throws(UncurlError) in try await m.put("p", parameters: ["a": 1], headers: ["X-A": "1"]) }),
        ("patch", { (m) throws(UncurlError) in try await m.patch("p", body: .data(Sample.small)) }),
        ("delete", { (m) throws(UncurlError) in try await m.delete("p", parameters: ["a": 1]) }),
    ]

    private static var byVerb: [RecordedCase] {
        verbCalls.map { verb in
            RecordedCase("verb \(verb.name)", answers: ["HTTP/1.1 204 No Content\r\n\r\n"]) { wire in
                try await verb.call(wire.manager())
                return "returned"
            }
        }
    }

    private static var byMethod: [RecordedCase] {
        [
            RecordedCase("download") { await RecordedCase.text($0.manager().downloadResponse("p")) },
            RecordedCase("stream") { RecordedCase.text(try await $0.manager().stream("p").response) },
            RecordedCase(
                "events",
                answers: [reply("200 OK", "Content-Type: text/event-stream", content: "data: x\n\n")]
            ) {
                for try await event in $0.manager().events("p", after: "7") { return event.data }
                return "no event"
            },
        ]
    }

    private static var byOperation: [RecordedCase] {
        ["GET", "HEAD", "POST", "PUT", "DELETE"].flatMap { method in
            [nil, Sample.small, Sample.large].map { (content: Data?) in
                RecordedCase("operation \(method), \(content?.count ?? 0) octets") { wire in
                    var request = SessionCases.request(wire.url(), method, [("X-A", "1")])
                    request.httpBody = content
                    return await end(HTTPRequestOperation(request: request, manager: wire.manager(), serializer: .data))
                }
            }
        }
    }

    private static var byUpload: [RecordedCase] {
        bodies.map { body in
            RecordedCase("operation with \(body.name)") { wire in
                let request = HTTPRequest(.post, "path", body: try body.make(wire))
                return await end(try HTTPRequestOperation(request, manager: wire.manager(), serializer: .data))
            }
        }
    }

    private static let uploads: [(name: String, make: @Sendable (Wire) throws -> UploadBody)] = [
        ("data", { _ in .data(Sample.small) }), ("a file", { .file(try $0.file(Sample.small)) }),
        ("a stream", { _ in .stream { InputStream(data: Sample.small) } }),
    ]

    /// Tasks of a manager that the program resumes.
    private static var byTask: [RecordedCase] {
        let made = uploads.map { upload in
            RecordedCase("upload task of \(upload.name)") { wire in
                let (manager, body) = (wire.manager(), try upload.make(wire))
                let request = SessionCases.request(wire.url(), "POST")
                return await ended { manager.uploadTask(with: request, from: body, serializer: .data, completion: $0) }
            }
        }
        return made + [
            RecordedCase("data task of a manager") { wire in
                let manager = wire.manager()
                let request = SessionCases.request(wire.url(), "GET")
                return await ended { manager.dataTask(with: request, serializer: .data, completion: $0) }
            },
            RecordedCase("download task of a manager") { wire in
                let manager = wire.manager()
                let request = SessionCases.request(wire.url(), "GET")
                return await ended { manager.downloadTask(with: request, serializer: .file, completion: $0) }
            },
            RecordedCase("multipart of a session") { wire in
                let session = wire.session()
                let request = SessionCases.request(wire.url(), "POST")
                return RecordedCase.text(try await session.upload(for: request, multipart: form(wire)).1)
            },
        ]
    }

    private static func ended<Value: Sendable>(
        _ make: (@escaping @Sendable (Response<Value>) -> Void) -> URLSessionTask
    ) async -> String {
        let word = Word<String>()
        make { word.give(RecordedCase.text($0)) }.resume()
        return await word.wait("the end of a manager's task") ?? "no end"
    }

    private static func send(_ request: HTTPRequest, by manager: HTTPSessionManager) async -> String {
        await RecordedCase.text(manager.response(to: request, serializer: .data))
    }

    static func end(_ operation: HTTPRequestOperation) async -> String {
        let word = Word<String>()
        operation.onCompletion { word.give(RecordedCase.text($0)) }
        operation.start()
        return await word.wait("the end of an operation") ?? "no end"
    }
}

extension JSONEncoder {
    fileprivate static var sorted: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return encoder
    }
}
