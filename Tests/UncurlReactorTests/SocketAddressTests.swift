import TestSupport
import Testing

@testable import UncurlReactor

@Suite("Socket addresses", .ownThread)
struct SocketAddressTests {
    @Test("a URL's numeric host makes an address, a name does not")
    func numericHost() {
        #expect(SocketAddress(numericHost: "127.0.0.1", port: 80) == .loopback(port: 80))
        #expect(SocketAddress(numericHost: "::1", port: 443) == .loopback6(port: 443))
        #expect(SocketAddress(numericHost: "localhost", port: 80) == nil)
    }

    @Test("addresses read as people write them")
    func descriptions() throws {
        #expect(SocketAddress.loopback(port: 80).description == "127.0.0.1:80")
        #expect(SocketAddress.loopback6(port: 80).description == "[::1]:80")
        #expect(SocketAddress.unix(try #require(UnixName(path: "/run/x"))).description == "unix:/run/x")
        #expect(SocketAddress.unix(try #require(UnixName(abstract: "x"))).description == "unix:@x")
    }

    @Test("the kernel gives back what it was given")
    func kernelForm() throws {
        let addresses: [SocketAddress] = [
            .v4(IPv4Address(bits: 0x0102_0304), port: 0x1234),
            .v6(IPv6Address(high: 0x0102_0304_0506_0708, low: 0x090A_0B0C_0D0E_0F10, scope: 3), port: 0x1234),
            .unix(try #require(UnixName(path: "/tmp/a path"))),
            .unix(try #require(UnixName(abstract: "with\0nul"))),
            .unix(try #require(UnixName(path: String(repeating: "p", count: 107)))),
        ]
        for address in addresses {
            #expect(address.withKernelForm { SocketAddress(kernelForm: $0, length: $1) } == address)
        }
    }

    @Test("a form cut short is no address")
    func short() {
        let cut = SocketAddress.loopback(port: 1).withKernelForm { form, _ in SocketAddress(kernelForm: form, length: 4)
        }
        #expect(cut == nil)
    }

    @Test("families, ports and loopback are told apart")
    func properties() throws {
        let name = SocketAddress.unix(try #require(UnixName(abstract: "x")))
        #expect(name.port == nil && name.family == .unix && name.isLoopback)
        #expect(name.withPort(9) == name)
        #expect(SocketAddress.loopback().withPort(9).port == 9)
        #expect(SocketAddress.loopback6().isLoopback)
        #expect(!SocketAddress.v4(IPv4Address(bits: 0x0808_0808), port: 1).isLoopback)
    }
}
