import Testing
import UncurlEngine
import UncurlSemantics

@Suite("Proxy configuration")
struct OriginProxiesTests {
    @Test("a proxy serves the scheme it is named for, save for the exceptions")
    func choice() throws {
        let proxy = try Proxy(url: "http://p:1")
        let origin = try Origin(host: "example.com")
        #expect(OriginProxies.direct.proxy(for: origin) == nil)
        #expect(OriginProxies(proxy).proxy(for: origin) == proxy)
        #expect(OriginProxies(http: proxy).proxy(for: origin) == proxy)
        #expect(OriginProxies(https: proxy).proxy(for: origin) == nil)
        let other = try Proxy(url: "http://user:secret@q:2")
        let both = OriginProxies(http: proxy, https: other)
        #expect(both.proxy(for: origin) == proxy)
        #expect(both.proxy(for: try Origin(scheme: .https, host: "example.com")) == other)
        let exceptions = ProxyExceptions("example.com ::1")
        #expect(OriginProxies(proxy, exceptions: exceptions).proxy(for: origin) == nil)
        #expect(OriginProxies(proxy, exceptions: exceptions).proxy(for: try Origin(host: "[::1]")) == nil)
    }
}
