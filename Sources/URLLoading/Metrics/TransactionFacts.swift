internal import Foundation
internal import UncurlEngine
internal import UncurlReactor
internal import UncurlTLS

/// The values that metrics report of one transaction.
struct TransactionFacts: Sendable {
    var response: URLResponse?
    var fetchType = URLSessionTaskMetrics.ResourceFetchType.networkLoad
    var protocolName: String?
    var isProxy = false
    var isReused = false
    var fetchStart: Date?
    var lookupStart: Date?
    var lookupEnd: Date?
    var connectStart: Date?
    var connectEnd: Date?
    var secureStart: Date?
    var secureEnd: Date?
    var requestStart: Date?
    var requestEnd: Date?
    var responseStart: Date?
    var responseEnd: Date?
    var requestHeaderBytes: Int64 = 0
    var requestBodyBytes: Int64 = 0
    var requestContentBytes: Int64 = 0
    var responseHeaderBytes: Int64 = 0
    var responseBodyBytes: Int64 = 0
    var responseContentBytes: Int64 = 0
    var localAddress: String?
    var localPort: String?
    var remoteAddress: String?
    var remotePort: String?
    var tlsVersion: tls_protocol_version_t?
    var tlsSuite: tls_ciphersuite_t?

    init() {}

    /// - Parameter clock: converts the loop's instants to dates.
    init(_ report: ExchangeReport, _ response: URLResponse?, _ clock: WallClock) {
        let timings = report.timings
        self.response = response
        protocolName = "http/1.1"
        fetchStart = clock.date(timings.start)
        requestStart = clock.date(timings.requestStart)
        requestEnd = clock.date(timings.requestEnd)
        responseStart = clock.date(timings.responseStart)
        responseEnd = clock.date(timings.responseEnd)
        requestHeaderBytes = Int64(clamping: report.headSent)
        requestBodyBytes = Int64(clamping: report.bytesSent) - requestHeaderBytes
        requestContentBytes = Int64(clamping: report.contentSent)
        responseHeaderBytes = Int64(clamping: report.bytesReceived - report.framedReceived)
        responseBodyBytes = Int64(clamping: report.framedReceived)
        responseContentBytes = Int64(clamping: report.contentDelivered)
        isReused = report.reusedConnection
        if let connection = report.connection { add(connection, clock) }
    }

    /// Makes the values for an answer from the cache.
    init(stored response: URLResponse, _ count: Int, at date: Date) {
        self.response = response
        fetchType = .localCache
        (fetchStart, responseStart, responseEnd) = (date, date, date)
        responseContentBytes = Int64(count)
    }

    private mutating func add(_ connection: ConnectionRecord, _ clock: WallClock) {
        isProxy = connection.proxy != nil
        (remoteAddress, remotePort) = TransactionFacts.address(of: connection.address)
        (localAddress, localPort) = connection.localAddress.map(TransactionFacts.address) ?? (nil, nil)
        if let security = connection.security {
            tlsVersion = tls_protocol_version_t(security.version)
            tlsSuite = tls_ciphersuite_t(ianaName: security.cipherSuite)
        }
        guard !isReused else { return }
        lookupStart = clock.date(connection.timings.lookupStart)
        lookupEnd = clock.date(connection.timings.lookupEnd)
        connectStart = clock.date(connection.timings.connectStart)
        secureStart = clock.date(connection.handshake.start)
        secureEnd = clock.date(connection.handshake.end)
        connectEnd = secureEnd ?? clock.date(connection.timings.connectEnd)
    }

    private static func address(of address: SocketAddress) -> (String?, String?) {
        let text = "\(address)"
        guard let port = address.port else { return (text, nil) }
        var host = String(text.dropLast(":\(port)".count))
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        return (host, String(port))
    }
}

/// Converts the loop's instants to dates by one reading of the wall clock. So a task's dates agree with each other,
/// even if the wall clock is set meanwhile.
struct WallClock: Sendable {
    private let wall: Date
    private let instant: Instant

    init(_ instant: Instant = .current()) {
        self.instant = instant
        wall = Date()
    }

    func date(_ other: Instant) -> Date {
        wall.addingTimeInterval(Double(other.nanoseconds(since: instant)) / 1e9)
    }

    func date(_ other: Instant?) -> Date? { other.map { date($0) } }
}

extension tls_protocol_version_t {
    init?(_ version: TLSVersion) {
        switch version {
        case .v1_2: self = .TLSv12
        case .v1_3: self = .TLSv13
        }
    }

    /// The version of TLS. Versions before 1.2 count as 1.2, the oldest that is supported.
    var tlsVersion: TLSVersion {
        switch self {
        case .TLSv13: .v1_3
        case .TLSv10, .TLSv11, .TLSv12, .DTLSv10, .DTLSv12: .v1_2
        }
    }
}

extension tls_ciphersuite_t {
    /// Makes a suite from its IANA name: "TLS_AES_128_GCM_SHA256".
    init?(ianaName name: String) {
        guard let suite = tls_ciphersuite_t.named[name] else { return nil }
        self = suite
    }

    private static let named: [String: tls_ciphersuite_t] = [
        "TLS_RSA_WITH_AES_128_CBC_SHA": .RSA_WITH_AES_128_CBC_SHA,
        "TLS_RSA_WITH_AES_256_CBC_SHA": .RSA_WITH_AES_256_CBC_SHA,
        "TLS_RSA_WITH_AES_128_GCM_SHA256": .RSA_WITH_AES_128_GCM_SHA256,
        "TLS_RSA_WITH_AES_256_GCM_SHA384": .RSA_WITH_AES_256_GCM_SHA384,
        "TLS_RSA_WITH_AES_128_CBC_SHA256": .RSA_WITH_AES_128_CBC_SHA256,
        "TLS_RSA_WITH_AES_256_CBC_SHA256": .RSA_WITH_AES_256_CBC_SHA256,
        "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA": .ECDHE_ECDSA_WITH_AES_128_CBC_SHA,
        "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA": .ECDHE_ECDSA_WITH_AES_256_CBC_SHA,
        "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA": .ECDHE_RSA_WITH_AES_128_CBC_SHA,
        "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA": .ECDHE_RSA_WITH_AES_256_CBC_SHA,
        "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256": .ECDHE_ECDSA_WITH_AES_128_CBC_SHA256,
        "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA384": .ECDHE_ECDSA_WITH_AES_256_CBC_SHA384,
        "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256": .ECDHE_RSA_WITH_AES_128_CBC_SHA256,
        "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA384": .ECDHE_RSA_WITH_AES_256_CBC_SHA384,
        "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256": .ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
        "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384": .ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
        "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256": .ECDHE_RSA_WITH_AES_128_GCM_SHA256,
        "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384": .ECDHE_RSA_WITH_AES_256_GCM_SHA384,
        "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256": .ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
        "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256": .ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
        "TLS_AES_128_GCM_SHA256": .AES_128_GCM_SHA256,
        "TLS_AES_256_GCM_SHA384": .AES_256_GCM_SHA384,
        "TLS_CHACHA20_POLY1305_SHA256": .CHACHA20_POLY1305_SHA256,
    ]
}
