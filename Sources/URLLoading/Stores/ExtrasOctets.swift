internal import Foundation
internal import UncurlEngine
internal import UncurlSemantics

// The properties that Uncurl sets on a request. Resume data leave them out; the record of a background session's task
// has them, so that the task keeps its own proxy and limits in the next process.

extension RequestValues {
    /// Whether Uncurl has set any of these properties.
    var hasExtras: Bool { sendsContentWithGET || maximumDataLength != nil || terms != nil }
}

extension TransferTerms {
    /// Whether all of the terms can be written. Uncurl makes no others.
    var isWritable: Bool {
        if case .address = endpoint { return false }
        return proxies.map { $0.exceptions == ProxyExceptions() } ?? true
    }
}

extension ResponseLimits {
    fileprivate var values: [Int] {
        [headLength, fieldLength, fieldCount, informationalCount, chunkExtensionLength, redirectCount]
    }
}

extension OctetWriter {
    /// - Parameter values: their terms are writable.
    mutating func put(extras values: RequestValues) {
        put(values.sendsContentWithGET)
        put(optional: values.maximumDataLength) { $0.put(Int64($1)) }
        put(optional: values.terms?.values) { $0.put($1) }
    }

    private mutating func put(_ terms: TransferTerms) {
        put(optional: terms.rates) { writer, rates in
            writer.put(optional: rates.sending) { $0.put($1) }
            writer.put(optional: rates.receiving) { $0.put($1) }
        }
        put(optional: terms.connectLimit) { $0.put($1) }
        put(optional: terms.firstByteLimit) { $0.put($1) }
        put(optional: terms.endpoint) { $0.put($1) }
        put(optional: terms.proxies) { writer, proxies in
            writer.put(optional: proxies.http) { $0.put($1) }
            writer.put(optional: proxies.https) { $0.put($1) }
        }
        put(optional: terms.responseLimits) { writer, limits in
            for value in limits.values { writer.put(Int64(value)) }
        }
    }

    private mutating func put(_ rate: TransferRate) {
        put(Int64(rate.bytesPerSecond))
        put(Int64(rate.burst))
    }

    private mutating func put(_ endpoint: Endpoint) {
        switch endpoint {
        case .origin: put(UInt8(0))
        case .host(let host, let port):
            put(UInt8(1))
            put(host)
            put(UInt32(port))
        // No reader takes this: a connection to another endpoint would be worse than none.
        case .address: put(UInt8.max)
        }
    }

    private mutating func put(_ proxy: Proxy) {
        put(proxy.kind.rawValue)
        put(proxy.host.description)
        put(UInt32(proxy.port))
        put(optional: proxy.credentials) { writer, credentials in
            writer.put(credentials.user)
            writer.put(credentials.password)
        }
        put(proxy.isPreemptive)
        put(proxy.tunnelsAll)
    }
}

extension OctetReader {
    mutating func extras(of values: inout RequestValues) throws(Malformed) {
        values.sendsContentWithGET = try flag()
        values.maximumDataLength = try optional { reader throws(Malformed) in try reader.integer() }
        values.terms = try optional { reader throws(Malformed) in TermsBox(try reader.terms()) }
    }

    private mutating func terms() throws(Malformed) -> TransferTerms {
        var terms = TransferTerms()
        terms.rates = try optional { reader throws(Malformed) in
            TransferRates(
                sending: try reader.optional { reader throws(Malformed) in try reader.rate() },
                receiving: try reader.optional { reader throws(Malformed) in try reader.rate() }
            )
        }
        terms.connectLimit = try optional { reader throws(Malformed) in try reader.double() }
        terms.firstByteLimit = try optional { reader throws(Malformed) in try reader.double() }
        terms.endpoint = try optional { reader throws(Malformed) in try reader.endpoint() }
        terms.proxies = try optional { reader throws(Malformed) in
            OriginProxies(
                http: try reader.optional { reader throws(Malformed) in try reader.proxy() },
                https: try reader.optional { reader throws(Malformed) in try reader.proxy() }
            )
        }
        terms.responseLimits = try optional { reader throws(Malformed) in try reader.responseLimits() }
        return terms
    }

    private mutating func responseLimits() throws(Malformed) -> ResponseLimits {
        var limits = ResponseLimits()
        limits.headLength = try integer()
        limits.fieldLength = try integer()
        limits.fieldCount = try integer()
        limits.informationalCount = try integer()
        limits.chunkExtensionLength = try integer()
        limits.redirectCount = try integer()
        return limits
    }

    private mutating func rate() throws(Malformed) -> TransferRate {
        TransferRate(bytesPerSecond: try integer(), burst: try integer())
    }

    private mutating func endpoint() throws(Malformed) -> Endpoint {
        switch try octet() {
        case 0: return .origin
        case 1: return .host(try text(), port: try port())
        default: throw Malformed()
        }
    }

    private mutating func proxy() throws(Malformed) -> Proxy {
        guard let kind = Proxy.Kind(rawValue: try text()), let host = try? URLHost(try text()) else {
            throw Malformed()
        }
        let port = try port()
        let credentials = try optional { reader throws(Malformed) in
            Credentials(user: try reader.text(), password: try reader.text())
        }
        return Proxy(
            kind,
            host: host,
            port: port,
            credentials: credentials,
            isPreemptive: try flag(),
            tunnelsAll: try flag()
        )
    }

    private mutating func port() throws(Malformed) -> UInt16 {
        guard let port = UInt16(exactly: try word()) else { throw Malformed() }
        return port
    }

    private mutating func integer() throws(Malformed) -> Int {
        guard let integer = Int(exactly: try number()) else { throw Malformed() }
        return integer
    }
}
