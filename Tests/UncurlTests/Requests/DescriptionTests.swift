import Foundation
import TestSupport
import Testing
import Uncurl

@Suite("What values print")
struct DescriptionTests {
    private struct User: Encodable, Sendable { var name = "Ada" }

    private static func request() -> HTTPRequest {
        HTTPRequest(
            .post,
            "https://u:hidden@h.example/users?key=hidden",
            parameters: ["page": 2, "access_token": "hidden", "tags": ["a", nil, 1.5]],
            headers: ["Authorization": "Bearer hidden", "X-A": "1", "cookie": "hidden"],
            body: .json(User()),
            options: RequestOptions(timeout: .seconds(5))
        )
    }

    private static func options() throws -> RequestOptions {
        var options = RequestOptions(
            priority: 1,
            interceptors: [RetryPolicy()],
            credential: URLCredential(user: "u", password: "hidden", persistence: .none),
            throttle: Throttle(upload: 5),
            uploadProgress: { _ in }
        )
        options.connectTo = try ConnectTo(host: "::1", port: 81)
        options.proxy = try RequestProxy("http://u:hidden@proxy.example:3128")
        options.hooks = TaskHooks()
        return options
    }

    private static func form() throws -> MultipartForm {
        var form = try MultipartForm(boundary: "edge")
        try form.append(.text("hidden"), name: "a")
        return form
    }

    static let values: [(text: String, value: @Sendable () throws -> any Sendable)] = [
        (
            #"HTTPRequest(POST https://h.example/users?…, parameters: ["page": 2, "access_token": …, "#
                + #""tags": ["a", nil, 1.5]], headers: [Authorization: …, X-A: 1, cookie: …], body: User, "#
                + "options: RequestOptions(timeout: 5.0 seconds))",
            { request() }
        ),
        ("HTTPRequest(GET users/1)", { HTTPRequest("users/1") }),
        (
            "RequestOptions(connectTo: [::1]:81, proxy: http://proxy.example:3128, priority: 1.0, "
                + "interceptors: [Uncurl.RetryPolicy], credential: …, throttle: Throttle(upload: 5), hooks: …, "
                + "uploadProgress: …)",
            { try options() }
        ),
        ("RequestOptions()", { RequestOptions() }),
        ("none", { RequestProxy.none }),
        ("[Accept: a, X-API-Key: …]", { HTTPHeaders([.accept("a"), .init("X-API-Key", "hidden")]) }),
        ("[]", { HTTPHeaders() }),
        (#"["a": 1, "b": ["c": true], "d": [:]]"#, { ["a": 1, "b": ["c": true], "d": [:]] as Parameters }),
        ("5 bytes", { RequestBody.data(Data(count: 5)) }),
        ("InputStream(bytes: 7)", { RequestBody.stream(length: 7) { InputStream(data: Data()) } }),
        ("MultipartForm(parts: 1, bytes: \((try? form().contentLength) ?? 0))", { RequestBody.multipart(try form()) }),
        (
            "RetryPolicy(limit: 1, base: 2.0, scale: 0.5 seconds, maximumDelay: 30.0 seconds, jitter: half, "
                + #"maximumRetryAfter: 60.0 seconds, retryableMethods: ["GET", "HEAD"], "#
                + "retryableStatusCodes: [502, 503], retryableErrorCodes: [-1005, -1001])",
            {
                RetryPolicy(
                    limit: 1,
                    retryableMethods: [.head, .get],
                    retryableStatusCodes: [503, 502],
                    retryableErrorCodes: [.timedOut, .networkConnectionLost]
                )
            }
        ),
        ("OfflineRetrier(maximumWait: 5.0 seconds, limit: 1)", { OfflineRetrier() }),
        (
            "HostPolicies(*.h.example: SecurityPolicy(pinningMode: none, allowsInvalidCertificates: false, "
                + "validatesDomainName: true, roots: system))",
            { try HostPolicies(["*.h.example": SecurityPolicy.default]) }
        ),
        (
            "SecurityPolicy(pinningMode: certificate, certificates: [CN=Root], allowsInvalidCertificates: false, "
                + "validatesDomainName: true, roots: system)",
            {
                let world = try TrustWorld.made.get()
                return try SecurityPolicy.pinning(.certificate, to: [world.held(world.root)])
            }
        ),
        (
            "RequestDefaults(connectTimeout: 5.0 seconds)",
            {
                var defaults = RequestDefaults.none
                defaults.connectTimeout = .seconds(5)
                return defaults
            }
        ),
    ]

    @Test("a value prints what it says, in one line, without secrets and without storage of its own", arguments: values)
    func printed(text: String, value: @Sendable () throws -> any Sendable) throws {
        #expect("\(try value())" == text)
        #expect(!text.contains("hidden") && !text.contains("\n"))
    }
}
