import FacadeTestSupport
import Foundation
import ScriptedPeer
import TestSupport
import Testing
import Uncurl
import UncurlTestServer

@Suite("curl commands", .timeLimit(.minutes(5)))
struct CURLCommandTests {
    @Test("content outside the command is named: a file by its path, a stream or a form by a comment", .rows("B21"))
    func content() throws {
        let manager = HTTPSessionManager(baseURL: URL(string: "http://example.com/"), configuration: .isolated)
        let file = HTTPRequest(.put, "a", body: .file(URL(fileURLWithPath: "/tmp/a b.txt")))
        let put = try manager.cURL(for: file).description
        #expect(put.contains("--request PUT") && put.contains("--data-binary '@/tmp/a b.txt'"), "\(put)")
        var form = MultipartForm()
        try form.append(fields: [("a", Data("1".utf8))])
        let post = try manager.cURL(for: HTTPRequest(.post, "a", body: .multipart(form))).description
        #expect(post.contains(" # without the content"), "\(post)")
        #expect(try !manager.cURL(for: HTTPRequest(.post, "a", body: .form(["a": "1"]))).description.contains("#"))
    }

    @Test(
        "the place to connect to, the proxy and the limit on connecting are in the command",
        .rows("W6", "W19", "B21")
    )
    func route() throws {
        let manager = HTTPSessionManager(configuration: .isolated)
        var request = HTTPRequest("http://example.com/")
        request.options.connectTo = try ConnectTo(host: "::1", port: 81)
        request.options.connectTimeout = .seconds(2.5)
        request.options.proxy = try RequestProxy("socks5://me:secret@127.0.0.1:1080")
        let redacted = try manager.cURL(for: request).description
        #expect(redacted.contains("--connect-to '::[::1]:81' --connect-timeout 2.5"), "\(redacted)")
        #expect(redacted.contains("--proxy socks5://127.0.0.1:1080 --proxy-user") && !redacted.contains("secret"))
        let shown = try manager.cURL(for: request, credentials: .shown).description
        #expect(shown.contains("--proxy-user me:secret"))
        request.options.proxy = RequestProxy.none
        #expect(try manager.cURL(for: request).description.contains("--noproxy '*'"))
    }

    @Test("the command logs in with the request's credential, which is left out unless it is asked for", .rows("B21"))
    func login() throws {
        let server = try TestServer.start()
        let manager = server.manager()
        var request = HTTPRequest("basic-auth/me/it's")
        request.options.credential = URLCredential(user: "me", password: "it's", persistence: .none)
        let redacted = try manager.cURL(for: request).description
        #expect(redacted.contains("--anyauth --user '…'") && !redacted.contains("me:"), "\(redacted)")
        let shown = try manager.cURL(for: request, credentials: .shown).description
        let answer = try shell(shown + " --silent --fail --noproxy '*'")
        #expect(String(decoding: answer, as: UTF8.self).contains("\"authenticated\""))
    }

    @Test("a client certificate and what else is left out are named by a comment at the end", .rows("B21"))
    func certificate() throws {
        let made = try TestCertificates.client
        let identity = try URLClientIdentity(pem: Data((made.chainPEM + made.keyPEM).utf8))
        let credential = URLCredential(identity: identity, persistence: .forSession)
        let manager = HTTPSessionManager(configuration: .isolated)
        var request = HTTPRequest("https://example.com/")
        #expect(try !manager.cURL(for: request).description.contains("#"))
        request.options.credential = credential
        #expect(try manager.cURL(for: request).description.hasSuffix(" # without the client certificate"))
        request.method = .post
        request.body = .stream { InputStream(data: Data()) }
        let both = try manager.cURL(for: request).description
        #expect(both.contains(" # without the content: ") && both.hasSuffix(", and without the client certificate"))
        #expect(both.split(separator: "\n").count == 1)
        // The session's own store, for this server and for no other.
        let configuration = URLSessionConfiguration.isolated
        let space = URLProtectionSpace(
            host: "example.com",
            port: 443,
            protocol: NSURLProtectionSpaceHTTPS,
            realm: nil,
            authenticationMethod: NSURLAuthenticationMethodClientCertificate
        )
        let storage = URLCredentialStorage()
        storage.setDefaultCredential(credential, for: space)
        configuration.urlCredentialStorage = storage
        let session = URLSession(configuration: configuration)
        let stored = self.request("https://example.com/x").cURL(session: session).description
        #expect(stored.hasSuffix(" # without the client certificate"), "\(stored)")
        for other in ["https://example.com:444/", "http://example.com/", "https://example.org/"] {
            #expect(!self.request(other).cURL(session: session).description.contains("#"))
        }
    }

    @Test("the command logs in with the session's stored credential for the server", .rows("B21"))
    func storedLogin() throws {
        let server = try TestServer.start()
        let configuration = URLSessionConfiguration.isolated
        let space = URLProtectionSpace(
            host: "127.0.0.1",
            port: Int(server.port),
            protocol: NSURLProtectionSpaceHTTP,
            realm: "Fake Realm",
            authenticationMethod: NSURLAuthenticationMethodHTTPBasic
        )
        let credential = URLCredential(user: "me", password: "secret", persistence: .forSession)
        let storage = URLCredentialStorage()
        storage.setDefaultCredential(credential, for: space)
        configuration.urlCredentialStorage = storage
        let session = URLSession(configuration: configuration)
        let request = request(server.url("/basic-auth/me/secret"))
        #expect(!request.cURL(session: session).description.contains("secret' "))
        let shown = request.cURL(session: session, credentials: .shown).description
        let answer = try shell(shown + " --silent --fail --noproxy '*'")
        #expect(String(decoding: answer, as: UTF8.self).contains("\"authenticated\""), "\(shown)")
    }

    private func request(_ url: String) -> URLRequest { URLRequest(url: URL(string: url)!) }

    @Test("quotes, dollars and line ends of a body come through the shell as they are", .rows("B21", "D12"))
    func quoting() async throws {
        let server = try TestServer.start()
        var made = request(server.url("/anything?a=$HOME&b='x'"))
        made.httpMethod = "POST"
        let body = "it's \"$(touch /tmp/never)\" `id` \\ \n end"
        made.httpBody = Data(body.utf8)
        made.setValue("a'b\"c", forHTTPHeaderField: "X-Test")
        made.setValue("text/plain", forHTTPHeaderField: "Content-Type")
        let echoed = try shell(made.cURL().description + " --silent --noproxy '*'")
        struct Seen: Decodable {
            var data: String
            var headers: [String: String]
            var args: [String: String]
        }
        let seen = try JSONDecoder().decode(Seen.self, from: echoed)
        #expect(seen.data == body)
        #expect(seen.headers["X-Test"] == "a'b\"c")
        #expect(seen.args["a"] == "$HOME")
    }

    @Test("the byte order mark of a text is sent", .rows("B21"))
    func byteOrderMark() throws {
        let server = try TestServer.start()
        var made = request(server.url("/echo"))
        made.httpMethod = "POST"
        let body = Data("\u{FEFF}a,b".utf8)
        made.httpBody = body
        #expect(try shell(made.cURL().description + " --silent --noproxy '*'") == body)
    }

    @Test(
        "a path with dot segments is sent as a session sends it",
        .rows("B21"),
        arguments: ["/a/../b", "/%2E%2e/./b/"]
    )
    func dotSegments(path: String) async throws {
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        let server = try RawServer.start(otherwise: RawScript([.receive(.headEnd), .send(answer), .finish]))
        let made = request(server.url(path))
        _ = try await URLSession(configuration: .isolated).data(for: made)
        _ = try shell(made.cURL().description + " --silent --noproxy '*'")
        let lines = server.connections.indices.map { index in
            String(decoding: server.received(index), as: UTF8.self).prefix { $0 != "\r\n" }
        }
        #expect(lines == ["GET \(path) HTTP/1.1", "GET \(path) HTTP/1.1"])
        #expect(!request(server.url("/a.b/...")).cURL().description.contains("--path-as-is"))
    }

    @Test("a limit on connecting that means no limit is not in the command", arguments: [.infinity, 0, -1, 1e12])
    func noConnectLimit(limit: TimeInterval) {
        var made = request("http://example.com/")
        made.connectTimeout = limit
        #expect(!made.cURL().description.contains("--connect-timeout"))
    }

    @Test("octets that are not text are encoded in Base64")
    func binary() async throws {
        let server = try TestServer.start()
        var made = request(server.url("/echo"))
        made.httpMethod = "POST"
        let body = Data((0...255).map { UInt8($0) })
        made.httpBody = body
        #expect(try shell(made.cURL().description + " --silent --noproxy '*'") == body)
    }

    @Test("credentials are left out unless they are asked for")
    func credentials() {
        var made = request("http://example.com/")
        made.setValue("Bearer secret", forHTTPHeaderField: "Authorization")
        #expect(!made.cURL().description.contains("secret"))
        #expect(made.cURL(credentials: .shown).description.contains("secret"))
    }

    @Test("keys in the session's secret fields and in the URL are credentials, and the command says what it leaves out")
    func keys() throws {
        var made = request("http://me:secret@example.com/x")
        made.setValue("secret", forHTTPHeaderField: "X-API-Key")
        made.setValue("secret", forHTTPHeaderField: "X-Own")
        let configuration = URLSessionConfiguration.isolated
        configuration.secretHeaderFields.insert("x-own")
        let session = URLSession(configuration: configuration)
        let text = made.cURL(session: session).description
        #expect(!text.contains("secret") && !text.contains("me:") && text.contains("--user '…' http://example.com/x"))
        #expect(text.hasSuffix(" # without the credentials"), "\(text)")
        let shown = made.cURL(session: session, credentials: .shown).description
        #expect(shown.contains("me:secret@") && shown.components(separatedBy: "secret").count == 4, "\(shown)")
        #expect(!shown.contains("#"))
        // Without a session, the usual names count.
        #expect(made.cURL().description.lowercased().contains("x-api-key: …"))
    }

    @Test(
        "the fields of credentials and cookies are credentials, whatever a session's secret fields",
        arguments: ["Authorization", "proxy-authorization", "Cookie"]
    )
    func credentialFields(name: String) {
        var made = request("http://example.com/x")
        made.setValue("secret", forHTTPHeaderField: name)
        made.setValue("open", forHTTPHeaderField: "X-API-Key")
        let configuration = URLSessionConfiguration.isolated
        configuration.secretHeaderFields = []
        let text = made.cURL(session: URLSession(configuration: configuration)).description
        #expect(!text.contains("secret") && text.contains("open"), "\(text)")
        #expect(text.hasSuffix(" # without the credentials"), "\(text)")
    }

    @Test("the command has the session's headers and cookies")
    func session() throws {
        let configuration = URLSessionConfiguration.isolated
        configuration.httpAdditionalHeaders = ["X-All": "1"]
        let cookie = try #require(
            HTTPCookie(properties: [.name: "n", .value: "v", .domain: "example.com", .path: "/"])
        )
        configuration.httpCookieStorage?.setCookie(cookie)
        let session = URLSession(configuration: configuration)
        let text = request("http://example.com/").cURL(session: session, credentials: .shown).description
        #expect(text.contains("X-All: 1"))
        #expect(text.contains("Cookie: n=v"))
        // A session sends the request's own cookies in place of the stored ones.
        var own = request("http://example.com/")
        own.setValue("own=1", forHTTPHeaderField: "Cookie")
        let other = own.cURL(session: session, credentials: .shown).description
        #expect(other.contains("Cookie: own=1") && !other.contains("n=v"))
    }

    @Test("the command has no stored cookie that the session does not send", .rows("B21"))
    func unsentCookies() throws {
        let configuration = URLSessionConfiguration.isolated
        let properties: [HTTPCookiePropertyKey: Any] = [
            .name: "n", .value: "v", .domain: "example.com", .path: "/", .sameSitePolicy: "strict",
        ]
        configuration.httpCookieStorage?.setCookie(try #require(HTTPCookie(properties: properties)))
        var made = request("http://example.com/")
        let command = { made.cURL(session: URLSession(configuration: configuration), credentials: .shown).description }
        made.mainDocumentURL = URL(string: "http://example.com/page")
        #expect(command().contains("Cookie: n=v"))
        made.mainDocumentURL = URL(string: "http://example.org/page")
        #expect(!command().contains("Cookie"))
        made.mainDocumentURL = nil
        configuration.httpShouldSetCookies = false
        #expect(!command().contains("Cookie"))
    }

    @Test("a quote with a combining accent is quoted for the shell", .rows("B21", "D12"))
    func accents() throws {
        let server = try TestServer.start()
        var made = request(server.url("/echo"))
        made.httpMethod = "POST"
        let body = "'\u{301}$(echo broken)'\u{301}\r\n'"
        made.httpBody = Data(body.utf8)
        #expect(try shell(made.cURL().description + " --silent --noproxy '*'") == Data(body.utf8))
    }

    @Test(
        "content in the command changes neither the method nor the fields",
        .rows("B21"),
        arguments: ["GET", "PUT", "POST"],
        [true, false]
    )
    func method(method: String, isFile: Bool) throws {
        let server = try TestServer.start()
        var made = request(server.url("/anything"))
        made.httpMethod = method
        let content = Data("{}".utf8)
        let file = TemporaryFile(Array(content))
        if !isFile { made.httpBody = content }
        let command = CURLCommand(made, file: isFile ? URL(fileURLWithPath: file.path) : nil).description
        struct Seen: Decodable {
            var method: String
            var headers: [String: String]
        }
        let seen = try JSONDecoder().decode(Seen.self, from: try shell(command + " --silent --noproxy '*'"))
        #expect(seen.method == method)
        // What a session sends with a POST, and with nothing else.
        #expect(seen.headers["Content-Type"] == (method == "POST" ? "application/x-www-form-urlencoded" : nil))
    }

    @Test("a HEAD with content has one method, for curl refuses two", .rows("B21"))
    func headWithContent() {
        var made = request("http://example.com/")
        made.httpMethod = "HEAD"
        #expect(made.cURL().description.contains("--head "))
        let command = CURLCommand(made, file: URL(fileURLWithPath: "/file")).description
        #expect(command.contains("--request HEAD") && !command.contains("--head "), "\(command)")
    }

    @Test(
        "a request without content has the same length with curl as with a session",
        .rows("B21"),
        arguments: ["GET", "DELETE", "POST", "PUT", "PATCH"],
        [nil, Data()]
    )
    func noContent(method: String, content: Data?) async throws {
        let server = try TestServer.start()
        var made = request(server.url("/anything"))
        made.httpMethod = method
        made.httpBody = content
        struct Seen: Decodable {
            var headers: [String: String]
        }
        let (own, _) = try await URLSession(configuration: .isolated).data(for: made)
        let echoed = try shell(made.cURL().description + " --silent --noproxy '*'")
        let lengths = try [own, echoed].map {
            try JSONDecoder().decode(Seen.self, from: $0).headers["Content-Length"]
        }
        #expect(lengths[0] == lengths[1])
    }

    private func shell(_ command: String) throws -> Data {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", command]
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return output
    }
}
