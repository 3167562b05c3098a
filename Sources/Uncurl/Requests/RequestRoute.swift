public import URLLoading
internal import UncurlEngine

/// Another host and port for the connection, like curl's `--connect-to`. The URL, the Host field, the cookies and the
/// name in the server's certificate stay those of the request. Use it to reach one server behind a load balancer, or a
/// new server before DNS names it.
///
/// It applies to the scheme, host and port of the request; a redirect to another origin follows its own URL. The
/// session's cache neither answers such a request nor stores its answer, because the answer is that of one server.
/// Through an HTTP proxy, the connection uses a tunnel.
public struct ConnectTo: Hashable, Sendable {
    /// Why a target cannot be connected to.
    @frozen public enum Problem: Error, Hashable, Sendable {
        /// The text is neither a name nor an address.
        case host(String)
        /// A port is a number from 1 to 65,535.
        case port(Int)
    }

    /// A name or an address. An IPv6 address may have brackets.
    public let host: String
    /// From 1 to 65,535.
    public let port: Int
    let endpoint: Endpoint

    /// A target for connections.
    ///
    /// - Throws: ``Problem`` for a malformed host, and for a port outside the range.
    public init(host: String, port: Int) throws(Problem) {
        guard let number = UInt16(exactly: port), number > 0 else { throw .port(port) }
        let bare = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
        guard (try? URLHost(host)) != nil else { throw .host(host) }
        (self.host, self.port) = (host, port)
        endpoint = .host(bare, port: number)
    }
}

extension ConnectTo.Problem: LocalizedError, CustomStringConvertible {
    public var description: String {
        switch self {
        case .host(let host): "\(host.debugDescription) is neither a name nor an address of a host"
        case .port(let port): "\(port) is no port, which is a number from 1 to 65535"
        }
    }

    public var errorDescription: String? { description }
}

/// The proxy of one request, which replaces those of the session's configuration. It also applies to the request's
/// redirects and retries.
public struct RequestProxy: Hashable, Sendable {
    let configuration: OriginProxies

    /// No proxy: the connection goes to the server.
    public static let none = RequestProxy(.direct)

    private init(_ configuration: OriginProxies) { self.configuration = configuration }

    /// A proxy by its URL: `http://proxy:3128`, `https://user:password@proxy`, `socks5://[::1]:1080`, `socks5h://…`.
    /// With `socks5h` the proxy itself looks names up. Special characters of a user name or a password are written as
    /// `%XX`. If the proxy refuses these credentials, the request fails, and no hook is called for others.
    ///
    /// - Throws: ``UncurlError/invalidURL(_:reason:)``. The error does not contain the user name and the password.
    public init(_ url: String) throws(UncurlError) {
        do throws(Proxy.Problem) {
            self.init(OriginProxies(try Proxy(url: url)))
        } catch {
            throw .invalidURL(url.lastIndex(of: "@").map { "…" + url[$0...] } ?? url, reason: "\(error)")
        }
    }
}

extension URLRequest {
    /// The longest time to make a connection, in seconds, with the look-up of the name, proxies and TLS. Nil: as long
    /// as `timeoutInterval`. A connection that another request is already making keeps its own limit. After it the
    /// request fails with `URLError.timedOut`.
    public var connectTimeout: TimeInterval? {
        get { terms.connectLimit }
        set { terms.connectLimit = newValue }
    }

    /// The longest time from the last byte of the request to the first byte of its answer, in seconds. Nil: only
    /// `timeoutInterval` applies, which ends the request in any case. After it the request fails with
    /// `URLError.timedOut`.
    public var firstByteTimeout: TimeInterval? {
        get { terms.firstByteLimit }
        set { terms.firstByteLimit = newValue }
    }

    mutating func connect(to place: ConnectTo) { terms.endpoint = place.endpoint }

    mutating func use(_ proxy: RequestProxy) { terms.proxies = proxy.configuration }
}
