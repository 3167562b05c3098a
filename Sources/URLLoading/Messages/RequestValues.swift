internal import Foundation
internal import HTTP1
internal import HTTPEngine

/// What a request says, and the rules for setting it. ``URLRequest`` and ``NSURLRequest`` are two shells over it.
struct RequestValues {
    enum Body {
        case none
        case data(Data)
        /// Shared with the caller, which must leave it alone while the request is under way.
        case stream(InputStream)
        case segments(SegmentedBody)
    }

    var url: URL?
    var mainDocumentURL: URL?
    var cachePolicy = NSURLRequest.CachePolicy.useProtocolCachePolicy
    /// In seconds; nil until it is set, so that the session's own limit counts. 60 given to an initialiser,
    /// where it is the default too, leaves it nil.
    var explicitTimeout: TimeInterval?
    private(set) var httpMethod = "GET"
    /// In the order they were set, each name once. Nil until the first is set. The loader starts its own from these.
    /// They are as they are sent: without folds.
    private(set) var fields: HTTPFields?
    /// The name of a field that was refused and has got no other value since. Nothing here reads it: the room above
    /// tells its callers.
    private(set) var refusedField: String?
    private var folded = FoldedValues()
    var body = Body.none
    var rates: TransferRates?
    /// Nil: the session's.
    var maximumDataLength: Int?
    /// A GET is refused with content, unless the room above has been told that it is meant.
    var sendsContentWithGET = false
    var networkServiceType = NSURLRequest.NetworkServiceType.default
    var allowsCellularAccess = true
    var allowsExpensiveNetworkAccess = true
    var allowsConstrainedNetworkAccess = true
    var httpShouldHandleCookies = true
    var httpShouldUsePipelining = true
    /// What ``URLProtocol`` classes keep with a request. Never sent, never archived, of no weight in a comparison.
    var protocolProperties: [String: Any] = [:]

    init(url: URL?, cachePolicy: NSURLRequest.CachePolicy, timeoutInterval: TimeInterval) {
        // Without a base URL, `absoluteURL` would be the same and cost an allocation.
        self.url = url.map { $0.baseURL == nil ? $0 : $0.absoluteURL }
        self.cachePolicy = cachePolicy
        explicitTimeout = timeoutInterval == Self.defaultTimeout ? nil : timeoutInterval
    }

    static let defaultTimeout: TimeInterval = 60

    var timeoutInterval: TimeInterval {
        get { explicitTimeout ?? Self.defaultTimeout }
        set { explicitTimeout = newValue }
    }

    /// Methods are case-sensitive (RFC 9110 §9.1), but these are written in lower case too often; others stay as they
    /// are, as FoundationNetworking has it.
    private static let known = ["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT"]

    mutating func setMethod(_ method: String?) {
        guard let method else {
            httpMethod = "GET"
            return
        }
        httpMethod = Self.known.first { HeaderNames.areEqual($0, method) } ?? method
    }

    var httpBody: Data? {
        get { if case .data(let data) = body { data } else { nil } }
        set { body = newValue.map { .data($0) } ?? .none }
    }

    var httpBodyStream: InputStream? {
        get { if case .stream(let stream) = body { stream } else { nil } }
        set { body = newValue.map { .stream($0) } ?? .none }
    }

    /// As it was set.
    func value(of name: String) -> String? { fields?[name].map { folded.asSet(name, sent: $0) } }

    /// By those of another request, which are fit to be sent.
    mutating func replaceFields(_ fields: HTTPFields?) { self.fields = fields }

    /// For a redirect, which takes fields away.
    mutating func changeFields(_ change: (HTTPFields) -> HTTPFields) { fields = fields.map(change) }

    /// nil removes it. A name that is no token and a value with control characters cannot be sent, or would be sent as
    /// something else (RFC 9110 §5.5); such a call changes nothing. A folded value is kept so, and sent as one line.
    mutating func setValue(_ value: String?, of name: String) {
        if let value {
            var changed = fields ?? HTTPFields()
            fields = nil
            defer { fields = changed }
            do {
                try changed.replace(HeaderNames.capitalized(name), FoldedValues.unfolded(value))
                folded.keep(value, of: name)
                forgetRefusal(of: name)
            } catch {
                refusedField = name
            }
        } else {
            fields?.remove(name: name)
            forgetRefusal(of: name)
        }
    }

    private mutating func forgetRefusal(of name: String) {
        if let refusedField, HeaderNames.areEqual(refusedField, name) { self.refusedField = nil }
    }

    /// Puts it behind the value there is, with a comma (RFC 9110 §5.3). Refuses what ``setValue(_:of:)`` refuses.
    mutating func addValue(_ value: String, of name: String) {
        setValue(self.value(of: name).map { $0 + "," + value } ?? value, of: name)
    }

    /// Gives these names these values instead of what they have, behind all other fields. Values of one name are joined
    /// by commas (RFC 9110 §5.3). Leaves out what ``setValue(_:of:)`` refuses. As many names as there are cost no more
    /// for each.
    mutating func replaceFields(by given: [(name: String, value: String)]) {
        var order: [String] = []
        var values: [String: [String]] = [:]
        for (name, value) in given {
            let name = HeaderNames.capitalized(name)
            if values[name] == nil { order.append(name) }
            values[name, default: []].append(value)
        }
        var changed = HTTPFields()
        fields?.forEach { name, value in
            if values[HeaderNames.capitalized(name)] == nil { try? changed.append(name, value) }
        }
        for name in order {
            let value = (values[name] ?? []).joined(separator: ",")
            try? changed.append(name, FoldedValues.unfolded(value))
            folded.keep(value, of: name)
        }
        fields = changed
    }

    /// Names are spelled as they were given. What cannot be sent is left out. Of names that differ in case alone, the
    /// last in alphabetical order wins: a dictionary has no order of its own.
    var dictionary: [String: String]? {
        get {
            guard let fields else { return nil }
            var result: [String: String] = [:]
            result.reserveCapacity(fields.count)
            fields.forEach { name, value in result[name] = folded.asSet(name, sent: value) }
            return result
        }
        set {
            var refused: String?
            var folded = FoldedValues()
            fields = newValue.map { pairs in
                var fields = HTTPFields()
                var names = Set<String>()
                var repeated: [(String, String)] = []
                for (name, value) in pairs.sorted(by: { $0.key < $1.key }) {
                    guard names.insert(HeaderNames.capitalized(name)).inserted else {
                        repeated.append((name, value))
                        continue
                    }
                    do {
                        try fields.append(name, FoldedValues.unfolded(value))
                        folded.keep(value, of: name)
                    } catch {
                        refused = name
                    }
                }
                // Few, and each is looked for among all.
                for (name, value) in repeated {
                    do {
                        try fields.replace(name, FoldedValues.unfolded(value))
                        folded.keep(value, of: name)
                    } catch {
                        refused = name
                    }
                }
                return fields
            }
            (refusedField, self.folded) = (refused, folded)
        }
    }
}

extension RequestValues: Hashable {
    /// What FoundationNetworking compares, and Darwin before it: neither fields nor data nor limits count. A stream is
    /// the same only as itself.
    static func == (left: RequestValues, right: RequestValues) -> Bool {
        left.url == right.url && left.mainDocumentURL == right.mainDocumentURL && left.httpMethod == right.httpMethod
            && left.cachePolicy == right.cachePolicy && left.httpBodyStream == right.httpBodyStream
            && left.allowsCellularAccess == right.allowsCellularAccess
            && left.httpShouldHandleCookies == right.httpShouldHandleCookies
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(url)
        hasher.combine(mainDocumentURL)
        hasher.combine(httpMethod)
        hasher.combine(httpBodyStream)
        hasher.combine(allowsCellularAccess)
        hasher.combine(httpShouldHandleCookies)
    }
}
