internal import Foundation

/// The values of a response. ``URLResponse`` and ``HTTPURLResponse`` are shells over it.
struct ResponseValues: Sendable {
    /// The source of the type, the encoding and the name.
    enum Details: Sendable {
        /// - Parameter suggestedFilename: nil for the name in the URL, which is found when it is asked for.
        case stated(mimeType: String?, textEncodingName: String?, suggestedFilename: String?)
        /// Read from the fields each time: the loader makes many responses that are never asked for them.
        case derived
    }

    /// The part that only HTTP responses have.
    struct HTTP: Sendable, Equatable {
        var status: Int
        var fields: ResponseFields
    }

    var url: URL?
    /// In octets; -1 where it is not known.
    var expectedContentLength: Int64
    var details: Details
    var http: HTTP?

    var mimeType: String? {
        switch details {
        case .stated(let mimeType, _, _): return mimeType
        case .derived:
            let type = contentType?.value.lowercased()
            return type == "" ? nil : type
        }
    }

    var textEncodingName: String? {
        switch details {
        case .stated(_, let textEncodingName, _): textEncodingName
        case .derived: contentType?["charset"]?.lowercased()
        }
    }

    var suggestedFilename: String {
        switch details {
        case .stated(_, _, let suggestedFilename):
            suggestedFilename ?? SuggestedFilename.of(url: url, contentDisposition: nil)
        case .derived: SuggestedFilename.of(url: url, contentDisposition: http?.fields["Content-Disposition"])
        }
    }

    private var contentType: FieldParameters? {
        http?.fields["Content-Type"].map(FieldParameters.init(contentType:))
    }
}

extension ResponseValues: Hashable {
    /// Compares all but the name, which follows from the rest.
    static func == (left: ResponseValues, right: ResponseValues) -> Bool {
        left.url == right.url && left.expectedContentLength == right.expectedContentLength
            && left.mimeType == right.mimeType && left.textEncodingName == right.textEncodingName
            && left.http == right.http
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(url)
        hasher.combine(expectedContentLength)
        hasher.combine(http?.status)
    }
}

/// Responses in keyed archives, under FoundationNetworking's keys.
extension ResponseValues {
    init?(coder: NSCoder) {
        guard coder.allowsKeyedCoding, let url = coder.url("NS.url") else { return nil }
        self.url = url
        expectedContentLength = coder.decodeInt64(forKey: "NS.expectedContentLength")
        details = .stated(
            mimeType: coder.string("NS.mimeType"),
            textEncodingName: coder.string("NS.textEncodingName"),
            // An archive is trusted no more than a server. Of a path the last part counts, as in FoundationNetworking.
            suggestedFilename: coder.string("NS.suggestedFilename").flatMap(SuggestedFilename.lastPart) ?? "Unknown"
        )
        guard coder.containsValue(forKey: "NS.statusCode") else { return }
        http = HTTP(
            status: coder.decodeInteger(forKey: "NS.statusCode"),
            fields: ResponseFields(given: coder.strings("NS.allHeaderFields") ?? [:])
        )
    }

    func encode(with coder: NSCoder) {
        guard coder.allowsKeyedCoding else { return }
        coder.encode(url as NSURL?, forKey: "NS.url")
        coder.encode(mimeType as NSString?, forKey: "NS.mimeType")
        coder.encode(expectedContentLength, forKey: "NS.expectedContentLength")
        coder.encode(textEncodingName as NSString?, forKey: "NS.textEncodingName")
        coder.encode(suggestedFilename as NSString, forKey: "NS.suggestedFilename")
        guard let http else { return }
        coder.encode(http.status, forKey: "NS.statusCode")
        coder.encode(http.fields.dictionary as NSDictionary, forKey: "NS.allHeaderFields")
    }
}
