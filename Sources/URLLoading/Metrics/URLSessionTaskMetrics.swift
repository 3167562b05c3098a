public import Foundation

/// What a task came to, transaction by transaction: told before its end.
open class URLSessionTaskMetrics: NSObject, @unchecked Sendable {
    /// Where a transaction's answer came from.
    @frozen public enum ResourceFetchType: Int, Sendable {
        /// It is not known.
        case unknown
        /// A server.
        case networkLoad
        /// Never here.
        @available(*, deprecated, message: "Server push is not supported")
        case serverPush
        /// The cache.
        case localCache
    }

    /// How a name was looked up.
    @frozen public enum DomainResolutionProtocol: Int, Sendable {
        /// The system's own ways, which do not say: files, name servers, others. Always so here.
        case unknown
        /// Never here.
        case udp
        /// Never here.
        case tcp
        /// Never here.
        case tls
        /// Never here.
        case https
    }

    /// In their order: one for each request sent, and one for an answer from the cache.
    public private(set) var transactionMetrics: [URLSessionTaskTransactionMetrics]

    /// From the task's first ``URLSessionTask/resume()`` to its end.
    public private(set) var taskInterval: DateInterval

    /// Redirects that were followed.
    public private(set) var redirectCount: Int

    init(_ transactions: [URLSessionTaskTransactionMetrics], _ interval: DateInterval, redirects: Int) {
        transactionMetrics = transactions
        taskInterval = interval
        redirectCount = redirects
    }
}

/// One request and its answer, with the engine's own phases. A phase that did not happen has no dates: a connection
/// that was used again was neither looked up nor connected.
open class URLSessionTaskTransactionMetrics: NSObject, @unchecked Sendable {
    /// The request as the task had it.
    public let request: URLRequest
    private let facts: TransactionFacts

    init(_ request: URLRequest, _ facts: TransactionFacts) {
        self.request = request
        self.facts = facts
    }

    /// Nil where none came.
    public var response: URLResponse? { facts.response }

    /// When the load began, from the network or from the cache.
    public var fetchStartDate: Date? { facts.fetchStart }
    /// The look-up of the name began.
    public var domainLookupStartDate: Date? { facts.lookupStart }
    /// The look-up of the name was over.
    public var domainLookupEndDate: Date? { facts.lookupEnd }
    /// The first address was dialled.
    public var connectStartDate: Date? { facts.connectStart }
    /// TLS and the way through a proxy included.
    public var secureConnectionStartDate: Date? { facts.secureStart }
    /// The TLS handshake was over.
    public var secureConnectionEndDate: Date? { facts.secureEnd }
    /// The connection could be used: after TLS.
    public var connectEndDate: Date? { facts.connectEnd }
    /// The first byte of the request was given to the kernel.
    public var requestStartDate: Date? { facts.requestStart }
    /// The kernel had taken the last byte.
    public var requestEndDate: Date? { facts.requestEnd }
    /// The first byte of the answer.
    public var responseStartDate: Date? { facts.responseStart }
    /// The last byte of the answer.
    public var responseEndDate: Date? { facts.responseEnd }

    /// The protocol's ALPN name: "http/1.1"; nil for what is no HTTP.
    public var networkProtocolName: String? { facts.protocolName }

    /// The address is a proxy's.
    public var isProxyConnection: Bool { facts.isProxy }
    /// The connection had carried a request before.
    public var isReusedConnection: Bool { facts.isReused }
    /// Where the answer came from.
    public var resourceFetchType: URLSessionTaskMetrics.ResourceFetchType { facts.fetchType }

    /// Bytes of the request's head.
    public var countOfRequestHeaderBytesSent: Int64 { facts.requestHeaderBytes }
    /// With its framing.
    public var countOfRequestBodyBytesSent: Int64 { facts.requestBodyBytes }
    /// Without its framing.
    public var countOfRequestBodyBytesBeforeEncoding: Int64 { facts.requestContentBytes }
    /// Framing of the content included.
    public var countOfResponseHeaderBytesReceived: Int64 { facts.responseHeaderBytes }
    /// As it came, before content decoding.
    public var countOfResponseBodyBytesReceived: Int64 { facts.responseBodyBytes }
    /// As it was delivered.
    public var countOfResponseBodyBytesAfterDecoding: Int64 { facts.responseContentBytes }

    /// This machine's address of the connection; nil without one.
    public var localAddress: String? { facts.localAddress }
    /// This machine's port of the connection; nil without one.
    public var localPort: String? { facts.localPort }
    /// The server's address, or the proxy's; nil without a connection.
    public var remoteAddress: String? { facts.remoteAddress }
    /// The server's port, or the proxy's; nil without a connection.
    public var remotePort: String? { facts.remotePort }

    /// Nil without TLS.
    public var negotiatedTLSProtocolVersion: tls_protocol_version_t? { facts.tlsVersion }
    /// Nil also for suites that have no name in the enumeration.
    public var negotiatedTLSCipherSuite: tls_ciphersuite_t? { facts.tlsSuite }

    /// Linux knows no such interfaces.
    public var isCellular: Bool { false }
    /// Linux knows no such interfaces.
    public var isExpensive: Bool { false }
    /// Linux knows no such interfaces.
    public var isConstrained: Bool { false }
    /// TCP takes one path here.
    public var isMultipath: Bool { false }

    /// Always `unknown`.
    public var domainResolutionProtocol: URLSessionTaskMetrics.DomainResolutionProtocol { .unknown }
}
