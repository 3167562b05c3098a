import Testing
import UncurlHTTP1
import UncurlSemantics

@testable import UncurlEngine

@Suite("Engine requests")
struct EngineRequestTests {
    @Test("a request for another URL of its origin has the octets of one that is made anew; another origin has none")
    func another() throws {
        let (url, next) = (try HTTPURL("http://a.test/1"), try HTTPURL("http://a.test/next?q=%20"))
        var fields = HTTPFields()
        try fields.append("X-Target", "/1")
        var expecting = EngineRequest.Options()
        (expecting.expectsContinueAbove, expecting.host) = (0, "b.test")
        let plain = EngineRequest.Options()
        for (method, body, options) in [
            ("GET", Content.none, plain), ("POST", .none, plain), ("OWN", .bytes([1, 2]), expecting),
            ("PUT", .stream(length: nil, replayable: true), plain),
        ] {
            func made(_ url: HTTPURL) throws -> EngineRequest {
                try EngineRequest(
                    method: method,
                    origin: url.origin,
                    target: url.target,
                    fields: fields,
                    body: body,
                    options: options
                )
            }
            let one = try made(url)
            for place in [next, url] {
                let (other, anew) = (try #require(EngineRequest(one, for: place)), try made(place))
                #expect(other.serialized == anew.serialized && other.target == anew.target)
                #expect(other.serializedWithoutExpectation == anew.serializedWithoutExpectation)
                // The next one's place in the head is known too.
                let third = try #require(EngineRequest(other, for: next))
                #expect(third.serialized == (try made(next)).serialized)
            }
            for text in ["https://a.test/", "http://a.test:81/", "http://b.test/"] {
                #expect(EngineRequest(one, for: try HTTPURL(text)) == nil)
            }
        }
        var pipelined = EngineRequest.Options()
        pipelined.pipelineDepth = 2
        let tunnel = try EngineRequest(method: "CONNECT", origin: url.origin, target: "a.test:80")
        #expect(EngineRequest(tunnel, for: next) == nil)
        #expect(EngineRequest(try EngineRequest(origin: url.origin, options: pipelined), for: next) == nil)
        #expect(EngineRequest(EngineRequest(verbatim: Array("GET /1".utf8), origin: url.origin), for: next) == nil)
    }
}
