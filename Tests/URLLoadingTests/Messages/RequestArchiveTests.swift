import Foundation
import Testing

@testable import URLLoading

@Suite("RequestArchive")
struct RequestArchiveTests {
    private let url = URL(string: "http://host.test/path")!

    private func thereAndBack<Request: NSURLRequest>(_ request: Request) throws -> Request? {
        let archive = try NSKeyedArchiver.archivedData(withRootObject: request, requiringSecureCoding: true)
        return try NSKeyedUnarchiver.unarchivedObject(ofClass: Request.self, from: archive)
    }

    @Test("an archive keeps all but a stream and the properties of protocol classes")
    func everything() throws {
        let request = NSMutableURLRequest(url: url, cachePolicy: .reloadRevalidatingCacheData, timeoutInterval: 0.25)
        request.mainDocumentURL = URL(string: "http://main.test/")
        request.httpMethod = "PATCH"
        request.allHTTPHeaderFields = ["A": "1", "b": "ü"]
        request.httpBody = Data([0, 255, 10])
        request.networkServiceType = .background
        request.allowsCellularAccess = false
        request.allowsExpensiveNetworkAccess = false
        request.allowsConstrainedNetworkAccess = false
        request.httpShouldHandleCookies = false
        let copy = try #require(try thereAndBack(request))
        #expect(copy == request)
        #expect(copy.timeoutInterval == 0.25)
        #expect(copy.allHTTPHeaderFields == ["A": "1", "b": "ü"])
        #expect(copy.httpBody == Data([0, 255, 10]))
        #expect(copy.networkServiceType == .background)
        #expect(!copy.allowsExpensiveNetworkAccess && !copy.allowsConstrainedNetworkAccess)
    }

    @Test("a request with only defaults comes back as such, and its time limit is still the session's to choose")
    func defaults() throws {
        let request = NSURLRequest(url: url)
        let copy = try #require(try thereAndBack(request))
        #expect(copy == request)
        #expect(copy.allHTTPHeaderFields == nil)
        #expect(copy.httpBody == nil)
        #expect(copy.request.values.explicitTimeout == nil)
    }

    @Test("an empty body is not the same as no body")
    func emptyBody() throws {
        let request = NSMutableURLRequest(url: url)
        request.httpBody = Data()
        #expect(try #require(try thereAndBack(request)).httpBody == Data())
    }

    @Test("an archive loses a stream")
    func stream() throws {
        let request = NSMutableURLRequest(url: url)
        request.httpBodyStream = InputStream(data: Data("x".utf8))
        #expect(try #require(try thereAndBack(request)).httpBodyStream == nil)
    }

    @Test("values that no request can hold are replaced by defaults or left out")
    func nonsense() throws {
        let coder = NSKeyedArchiver(requiringSecureCoding: true)
        coder.encode(NSNumber(value: 99), forKey: "NS._cachePolicy")
        coder.encode(NSNumber(value: 99), forKey: "NS._networkServiceType")
        coder.encode(["A": "a\r\nEvil: 1", "B": "b"] as NSDictionary, forKey: "NS._allHTTPHeaderFields")
        coder.finishEncoding()
        let decoder = try NSKeyedUnarchiver(forReadingFrom: coder.encodedData)
        decoder.requiresSecureCoding = true
        let request = try #require(NSURLRequest(coder: decoder))
        #expect(request.url == nil)
        #expect(request.cachePolicy == .useProtocolCachePolicy)
        #expect(request.networkServiceType == .default)
        #expect(request.allHTTPHeaderFields == ["B": "b"])
        #expect(request.httpMethod == "GET")
    }
}
