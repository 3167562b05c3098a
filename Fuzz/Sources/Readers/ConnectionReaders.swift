import UncurlSemantics

@testable import UncurlEngine
@testable import UncurlReactor
@testable import UncurlWebSocket

/// What proxies, peers and the kernel say before and beside a message.
extension Reader {
    static let connections = [
        Reader(
            "content-encoding",
            of: "UncurlEngine/Decoding/ContentCoding",
            rest: "the words of the decoders' errors",
            text: { _ = try? ContentCoding.parse($0) }
        ),
        Reader(
            "http-url",
            of: "UncurlSemantics/URLs/HTTPURL",
            text: { text in
                do throws(HTTPURL.Problem) {
                    let written = try HTTPURL(text).description
                    require((try? HTTPURL(written).description) == written, "a URL is written as it was read: \(text)")
                } catch {
                    _ = error.description
                }
            }
        ),
        Reader(
            "no-proxy",
            of: "UncurlEngine/Proxies/OriginProxies",
            text: { list in
                let exceptions = ProxyExceptions(list)
                for host in ["a.test", "127.0.0.1", "::1", "xn--a", list] { _ = exceptions.covers(host) }
            }
        ),
        Reader("socks5", of: "UncurlEngine/Proxies/SOCKS5", socks),
        Reader("connect", of: "UncurlEngine/Proxies/ProxyTunnel", connect),
        Reader(
            "ip-address",
            of: "UncurlReactor/Sockets/IPAddress",
            text: { text in
                guard let address = IPAddress(text) else { return }
                require(IPAddress(address.description) == address, "an address is written and read as it was: \(text)")
            }
        ),
        Reader("netlink", of: "UncurlReactor/Network/NetlinkMessage", rest: "the requests", netlink),
        Reader(
            "websocket-extensions",
            of: "UncurlWebSocket/Handshake/DeflateAgreement",
            text: { _ = DeflateAgreement.elements($0) }
        ),
    ]

    /// The first octet says whether there are credentials, and how the rest comes in pieces.
    private static func socks(_ octets: [UInt8]) {
        guard let first = octets.first else { return }
        let credentials = first & 1 == 0 ? nil : Credentials(user: "u", password: "p")
        guard var proxy = try? SOCKS5(to: "a.test", port: 443, credentials: credentials) else { return }
        for piece in pieces(of: octets.dropFirst(), first) {
            var offset = 0
            while offset < piece.count {
                do { _ = try proxy.receive(piece.span, from: &offset) } catch { return }
                guard !proxy.isOpen else { return }
                require(offset <= piece.count, "no more is taken than there is")
            }
        }
    }

    private static func connect(_ octets: [UInt8]) {
        guard let first = octets.first else { return }
        var tunnel = ProxyTunnel(to: "a.test:443")
        guard (try? tunnel.ask(authorization: nil)) != nil else { return }
        for piece in pieces(of: octets.dropFirst(), first) {
            var offset = 0
            guard let step = try? tunnel.receive(piece.span, from: &offset) else { return }
            require(offset <= piece.count, "no more is taken than there is")
            guard case .needsInput = step else { return }
        }
        _ = try? tunnel.ended(nil)
    }

    private static func netlink(_ octets: [UInt8]) {
        for message in NetlinkMessage.all(in: octets[...], port: 1) {
            for count in [0, 8, 16] { _ = message.attributes(after: count) }
        }
    }

    /// In pieces of one octet to 128.
    private static func pieces(of octets: ArraySlice<UInt8>, _ seed: UInt8) -> [[UInt8]] {
        let length = Int(seed >> 1) + 1
        return stride(from: octets.startIndex, to: octets.endIndex, by: length).map {
            Array(octets[$0..<min($0 + length, octets.endIndex)])
        }
    }
}
