import TestSupport
import Testing

@testable import UncurlReactor

@Suite("getaddrinfo", .ownThread)
struct SystemLookupTests {
    // Numbers only: a name would leave the machine, or depend on its hosts file.

    @Test("the family asked for is the family that comes")
    func families() throws {
        #expect(try Resolver.systemAddresses("192.0.2.7", .v4) == [.v4(IPv4Address(bits: 0xC000_0207))])
        #expect(try Resolver.systemAddresses("::1", .v6) == [.v6(.loopback)])
    }

    @Test("a host without addresses of the family says so")
    func wrongFamily() {
        #expect(throws: ResolveError.noAddress) { try Resolver.systemAddresses("192.0.2.7", .v6) }
    }
}
