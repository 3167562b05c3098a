internal import Synchronization
public import Uncurl
internal import UncurlText

/// Records real exchanges into a file and replays them, so that tests need no server.
///
/// ```swift
/// let cassette = try Cassette(file: URL(fileURLWithPath: "Fixtures/users.har"))
/// cassette.install(in: configuration)
/// …
/// try cassette.finish()
/// ```
///
/// The file is an HTTP Archive (HAR 1.2), which browsers export too. If it does not exist, the first run records it.
/// Later runs do not use the network, and a request that was not recorded fails. Each exchange is replayed once; equal
/// requests get their answers in the recorded order. Every member may be used on any thread.
public final class Cassette: Sendable {
    /// Whether a cassette replays or records.
    @frozen public enum Mode: Hashable, Sendable {
        /// Replays the file if it exists, records it otherwise.
        case automatic
        /// Replays the file. A missing file is a ``CassetteError/unreadable(_:reason:)``.
        case replay
        /// Records the file again, in place of an existing one.
        case record
    }

    /// A part of a request that must equal the recorded one.
    @frozen public enum Part: Hashable, Sendable {
        /// The method, such as `GET`.
        case method
        /// The URL with its query; the order of the query's parts does not count.
        case url
        /// The URL without its query.
        case path
        /// The content, byte by byte.
        case body
        /// The value of one header field, or its absence. The name is compared without case; of a secret field, only
        /// the presence is compared.
        case header(String)
    }

    private static let leftOut = "(left out)"

    /// Fields that carry secrets: those of HTTP, and those in which well-known services take keys and tokens
    /// (`URLSessionConfiguration.usualSecretHeaderFields`). Their values are not written to the file.
    public static let secretFields = URLSessionConfiguration.usualSecretHeaderFields.union([
        "Authorization", "Cookie", "Proxy-Authorization", "Set-Cookie",
    ])

    /// An entry, the parts of its URL (none while recording), and whether a request has had its answer.
    private typealias Exchange = (entry: HAR.Entry, url: [[UInt8]], isUsed: Bool)

    private let file: URL
    private let parts: Set<Part>
    private let isSecret: @Sendable (String) -> Bool
    /// Loads the requests that are recorded; nil while replaying.
    private let recorder: URLSession?
    private let state: Mutex<(exchanges: [Exchange], unmatched: [StubbedRequest])>
    let clock: any Clock<Duration> = ContinuousClock()

    /// A cassette that replays or records a file.
    ///
    /// - Parameters:
    ///   - file: the HTTP Archive.
    ///   - mode: whether the cassette replays or records.
    ///   - matching: the parts of a request that must equal the recorded one.
    ///   - secrets: fields whose values are not written to the file; the list is read as
    ///     `URLSessionConfiguration.secretHeaderFields` is, so that with the usual names a field counts by its words
    ///     too.
    ///   - session: loads the requests while recording; nil for a session of its own. It must not follow redirects, so
    ///     that each answer is recorded.
    /// - Throws: ``CassetteError/unreadable(_:reason:)`` where the file is needed and cannot be read. A file in which a
    ///   member's name has more than 128 combining marks in a row is refused.
    public init(
        file: URL,
        mode: Mode = .automatic,
        matching: Set<Part> = [.method, .url],
        secrets: Set<String> = secretFields,
        session: URLSession? = nil
    ) throws(CassetteError) {
        self.file = file
        parts = matching
        isSecret = URLSessionConfiguration.secrecy(by: secrets)
        let isThere = FileManager.default.fileExists(atPath: file.path)
        if mode == .record || (mode == .automatic && !isThere) {
            recorder = session ?? Self.newRecorder()
            state = Mutex(([], []))
        } else {
            let entries: [HAR.Entry]
            do {
                entries = try HAR.read(Data(contentsOf: file)).log.entries
            } catch {
                throw .unreadable(file, reason: "\(error)")
            }
            recorder = nil
            state = Mutex((entries.map { ($0, Self.ordered($0.request.url), false) }, []))
        }
    }

    /// Whether requests go to the network and are recorded.
    public var isRecording: Bool { recorder != nil }

    /// Makes later sessions with this configuration record or replay.
    public func install(in configuration: URLSessionConfiguration) {
        TestKitProtocol.install(self, in: configuration)
    }

    /// The requests that were not recorded, and so failed.
    public var unmatched: [StubbedRequest] { state.withLock { $0.unmatched } }

    /// The recorded exchanges that no request has matched, as `METHOD URL`.
    public var unused: [String] {
        guard !isRecording else { return [] }
        return state.withLock { state in
            state.exchanges.compactMap { $0.isUsed ? nil : "\($0.entry.request.method) \($0.entry.request.url)" }
        }
    }

    /// Call this at the end of the test. It writes the recording, or reports what did not match.
    ///
    /// - Parameter allowsUnused: whether recorded exchanges may remain unused.
    public func finish(allowsUnused: Bool = false) throws(CassetteError) {
        if isRecording {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            do {
                let har = HAR(log: HAR.Log(entries: state.withLock { $0.exchanges.map { $0.entry } }))
                try encoder.encode(har).write(to: file, options: .atomic)
            } catch {
                throw .unwritable(file, reason: "\(error)")
            }
        } else {
            let (unmatched, unused) = (unmatched.map(\.description), allowsUnused ? [] : unused)
            if !unmatched.isEmpty || !unused.isEmpty { throw .mismatch(unmatched: unmatched, unused: unused) }
        }
    }

    // MARK: Replaying

    private func replay(_ request: StubbedRequest) -> [StubResponse.Step] {
        let url = Self.ordered(request.url)
        let entry = state.withLock { state -> HAR.Entry? in
            let index = state.exchanges.firstIndex {
                !$0.isUsed && isSame($0.entry.request, $0.url, request, url)
            }
            guard let index else {
                state.unmatched.append(request)
                return nil
            }
            state.exchanges[index].isUsed = true
            return state.exchanges[index].entry
        }
        guard let entry else {
            let left = unused.isEmpty ? "nothing" : unused.joined(separator: "; ")
            let words = "\(request) was not recorded in \(file.lastPathComponent); unused exchanges: \(left)."
            return [.fail(URLError(.resourceUnavailable, words: words))]
        }
        if let failure = entry._error {
            return [.fail(URLError(URLError.Code(rawValue: failure.code) ?? .unknown, words: failure.words))]
        }
        // As browsers write a request that was blocked or has failed.
        guard entry.response.status != 0 else {
            let words = "The recording has no answer to \(request)."
            return [.fail(URLError(.unknown, words: words))]
        }
        guard let data = entry.response.content.data else {
            let words = "The recorded content of \(request) is not Base64."
            return [.fail(URLError(.cannotDecodeContentData, words: words))]
        }
        var values: [String: [String]] = [:]
        // A name with too many combining marks, which takes long to hash, is none that HTTP has.
        for field in entry.response.headers where !MarkRun.isTooLong(in: field.name) {
            if !field.value.utf8.elementsEqual(Self.leftOut.utf8) {
                values[field.name, default: []].append(field.value)
            }
        }
        let headers = values.mapValues { $0.joined(separator: ", ") }
        return [.head(status: entry.response.status, headers: Self.delivered(headers, with: data)), .data(data)]
    }

    private func isSame(
        _ recorded: HAR.Request,
        _ recordedURL: [[UInt8]],
        _ request: StubbedRequest,
        _ url: [[UInt8]]
    ) -> Bool {
        parts.allSatisfy { part in
            switch part {
            case .method: recorded.method.utf8.elementsEqual(request.method.utf8)
            case .url: recordedURL == url
            case .path: recordedURL.first == url.first
            case .body: (recorded.postData.map(\.data) ?? Data()) == request.body
            case .header(let name): isSame(name, recorded, request)
            }
        }
    }

    /// Compares the values of a field; of a secret field the presence alone, since the file does not have its value.
    /// Compares octets: a text with many combining marks takes long to compare.
    private func isSame(_ name: String, _ recorded: HAR.Request, _ request: StubbedRequest) -> Bool {
        let lowercased = name.lowercased()
        let field = recorded.headers.first { $0.name.lowercased().utf8.elementsEqual(lowercased.utf8) }
        let (value, sent) = (field?.value.utf8, request.request.value(forHTTPHeaderField: name)?.utf8)
        guard !isSecret(lowercased), let value, let sent else { return (value == nil) == (sent == nil) }
        return value.elementsEqual(sent)
    }

    /// The octets of the URL without its query and fragment, then of the parts of its query, sorted.
    private static func ordered(_ url: String) -> [[UInt8]] {
        let (text, query) = URLPattern.split(url)
        return [Array(URLPattern.normalized(text).utf8)] + (query ?? [])
    }

    /// The fields of an answer whose content is recorded and replayed without its content coding: Content-Length is
    /// left out if it is the length of the coded form.
    private static func delivered(_ headers: [String: String], with data: Data) -> [String: String] {
        guard headers.keys.contains(where: { $0.lowercased() == "content-encoding" }) else { return headers }
        return headers.filter { $0.key.lowercased() != "content-length" || Int($0.value) == data.count }
    }

    // MARK: Recording

    private static func newRecorder() -> URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        // The tested session has the cookies.
        configuration.httpCookieStorage = nil
        return URLSession(configuration: configuration, delegate: StaysBehind(), delegateQueue: nil)
    }

    /// Follows no redirect: each answer is recorded, and the tested session decides what follows.
    private final class StaysBehind: NSObject, URLSessionTaskDelegate {
        func urlSession(
            _ session: URLSession,
            task: URLSessionTask,
            willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest,
            completionHandler: @escaping @Sendable (URLRequest?) -> Void
        ) {
            completionHandler(nil)
        }
    }

    private func record(_ request: StubbedRequest, with session: URLSession) async -> [StubResponse.Step] {
        var sent = request.request
        sent.httpBodyStream = nil
        sent.httpBody = request.body.isEmpty ? nil : request.body
        let (began, start) = (Date(), ContinuousClock.now)
        var entry = HAR.Entry(
            startedDateTime: began.formatted(.iso8601),
            time: 0,
            request: archived(request),
            response: HAR.Response(status: 0, headers: [], content: HAR.Content(Data(), mimeType: ""), bodySize: -1)
        )
        let steps: [StubResponse.Step]
        do {
            let (data, response) = try await session.data(for: sent)
            guard let http = response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
            let headers = http.allHeaderFields.reduce(into: [String: String]()) { $0["\($1.key)"] = "\($1.value)" }
            entry.response = HAR.Response(
                status: http.statusCode,
                headers: fields(headers),
                content: HAR.Content(data, mimeType: http.mimeType ?? ""),
                redirectURL: http.value(forHTTPHeaderField: "Location") ?? "",
                bodySize: data.count
            )
            steps = [.head(status: http.statusCode, headers: Self.delivered(headers, with: data)), .data(data)]
        } catch {
            let code = (error as? URLError)?.code ?? .unknown
            entry._error = HAR.Failure(code: code.rawValue, words: error.localizedDescription)
            steps = [.fail(error)]
        }
        // An exchange that the test has cancelled is not recorded.
        if Task.isCancelled { return steps }
        let time = (ContinuousClock.now - start) / .milliseconds(1)
        entry.time = time
        entry.timings?["wait"] = .number(.floating(time))
        state.withLock { $0.exchanges.append((entry, [], true)) }
        return steps
    }

    private func archived(_ request: StubbedRequest) -> HAR.Request {
        let type = request.request.value(forHTTPHeaderField: "Content-Type") ?? ""
        return HAR.Request(
            method: request.method,
            url: request.url,
            headers: fields(request.request.allHTTPHeaderFields ?? [:]),
            postData: request.body.isEmpty ? nil : HAR.Content(request.body, mimeType: type),
            bodySize: request.body.count
        )
    }

    private func fields(_ headers: [String: String]) -> [HAR.Field] {
        headers.sorted { $0.key < $1.key }.map { name, value in
            HAR.Field(name: name, value: isSecret(name) ? Self.leftOut : value)
        }
    }
}

extension Cassette: TestKitSource {
    func takes(_ request: URLRequest) -> Bool { true }

    func steps(for request: StubbedRequest) async -> [StubResponse.Step] {
        if let recorder { await record(request, with: recorder) } else { replay(request) }
    }
}

/// Why a recording failed or does not match.
@frozen public enum CassetteError: LocalizedError, Sendable, Hashable, CustomStringConvertible {
    /// The file is missing or is not an HTTP Archive.
    case unreadable(URL, reason: String)
    /// The recording cannot be written to the file.
    case unwritable(URL, reason: String)
    /// Requests were not recorded, or recorded exchanges were not requested.
    case mismatch(unmatched: [String], unused: [String])

    public var errorDescription: String? { description }

    public var description: String {
        switch self {
        case .unreadable(let file, let reason): return "\(file.path) cannot be read: \(reason)"
        case .unwritable(let file, let reason): return "\(file.path) cannot be written: \(reason)"
        case .mismatch(let unmatched, let unused):
            var words: [String] = []
            if !unmatched.isEmpty { words.append("not recorded: " + unmatched.joined(separator: "; ")) }
            if !unused.isEmpty { words.append("recorded but not requested: " + unused.joined(separator: "; ")) }
            return words.joined(separator: ". ")
        }
    }
}

/// The parts of HTTP Archive 1.2 that exchanges need. Files that browsers and proxies export can be replayed: what
/// replaying does not use is optional, since they leave some of it out.
struct HAR: Codable, Sendable {
    struct Log: Codable, Sendable {
        var version: String? = "1.2"
        var creator: JSONValue? = ["name": "Uncurl", "version": "1"]
        var entries: [Entry] = []
    }

    struct Entry: Codable, Sendable {
        var startedDateTime: String?
        /// In milliseconds.
        var time: Double?
        var request: Request
        var response: Response
        var cache: JSONValue? = [:]
        var timings: JSONValue? = ["send": 0, "wait": 0, "receive": 0]
        /// The failure of an exchange without a response. The format itself has no field for it.
        var _error: Failure?
    }

    struct Failure: Codable, Sendable {
        var code: Int
        var words: String
    }

    struct Field: Codable, Sendable, Hashable {
        var name: String
        var value: String
    }

    struct Request: Codable, Sendable {
        var method: String
        var url: String
        var httpVersion: String? = "HTTP/1.1"
        var cookies: JSONValue? = []
        var headers: [Field]
        var queryString: [Field]? = []
        var postData: Content?
        var headersSize: Int? = -1
        var bodySize: Int?
    }

    struct Response: Codable, Sendable {
        var status: Int
        var statusText: String? = ""
        var httpVersion: String? = "HTTP/1.1"
        var cookies: JSONValue? = []
        var headers: [Field]
        var content: Content
        var redirectURL: String? = ""
        var headersSize: Int? = -1
        var bodySize: Int?
    }

    struct Content: Codable, Sendable {
        var size: Int?
        var mimeType: String?
        var text: String?
        /// `base64`; nil for text.
        var encoding: String?

        /// Text is stored as text, so that people can read and change it.
        init(_ data: Data, mimeType: String?) {
            size = data.count
            self.mimeType = mimeType
            if let text = String(validating: data, as: UTF8.self) {
                self.text = text
            } else {
                text = data.base64EncodedString()
                encoding = "base64"
            }
        }

        /// The content; nil where its Base64 is malformed.
        var data: Data? {
            // Compares octets: a text with many combining marks takes long to compare.
            guard let encoding, encoding.utf8.elementsEqual("base64".utf8) else { return Data((text ?? "").utf8) }
            return Data(base64Encoded: text ?? "", options: .ignoreUnknownCharacters)
        }
    }

    var log = Log()

    /// Reads an archive. A name with more than ``MarkRun/limit`` combining marks in a row is refused: the decoder would
    /// take long for it.
    static func read(_ data: Data) throws -> HAR {
        try JSONReader.check(data.span, loneSurrogates: true)
        return try JSONDecoder().decode(HAR.self, from: data)
    }
}
