import FacadeTestSupport
import Foundation
import ScriptedPeer
import TestSupport
import Testing
import Uncurl
import UncurlTestServer

/// What a request says of its content, and what an error says of a request's.
@Suite("Contents that cannot be sent", .timeLimit(.minutes(5)))
struct RequestContentTests {
    private let server: TestServer

    init() throws { server = try TestServer.start() }

    private func error(_ body: RequestBody) async -> UncurlError? {
        await server.manager().response(to: HTTPRequest(.post, "upload", body: body), serializer: .data).error
    }

    @Test(
        "a stream of another length than declared is an error of the content, not of a form's file",
        arguments: [4, 12]
    )
    func streamLength(given: Int) async {
        let body = RequestBody.stream(length: 10) { InputStream(data: Data(repeating: 1, count: given)) }
        guard case .transport(let failure)? = await error(body) else {
            Issue.record("another error")
            return
        }
        let words = UncurlError.transport(failure).localizedDescription
        #expect(words.contains("declared 10 bytes") && !words.contains("form"), "\(words)")
    }

    /// Gives three bytes, then fails.
    private final class FailingStream: InputStream {
        private var hasGiven = false
        private var isFailed = false

        override var streamStatus: Stream.Status { isFailed ? .error : .open }
        override var streamError: (any Error)? { NSError(domain: "test.stream", code: 17) }
        override var hasBytesAvailable: Bool { true }
        override func open() {}
        override func close() {}

        override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength len: Int) -> Int {
            guard !hasGiven else {
                isFailed = true
                return -1
            }
            hasGiven = true
            buffer.update(repeating: 0x61, count: 3)
            return 3
        }
    }

    @Test(
        "a stream that fails while it is sent ends the request, and the underlying error names the stream's own",
        arguments: [nil, 10]
    )
    func streamFails(length: Int64?) async {
        let failure = await error(.stream(length: length) { FailingStream(data: Data()) })
        let error = failure?.urlError
        #expect(error?.code == .requestBodyStreamExhausted)
        // The engine's description, in words.
        let words = (error?.userInfo[NSUnderlyingErrorKey] as? NSError)?.localizedDescription
        #expect(words?.contains("Domain=test.stream Code=17") == true, "\(String(describing: failure))")
    }

    @Test(
        "a content type with a line end in it is refused, and nothing is sent",
        arguments: ["text/plain\r\nX-Evil: 1", "a\nb", "a\0"]
    )
    func contentType(type: String) async {
        let stream = RequestBody.stream(contentType: type) { InputStream(data: Data()) }
        let file = RequestBody.file(URL(fileURLWithPath: #filePath), contentType: type)
        for body in [.data(Data([1]), contentType: type), file, stream] {
            guard case .header(name: "Content-Type")? = await error(body) else {
                Issue.record("another error")
                return
            }
        }
        #expect(server.requestCount == 0)
    }

    @Test(
        "invalid resume data fails with an error that says so",
        arguments: [Data(), Data("rubbish".utf8), Data(repeating: 0xFF, count: 4096)]
    )
    func resumeData(data: Data) async {
        let response = await server.manager().downloadResponse(resuming: data)
        guard case .transport(let failure)? = response.error else {
            Issue.record("\(response)")
            return
        }
        let words = UncurlError.transport(failure).localizedDescription
        #expect(words.contains("resume data"), "\(words)")
    }

    @Test("setting header fields takes time in proportion to their number")
    func manyFields() throws {
        let manager = server.manager()
        // Of this thread's own processor time: others' work does not count.
        func spent() -> Duration {
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
        }
        func shortest(_ build: () throws -> Void) rethrows -> Duration {
            var best = Duration.seconds(3600)
            for _ in 0..<3 {
                let begun = spent()
                try build()
                best = min(best, spent() - begun)
            }
            return best
        }
        func time(_ count: Int, isOneName: Bool) throws -> Duration {
            let headers = HTTPHeaders(
                (0..<count).map { HTTPHeaders.Field(isOneName ? "X-One" : "X-Field-\($0)", "value") }
            )
            return try shortest {
                let made = try manager.urlRequest(for: HTTPRequest("get", headers: headers))
                #expect(made.value(forHTTPHeaderField: isOneName ? "X-One" : "X-Field-\(count - 1)") != nil)
            }
        }
        for isOneName in [false, true] {
            // 32 times as many: 1,024 times as long where each field looks at all others. What lies between is for
            // machines with other work.
            let (few, many) = (try time(250, isOneName: isOneName), try time(8000, isOneName: isOneName))
            #expect(many < few * 250, "\(few) and \(many)")
        }
        func setting(_ count: Int) throws -> Duration {
            try shortest {
                var defaults = RequestDefaults()
                for index in 0..<count { try defaults.setHeader("X-Field-\(index)", to: "value") }
                _ = defaults.applied(to: URLRequest(url: server.location("/")))
            }
        }
        let (few, many) = (try setting(100), try setting(800))
        #expect(many < few * 250, "\(few) and \(many)")
    }

    @Test("the names of fields are sent as they are written")
    func spelling() async throws {
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
        let raw = try RawServer.start(otherwise: RawScript([.receive(.headEnd), .send(answer), .finish]))
        let manager = raw.manager()
        try manager.requestDefaults.setHeader("dnt", to: "1")
        let headers = HTTPHeaders([.init("SOAPAction", "a"), .init("soapaction", "b"), .init("accept", "c")])
        let request = HTTPRequest("get", headers: headers)
        #expect(await manager.response(to: request, serializer: .data).statusCode == 200)
        let lines = String(decoding: raw.received(0), as: UTF8.self).split(separator: "\r\n")
        for line in ["dnt: 1", "SOAPAction: a,b", "accept: c"] { #expect(lines.contains { $0 == line }, "\(lines)") }
        let made = try manager.urlRequest(for: request)
        #expect(
            made.value(forHTTPHeaderField: "SoapAction") == "a,b" && made.value(forHTTPHeaderField: "Accept") == "c"
        )
        #expect(made.value(forHTTPHeaderField: "DNT") == "1")
    }

    @Test("fields of one name are joined in their order, and replace what serializers have set")
    func joined() throws {
        let manager = server.manager()
        var request = HTTPRequest(
            "get",
            headers: [.accept("a"), .init("x-one", "1"), .init("X-One", "2"), .accept("b")]
        )
        request.headers.add("User-Agent", "mine")
        let made = try manager.urlRequest(for: request)
        #expect(made.value(forHTTPHeaderField: "X-One") == "1,2" && made.value(forHTTPHeaderField: "Accept") == "a,b")
        #expect(made.value(forHTTPHeaderField: "User-Agent") == "mine")
        #expect(made.allHTTPHeaderFields?.keys.filter { $0.lowercased() == "user-agent" }.count == 1)
    }
}
