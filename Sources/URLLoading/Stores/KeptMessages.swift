internal import Foundation
internal import UncurlClient
internal import UncurlEngine
internal import UncurlHTTP1
internal import UncurlReactor
internal import UncurlSemantics

// Requests and responses in the library's own files. Foundation's unarchivers end the process over octets that they do
// not expect; ``StoreRecord`` throws.

extension RequestValues: Kept {
    static func keep(_ values: RequestValues?, in record: inout StoreRecord) throws(Errno) -> Self {
        var kept = RequestValues(url: try record.row(optional: values?.url))
        try record.rows(of: values, in: &kept, \.mainDocumentURL, \.cachePolicy, \.explicitTimeout)
        kept.setMethod(try record.row(values?.httpMethod))
        kept.replaceFields(try record.row(optional: values?.fields))
        try record.rows(of: values, in: &kept, \.httpBody, \.networkServiceType, \.allowsCellularAccess)
        try record.rows(of: values, in: &kept, \.allowsExpensiveNetworkAccess, \.allowsConstrainedNetworkAccess)
        try record.rows(of: values, in: &kept, \.handlesCookies, \.httpShouldUsePipelining, \.hasLeftOrigin)
        try record.rows(of: values, in: &kept, \.sendsContentWithGET, \.maximumDataLength)
        kept.terms = try record.row(optional: values?.terms.first).map { [$0] } ?? []
        return kept
    }

    /// The values as resume data hold them: without content, since an upload's task sends other content and a stream
    /// cannot be written, and without what Uncurl sets. A background session's record has that, so that its task keeps
    /// its own proxy and limits in the next process.
    var forResumption: RequestValues {
        var values = self
        (values.body, values.terms) = (.none, [])
        (values.maximumDataLength, values.sendsContentWithGET) = (nil, false)
        return values
    }
}

extension URLRequest.CachePolicy: Kept {}
extension URLRequest.NetworkServiceType: Kept {}

extension URLRequest: Kept {
    static func keep(_ request: URLRequest?, in record: inout StoreRecord) throws(Errno) -> URLRequest {
        URLRequest(storage: RequestStorage(try RequestValues.keep(request?.values, in: &record)))
    }

    /// See ``RequestValues/forResumption``.
    var forResumption: URLRequest { URLRequest(storage: RequestStorage(values.forResumption)) }
}

extension ResponseValues: Kept {
    static func keep(_ values: ResponseValues?, in record: inout StoreRecord) throws(Errno) -> Self {
        var kept = ResponseValues(
            url: try record.row(optional: values?.url),
            expectedContentLength: try record.row(values?.expectedContentLength)
        )
        if try record.row(values.map { $0.stated != nil }) {
            kept.stated = (
                try record.row(optional: values?.mimeType), try record.row(optional: values?.textEncodingName),
                try record.row(values?.suggestedFilename)
            )
        }
        kept.http = try record.row(optional: values?.http)
        return kept
    }
}

extension ResponseValues.HTTP: Kept {
    static func keep(_ http: ResponseValues.HTTP?, in record: inout StoreRecord) throws(Errno) -> Self {
        var (received, given): (HTTPFields?, [String: String]?)
        switch http?.fields {
        case .received(let fields)?: received = fields
        case .given(let fields)?: given = fields
        case nil: break
        }
        let status = try record.row(http?.status)
        if let fields = try record.row(optional: received) {
            return ResponseValues.HTTP(status: status, fields: .received(fields))
        }
        return ResponseValues.HTTP(status: status, fields: .given(try record.row(given)))
    }
}

extension URLResponse {
    /// Returns the response that was written: an `HTTPURLResponse` if it was one.
    static func make(_ values: ResponseValues) -> URLResponse {
        values.http.map { HTTPURLResponse(values: values, status: $0.status) } ?? URLResponse(values: values)
    }
}

extension HTTPFields: Kept {
    static func keep(_ fields: HTTPFields?, in record: inout StoreRecord) throws(Errno) -> HTTPFields {
        if let fields {
            for index in 0..<fields.count {
                _ = try record.row(fields.block[fields.nameRange(at: index)])
                _ = try record.row(fields.block[fields.valueRange(at: index)])
            }
            return fields
        }
        var read = HTTPFields()
        while !record.isAtEnd {
            let (name, value): (ArraySlice<UInt8>, ArraySlice<UInt8>) = (try record.row(nil), try record.row(nil))
            do throws(HTTP1Error) { try read.append(name: name.span, value: value.span) } catch {
                throw StoreFile.damage
            }
        }
        return read
    }
}

// MARK: What Uncurl sets on a request

extension TransferTerms: Kept {
    /// Whether all of the terms can be written. Uncurl makes no others.
    var isWritable: Bool {
        if case .address = endpoint { return false }
        return proxies.map { $0.exceptions == ProxyExceptions() } ?? true
    }

    static func keep(_ terms: TransferTerms?, in record: inout StoreRecord) throws(Errno) -> Self {
        var kept = TransferTerms()
        try record.rows(of: terms, in: &kept, \.rates, \.connectLimit, \.firstByteLimit, \.endpoint, \.proxies)
        kept.responseLimits = try record.row(optional: terms?.responseLimits)
        return kept
    }
}

extension TransferRates: Kept {
    static func keep(_ rates: TransferRates?, in record: inout StoreRecord) throws(Errno) -> Self {
        try record.rows(of: rates, { TransferRates(sending: $0, receiving: $1) }, \.sending, \.receiving)
    }
}

extension TransferRate: Kept {
    static func keep(_ rate: TransferRate?, in record: inout StoreRecord) throws(Errno) -> TransferRate {
        try record.rows(of: rate, { TransferRate(bytesPerSecond: $0, burst: $1) }, \.bytesPerSecond, \.burst)
    }
}

extension Endpoint: Kept {
    static func keep(_ endpoint: Endpoint?, in record: inout StoreRecord) throws(Errno) -> Endpoint {
        var place: (host: String, port: UInt16)?
        switch endpoint {
        case .host(let host, let port)?: place = (host, port)
        // A connection to another endpoint would be worse than none.
        case .address?: throw StoreFile.damage
        case .origin?, nil: break
        }
        guard let host = try record.row(optional: place?.host) else { return .origin }
        return .host(host, port: try record.row(place?.port))
    }
}

extension OriginProxies: Kept {
    static func keep(_ proxies: OriginProxies?, in record: inout StoreRecord) throws(Errno) -> Self {
        try record.rows(of: proxies, { OriginProxies(http: $0, https: $1) }, \.http, \.https)
    }
}

extension Proxy.Kind: Kept {}

extension Proxy: Kept {
    static func keep(_ proxy: Proxy?, in record: inout StoreRecord) throws(Errno) -> Proxy {
        let kind = try record.row(proxy?.kind)
        guard let host = try? URLHost(try record.row(proxy?.host.description)) else { throw StoreFile.damage }
        return Proxy(
            kind,
            host: host,
            port: try record.row(proxy?.port),
            credentials: try record.row(optional: proxy?.credentials),
            isPreemptive: try record.row(proxy?.isPreemptive),
            tunnelsAll: try record.row(proxy?.tunnelsAll)
        )
    }
}

extension Credentials: Kept {
    static func keep(_ words: Credentials?, in record: inout StoreRecord) throws(Errno) -> Credentials {
        try record.rows(of: words, Self.init, \.user, \.password)
    }
}

extension ResponseLimits: Kept {
    static func keep(_ limits: ResponseLimits?, in record: inout StoreRecord) throws(Errno) -> Self {
        var kept = ResponseLimits()
        try record.rows(of: limits, in: &kept, \.headLength, \.fieldLength, \.fieldCount)
        try record.rows(of: limits, in: &kept, \.informationalCount, \.chunkExtensionLength, \.redirectCount)
        return kept
    }
}
