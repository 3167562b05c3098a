internal import HTTPEngine
public import URLLoading

/// Another host and port to connect to, while the URL, the Host field, the cookies and the name in the server's
/// certificate stay those of the request: curl's `--connect-to`. For a server behind a load balancer, or a new one
/// before its name leads there.
///
/// It holds for the scheme, host and port of the request; a redirect to another origin goes where its URL says. The
/// session's cache neither answers such a request nor stores its answer, as the answer is that of one server. An HTTP
/// proxy is asked for a tunnel to it.
public struct ConnectTo: Hashable, Sendable {
    /// A name or an address; IPv6 with or without its brackets.
    public let host: String
    /// From 1 to 65,535.
    public let port: Int
    let endpoint: Endpoint

    /// A place to connect to.
    ///
    /// - Throws: ``UncurlError/invalidURL(_:reason:)`` for what is no host and for a port that is none.
    public init(host: String, port: Int) throws(UncurlError) {
        guard let number = UInt16(exactly: port), number > 0 else {
            throw .invalidURL("\(host):\(port)", reason: "a port is a number from 1 to 65535")
        }
        let bare = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
        guard (try? URLHost(host)) != nil else {
            throw .invalidURL("\(host):\(port)", reason: "it names no host")
        }
        (self.host, self.port) = (host, port)
        endpoint = .host(bare, port: number)
    }
}

/// The proxy of one request, in place of those of its session's configuration. It holds for the request's redirects and
/// retries.
public struct RequestProxy: Hashable, Sendable {
    let configuration: ProxyConfiguration

    /// No proxy: the request goes to its server itself.
    public static let none = RequestProxy(.direct)

    private init(_ configuration: ProxyConfiguration) { self.configuration = configuration }

    /// A proxy by its URL: `http://proxy:3128`, `https://user:password@proxy`, `socks5://[::1]:1080`, `socks5h://…`. A
    /// SOCKS proxy of the second kind looks names up itself. Characters of a user's name or password that end them in a
    /// URL stand as `%XX`. A proxy that refuses these credentials fails the request; no hook is asked for others.
    ///
    /// - Throws: ``UncurlError/invalidURL(_:reason:)``, without user and password.
    public init(_ url: String) throws(UncurlError) {
        do throws(Proxy.Problem) {
            self.init(ProxyConfiguration(try Proxy(url: url)))
        } catch {
            throw .invalidURL(url.lastIndex(of: "@").map { "…" + url[$0...] } ?? url, reason: "\(error)")
        }
    }
}

extension URLRequest {
    /// In seconds: the longest time that the making of a connection may take, with the look-up of the name, proxies and
    /// TLS. Nil: as long as `timeoutInterval`. A connection that another request is making keeps the limit it began
    /// with. Past it the request fails with `URLError.timedOut`.
    public var connectTimeout: TimeInterval? {
        get { terms.connectLimit }
        set { terms.connectLimit = newValue }
    }

    /// In seconds: the longest time from the last byte of the request to the first of its answer. Nil: as long as
    /// `timeoutInterval`, which ends the request in any case. Past it the request fails with `URLError.timedOut`.
    public var firstByteTimeout: TimeInterval? {
        get { terms.firstByteLimit }
        set { terms.firstByteLimit = newValue }
    }

    mutating func connect(to place: ConnectTo) { terms.endpoint = place.endpoint }

    mutating func use(_ proxy: RequestProxy) { terms.proxies = proxy.configuration }
}
