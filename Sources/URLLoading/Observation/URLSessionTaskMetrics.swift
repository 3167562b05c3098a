public import Foundation
internal import UncurlEngine
internal import UncurlReactor
internal import UncurlTLS

/// The metrics of a task, by transaction. They are reported before the task's end.
open class URLSessionTaskMetrics: NSObject, @unchecked Sendable {
    /// Where a transaction's answer came from.
    @frozen public enum ResourceFetchType: Int, Sendable {
        /// The source is not known.
        case unknown
        /// A server.
        case networkLoad
        /// A server's push, which does not happen here.
        @available(*, deprecated, message: "Server push is not supported")
        case serverPush
        /// The cache.
        case localCache
    }

    /// How a name was looked up.
    @frozen public enum DomainResolutionProtocol: Int, Sendable {
        /// Not known: the system's resolver does not say whether it asks files, name servers or others. Always the case
        /// here.
        case unknown
        /// Does not happen here.
        case udp
        /// Does not happen here.
        case tcp
        /// Does not happen here.
        case tls
        /// Does not happen here.
        case https
    }

    /// The transactions in their order: one for each request sent, and one for an answer from the cache.
    public private(set) var transactionMetrics: [URLSessionTaskTransactionMetrics]

    /// The time from the task's first ``URLSessionTask/resume()`` to its end.
    public private(set) var taskInterval: DateInterval

    /// How many redirects were followed.
    public private(set) var redirectCount: Int

    init(_ transactions: [URLSessionTaskTransactionMetrics], _ interval: DateInterval, redirects: Int) {
        transactionMetrics = transactions
        taskInterval = interval
        redirectCount = redirects
    }
}

/// One request and its answer, with the engine's own phases. A phase that did not happen has no dates: for a reused
/// connection there was no look-up and no connect.
open class URLSessionTaskTransactionMetrics: NSObject, @unchecked Sendable {
    /// The request as the task had it.
    public let request: URLRequest
    /// The response; nil if none came.
    public private(set) var response: URLResponse?

    /// When the load began, from the network or from the cache.
    public private(set) var fetchStartDate: Date?
    /// When the look-up of the name began.
    public private(set) var domainLookupStartDate: Date?
    /// When the look-up of the name ended.
    public private(set) var domainLookupEndDate: Date?
    /// When the connection to the first address was begun.
    public private(set) var connectStartDate: Date?
    /// When the TLS handshake with the server began.
    public private(set) var secureConnectionStartDate: Date?
    /// When the TLS handshake ended.
    public private(set) var secureConnectionEndDate: Date?
    /// When the connection could be used: after TLS.
    public private(set) var connectEndDate: Date?
    /// When the first byte of the request was given to the kernel.
    public private(set) var requestStartDate: Date?
    /// When the kernel had taken the last byte of the request.
    public private(set) var requestEndDate: Date?
    /// When the first byte of the answer came.
    public private(set) var responseStartDate: Date?
    /// When the last byte of the answer came.
    public private(set) var responseEndDate: Date?

    /// The protocol's ALPN name: "http/1.1"; nil for an answer that did not come by HTTP.
    public private(set) var networkProtocolName: String?

    /// Whether the remote address is a proxy's.
    public private(set) var isProxyConnection = false
    /// Whether the connection had carried a request before.
    public private(set) var isReusedConnection = false
    /// The source of the answer.
    public private(set) var resourceFetchType: URLSessionTaskMetrics.ResourceFetchType = .networkLoad

    /// The length of the request's head, in bytes.
    public private(set) var countOfRequestHeaderBytesSent: Int64 = 0
    /// The length of the request's content as it was sent, with its framing, in bytes.
    public private(set) var countOfRequestBodyBytesSent: Int64 = 0
    /// The length of the request's content without its framing, in bytes.
    public private(set) var countOfRequestBodyBytesBeforeEncoding: Int64 = 0
    /// The length of the response's head and of the informational ones before it, in bytes.
    public private(set) var countOfResponseHeaderBytesReceived: Int64 = 0
    /// The length of the response's content as it came, with its framing and before content decoding, in bytes.
    public private(set) var countOfResponseBodyBytesReceived: Int64 = 0
    /// The length of the response's content as it was delivered, in bytes.
    public private(set) var countOfResponseBodyBytesAfterDecoding: Int64 = 0

    /// This machine's address of the connection; nil without one.
    public private(set) var localAddress: String?
    /// This machine's port of the connection; nil without one.
    public private(set) var localPort: String?
    /// The server's address, or the proxy's; nil without a connection.
    public private(set) var remoteAddress: String?
    /// The server's port, or the proxy's; nil without a connection.
    public private(set) var remotePort: String?

    /// The version of TLS; nil without TLS.
    public private(set) var negotiatedTLSProtocolVersion: tls_protocol_version_t?
    /// The cipher suite; nil without TLS, and for a suite that has no name in the enumeration.
    public private(set) var negotiatedTLSCipherSuite: tls_ciphersuite_t?

    /// Always false: Linux does not know cellular interfaces.
    public var isCellular: Bool { false }
    /// Always false: Linux does not know expensive interfaces.
    public var isExpensive: Bool { false }
    /// Always false: Linux does not know constrained interfaces.
    public var isConstrained: Bool { false }
    /// Always false: TCP takes one path here.
    public var isMultipath: Bool { false }

    /// Always `unknown`.
    public var domainResolutionProtocol: URLSessionTaskMetrics.DomainResolutionProtocol { .unknown }

    /// - Parameter date: converts the loop's instants to dates.
    init(_ request: URLRequest, _ report: ExchangeReport, _ response: URLResponse?, _ date: (Instant) -> Date) {
        let timings = report.timings
        (self.request, self.response) = (request, response)
        networkProtocolName = "http/1.1"
        fetchStartDate = date(timings.start)
        requestStartDate = timings.requestStart.map(date)
        requestEndDate = timings.requestEnd.map(date)
        responseStartDate = timings.responseStart.map(date)
        responseEndDate = timings.responseEnd.map(date)
        countOfRequestHeaderBytesSent = Int64(clamping: report.headSent)
        countOfRequestBodyBytesSent = Int64(clamping: report.bytesSent) - countOfRequestHeaderBytesSent
        countOfRequestBodyBytesBeforeEncoding = Int64(clamping: report.contentSent)
        countOfResponseHeaderBytesReceived = Int64(clamping: report.bytesReceived - report.framedReceived)
        countOfResponseBodyBytesReceived = Int64(clamping: report.framedReceived)
        countOfResponseBodyBytesAfterDecoding = Int64(clamping: report.contentDelivered)
        isReusedConnection = report.reusedConnection
        super.init()
        if let connection = report.connection { add(connection, date) }
    }

    /// Makes the metrics of an answer from the cache.
    init(_ request: URLRequest, stored response: URLResponse, _ count: Int, at date: Date) {
        (self.request, self.response) = (request, response)
        resourceFetchType = .localCache
        (fetchStartDate, responseStartDate, responseEndDate) = (date, date, date)
        countOfResponseBodyBytesAfterDecoding = Int64(count)
    }

    private func add(_ connection: ConnectionRecord, _ date: (Instant) -> Date) {
        isProxyConnection = connection.proxy != nil
        (remoteAddress, remotePort) = Self.hostAndPort(of: connection.address)
        (localAddress, localPort) = connection.localAddress.map(Self.hostAndPort) ?? (nil, nil)
        if let security = connection.security {
            negotiatedTLSProtocolVersion = tls_protocol_version_t(security.version)
            negotiatedTLSCipherSuite = tls_ciphersuite_t(ianaName: security.cipherSuite)
        }
        guard !isReusedConnection else { return }
        domainLookupStartDate = connection.timings.lookupStart.map(date)
        domainLookupEndDate = connection.timings.lookupEnd.map(date)
        connectStartDate = date(connection.timings.connectStart)
        secureConnectionStartDate = connection.handshake.start.map(date)
        secureConnectionEndDate = connection.handshake.end.map(date)
        connectEndDate = secureConnectionEndDate ?? date(connection.timings.connectEnd)
    }

    private static func hostAndPort(of address: SocketAddress) -> (String?, String?) {
        let text = "\(address)"
        guard let port = address.port else { return (text, nil) }
        var host = String(text.dropLast(":\(port)".count))
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        return (host, String(port))
    }
}
