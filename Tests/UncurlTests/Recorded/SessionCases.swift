import Foundation
import TestSupport
import Uncurl
import UncurlEngine
import UncurlReactor
import UncurlTestServer

/// What `URLSession` sends, by each of its doors.
enum SessionCases {
    // MARK: Doors

    private typealias Door = @Sendable (URLSession, URLRequest, Wire) async throws -> URLResponse?

    private static let plainDoors: [(name: String, send: Door)] = [
        (
            "data task",
            { session, request, _ in
                try await handled { session.dataTask(with: request, completionHandler: $0) }
            }
        ),
        (
            "download task",
            { session, request, _ in
                try await handled { done in session.downloadTask(with: request) { done(nil, $1, $2) } }
            }
        ),
        ("delegate", { session, request, _ in try await Plain.end(of: session.dataTask(with: request)) }),
        ("await data", { session, request, _ in try await session.data(for: request).1 }),
        ("await download", { session, request, _ in try await session.download(for: request).1 }),
        ("await bytes", { session, request, _ in try await session.bytes(for: request).1 }),
    ]

    private static let uploadDoors: [(name: String, send: Door)] = [
        (
            "upload task of data",
            { session, request, _ in
                try await handled { session.uploadTask(with: request, from: Sample.small, completionHandler: $0) }
            }
        ),
        (
            "upload task of a file",
            { session, request, wire in
                let file = try wire.file(Sample.small)
                return try await handled { session.uploadTask(with: request, fromFile: file, completionHandler: $0) }
            }
        ),
        (
            "upload task of a stream",
            { session, request, _ in
                let task = session.uploadTask(withStreamedRequest: request)
                return try await Plain.end(of: task, stream: Sample.small)
            }
        ),
        (
            "await upload of data",
            { session, request, _ in try await session.upload(for: request, from: Sample.small).1 }
        ),
        ("await upload of nothing", { session, request, _ in try await session.upload(for: request, from: Data()).1 }),
        (
            "await upload of much",
            { session, request, _ in try await session.upload(for: request, from: Sample.large).1 }
        ),
        (
            "await upload of a file",
            { session, request, wire in try await session.upload(for: request, fromFile: wire.file(Sample.large)).1 }
        ),
    ]

    /// Waits for a task with a handler.
    static func handled(
        _ make: (@escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void) -> URLSessionTask
    ) async throws -> URLResponse? {
        try await withCheckedThrowingContinuation { continuation in
            make { _, response, error in
                if let error { return continuation.resume(throwing: error) }
                continuation.resume(returning: response)
            }.resume()
        }
    }

    // MARK: Contents of requests

    private static let contents: [(name: String, set: @Sendable (inout URLRequest) -> Void)] = [
        ("no content", { _ in }),
        ("empty data", { $0.httpBody = Data() }),
        ("data", { $0.httpBody = Sample.small }),
        ("large data", { $0.httpBody = Sample.large }),
        ("stream", { $0.httpBodyStream = InputStream(data: Sample.small) }),
        (
            "stream with a length",
            {
                $0.httpBodyStream = InputStream(data: Sample.small)
                $0.setValue("11", forHTTPHeaderField: "Content-Length")
            }
        ),
        ("large stream", { $0.httpBodyStream = InputStream(data: Sample.large) }),
        ("segments", { $0.content = .parts([.bytes(Array("a=".utf8)), .bytes([51, 52])]) }),
    ]

    static func request(_ url: URL, _ method: String, _ fields: [(String, String)] = []) -> URLRequest {
        var request = URLRequest(url: url)
        request.httpMethod = method
        for (name, value) in fields { request.addValue(value, forHTTPHeaderField: name) }
        return request
    }

    // MARK: Fields

    private static let fields: [(name: String, pairs: [(String, String)])] = [
        ("Host", [("Host", "other.test")]),
        ("Expect", [("Expect", "100-continue")]),
        ("Accept-Encoding", [("Accept-Encoding", "identity")]),
        ("Range", [("Range", "bytes=0-9")]),
        ("Connection: close", [("Connection", "close")]),
        ("Connection: own", [("Connection", "X-Hop"), ("X-Hop", "1"), ("Keep-Alive", "5"), ("TE", "trailers")]),
        ("one name twice", [("X-A", "1"), ("x-a", "2")]),
        ("empty value", [("X-A", "")]),
        ("folded value", [("X-A", "one\r\n two")]),
        ("value of UTF-8", [("X-A", "ä ö")]),
        ("blanks", [("X-A", "  b\t")]),
        ("no token", [("X A", "b")]),
        ("own Cookie", [("Cookie", "mine=1")]),
        ("own Authorization", [("Authorization", "Own x")]),
        (
            "own defaults",
            [("Accept", "a/b"), ("Accept-Language", "de"), ("User-Agent", "me"), ("Content-Type", "c/d")]
        ),
        ("derived", [("Content-Length", "3"), ("Transfer-Encoding", "chunked"), ("Proxy-Authorization", "x")]),
        ("Upgrade", [("Upgrade", "own/1, other")]),
        ("conditions", [("If-None-Match", "\"a\""), ("If-Modified-Since", "Sun, 06 Nov 1994 08:49:37 GMT")]),
        ("Cache-Control", [("Cache-Control", "no-cache"), ("Pragma", "no-cache")]),
    ]

    private static let urls = [
        "http://h.test", "http://h.test/", "http://h.test?q", "http://h.test/a?", "http://h.test/a#f",
        "http://H.Test:80/A", "http://h.test:8080/a/../b/./c", "http://h.test//a//",
        "http://h.test/%7Euser/%2f?%41=b%20c",
        "http://h.test/ä?ö=ü", "http://[::1]/x", "http://[2001:DB8:0::1]:81/x", "http://127.1/x", "http://u:p@h.test/x",
        "http://u@h.test/x", "http://bücher.test/x", "http://h.test/a;b=c,d/e=f?g=h&i=j+k", "http://h.test/\"<>",
        "HTTP://h.test/x", "http://h.test:0/x", "http://h..test/x",
    ]

    private static let configurations: [(name: String, change: @Sendable (URLSessionConfiguration) -> Void)] = [
        (
            "additional fields",
            {
                $0.httpAdditionalHeaders = [
                    "X-Session": "s", "Accept": "x/y", "user-agent": "session", "X-A": "session",
                ]
            }
        ),
        ("additional Range", { $0.httpAdditionalHeaders = ["Range": "bytes=1-"] }),
        (
            "additional derived",
            { $0.httpAdditionalHeaders = ["Host": "no", "Content-Length": "9", "Connection": "close"] }
        ),
        ("additional Cookie", { $0.httpAdditionalHeaders = ["Cookie": "session=1"] }),
        ("no cookies", { $0.httpShouldSetCookies = false }),
        ("no cookie storage", { $0.httpCookieStorage = nil }),
        ("resumable uploads", { $0.resumableUploads = .six }),
        ("no codings", { $0.httpAdditionalHeaders = ["Accept-Encoding": ""] }),
    ]

    private static let policies: [URLRequest.CachePolicy] = [
        .useProtocolCachePolicy, .reloadIgnoringLocalCacheData, .reloadIgnoringLocalAndRemoteCacheData,
        .returnCacheDataElseLoad, .returnCacheDataDontLoad, .reloadRevalidatingCacheData,
    ]

    // MARK: Cases

    static var all: [RecordedCase] { byMethod + byDoor + byField + byConfiguration + byURL + byProperty }

    private static var byMethod: [RecordedCase] {
        Sample.methods.flatMap { method in
            contents.map { content in
                RecordedCase("\(method), \(content.name)") { wire in
                    var request = request(wire.url(), method)
                    content.set(&request)
                    return try await send(request, wire.session())
                }
            }
        }
    }

    private static var byDoor: [RecordedCase] {
        (plainDoors + uploadDoors).enumerated().flatMap { index, door in
            ["GET", "POST", "PATCH"].map { method in
                RecordedCase("\(door.name), \(method)") { wire in
                    var request = request(wire.url(), method, [("X-Own", "1")])
                    if index < plainDoors.count, method != "GET" { request.httpBody = Sample.small }
                    let session = wire.session()
                    defer { session.invalidateAndCancel() }
                    return try await RecordedCase.text(door.send(session, request, wire))
                }
            }
        }
    }

    private static var byField: [RecordedCase] {
        fields.flatMap { given in
            ["GET", "POST"].map { method in
                let isCareful = given.name == "Expect" && method == "POST"
                return RecordedCase(
                    "\(method), field \(given.name)",
                    scripts: { _ in isCareful ? [Wire.careful] : [] }
                ) { wire in
                    var request = request(wire.url(), method, given.pairs)
                    if method == "POST" { request.httpBody = Sample.small }
                    return try await send(request, wire.session())
                }
            }
        }
    }

    private static var byConfiguration: [RecordedCase] {
        configurations.flatMap { configuration in
            ["GET", "POST"].map { method in
                RecordedCase(
                    "\(method) twice, session with \(configuration.name)",
                    answers: [reply("200 OK", "Set-Cookie: who=me", "Set-Cookie: b=2; Path=/path"), Wire.ok]
                ) { wire in
                    let session = wire.session(nil, configuration.change)
                    defer { session.invalidateAndCancel() }
                    var request = request(wire.url(), method, [("X-A", "request")])
                    if method == "POST" { request.httpBody = Sample.small }
                    let first = try await session.data(for: request).1
                    let isUpload = configuration.name == "resumable uploads" && method == "POST"
                    guard isUpload else {
                        return try await RecordedCase.text(first) + RecordedCase.text(session.data(for: request).1)
                    }
                    return try await RecordedCase.text(first)
                        + RecordedCase.text(session.upload(for: request, from: Sample.small).1)
                }
            }
        }
    }

    private static var byURL: [RecordedCase] {
        urls.map { text in
            RecordedCase("URL \(text)", scripts: { _ in [Wire.heads] }) { wire in
                guard let url = URL(string: text) else { return "no URL" }
                var request = URLRequest(url: url)
                request.terms.endpoint = .host("127.0.0.1", port: UInt16(wire.port))
                return try await send(request, wire.session())
            }
        }
    }

    private static let properties: [(name: String, change: @Sendable (inout URLRequest) -> Void)] = [
        ("content with GET", { $0.sendsContentWithGET = true }),
        ("content with GET of an upload", { $0.sendsContentWithGET = true }),
        ("no cookies", { $0.httpShouldHandleCookies = false }),
        ("timeout", { $0.timeoutInterval = 20 }),
        ("service type", { $0.networkServiceType = .video }),
        ("main document", { $0.mainDocumentURL = URL(string: "http://m.test/") }),
        (
            "terms",
            {
                ($0.connectTimeout, $0.firstByteTimeout) = (20, 20)
                $0.terms.rates = TransferRates(sending: TransferRate(bytesPerSecond: 1 << 20))
            }
        ),
    ]

    private static var byProperty: [RecordedCase] {
        let cached = policies.map { policy in
            RecordedCase("cache policy \(policy.rawValue)") { wire in
                var request = request(wire.url(), "GET")
                request.cachePolicy = policy
                return try await send(request, wire.session())
            }
        }
        let changed = properties.map { property in
            RecordedCase("property \(property.name)") { wire in
                var request = request(wire.url(), property.name.hasPrefix("content") ? "GET" : "POST")
                request.httpBody = Sample.small
                property.change(&request)
                let session = wire.session()
                defer { session.invalidateAndCancel() }
                guard property.name.hasSuffix("upload") else { return try await send(request, session) }
                return try await RecordedCase.text(session.upload(for: request, from: Sample.small).1)
            }
        }
        return cached + changed
    }

    static func send(_ request: URLRequest, _ session: URLSession) async throws -> String {
        defer { session.invalidateAndCancel() }
        return try await RecordedCase.text(handled { session.dataTask(with: request, completionHandler: $0) })
    }
}

/// A task's delegate that follows redirects, answers challenges with one user, and gives streams.
final class Plain: NSObject, URLSessionDataDelegate {
    private let stream: Data?
    private let user: String?
    private let end = Word<(any Error)?>()

    init(stream: Data? = nil, user: String? = nil) { (self.stream, self.user) = (stream, user) }

    /// Runs the task to its end.
    static func end(
        of task: URLSessionTask,
        stream: Data? = nil,
        user: String? = nil
    ) async throws -> URLResponse? {
        let delegate = Plain(stream: stream, user: user)
        task.delegate = delegate
        task.resume()
        if let error = await delegate.end.wait("the end of a task") ?? nil { throw error }
        return task.response
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        end.give(error)
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        completionHandler(stream.map { InputStream(data: $0) })
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard let user, challenge.previousFailureCount == 0 else {
            return completionHandler(.performDefaultHandling, nil)
        }
        completionHandler(.useCredential, URLCredential(user: user, password: "secret", persistence: .forSession))
    }
}
