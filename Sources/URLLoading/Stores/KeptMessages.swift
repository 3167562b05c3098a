internal import Foundation
internal import UncurlClient
internal import UncurlEngine
internal import UncurlHTTP1
internal import UncurlSemantics

// Requests and responses in the library's own files. Foundation's unarchivers end the process over octets that they do
// not expect; ``StoreRecord`` throws.

extension RequestValues: Kept {
    static func keep(
        _ values: RequestValues?,
        in record: inout StoreRecord
    ) throws(StoreFile.Fault) -> RequestValues {
        var kept = RequestValues(
            url: try record.row(optional: values?.url),
            cachePolicy: .useProtocolCachePolicy,
            timeoutInterval: RequestValues.defaultTimeout
        )
        kept.mainDocumentURL = try record.row(optional: values?.mainDocumentURL)
        kept.cachePolicy = try record.row(one: values?.cachePolicy)
        kept.explicitTimeout = try record.row(optional: values?.explicitTimeout)
        kept.setMethod(try record.row(values?.httpMethod))
        kept.replaceFields(try record.row(optional: values?.fields))
        kept.httpBody = try record.row(optional: values?.httpBody)
        kept.networkServiceType = try record.row(one: values?.networkServiceType)
        kept.allowsCellularAccess = try record.row(values?.allowsCellularAccess)
        kept.allowsExpensiveNetworkAccess = try record.row(values?.allowsExpensiveNetworkAccess)
        kept.allowsConstrainedNetworkAccess = try record.row(values?.allowsConstrainedNetworkAccess)
        kept.sent.handlesCookies = try record.row(values?.sent.handlesCookies)
        kept.httpShouldUsePipelining = try record.row(values?.httpShouldUsePipelining)
        kept.sent.hasLeftOrigin = try record.row(values?.sent.hasLeftOrigin)
        kept.sent.sendsContentWithGET = try record.row(values?.sent.sendsContentWithGET)
        kept.maximumDataLength = try record.row(optional: values?.maximumDataLength)
        kept.terms = try record.row(optional: values?.terms?.values).map { TermsBox($0) }
        return kept
    }

    /// The values as resume data hold them: without content, since an upload's task sends other content and a stream
    /// cannot be written, and without what Uncurl sets. A background session's record has that, so that its task keeps
    /// its own proxy and limits in the next process.
    var forResumption: RequestValues {
        var values = self
        (values.body, values.terms) = (.none, nil)
        (values.maximumDataLength, values.sent.sendsContentWithGET) = (nil, false)
        return values
    }
}

extension ResponseValues: Kept {
    static func keep(
        _ values: ResponseValues?,
        in record: inout StoreRecord
    ) throws(StoreFile.Fault) -> ResponseValues {
        var stated: (mimeType: String?, encoding: String?, name: String)?
        if let values, case .stated(let mimeType, let encoding, _) = values.details {
            stated = (mimeType, encoding, values.suggestedFilename)
        }
        let url = try record.row(optional: values?.url)
        let length = try record.row(values?.expectedContentLength)
        var details = Details.derived
        if try record.row(values.map { _ in stated != nil }) {
            details = .stated(
                mimeType: try record.row(optional: stated?.mimeType),
                textEncodingName: try record.row(optional: stated?.encoding),
                suggestedFilename: try record.row(stated?.name)
            )
        }
        var kept = ResponseValues(url: url, expectedContentLength: length, details: details)
        kept.http = try record.row(optional: values?.http)
        return kept
    }
}

extension ResponseValues.HTTP: Kept {
    static func keep(
        _ http: ResponseValues.HTTP?,
        in record: inout StoreRecord
    ) throws(StoreFile.Fault) -> ResponseValues.HTTP {
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
    static func keep(_ fields: HTTPFields?, in record: inout StoreRecord) throws(StoreFile.Fault) -> HTTPFields {
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
            do throws(HTTP1Error) { try read.append(name: name.span, value: value.span) } catch { throw .damaged }
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

    static func keep(
        _ terms: TransferTerms?,
        in record: inout StoreRecord
    ) throws(StoreFile.Fault) -> TransferTerms {
        var kept = TransferTerms()
        kept.rates = try record.row(optional: terms?.rates)
        kept.connectLimit = try record.row(optional: terms?.connectLimit)
        kept.firstByteLimit = try record.row(optional: terms?.firstByteLimit)
        kept.endpoint = try record.row(optional: terms?.endpoint)
        kept.proxies = try record.row(optional: terms?.proxies)
        kept.responseLimits = try record.row(optional: terms?.responseLimits)
        return kept
    }
}

extension TransferRates: Kept {
    static func keep(
        _ rates: TransferRates?,
        in record: inout StoreRecord
    ) throws(StoreFile.Fault) -> TransferRates {
        TransferRates(
            sending: try record.row(optional: rates?.sending),
            receiving: try record.row(optional: rates?.receiving)
        )
    }
}

extension TransferRate: Kept {
    static func keep(_ rate: TransferRate?, in record: inout StoreRecord) throws(StoreFile.Fault) -> TransferRate {
        TransferRate(bytesPerSecond: try record.row(rate?.bytesPerSecond), burst: try record.row(rate?.burst))
    }
}

extension Endpoint: Kept {
    static func keep(_ endpoint: Endpoint?, in record: inout StoreRecord) throws(StoreFile.Fault) -> Endpoint {
        var place: (host: String, port: UInt16)?
        switch endpoint {
        case .host(let host, let port)?: place = (host, port)
        // A connection to another endpoint would be worse than none.
        case .address?: throw .damaged
        case .origin?, nil: break
        }
        guard let host = try record.row(optional: place?.host) else { return .origin }
        return .host(host, port: try record.row(place?.port))
    }
}

extension OriginProxies: Kept {
    static func keep(
        _ proxies: OriginProxies?,
        in record: inout StoreRecord
    ) throws(StoreFile.Fault) -> OriginProxies {
        OriginProxies(
            http: try record.row(optional: proxies?.http),
            https: try record.row(optional: proxies?.https)
        )
    }
}

extension Proxy: Kept {
    static func keep(_ proxy: Proxy?, in record: inout StoreRecord) throws(StoreFile.Fault) -> Proxy {
        let kind: Kind = try record.row(one: proxy?.kind)
        guard let host = try? URLHost(try record.row(proxy?.host.description)) else { throw .damaged }
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
    static func keep(_ words: Credentials?, in record: inout StoreRecord) throws(StoreFile.Fault) -> Credentials {
        Credentials(user: try record.row(words?.user), password: try record.row(words?.password))
    }
}

extension ResponseLimits: Kept {
    static func keep(
        _ limits: ResponseLimits?,
        in record: inout StoreRecord
    ) throws(StoreFile.Fault) -> ResponseLimits {
        var kept = ResponseLimits()
        kept.headLength = try record.row(limits?.headLength)
        kept.fieldLength = try record.row(limits?.fieldLength)
        kept.fieldCount = try record.row(limits?.fieldCount)
        kept.informationalCount = try record.row(limits?.informationalCount)
        kept.chunkExtensionLength = try record.row(limits?.chunkExtensionLength)
        kept.redirectCount = try record.row(limits?.redirectCount)
        return kept
    }
}
