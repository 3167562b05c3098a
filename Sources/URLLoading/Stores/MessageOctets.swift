internal import Foundation
internal import UncurlHTTP1
internal import UncurlText

// Requests and responses in the library's own files. Foundation's unarchivers end the process over octets that they do
// not expect; these readers throw.

extension OctetWriter {
    mutating func put(_ values: RequestValues) {
        put(values.url?.absoluteString)
        put(values.mainDocumentURL?.absoluteString)
        put(Int64(values.cachePolicy.rawValue))
        put(optional: values.explicitTimeout) { $0.put($1) }
        put(values.httpMethod)
        put(optional: values.fields) { $0.put($1) }
        put(optional: values.httpBody) { $0.put($1) }
        put(Int64(values.networkServiceType.rawValue))
        put(values.allowsCellularAccess)
        put(values.allowsExpensiveNetworkAccess)
        put(values.allowsConstrainedNetworkAccess)
        put(values.httpShouldHandleCookies)
        put(values.httpShouldUsePipelining)
    }

    /// Returns the octets of a request for resume data, without its content: an upload's task sends other content, and
    /// a stream cannot be written.
    static func octets(of request: URLRequest) -> [UInt8] {
        var values = request.values
        values.body = .none
        var writer = OctetWriter()
        writer.put(values)
        return writer.bytes
    }

    mutating func put(_ values: ResponseValues) {
        put(values.url?.absoluteString)
        put(values.expectedContentLength)
        switch values.details {
        case .stated(let mimeType, let textEncodingName, _):
            put(UInt8(0))
            put(mimeType)
            put(textEncodingName)
            put(values.suggestedFilename)
        case .derived:
            put(UInt8(1))
        }
        put(optional: values.http) { writer, http in
            writer.put(Int64(http.status))
            switch http.fields {
            case .received(let fields):
                writer.put(UInt8(0))
                writer.put(fields)
            case .given(let fields):
                writer.put(UInt8(1))
                writer.put(UInt32(clamping: fields.count))
                for (name, value) in fields {
                    writer.put(name)
                    writer.put(value)
                }
            }
        }
    }

    mutating func put(_ fields: HTTPFields) {
        put(UInt32(clamping: fields.count))
        for index in 0..<fields.count {
            put(fields.block[fields.nameRange(at: index)])
            put(fields.block[fields.valueRange(at: index)])
        }
    }
}

extension OctetReader {
    /// Reads octets that hold one request and nothing else; nil for any other.
    static func request(_ octets: Data) -> RequestValues? {
        var reader = OctetReader(Array(octets)[...])
        guard let values = try? reader.request(), reader.isAtEnd else { return nil }
        return values
    }

    mutating func request() throws(Malformed) -> RequestValues {
        var values = RequestValues(
            url: try url(),
            cachePolicy: .useProtocolCachePolicy,
            timeoutInterval: RequestValues.defaultTimeout
        )
        values.mainDocumentURL = try url()
        values.cachePolicy = try option(NSURLRequest.CachePolicy.init(rawValue:))
        values.explicitTimeout = try optional { reader throws(Malformed) in try reader.double() }
        values.setMethod(try text())
        values.replaceFields(try optional { reader throws(Malformed) in try reader.fields() })
        values.httpBody = try optional { reader throws(Malformed) in Data(try reader.octets()) }
        values.networkServiceType = try option(NSURLRequest.NetworkServiceType.init(rawValue:))
        values.allowsCellularAccess = try flag()
        values.allowsExpensiveNetworkAccess = try flag()
        values.allowsConstrainedNetworkAccess = try flag()
        values.httpShouldHandleCookies = try flag()
        values.httpShouldUsePipelining = try flag()
        return values
    }

    mutating func response() throws(Malformed) -> ResponseValues {
        let url = try url()
        let length = try number()
        let details: ResponseValues.Details
        if try octet() == 0 {
            let mimeType = try optionalText()
            let textEncodingName = try optionalText()
            details = .stated(
                mimeType: mimeType,
                textEncodingName: textEncodingName,
                suggestedFilename: try text()
            )
        } else {
            details = .derived
        }
        var values = ResponseValues(url: url, expectedContentLength: length, details: details)
        values.http = try optional { reader throws(Malformed) in
            guard let status = Int(exactly: try reader.number()) else { throw Malformed() }
            guard try reader.octet() != 0 else {
                return ResponseValues.HTTP(status: status, fields: .received(try reader.fields()))
            }
            var fields: [String: String] = [:]
            for _ in 0..<(try reader.word()) {
                let name = try reader.text()
                guard !MarkRun.isTooLong(in: name) else { throw Malformed() }
                fields[name] = try reader.text()
            }
            return ResponseValues.HTTP(status: status, fields: .given(fields))
        }
        return values
    }

    mutating func fields() throws(Malformed) -> HTTPFields {
        var fields = HTTPFields()
        for _ in 0..<(try word()) {
            let name = Array(try octets())
            let value = Array(try octets())
            do throws(HTTP1Error) { try fields.append(name: name.span, value: value.span) } catch { throw Malformed() }
        }
        return fields
    }

    private mutating func url() throws(Malformed) -> URL? {
        guard let text = try optionalText() else { return nil }
        guard let url = URL(string: text) else { throw Malformed() }
        return url
    }

    private mutating func option<Option>(_ make: (UInt) -> Option?) throws(Malformed) -> Option {
        guard let raw = UInt(exactly: try number()), let option = make(raw) else { throw Malformed() }
        return option
    }
}

extension URLResponse {
    /// Returns the response that was written: an `HTTPURLResponse` if it was one.
    static func make(_ values: ResponseValues) -> URLResponse {
        values.http.map { HTTPURLResponse(values: values, status: $0.status) } ?? URLResponse(values: values)
    }
}
