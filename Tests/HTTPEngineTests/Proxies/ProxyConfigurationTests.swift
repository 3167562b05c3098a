import HTTPEngine
import Testing

@Suite("Proxy configuration")
struct ProxyConfigurationTests {
    @Test("a proxy serves the scheme it is named for, save for the exceptions")
    func choice() throws {
        let proxy = try Proxy(url: "http://p:1")
        let origin = try Origin(host: "example.com")
        #expect(ProxyConfiguration.direct.proxy(for: origin) == nil)
        #expect(ProxyConfiguration(proxy).proxy(for: origin) == proxy)
        #expect(ProxyConfiguration(http: proxy).proxy(for: origin) == proxy)
        #expect(ProxyConfiguration(https: proxy).proxy(for: origin) == nil)
        let exceptions = ProxyExceptions("example.com ::1")
        #expect(ProxyConfiguration(proxy, exceptions: exceptions).proxy(for: origin) == nil)
        #expect(ProxyConfiguration(proxy, exceptions: exceptions).proxy(for: try Origin(host: "[::1]")) == nil)
    }
}
