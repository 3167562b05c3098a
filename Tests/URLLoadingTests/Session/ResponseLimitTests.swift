import ScriptedPeer
import TestSupport
import Testing
import UncurlHTTP1

@testable import URLLoading

/// How long the heads of answers may be, and where a program sets that.
@Suite("Limits on heads in sessions", .timeLimit(.minutes(5)))
struct ResponseLimitTests {
    static func answer(_ fields: String, trailers: String? = nil) -> [UInt8] {
        guard let trailers else {
            return Array("HTTP/1.1 200 OK\r\n\(fields)Content-Length: 2\r\n\r\nok".utf8)
        }
        let head = "HTTP/1.1 200 OK\r\n\(fields)Transfer-Encoding: chunked\r\n\r\n"
        return Array("\(head)2\r\nok\r\n0\r\n\(trailers)\r\n".utf8)
    }

    static func field(_ length: Int, _ name: String = "X-Long") -> String {
        "\(name): \(String(repeating: "a", count: length - name.utf8.count - 4))\r\n"
    }

    static let long: [[UInt8]] = [
        answer((0..<3).map { field(99 << 10, "X-\($0)") }.joined()),
        answer((0..<4_990).map { "X-Field-\($0): a\r\n" }.joined()),
        answer("", trailers: (0..<3).map { field(99 << 10, "X-\($0)") }.joined()),
    ]

    @Test("a head and trailers of nearly 300 KiB, fields of 99 KiB, and 5,000 fields are read", arguments: long.indices)
    func usual(index: Int) async throws {
        let raw = try RawServer.start([], otherwise: .answering(Self.long[index]))
        let session = URLSession(configuration: .isolated)
        defer { session.invalidateAndCancel() }
        #expect(try await session.data(from: try url(raw.url("/"))).0 == Data("ok".utf8))
    }

    /// The reason of a task's failure, in words.
    private func reason(
        _ answer: [UInt8],
        _ change: (URLSessionConfiguration, inout URLRequest) -> Void
    ) async throws -> (code: URLError.Code, words: String)? {
        let raw = try RawServer.start([], otherwise: .answering(answer))
        let configuration = URLSessionConfiguration.isolated
        var request = URLRequest(url: try url(raw.url("/")))
        change(configuration, &request)
        let session = URLSession(configuration: configuration)
        defer { session.invalidateAndCancel() }
        do {
            _ = try await session.data(for: request)
            return nil
        } catch let error as URLError {
            return (error.code, (error.userInfo[NSUnderlyingErrorKey] as? NSError)?.localizedDescription ?? "")
        }
    }

    /// An answer beyond a limit, the limit's name, and a change that sets the limit low, or high enough.
    static let exceeding: [(answer: [UInt8], name: String, set: @Sendable (inout ResponseLimits, Bool) -> Void)] = [
        (answer(field(1_000)), "headLength", { $0.headLength = $1 ? 2_000 : 500 }),
        (answer("", trailers: field(1_000)), "headLength", { $0.headLength = $1 ? 2_000 : 500 }),
        (answer(field(1_000)), "fieldLength", { $0.fieldLength = $1 ? 2_000 : 500 }),
        (answer("A: b\r\nC: d\r\nE: f\r\n"), "fieldCount", { $0.fieldCount = $1 ? 4 : 3 }),
        (
            Array(String(repeating: "HTTP/1.1 103 Early Hints\r\n\r\n", count: 3).utf8) + answer(""),
            "informationalCount", { $0.informationalCount = $1 ? 3 : 2 }
        ),
        (
            Array("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;a=\"12345678\"\r\nok\r\n0\r\n\r\n".utf8),
            "chunkExtensionLength", { $0.chunkExtensionLength = $1 ? 100 : 5 }
        ),
        (
            Array("HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n".utf8), "redirectCount",
            { limits, _ in limits.redirectCount = 2 }
        ),
    ]

    @Test(
        "an answer beyond a limit of its session, or of its request, fails with the limit's name and where it is set",
        arguments: exceeding.indices
    )
    func errors(index: Int) async throws {
        let (answer, name, set) = Self.exceeding[index]
        for isRequests in [false, true] {
            let failure = try await reason(answer) { configuration, request in
                var limits = ResponseLimits()
                set(&limits, false)
                if isRequests { request.responseLimits = limits } else { configuration.responseLimits = limits }
            }
            #expect(failure?.code == (name == "redirectCount" ? .httpTooManyRedirects : .cannotParseResponse))
            for word in ["ResponseLimits.\(name)", "URLSessionConfiguration", "URLRequest", "RequestOptions"] {
                #expect(failure?.words.contains(word) == true, "\(word) in \(failure?.words ?? "")")
            }
        }
    }

    @Test("a request's own limits replace the session's, for its answer alone", arguments: exceeding.indices.dropLast())
    func ownLimits(index: Int) async throws {
        let (answer, _, set) = Self.exceeding[index]
        let raw = try RawServer.start([], otherwise: .answering(answer))
        let configuration = URLSessionConfiguration.isolated
        set(&configuration.responseLimits, false)
        let session = URLSession(configuration: configuration)
        defer { session.invalidateAndCancel() }
        var request = URLRequest(url: try url(raw.url("/")))
        var limits = ResponseLimits()
        set(&limits, true)
        request.responseLimits = limits
        for _ in 0..<2 {
            #expect(try await session.data(for: request).0 == Data("ok".utf8))
            await #expect(throws: URLError.self) { try await session.data(from: try url(raw.url("/"))) }
        }
    }

    @Test("more memory for heads that have come in part than a session allows fails a task, and later ones have it")
    func held() async throws {
        let gate = RawGate()
        let head = Array("HTTP/1.1 200 OK\r\n\(Self.field(40_000))".utf8)
        let rest = Array("Content-Length: 2\r\n\r\nok".utf8)
        let part: RawScript = [.receive(.headEnd), .send(head), .wait(gate), .send(rest)]
        let raw = try RawServer.start([part, part, part, part])
        let configuration = URLSessionConfiguration.isolated
        configuration.maximumHeldHeadLength = 150_000
        let session = URLSession(configuration: configuration)
        defer { session.invalidateAndCancel() }
        let address = try url(raw.url("/"))
        let failure = await withTaskGroup(of: URLError?.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    do { _ = try await session.data(from: address) } catch { return error as? URLError }
                    return nil
                }
            }
            // The tasks that are within the limit wait for the rest of their heads.
            let first = await group.next() ?? nil
            gate.open()
            return first
        }
        #expect(failure?.code == .dataLengthExceedsMaximum)
        let words = (failure?.userInfo[NSUnderlyingErrorKey] as? NSError)?.localizedDescription
        #expect(words?.contains("URLSessionConfiguration.maximumHeldHeadLength") == true)
        let whole = try RawServer.start([], otherwise: .answering(head + rest))
        for _ in 0..<5 {
            #expect(try await session.data(from: try url(whole.url("/"))).0 == Data("ok".utf8))
        }
    }

    @Test("5,000 fields of one answer take a time that grows with their number", .timeLimit(.minutes(5)))
    func linear() throws {
        let fields = { (count: Int) in
            (0..<count).map { ("X-Field-\($0)", "a") } + (0..<count).map { _ in ("X-Same", "a") }
        }
        try expectProportionalTime(from: 1_250, of: fields) { fields in
            var received = HTTPFields()
            for (name, value) in fields { try received.append(name, value) }
            _ = ResponseFields.received(received).dictionary
        }
    }

    @Test("to set thousands of fields one at a time takes a time that grows with their number")
    func setting() throws {
        let numbers = { (count: Int) in 0..<count }
        try expectProportionalTime(from: 1_000, of: numbers) { numbers in
            var request = URLRequest(url: try url("http://a.test/"))
            for number in numbers { request.setValue("a", forHTTPHeaderField: "X-\(number)") }
            for number in numbers { request.addValue("b", forHTTPHeaderField: "x-\(number)") }
        }
        var request = URLRequest(url: try url("http://a.test/"))
        for number in 0..<200 { request.setValue("a", forHTTPHeaderField: "X-\(number)") }
        request.setValue(nil, forHTTPHeaderField: "x-7")
        request.setValue("b", forHTTPHeaderField: "X-150")
        request.setValue("c", forHTTPHeaderField: "X-7")
        request.setValue("d\0", forHTTPHeaderField: "X-8")
        #expect(request.value(forHTTPHeaderField: "X-150") == "b" && request.value(forHTTPHeaderField: "x-7") == "c")
        #expect(request.value(forHTTPHeaderField: "X-8") == "a" && request.allHTTPHeaderFields?.count == 200)
    }

    @Test("a session's thousands of additional fields take a time that grows with their number")
    func additional() throws {
        let configuration = { (count: Int) in
            let configuration = URLSessionConfiguration.ephemeral
            let pairs = (0..<count).map { ("X-\($0)" as AnyHashable, "a" as Any) }
            configuration.httpAdditionalHeaders = Dictionary(uniqueKeysWithValues: pairs)
            return configuration
        }
        expectProportionalTime(from: 1_000, of: configuration) { _ = SessionSettings($0) }
    }

    @Test("content that waits for its reader is joined at the speed of copying, in debug builds too")
    func joining() {
        let chunks = (0..<16).map { [UInt8](repeating: UInt8($0), count: 16 << 10) }
        var copied: [UInt8] = []
        var joined: [UInt8] = []
        let copying = processorTime { for _ in 0..<20 { copied = Array(chunks[1]) + chunks[2] } }
        let joining = processorTime { for _ in 0..<20 { joined = ByteChannel.joined(chunks, count: 16 << 14) } }
        #expect(copied.count == 32 << 10 && joined == chunks.reduce(into: []) { $0 += $1 })
        // Eight times as much is joined.
        #expect(joining < 100 * copying, "\(joining) s beside \(copying) s")
    }
}
