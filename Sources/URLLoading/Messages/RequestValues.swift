internal import Foundation
internal import UncurlClient
package import UncurlEngine
internal import UncurlHTTP1
internal import UncurlSemantics

/// The values of a request, and the rules for setting them. ``URLRequest`` and ``NSURLRequest`` are shells over it.
struct RequestValues {
    enum Body {
        case none
        case data(Data)
        /// Shared with the caller, which must not use it while the request is under way.
        case stream(InputStream)
        /// Content of Uncurl's own, such as a form.
        case content(Content)
    }

    var url: URL? {
        didSet { sent.url = url?.absoluteString ?? "" }
    }
    var mainDocumentURL: URL? {
        didSet { sent.document = mainDocumentURL.flatMap { CookieScope($0) } }
    }
    /// The request as a load sends it, except for what its session decides.
    private(set) var sent: Request
    var cachePolicy = NSURLRequest.CachePolicy.useProtocolCachePolicy
    /// In seconds; nil until it is set, so that the session's own limit applies. An initialiser that is given 60, which
    /// is also its default, leaves it nil.
    var explicitTimeout: TimeInterval?
    /// The places of many fields by their capitalised names, so that to set one of thousands does not look through all.
    /// Nil for a few, and after each other change of them.
    private var places: [String: Int]?
    /// The names of fields that were refused and have got no other value since, in the order in which they were set.
    private var refused: [String] = []
    /// Values that were set folded into several lines, as `a CR LF SP b`, by the field's name in lower case. They are
    /// kept as they were set, and each fold is sent as one space (RFC 9112 §5.2: no sender may generate a fold).
    private var folded: [String: String] = [:]
    var body = Body.none
    /// The request's own terms of transfer, if it has any: none or one. In place, they would make each copy of a
    /// request larger.
    var terms: [TransferTerms] = []
    /// Nil: the session's.
    var maximumDataLength: Int?
    var networkServiceType = NSURLRequest.NetworkServiceType.default
    var allowsCellularAccess = true
    var allowsExpensiveNetworkAccess = true
    var allowsConstrainedNetworkAccess = true
    var attribution = NSURLRequest.Attribution.developer
    var assumesHTTP3Capable = false
    var httpShouldUsePipelining = true
    /// The values that ``URLProtocol`` classes keep with a request. They are never sent, archived or compared.
    var protocolProperties: [String: Any] = [:]

    init(url: URL?) {
        // Without a base URL, `absoluteURL` would be the same and cost an allocation.
        self.url = url.map { $0.baseURL == nil ? $0 : $0.absoluteURL }
        sent = Request(url: self.url?.absoluteString ?? "")
    }

    static let defaultTimeout: TimeInterval = 60

    var timeoutInterval: TimeInterval {
        get { explicitTimeout ?? Self.defaultTimeout }
        set { explicitTimeout = newValue }
    }

    /// The methods that are put in upper case. Methods are case-sensitive (RFC 9110 §9.1), but these are written in
    /// lower case too often; others stay as they are, as in FoundationNetworking.
    private static let known = ["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT"]

    var httpMethod: String { sent.method }

    var handlesCookies: Bool {
        get { sent.handlesCookies }
        set { sent.handlesCookies = newValue }
    }

    var sendsContentWithGET: Bool {
        get { sent.sendsContentWithGET }
        set { sent.sendsContentWithGET = newValue }
    }

    var hasLeftOrigin: Bool {
        get { sent.hasLeftOrigin }
        set { sent.hasLeftOrigin = newValue }
    }

    mutating func setMethod(_ method: String?) {
        let method = method ?? "GET"
        if method == sent.method { return }
        sent.method = Self.known.first { $0.isSameName(as: method) } ?? method
    }

    /// The fields in the order they were set, each name once, without folds, as they are sent. Nil until the first is
    /// set. The loader starts its own fields from these.
    private(set) var fields: HTTPFields? {
        get { sent.fields }
        set { (sent.fields, places) = (newValue, nil) }
    }

    var httpBody: Data? {
        get { if case .data(let data) = body { data } else { nil } }
        set { body = newValue.map { .data($0) } ?? .none }
    }

    var httpBodyStream: InputStream? {
        get { if case .stream(let stream) = body { stream } else { nil } }
        set { body = newValue.map { .stream($0) } ?? .none }
    }

    /// The first field that was refused and has got no other value since. A task of such a request fails.
    var refusedField: String? { refused.first }

    /// Returns the value as it was set.
    func value(of name: String) -> String? {
        guard let fields else { return nil }
        let sent =
            places.map { places in places[name.capitalizedFieldName].map { fields.value(at: $0) } } ?? fields[name]
        return sent.map { asSet(name, sent: $0) }
    }

    /// Replaces all fields by those of another request, which can be sent.
    mutating func replaceFields(_ fields: HTTPFields?) { self.fields = fields }

    /// Changes the fields for a redirect, which takes some away.
    mutating func changeFields(_ change: (HTTPFields) -> HTTPFields) { fields = fields.map(change) }

    /// Sets a field; nil removes it. A name that is no token and a value with control characters cannot be sent, or
    /// would be sent as something else (RFC 9110 §5.5); such a call only notes the name for ``refusedField``. A folded
    /// value is kept folded, and sent as one line.
    mutating func setValue(_ value: String?, of name: String) {
        if let value {
            var changed = fields ?? HTTPFields()
            var places = places ?? RequestValues.places(of: changed)
            fields = nil
            defer {
                fields = changed
                self.places = places
            }
            do {
                let sent = value.unfolded
                try RequestValues.set(name.capitalizedFieldName, sent, in: &changed, &places)
                Self.keep(value, of: name, in: &folded)
                forgetRefusal(of: name)
            } catch {
                noteRefusal(of: name)
            }
        } else {
            fields?.remove(name: name)
            forgetRefusal(of: name)
        }
    }

    private static func set(
        _ name: String,
        _ value: String,
        in fields: inout HTTPFields,
        _ places: inout [String: Int]?
    ) throws(HTTP1Error) {
        guard places != nil else { return try fields.replace(name, value) }
        if let place = places?[name] { return try fields.replace(at: place, by: name, value) }
        try fields.append(name, value)
        places?[name] = fields.count - 1
    }

    /// Returns the places of fields that are so many that looking through them costs more.
    private static func places(of fields: HTTPFields) -> [String: Int]? {
        guard fields.count >= 64 else { return nil }
        var places: [String: Int] = [:]
        for index in 0..<fields.count { places[fields.name(at: index).capitalizedFieldName] = index }
        return places.count == fields.count ? places : nil
    }

    /// Whether this field was refused and has got no other value since.
    func isRefused(_ name: String) -> Bool { refused.contains { $0.isSameName(as: name) } }

    private mutating func noteRefusal(of name: String) {
        if !isRefused(name) { refused.append(name) }
    }

    private mutating func forgetRefusal(of name: String) {
        if !refused.isEmpty { refused.removeAll { $0.isSameName(as: name) } }
    }

    /// Appends to the field's value, after a comma (RFC 9110 §5.3). Refuses what ``setValue(_:of:)`` refuses.
    mutating func addValue(_ value: String, of name: String) {
        setValue(self.value(of: name).map { $0 + "," + value } ?? value, of: name)
    }

    /// Gives these names these values instead of those they have, after all other fields. Names are spelled as they
    /// were given first. Values of one name are joined by commas (RFC 9110 §5.3). Leaves out what ``setValue(_:of:)``
    /// refuses, and notes the name. The cost for each name does not grow with their number.
    mutating func replaceFields(by given: [(name: String, value: String)]) {
        var order: [String] = []
        var values: [String: [String]] = [:]
        for (name, value) in given {
            let key = name.capitalizedFieldName
            if values[key] == nil { order.append(name) }
            values[key, default: []].append(value)
        }
        var changed = HTTPFields()
        fields?.forEach { name, value in
            if values[name.capitalizedFieldName] == nil { try? changed.append(name, value) }
        }
        for name in order {
            let value = (values[name.capitalizedFieldName] ?? []).joined(separator: ",")
            do {
                try changed.append(name, value.unfolded)
                Self.keep(value, of: name, in: &folded)
                forgetRefusal(of: name)
            } catch {
                noteRefusal(of: name)
            }
        }
        fields = changed
    }

    /// The fields as a dictionary. Names are spelled as they were given. Setting it leaves out what cannot be sent, and
    /// sets ``refusedField`` then. Of names that differ only in case, the last in alphabetical order wins: a dictionary
    /// has no order of its own.
    var dictionary: [String: String]? {
        get {
            guard let fields else { return nil }
            var result: [String: String] = [:]
            result.reserveCapacity(fields.count)
            fields.forEach { name, value in result[name] = asSet(name, sent: value) }
            return result
        }
        set {
            var refused: [String] = []
            var folded: [String: String] = [:]
            fields = newValue.map { pairs in
                var fields = HTTPFields()
                var names = Set<String>()
                var repeated: [(String, String)] = []
                for (name, value) in pairs.sorted(by: { $0.key < $1.key }) {
                    guard names.insert(name.capitalizedFieldName).inserted else {
                        repeated.append((name, value))
                        continue
                    }
                    do {
                        try fields.append(name, value.unfolded)
                        Self.keep(value, of: name, in: &folded)
                    } catch {
                        refused.append(name)
                    }
                }
                // These are few, and each is searched for among all fields.
                for (name, value) in repeated {
                    do {
                        try fields.replace(name, value.unfolded)
                        Self.keep(value, of: name, in: &folded)
                    } catch {
                        refused.append(name)
                    }
                }
                return fields
            }
            (self.refused, self.folded) = (refused, folded)
        }
    }
}

extension RequestValues: Hashable {
    /// Compares what FoundationNetworking compares, and Darwin before it: fields, data and limits do not count. A
    /// stream equals only itself.
    static func == (left: RequestValues, right: RequestValues) -> Bool {
        left.url == right.url && left.mainDocumentURL == right.mainDocumentURL && left.httpMethod == right.httpMethod
            && left.cachePolicy == right.cachePolicy && left.httpBodyStream == right.httpBodyStream
            && left.allowsCellularAccess == right.allowsCellularAccess
            && left.handlesCookies == right.handlesCookies
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(url)
        hasher.combine(mainDocumentURL)
        hasher.combine(httpMethod)
        hasher.combine(httpBodyStream)
        hasher.combine(allowsCellularAccess)
        hasher.combine(handlesCookies)
    }
}

extension RequestValues {
    /// Returns the value as it was set, for a field that is sent with `sent`; `sent` itself if another value was set.
    private func asSet(_ name: String, sent: String) -> String {
        guard !folded.isEmpty, let value = folded[name.lowercased()], value.unfolded == sent else { return sent }
        return value
    }

    /// Keeps the value if it is folded.
    private static func keep(_ value: String, of name: String, in folded: inout [String: String]) {
        if value.utf8.contains(carriageReturn) {
            folded[name.lowercased()] = value
        } else if !folded.isEmpty {
            folded[name.lowercased()] = nil
        }
    }
}

private let carriageReturn = UInt8(ascii: "\r")

extension String {
    /// The value with each CR LF before a blank, and all blanks around it, replaced by one space; at the value's ends
    /// by nothing. Other line ends stay, and are refused where fields are checked.
    fileprivate var unfolded: String {
        guard utf8.contains(carriageReturn) else { return self }
        let octets = Array(utf8)
        var result: [UInt8] = []
        var position = 0
        while position < octets.count {
            guard octets[position] == carriageReturn, position + 2 < octets.count,
                octets[position + 1] == UInt8(ascii: "\n"), octets[position + 2].isBlankOctet
            else {
                result.append(octets[position])
                position += 1
                continue
            }
            while result.last?.isBlankOctet == true { result.removeLast() }
            position += 2
            while position < octets.count, octets[position].isBlankOctet { position += 1 }
            if !result.isEmpty, position < octets.count { result.append(UInt8(ascii: " ")) }
        }
        return String(decoding: result, as: UTF8.self)
    }
}

/// A request in a keyed archive, under FoundationNetworking's keys: an archive of its `NSURLRequest` can be read once
/// the unarchiver has been told the class (`setClass(_:forClassName:)`).
extension RequestValues {
    init?(coder: NSCoder) {
        guard coder.allowsKeyedCoding else { return nil }
        self.init(url: coder.url("NS.url"))
        mainDocumentURL = coder.url("NS.mainDocumentURL")
        setMethod(coder.string("NS.httpMethod"))
        dictionary = coder.strings("NS._allHTTPHeaderFields")
        cachePolicy = coder.number("NS._cachePolicy").flatMap { .init(rawValue: $0.uintValue) } ?? cachePolicy
        explicitTimeout = coder.number("NS._timeoutInterval")?.doubleValue
        let service = coder.number("NS._networkServiceType")
        networkServiceType = service.flatMap { .init(rawValue: $0.uintValue) } ?? .default
        func flag(_ key: String) -> Bool { coder.number(key)?.boolValue ?? true }
        allowsCellularAccess = flag("NS._allowsCellularAccess")
        allowsExpensiveNetworkAccess = flag("NS._allowsExpensiveNetworkAccess")
        allowsConstrainedNetworkAccess = flag("NS._allowsConstrainedNetworkAccess")
        handlesCookies = flag("NS._httpShouldHandleCookies")
        httpShouldUsePipelining = flag("NS._httpShouldUsePipelining")
        if coder.containsValue(forKey: "NS.httpBody") {
            httpBody = unsafe coder.withDecodedUnsafeBufferPointer(forKey: "NS.httpBody") { octets in
                unsafe octets.map { unsafe Data(buffer: $0) }
            }
        }
    }

    func encode(with coder: NSCoder) {
        guard coder.allowsKeyedCoding else { return }
        coder.encode(url as NSURL?, forKey: "NS.url")
        coder.encode(mainDocumentURL as NSURL?, forKey: "NS.mainDocumentURL")
        coder.encode(httpMethod as NSString, forKey: "NS.httpMethod")
        coder.encode(dictionary as NSDictionary?, forKey: "NS._allHTTPHeaderFields")
        coder.encode(NSNumber(value: cachePolicy.rawValue), forKey: "NS._cachePolicy")
        // Without the key, the session's time limit applies.
        coder.encode(explicitTimeout.map { NSNumber(value: $0) }, forKey: "NS._timeoutInterval")
        coder.encode(NSNumber(value: networkServiceType.rawValue), forKey: "NS._networkServiceType")
        coder.encode(NSNumber(value: allowsCellularAccess), forKey: "NS._allowsCellularAccess")
        coder.encode(NSNumber(value: allowsExpensiveNetworkAccess), forKey: "NS._allowsExpensiveNetworkAccess")
        coder.encode(NSNumber(value: allowsConstrainedNetworkAccess), forKey: "NS._allowsConstrainedNetworkAccess")
        coder.encode(NSNumber(value: handlesCookies), forKey: "NS._httpShouldHandleCookies")
        coder.encode(NSNumber(value: httpShouldUsePipelining), forKey: "NS._httpShouldUsePipelining")
        guard let httpBody else { return }
        unsafe httpBody.withUnsafeBytes { octets in
            let octets = unsafe octets.bindMemory(to: UInt8.self)
            unsafe coder.encodeBytes(octets.baseAddress, length: octets.count, forKey: "NS.httpBody")
        }
    }
}

/// Properties that Uncurl sets on a request, and that this room's public API does not have. Copies of the request have
/// them too. A task keeps those of its first request, so that no redirect, challenge or retry loses them; a background
/// session records them. They are never archived, except that resume data say that a request has left its origin.
extension URLRequest {
    /// Content that is neither data nor a stream of the program's, such as a form.
    package var content: Content? {
        get { if case .content(let content) = values.body { content } else { nil } }
        set { values.body = newValue.map { .content($0) } ?? .none }
    }

    /// Whether a GET's content is sent. If false, such a request is refused, as Apple's `URLSession` does.
    package var sendsContentWithGET: Bool {
        get { values.sendsContentWithGET }
        set { values.sendsContentWithGET = newValue }
    }

    /// Whether a redirect of an earlier task, which this request resumes, has led to another origin. That origin gets
    /// no secrets of a session or a manager.
    package var hasLeftOrigin: Bool { values.hasLeftOrigin }

    /// The name of a field that was refused because it cannot be sent, and has got no other value since; nil for none.
    package var refusedField: String? { values.refusedField }

    /// Whether this field was refused because it cannot be sent, and has got no other value since.
    package func refuses(_ name: String) -> Bool { values.isRefused(name) }

    /// Why a task of the request fails: it would be sent without such a field. Nil for none.
    var fieldRefusal: String? {
        refusedField.map { "the field “\($0)” was given a value that cannot be sent" }
    }

    /// How fast the content is sent and the answer is read.
    package var rates: TransferRates? {
        get { terms.rates }
        set { terms.rates = newValue }
    }

    /// The request's own terms of transfer, which replace those of its session.
    package var terms: TransferTerms {
        get { values.terms.first ?? TransferTerms() }
        set { values.terms = newValue == TransferTerms() ? [] : [newValue] }
    }

    /// Sets the terms that are given.
    package mutating func replaceTerms(by given: TransferTerms) { terms = given.over(terms) }
}

extension URLRequest {
    /// See ``RequestValues/replaceFields(by:)``.
    package mutating func replaceFields(by given: [(name: String, value: String)]) {
        values.replaceFields(by: given)
    }

    package var hasFields: Bool { values.fields != nil }

    /// Takes all fields of another request as they are: nothing is checked or copied again.
    package mutating func replaceFields(byThoseOf other: URLRequest) { values.replaceFields(other.values.fields) }
}

/// One request's own terms of transfer, which replace those of its session. They hold for every transaction of a task:
/// redirects, challenges, retries.
package struct TransferTerms: Hashable, Sendable {
    /// How fast content is sent and answers are read.
    package var rates: TransferRates?
    /// The limit on making a connection, in seconds; nil for the request's limit on idleness.
    package var connectLimit: Double?
    /// The limit from the end of the request to the first byte of its answer, in seconds; nil for the limit on idleness
    /// alone.
    package var firstByteLimit: Double?
    /// The endpoint of the connections for the first request's host and port; nil for this host and port.
    package var endpoint: Endpoint?
    /// The proxies that replace the session's. Their credentials are those that they hold here.
    package var proxies: OriginProxies?
    /// The limits on what comes before and after the content of answers.
    package var responseLimits: ResponseLimits?

    package init() {}

    /// These terms, and where they have none, the others.
    package func over(_ others: TransferTerms) -> TransferTerms {
        var terms = self
        terms.rates = rates ?? others.rates
        terms.connectLimit = connectLimit ?? others.connectLimit
        terms.firstByteLimit = firstByteLimit ?? others.firstByteLimit
        terms.endpoint = endpoint ?? others.endpoint
        terms.proxies = proxies ?? others.proxies
        terms.responseLimits = responseLimits ?? others.responseLimits
        return terms
    }

    /// The idle limit counts from the first packet, so it also ends the wait for a server that never answers. The wait
    /// for a connection is as silent.
    func timeouts(idle: Duration?) -> Timeouts {
        Timeouts(
            connect: connectLimit.map { Duration.limit($0) } ?? idle,
            poolWait: idle,
            responseHead: firstByteLimit.flatMap { Duration.limit($0) },
            idle: idle
        )
    }

    /// The limit on making a connection, in seconds; nil if ``connectLimit`` is nil or means no limit.
    package var connectTime: Double? { connectLimit.flatMap { Duration.limit($0) == nil ? nil : $0 } }
}

/// Limits on the speed of a transfer; nil for none.
package struct TransferRates: Hashable, Sendable {
    package var sending: TransferRate?
    package var receiving: TransferRate?

    package init(sending: TransferRate? = nil, receiving: TransferRate? = nil) {
        self.sending = sending
        self.receiving = receiving
    }
}

/// The error for content that must be sent again after a redirect, a challenge or a lost connection, but can be read
/// only once.
package struct ContentUsedUp: Error, Hashable, Sendable, CustomStringConvertible {
    package let description = "the content is needed again, and a stream in it can be read only once"
}
