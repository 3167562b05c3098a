import FacadeTestSupport
import Foundation
import ScriptedPeer
import TestSupport
import Uncurl
import UncurlTLS
import UncurlTestServer

/// What happens to a task, whoever observes it.
struct Course: Sendable {
    let label: String
    var method = "GET"
    var answers = Answers()
    /// Where the task is cancelled from outside: `before resume`, `sent`, or `end`.
    var cancels: String?
    /// How often the request is sent before, unobserved.
    var preloads = 0
    var url: @Sendable (Wire) -> URL = { $0.url() }
    var configure: @Sendable (URLSessionConfiguration) -> Void = { _ in }
    var interceptors: @Sendable () -> [any RequestInterceptor] = { [] }
    var scripts: @Sendable (_ other: String) -> [RawScript]
    var kind = Kind.data
    var roots: String?

    enum Kind: String, Sendable { case data, upload, download }

    init(_ label: String, _ answers: String..., change: (inout Course) -> Void = { _ in }) {
        self.label = label
        scripts = { other in
            [
                RawScript(
                    answers.flatMap { [.receive(.request), .send(Array($0.replacing("OTHER", with: other).utf8))] }
                )
            ]
        }
        change(&self)
    }

    init(_ label: String, scripts: [RawScript], change: (inout Course) -> Void = { _ in }) {
        self.label = label
        self.scripts = { _ in scripts }
        change(&self)
    }

    // MARK: Courses

    static let two = reply("200 OK", "Cache-Control: no-store", content: "ok")
    private static let redirect = reply("302 Found", "Location: /next")
    private static let challenge = reply("401 No", "WWW-Authenticate: Basic realm=\"r\"")
    private static let silent: RawScript = [.receive(.request)]
    private static let half: RawScript = [
        .receive(.request), .send("HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n0123456789"),
    ]

    static var all: [Course] { (answered + refused + failing + cancelled + stored + facade).filter(\.isPossible) }

    /// Whether tasks of this kind get the call in which the task is to be cancelled.
    private var isPossible: Bool {
        switch answers.cancelsIn {
        case "wrote": kind == .download
        case "response", "data": kind != .download
        default: true
        }
    }

    /// Those that concern every kind of task.
    static var ofKinds: [Course] {
        [Kind.upload, .download].flatMap { kind in
            (answered + refused + failing + cancelled).map { course in
                var course = course
                (course.kind, course.method) = (kind, kind == .upload ? "POST" : "GET")
                return course
            }.filter(\.isPossible)
        }
    }

    private static let answered = [
        Course("answered", two),
        Course("no content", "HTTP/1.1 204 No Content\r\n\r\n"),
        Course("status 500", reply("500 No", content: "no")),
        Course("informational", "HTTP/1.1 103 Early Hints\r\n\r\n" + two),
        Course("redirected", redirect, two),
        Course("redirected with the content", reply("307 Go", "Location: /next"), two),
        Course("redirected elsewhere", reply("302 Found", "Location: OTHER/next")),
        Course("Basic", challenge, two) { $0.answers.challenge = .credential },
        Course("became a download", two) { $0.answers.disposition = .init(rawValue: 2) ?? .allow },
    ]

    private static let refused = [
        Course("redirect refused", redirect) { $0.answers.followsRedirects = false },
        Course("Basic by default", challenge),
        Course("Basic cancelled", challenge) { $0.answers.challenge = .cancel },
        Course("Basic rejected", challenge) { $0.answers.challenge = .reject },
        Course("Basic refused again", challenge, challenge, challenge, challenge, challenge) {
            $0.answers.challenge = .credential
        },
        Course("response refused", two) { $0.answers.disposition = .cancel },
    ]

    private static let failing = [
        Course("cut", scripts: [RawScript(half.steps + [.finish])]),
        Course("reset at once", scripts: [[.receive(.request), .reset], [.receive(.request), .reset]]),
        Course("no HTTP", "nonsense\r\n\r\n"),
        Course("too many redirects", redirect, redirect, redirect) {
            $0.configure = { $0.responseLimits.redirectCount = 1 }
        },
        Course("idle for too long", scripts: [silent]) { $0.configure = { $0.timeoutIntervalForRequest = 1 } },
        Course("too late", scripts: [silent]) { $0.configure = { $0.timeoutIntervalForResource = 1 } },
        Course("not reached", two) {
            $0.url = { _ in URL(string: "http://127.0.0.1:\(refusing?.number ?? 1)/")! }
        },
        Course("no web URL", two) { $0.url = { _ in URL(string: "nothing://h.test/")! } },
        Course("waits for the network", two) {
            // A broadcast address: the kernel has no route for TCP, and sends nothing.
            $0.url = { _ in URL(string: "http://255.255.255.255/")! }
            $0.configure = { ($0.waitsForConnectivity, $0.timeoutIntervalForResource) = (true, 1) }
        },
        Course(
            "kept connection reset",
            scripts: [
                [.receive(.request), .send(two), .receive(.request), .reset], [.receive(.request), .send(two)],
            ]
        ) { $0.preloads = 1 },
    ]

    private static let refusing = try? RefusingPort()

    /// For tasks that never get the call in which they would be cancelled.
    private static let impatient: @Sendable (URLSessionConfiguration) -> Void = { $0.timeoutIntervalForRequest = 3 }

    private static let cancelled = [
        Course("cancelled before its start", two) { $0.cancels = "before resume" },
        Course("cancelled before the answer", scripts: [silent]) { $0.cancels = "sent" },
        Course("cancelled in the head's question", scripts: [half]) {
            ($0.answers.cancelsIn, $0.configure) = ("response", impatient)
        },
        Course("cancelled in the content", scripts: [half]) {
            ($0.answers.cancelsIn, $0.configure) = ("data", impatient)
        },
        Course("cancelled in the file", scripts: [half]) {
            ($0.answers.cancelsIn, $0.configure) = ("wrote", impatient)
        },
        Course("cancelled in a redirect's question", redirect, two) { $0.answers.cancelsIn = "redirect" },
        Course("cancelled in a challenge's question", challenge, two) {
            ($0.answers.cancelsIn, $0.answers.challenge) = ("challenge", .credential)
        },
        Course("cancelled after its end", two) { $0.cancels = "end" },
    ]

    private static let fresh = reply("200 OK", "Cache-Control: max-age=600", "ETag: \"a\"", content: "ok")
    private static let stale = reply("200 OK", "Cache-Control: max-age=0", "ETag: \"a\"", content: "ok")
    private static let caching: @Sendable (URLSessionConfiguration) -> Void = {
        $0.urlCache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0)
    }

    private static let stored = [
        Course("stored", fresh) { $0.configure = caching },
        Course("served from the cache", fresh) { ($0.configure, $0.preloads) = (caching, 1) },
        Course("validated", stale, "HTTP/1.1 304 Not Modified\r\nETag: \"a\"\r\n\r\n") {
            ($0.configure, $0.preloads) = (caching, 1)
        },
        Course("found changed", stale, fresh) { ($0.configure, $0.preloads) = (caching, 1) },
        Course("nothing stored", two) {
            $0.configure = {
                caching($0)
                $0.requestCachePolicy = .returnCacheDataDontLoad
            }
        },
    ]

    private static let facade = [
        Course("sent again after 503", reply("503 Later"), two) { $0.interceptors = { [RetryPolicy(jitter: .none)] } },
        Course("sent again in vain", reply("503 Later"), reply("503 Later"), reply("503 Later")) {
            $0.interceptors = { [RetryPolicy(jitter: .none)] }
        },
        Course("authenticated anew", reply("401 No"), two) {
            $0.interceptors = { [AuthenticationInterceptor(authenticator: Tokens(), credential: 1)] }
        },
        Course("not adapted", two) {
            $0.interceptors = { [.adapting { _, _ in throw CancellationError() }] }
        },
    ]

    /// Over TLS, from a server of an unknown authority.
    static func secure() throws -> [Course] {
        let context = try TLSServerContext(TLSServerConfiguration(TestCertificates.localhost))
        let script = RawScript([.receive(.request), .send(two)]).secured(by: context)
        return [
            ("trusted", Answers.Challenge.credential), ("not trusted", .cancel), ("trusted by default", .useDefault),
        ].map { label, challenge in
            Course("server \(label)", scripts: [script, script]) {
                $0.url = { URL(string: "https://localhost:\($0.port)/")! }
                $0.answers.challenge = challenge
            }
        }
    }

    /// Accepts any token but the first.
    private struct Tokens: Authenticator {
        func apply(_ credential: Int, to request: inout URLRequest) {
            request.setValue("\(credential)", forHTTPHeaderField: "Authorization")
        }

        func refresh(_ credential: Int) async throws -> Int { credential + 1 }

        func needsRefresh(_ credential: Int) -> Bool { false }

        func isRequest(_ request: URLRequest, authenticatedWith credential: Int) -> Bool {
            request.value(forHTTPHeaderField: "Authorization") == "\(credential)"
        }
    }
}
