import Foundation
import Testing

@testable import URLLoading

@Suite("URLRequest")
struct URLRequestTests {
    private let url = URL(string: "http://host.test/path?query")!

    private var request: URLRequest { URLRequest(url: url) }

    @Test("a new request has FoundationNetworking's defaults")
    func defaults() {
        let request = request
        #expect(request.url == url)
        #expect(request.httpMethod == "GET")
        #expect(request.cachePolicy == .useProtocolCachePolicy)
        #expect(request.timeoutInterval == 60)
        #expect(request.mainDocumentURL == nil)
        #expect(request.networkServiceType == .default)
        #expect(request.allowsCellularAccess)
        #expect(request.allowsExpensiveNetworkAccess)
        #expect(request.allowsConstrainedNetworkAccess)
        #expect(request.attribution == .developer)
        #expect(!request.assumesHTTP3Capable)
        #expect(request.allHTTPHeaderFields == nil)
        #expect(request.httpBody == nil)
        #expect(request.httpBodyStream == nil)
        #expect(request.httpShouldHandleCookies)
        #expect(request.protocolProperties.isEmpty)
    }

    @Test("copies share their storage until one is changed, which does not affect the other")
    func copyOnWrite() {
        var first = request
        let second = first
        #expect(first.storage === second.storage)
        first.httpMethod = "POST"
        #expect(first.storage !== second.storage)
        #expect(second.httpMethod == "GET")
        let storage = ObjectIdentifier(first.storage)
        first.setValue("1", forHTTPHeaderField: "A")
        first.timeoutInterval = 1
        #expect(ObjectIdentifier(first.storage) == storage)
    }

    @Test("a relative URL is resolved against its base when the request is made")
    func relative() {
        let relative = URL(string: "c", relativeTo: URL(string: "http://host.test/a/b"))!
        #expect(URLRequest(url: relative).url?.absoluteString == "http://host.test/a/c")
        #expect(URLRequest(url: relative).url?.baseURL == nil)
    }

    @Test(
        "six methods are put in upper case, all others stay as they are, and nil is GET",
        arguments: [
            ("get", "GET"), ("Head", "HEAD"), ("post", "POST"), ("pUt", "PUT"), ("delete", "DELETE"),
            ("connect", "CONNECT"), ("patch", "patch"), ("options", "options"), ("", ""), (nil, "GET"),
        ]
    )
    func methods(given: String?, kept: String) {
        var request = request
        request.httpMethod = given
        #expect(request.httpMethod == kept)
    }

    @Test("fields are found whatever the case of their names, and kept capitalised")
    func fieldNames() {
        var request = request
        request.setValue("1", forHTTPHeaderField: "x-foo-bar")
        #expect(request.value(forHTTPHeaderField: "X-FOO-BAR") == "1")
        request.setValue("2", forHTTPHeaderField: "X-Foo-bar")
        #expect(request.allHTTPHeaderFields == ["X-Foo-Bar": "2"])
        request.setValue(nil, forHTTPHeaderField: "x-FOO-bar")
        #expect(request.allHTTPHeaderFields == [:])
        #expect(request.value(forHTTPHeaderField: "X-Foo-Bar") == nil)
    }

    @Test("added values are joined by a comma")
    func addValue() {
        var request = request
        request.addValue("1", forHTTPHeaderField: "accept")
        request.addValue("2", forHTTPHeaderField: "ACCEPT")
        #expect(request.allHTTPHeaderFields == ["Accept": "1,2"])
    }

    @Test(
        "a value with controls is refused and what was there stays",
        arguments: ["a\r\nb", "a\nb", "a\rb", "a\0b", "a\r\n\r\n b", "a\n b", "a\r\n", "\r\n", "a\u{7F}", "a\u{1}b"]
    )
    func badValues(value: String) {
        var request = request
        request.setValue("old", forHTTPHeaderField: "A")
        request.setValue(value, forHTTPHeaderField: "A")
        request.addValue(value, forHTTPHeaderField: "A")
        request.addValue(value, forHTTPHeaderField: "B")
        #expect(request.allHTTPHeaderFields == ["A": "old"])
        request.allHTTPHeaderFields = ["A": value, "C": "c"]
        #expect(request.allHTTPHeaderFields == ["C": "c"])
    }

    @Test("each refused field counts until it is set to another value, in the order in which they were refused")
    func severalRefused() {
        var request = request
        request.setValue("Bearer old", forHTTPHeaderField: "Authorization")
        request.setValue("Bearer new\n", forHTTPHeaderField: "Authorization")
        request.setValue("a\nb", forHTTPHeaderField: "X-Note")
        request.setValue("c\nd", forHTTPHeaderField: "authorization")
        #expect(request.refusedField == "Authorization")
        request.setValue("ab", forHTTPHeaderField: "x-note")
        #expect(request.refusedField == "Authorization")
        request.setValue(nil, forHTTPHeaderField: "authorization")
        #expect(request.refusedField == nil)
        request.allHTTPHeaderFields = ["A": "\n", "B": "\n", "b": "b\n", "C": "c"]
        #expect(request.refusedField == "A")
        request.setValue("b", forHTTPHeaderField: "B")
        #expect(request.refusedField == "A")
        request.replaceFields(by: [("a", "1")])
        #expect(request.refusedField == nil)
        request.replaceFields(by: [("A", "\n")])
        #expect(request.refusedField == "A")
        request.allHTTPHeaderFields = nil
        #expect(request.refusedField == nil)
    }

    @Test("a name that is no token is refused", arguments: ["", "bad name", "a:b", "a\r\n", "ä", "(a)", "a\0"])
    func badNames(name: String) {
        var request = request
        request.setValue("x", forHTTPHeaderField: name)
        request.addValue("x", forHTTPHeaderField: name)
        #expect(request.allHTTPHeaderFields?.isEmpty != false)
        request.allHTTPHeaderFields = [name: "x", "C": "c"]
        #expect(request.allHTTPHeaderFields == ["C": "c"])
    }

    @Test("octets beyond ASCII, tabs and empty values are allowed")
    func goodValues() {
        var request = request
        for value in ["grün", "a\tb", "", "a, b; c=\"d\""] {
            request.setValue(value, forHTTPHeaderField: "A")
            #expect(request.value(forHTTPHeaderField: "A") == value)
        }
    }

    @Test("the dictionary replaces all fields, keeps their spelling, and is nil only if there were none")
    func dictionary() {
        var request = request
        request.setValue("1", forHTTPHeaderField: "A")
        request.allHTTPHeaderFields = ["lower": "v"]
        #expect(request.allHTTPHeaderFields == ["lower": "v"])
        request.allHTTPHeaderFields?["other"] = "w"
        #expect(request.allHTTPHeaderFields == ["lower": "v", "other": "w"])
        request.allHTTPHeaderFields = [:]
        #expect(request.allHTTPHeaderFields == [:])
        request.allHTTPHeaderFields = nil
        #expect(request.allHTTPHeaderFields == nil)
    }

    @Test("data and stream exclude each other, and nil removes either")
    func bodies() {
        var request = request
        request.httpBody = Data("x".utf8)
        #expect(request.httpBodyStream == nil)
        let stream = InputStream(data: Data())
        request.httpBodyStream = stream
        #expect(request.httpBody == nil)
        #expect(request.httpBodyStream === stream)
        request.httpBody = nil
        #expect(request.httpBodyStream == nil)
    }

    @Test("an explicit time limit replaces the session's; the default does not")
    func explicitTimeout() {
        var request = request
        #expect(request.values.explicitTimeout == nil)
        request.timeoutInterval = 60
        #expect(request.values.explicitTimeout == 60)
        #expect(URLRequest(url: url, timeoutInterval: 0.5).values.explicitTimeout == 0.5)
    }

    @Test("equality compares URL, method, policy, stream and the two switches, and nothing else")
    func equality() {
        func changed(_ change: (inout URLRequest) -> Void) -> Bool {
            var other = request
            change(&other)
            if other == request { #expect(other.hashValue == request.hashValue) }
            return other != request
        }
        #expect(!changed { _ in })
        #expect(changed { $0.url = URL(string: "http://other.test/") })
        #expect(changed { $0.mainDocumentURL = url })
        #expect(changed { $0.httpMethod = "POST" })
        #expect(changed { $0.cachePolicy = .returnCacheDataDontLoad })
        #expect(changed { $0.httpBodyStream = InputStream(data: Data()) })
        #expect(changed { $0.allowsCellularAccess = false })
        #expect(changed { $0.httpShouldHandleCookies = false })
        #expect(!changed { $0.setValue("1", forHTTPHeaderField: "A") })
        #expect(!changed { $0.httpBody = Data("x".utf8) })
        #expect(!changed { $0.timeoutInterval = 1 })
        #expect(!changed { $0.networkServiceType = .video })
        #expect(!changed { $0.attribution = .user })
        #expect(!changed { $0.assumesHTTP3Capable = true })
        #expect(!changed { $0.protocolProperties["a"] = 1 })
    }

    @Test("it describes itself by its URL, and its mirror shows the twelve properties in order")
    func descriptions() {
        var request = request
        #expect(request.description == url.description)
        #expect(request.debugDescription == url.description)
        #expect(
            request.customMirror.children.compactMap(\.label) == [
                "url", "cachePolicy", "timeoutInterval", "mainDocumentURL", "networkServiceType",
                "allowsCellularAccess",
                "httpMethod", "allHTTPHeaderFields", "httpBody", "httpBodyStream", "httpShouldHandleCookies",
                "httpShouldUsePipelining",
            ]
        )
        request.url = nil
        #expect(request.description == "url: nil")
    }

    @Test("properties of protocol classes are copied with the request")
    func protocolProperties() {
        var request = request
        request.protocolProperties["handled"] = true
        let copy = request
        request.protocolProperties["handled"] = nil
        #expect(copy.protocolProperties["handled"] as? Bool == true)
        #expect(request.protocolProperties.isEmpty)
    }
}
