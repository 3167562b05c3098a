import Foundation
import Testing

@testable import URLLoading

@Suite("NSURLRequest")
struct NSURLRequestTests {
    private let url = URL(string: "http://host.test/path")!

    @Test("an immutable request's copy is itself; a mutable request's copy is independent")
    func copies() throws {
        let immutable = NSURLRequest(url: url)
        #expect(immutable.copy() as? NSURLRequest === immutable)
        let mutable = try #require(immutable.mutableCopy() as? NSMutableURLRequest)
        mutable.httpMethod = "POST"
        mutable.setValue("1", forHTTPHeaderField: "A")
        #expect(immutable.httpMethod == "GET")
        let copy = try #require(mutable.copy() as? NSMutableURLRequest)
        #expect(copy !== mutable)
        mutable.httpMethod = "PUT"
        #expect(copy.httpMethod == "POST")
        #expect(copy.value(forHTTPHeaderField: "a") == "1")
    }

    @Test("a copy of a subclass is of the class itself, with all its values")
    func subclass() throws {
        final class Mine: NSURLRequest {}
        let copy = try #require(
            Mine(url: url, cachePolicy: .returnCacheDataDontLoad, timeoutInterval: 3).copy() as? NSURLRequest
        )
        #expect(type(of: copy) == NSURLRequest.self)
        #expect(copy.cachePolicy == .returnCacheDataDontLoad)
        #expect(copy.timeoutInterval == 3)
    }

    @Test("value and object can be cast to each other inside Any")
    func bridging() throws {
        var request = URLRequest(url: url, cachePolicy: .reloadIgnoringLocalCacheData, timeoutInterval: 5)
        request.httpBody = Data("body".utf8)
        request.protocolProperties["key"] = "value"
        let object = try #require((request as Any) as? NSURLRequest)
        #expect(object.url == url)
        #expect(object.httpBody == Data("body".utf8))
        let back = try #require((object as Any) as? URLRequest)
        #expect(back == request)
        #expect(back.timeoutInterval == 5)
        #expect(back.protocolProperties["key"] as? String == "value")
        #expect(object._bridgeToSwift() == request)
    }

    @Test("changes of a mutable request reach every property")
    func mutation() {
        let request = NSMutableURLRequest(url: url)
        request.url = URL(string: "http://other.test/")
        request.mainDocumentURL = url
        request.cachePolicy = .returnCacheDataElseLoad
        request.timeoutInterval = 7
        request.httpMethod = "delete"
        request.allHTTPHeaderFields = ["A": "1"]
        request.addValue("2", forHTTPHeaderField: "A")
        request.httpBody = Data("b".utf8)
        request.networkServiceType = .voice
        request.allowsCellularAccess = false
        request.allowsExpensiveNetworkAccess = false
        request.allowsConstrainedNetworkAccess = false
        request.attribution = .user
        request.assumesHTTP3Capable = true
        request.httpShouldHandleCookies = false
        let value = request._bridgeToSwift()
        #expect(value.attribution == .user && value.assumesHTTP3Capable)
        #expect(NSURLRequest(url: url).attribution == .developer && !NSURLRequest(url: url).assumesHTTP3Capable)
        #expect(value.url?.host == "other.test")
        #expect(value.mainDocumentURL == url)
        #expect(value.cachePolicy == .returnCacheDataElseLoad)
        #expect(value.timeoutInterval == 7)
        #expect(value.httpMethod == "DELETE")
        #expect(value.allHTTPHeaderFields == ["A": "1,2"])
        #expect(value.httpBody == Data("b".utf8))
        #expect(value.networkServiceType == .voice)
        #expect(!value.allowsCellularAccess && !value.allowsExpensiveNetworkAccess)
        #expect(!value.allowsConstrainedNetworkAccess && !value.httpShouldHandleCookies)
    }

    @Test("equal objects have equal hashes, mutable or not")
    func equality() {
        let one = NSURLRequest(url: url)
        let other = NSMutableURLRequest(url: url)
        #expect(one == other)
        #expect(one.hash == other.hash)
        other.httpMethod = "HEAD"
        #expect(one != other)
        #expect(!one.isEqual("http://host.test/path"))
        #expect(!one.isEqual(nil))
    }

    @Test("its description has class and URL")
    func descriptions() {
        #expect(NSMutableURLRequest(url: url).description.contains("NSMutableURLRequest"))
        #expect(NSURLRequest(url: url).description.hasSuffix("{ URL: http://host.test/path }"))
    }
}
