public import Foundation

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
    private let facts: TransactionFacts

    init(_ request: URLRequest, _ facts: TransactionFacts) {
        self.request = request
        self.facts = facts
    }

    /// The response; nil if none came.
    public var response: URLResponse? { facts.response }

    /// When the load began, from the network or from the cache.
    public var fetchStartDate: Date? { facts.fetchStart }
    /// When the look-up of the name began.
    public var domainLookupStartDate: Date? { facts.lookupStart }
    /// When the look-up of the name ended.
    public var domainLookupEndDate: Date? { facts.lookupEnd }
    /// When the connection to the first address was begun.
    public var connectStartDate: Date? { facts.connectStart }
    /// When the TLS handshake with the server began.
    public var secureConnectionStartDate: Date? { facts.secureStart }
    /// When the TLS handshake ended.
    public var secureConnectionEndDate: Date? { facts.secureEnd }
    /// When the connection could be used: after TLS.
    public var connectEndDate: Date? { facts.connectEnd }
    /// When the first byte of the request was given to the kernel.
    public var requestStartDate: Date? { facts.requestStart }
    /// When the kernel had taken the last byte of the request.
    public var requestEndDate: Date? { facts.requestEnd }
    /// When the first byte of the answer came.
    public var responseStartDate: Date? { facts.responseStart }
    /// When the last byte of the answer came.
    public var responseEndDate: Date? { facts.responseEnd }

    /// The protocol's ALPN name: "http/1.1"; nil for an answer that did not come by HTTP.
    public var networkProtocolName: String? { facts.protocolName }

    /// Whether the remote address is a proxy's.
    public var isProxyConnection: Bool { facts.isProxy }
    /// Whether the connection had carried a request before.
    public var isReusedConnection: Bool { facts.isReused }
    /// The source of the answer.
    public var resourceFetchType: URLSessionTaskMetrics.ResourceFetchType { facts.fetchType }

    /// The length of the request's head, in bytes.
    public var countOfRequestHeaderBytesSent: Int64 { facts.requestHeaderBytes }
    /// The length of the request's content as it was sent, with its framing, in bytes.
    public var countOfRequestBodyBytesSent: Int64 { facts.requestBodyBytes }
    /// The length of the request's content without its framing, in bytes.
    public var countOfRequestBodyBytesBeforeEncoding: Int64 { facts.requestContentBytes }
    /// The length of the response's head and of the informational ones before it, in bytes.
    public var countOfResponseHeaderBytesReceived: Int64 { facts.responseHeaderBytes }
    /// The length of the response's content as it came, with its framing and before content decoding, in bytes.
    public var countOfResponseBodyBytesReceived: Int64 { facts.responseBodyBytes }
    /// The length of the response's content as it was delivered, in bytes.
    public var countOfResponseBodyBytesAfterDecoding: Int64 { facts.responseContentBytes }

    /// This machine's address of the connection; nil without one.
    public var localAddress: String? { facts.localAddress }
    /// This machine's port of the connection; nil without one.
    public var localPort: String? { facts.localPort }
    /// The server's address, or the proxy's; nil without a connection.
    public var remoteAddress: String? { facts.remoteAddress }
    /// The server's port, or the proxy's; nil without a connection.
    public var remotePort: String? { facts.remotePort }

    /// The version of TLS; nil without TLS.
    public var negotiatedTLSProtocolVersion: tls_protocol_version_t? { facts.tlsVersion }
    /// The cipher suite; nil without TLS, and for a suite that has no name in the enumeration.
    public var negotiatedTLSCipherSuite: tls_ciphersuite_t? { facts.tlsSuite }

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
}
