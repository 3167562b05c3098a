import Foundation
import TestSupport
import Testing
import UncurlHTTP1

@testable import Uncurl

@Suite("Defaults of requests")
struct RequestDefaultsTests {
    private let request = URLRequest(url: URL(string: "http://h/")!)

    @Test("a request has two default fields, and neither Accept nor Accept-Encoding", .rows("Q1", "A10"))
    func defaultFields() {
        #expect(RequestDefaults().headers.map(\.name) == ["Accept-Language", "User-Agent"])
        let serializer = HTTPRequestSerializer()
        #expect(serializer.queryMethods == ["GET", "HEAD", "DELETE"])
        #expect(serializer.stringEncoding == .utf8)
        #expect(serializer.placement == .byMethod)
    }

    @Test(
        "languages with weights from 1 down by tenths, six at most",
        .rows("Q2"),
        arguments: [
            (["en"], "en;q=1"),
            (["de-DE", "en"], "de-DE;q=1, en;q=0.9"),
            (["a", "b", "c", "d", "e", "f", "g"], "a;q=1, b;q=0.9, c;q=0.8, d;q=0.7, e;q=0.6, f;q=0.5"),
        ]
    )
    func acceptLanguage(languages: [String], expected: String) {
        #expect(URLRequest.acceptLanguage(for: languages) == expected)
    }

    @Test(
        "on Linux the languages are those of the locale's variables",
        .rows("Q2"),
        arguments: [
            ([:], ["en"]), (["LANG": "C.UTF-8"], ["en"]), (["LANG": "POSIX"], ["en"]),
            (["LANG": "de_DE.UTF-8@euro"], ["de-DE"]),
            (["LANG": "de_DE", "LC_MESSAGES": "fr_FR", "LC_ALL": ""], ["fr-FR"]),
            (["LANG": "de_DE", "LC_ALL": "C", "LANGUAGE": "it"], ["en"]),
            (["LANG": "de_DE.UTF-8", "LANGUAGE": "pt_BR:de_DE:en"], ["pt-BR", "de-DE", "en"]),
            (["LANG": "x\r\nEvil: 1"], ["en"]), (["LANG": "zh_Hant_TW"], ["zh-Hant-TW"]),
        ] as [([String: String], [String])]
    )
    func languages(environment: [String: String], expected: [String]) {
        #expect(URLRequest.languages(in: environment) == expected)
    }

    @Test(
        "the User-Agent is the program's name and its version, of the characters of tokens alone",
        .rows("Q3"),
        arguments: [
            ("My App", "1.2 beta", "MyApp/1.2beta"), ("tool", "", "tool"), ("Grüße", "1", "Gre/1"),
            ("😀", "2", "uncurl/2"), ("a\r\nb: c", "(x)", "abc/x"), ("", "", "uncurl"),
        ]
    )
    func userAgent(program: String, version: String, expected: String) {
        #expect(RequestDefaults.userAgent(program: program, version: version) == expected)
    }

    @Test("this program's User-Agent says nothing of the machine", .rows("Q3"))
    func userAgentOfThisProgram() {
        #expect(RequestDefaults.userAgent.utf8.allSatisfy { $0.isTokenOctet || $0 == UInt8(ascii: "/") })
    }

    @Test("fields are set, read, removed and listed whatever the case of their names", .rows("Q4"))
    func headers() throws {
        var defaults = RequestDefaults.none
        try defaults.setHeader("X-One", to: "1")
        try defaults.setHeader("x-one", to: "2")
        try defaults.setHeader("B", to: "3")
        #expect(defaults.headers["X-ONE"] == "2")
        #expect(defaults.headers.map { "\($0.name)=\($0.value)" } == ["x-one=2", "B=3"])
        try defaults.setHeader("X-one", to: nil)
        #expect(defaults.headers["x-one"] == nil)
        #expect(defaults.headers.map(\.name) == ["B"])
    }

    @Test("Basic credentials are set and cleared", .rows("Q4"))
    func basic() throws {
        var defaults = RequestDefaults.none
        try defaults.setAuthorization(user: "Aladdin", password: "open sesame")
        #expect(defaults.headers["authorization"] == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")
        try defaults.setAuthorization(user: "ü", password: "a:b")
        #expect(defaults.headers["Authorization"] == "Basic " + Data("ü:a:b".utf8).base64EncodedString())
        defaults.clearAuthorization()
        #expect(defaults.headers.isEmpty)
        #expect(throws: ParameterFailure.self) { try defaults.setAuthorization(user: "a:b", password: "c") }
    }

    @Test(
        "a field that would end or add a field or a message is refused",
        arguments: [
            ("X", "a\r\nEvil: 1"), ("X", "a\nb"), ("X", "a\u{0}b"), ("X", "a\rb"), ("X", "\u{7F}"), ("X\r\nY", "a"),
            ("X Y", "a"), ("", "a"), ("X:", "a"), ("Ü", "a"), ("X\u{0}", "a"),
        ]
    )
    func injection(name: String, value: String) {
        var defaults = RequestDefaults.none
        let error = #expect(throws: ParameterFailure.self) { try defaults.setHeader(name, to: value) }
        #expect(error?.description.contains("header field") == true)
        #expect(defaults.headers.isEmpty)
    }

    @Test("fields of the request are not replaced", .rows("Q5"))
    func merge() throws {
        var defaults = RequestDefaults.none
        try defaults.setHeader("X-A", to: "default")
        try defaults.setHeader("X-B", to: "default")
        var given = request
        given.setValue("own", forHTTPHeaderField: "x-a")
        let made = defaults.applied(to: given)
        #expect(made.value(forHTTPHeaderField: "X-A") == "own")
        #expect(made.value(forHTTPHeaderField: "X-B") == "default")
    }

    @Test("properties are applied only where they are set, and are nil before", .rows("Q6"))
    func properties() {
        var defaults = RequestDefaults.none
        #expect(defaults.timeout == nil && defaults.cachePolicy == nil)
        #expect(defaults.applied(to: request) == request)
        defaults.timeout = .seconds(5)
        defaults.cachePolicy = .returnCacheDataDontLoad
        defaults.httpShouldHandleCookies = false
        defaults.networkServiceType = .background
        defaults.allowsCellularAccess = false
        let made = defaults.applied(to: request)
        #expect(made.timeoutInterval == 5)
        #expect(made.cachePolicy == .returnCacheDataDontLoad)
        #expect(!made.httpShouldHandleCookies && !made.allowsCellularAccess)
        #expect(made.networkServiceType == .background)
    }

    @Test("a copy has everything, and neither side's changes reach the other", .rows("D7", "Q19"))
    func copies() throws {
        var serializer = HTTPRequestSerializer()
        serializer.defaults.timeout = .seconds(5)
        serializer.stringEncoding = .utf16
        serializer.queryMethods = ["PUT"]
        serializer.query = .custom { _, _ in "q" }
        let copy = serializer
        serializer.defaults.timeout = .seconds(9)
        try serializer.defaults.setHeader("X", to: "1")
        #expect(copy.defaults.timeout == .seconds(5))
        #expect(copy.defaults.headers["X"] == nil)
        #expect(copy.stringEncoding == .utf16 && copy.queryMethods == ["PUT"])
        #expect(try copy.serialize(["a": 1], into: put).url?.query == "q")
    }

    @Test("threads build requests of one serializer while another thread changes its own", .rows("D7"))
    func threads() async throws {
        let shared = JSONRequestSerializer()
        let request = put
        await withTaskGroup { group in
            for number in 0..<8 {
                group.addTask {
                    var own = shared
                    for round in 0..<200 {
                        try? own.http.defaults.setHeader("X", to: "\(number)-\(round)")
                        let made = try? own.serialize(["n": 1], into: request)
                        #expect(made?.value(forHTTPHeaderField: "X") == "\(number)-\(round)")
                    }
                }
            }
        }
        #expect(shared.http.defaults.headers["X"] == nil)
    }

    private var put: URLRequest {
        var request = request
        request.httpMethod = "PUT"
        return request
    }

    @Test("a colon with a combining accent is still a colon to the server", .rows("Q10"))
    func accentedColon() {
        var defaults = RequestDefaults()
        #expect(throws: ParameterFailure.self) {
            try defaults.setAuthorization(user: "a:\u{301}b", password: "p")
        }
    }
}
