internal import UncurlHTTP1
internal import UncurlSemantics

/// Header fields in order. Names are compared without regard to case (RFC 9110 §5.1), and a name may occur more than
/// once.
public struct HTTPHeaders: Sendable {
    /// A name and a value. Names are compared without case (RFC 9110 §5.1).
    public struct Field: Hashable, Sendable {
        /// The name, sent as it is written here.
        public var name: String
        /// The value, sent as it is written here.
        public var value: String

        /// A field. A malformed one is refused when a request with it is built, with ``UncurlError/header(name:)``.
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    private var fields: [Field] = [] {
        didSet { places = nil }
    }
    /// The places of many fields by their names in lower case, so that to set one of thousands does not look through
    /// all. Nil for a few, and after each other change.
    private var places: [String: Int]?

    /// No fields.
    public init() {}

    /// These fields in their order. Several fields of one name stay separate.
    public init(_ fields: some Sequence<Field>) { self.fields = Array(fields) }

    /// The fields of a dictionary, sorted by name: a dictionary has no order.
    public init(_ dictionary: [String: String]) {
        fields = dictionary.sorted { $0.key < $1.key }.map { Field($0.key, $0.value) }
    }

    /// The value of a name. Several fields of one name are joined by commas (RFC 9110 §5.3). Setting nil removes them;
    /// setting a value replaces them all at the position of the first.
    public subscript(name: String) -> String? {
        get {
            let values = self.values(of: name)
            return values.isEmpty ? nil : values.joined(separator: ", ")
        }
        set {
            guard let newValue else { return remove(name) }
            if var places = places ?? placesOfMany {
                // The only reference, or each change would copy all.
                self.places = nil
                defer { self.places = places }
                guard let place = places[name.lowercased()] else {
                    places[name.lowercased()] = fields.count
                    return fields.append(Field(name, newValue))
                }
                fields[place] = Field(name, newValue)
                return
            }
            guard let first = fields.firstIndex(where: { $0.isNamed(name) }) else {
                return fields.append(Field(name, newValue))
            }
            fields[first] = Field(name, newValue)
            let rest = fields[(first + 1)...].filter { !$0.isNamed(name) }
            fields.replaceSubrange((first + 1)..., with: rest)
        }
    }

    /// The places, if there are many fields and each has a name of its own.
    private var placesOfMany: [String: Int]? {
        guard fields.count >= 64 else { return nil }
        var places: [String: Int] = [:]
        for (place, field) in fields.enumerated() { places[field.name.lowercased()] = place }
        return places.count == fields.count ? places : nil
    }

    /// The values of a name, in order.
    public func values(of name: String) -> [String] {
        fields.compactMap { $0.isNamed(name) ? $0.value : nil }
    }

    /// Whether a field has this name.
    public func contains(_ name: String) -> Bool { fields.contains { $0.isNamed(name) } }

    /// Appends a field and keeps the fields of the same name.
    public mutating func add(_ name: String, _ value: String) { fields.append(Field(name, value)) }

    /// Removes all fields of this name.
    public mutating func remove(_ name: String) { fields.removeAll { $0.isNamed(name) } }

    /// Removes the fields whose names are in `others`, and appends the fields of `others`.
    public mutating func merge(_ others: HTTPHeaders) {
        let replaced = Set(others.fields.map { $0.name.lowercased() })
        if !replaced.isEmpty { fields.removeAll { replaced.contains($0.name.lowercased()) } }
        fields += others.fields
    }

    /// The fields sorted by name. Fields of one name keep their order.
    public func sorted() -> HTTPHeaders {
        let order = fields.enumerated().sorted {
            let (left, right) = ($0.element.name.lowercased(), $1.element.name.lowercased())
            return left == right ? $0.offset < $1.offset : left < right
        }
        return HTTPHeaders(order.map(\.element))
    }

    /// One value for each name. The values of several fields of one name are joined by commas.
    public var dictionary: [String: String] {
        var result: [String: String] = [:]
        var spelling: [String: String] = [:]
        for field in fields {
            let name = spelling[field.name.lowercased()] ?? field.name
            spelling[field.name.lowercased()] = name
            result[name] = result[name].map { "\($0), \(field.value)" } ?? field.value
        }
        return result
    }
}

extension HTTPHeaders.Field {
    fileprivate func isNamed(_ other: String) -> Bool {
        name.utf8.count == other.utf8.count && zip(name.utf8, other.utf8).allSatisfy { $0.lowercased == $1.lowercased }
    }
}

extension UInt8 {
    fileprivate var lowercased: UInt8 { (0x41...0x5A).contains(self) ? self | 0x20 : self }
}

extension HTTPHeaders: RandomAccessCollection, Hashable, ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral,
    CustomStringConvertible
{
    public static func == (left: HTTPHeaders, right: HTTPHeaders) -> Bool { left.fields == right.fields }

    public func hash(into hasher: inout Hasher) { hasher.combine(fields) }

    public var startIndex: Int { 0 }
    public var endIndex: Int { fields.count }
    public subscript(position: Int) -> Field { fields[position] }

    public init(dictionaryLiteral elements: (String, String)...) { fields = elements.map { Field($0.0, $0.1) } }

    public init(arrayLiteral elements: Field...) { fields = elements }

    /// The headers in one line; `…` stands for a value that is a secret, such as that of Authorization.
    public var description: String { "\(fields)" }
}

extension HTTPHeaders.Field: CustomStringConvertible {
    public var description: String { "\(name): \(name.namesSecret ? "…" : value)" }
}

extension HTTPHeaders.Field {
    /// The media types that the answer may have (RFC 9110 §12.5.1).
    public static func accept(_ value: String) -> Self { Self("Accept", value) }
    /// The charsets that the answer may have (RFC 9110 §12.5.2).
    public static func acceptCharset(_ value: String) -> Self { Self("Accept-Charset", value) }
    /// The languages that the answer may have (RFC 9110 §12.5.4).
    public static func acceptLanguage(_ value: String) -> Self { Self("Accept-Language", value) }
    /// The content codings that the answer may have (RFC 9110 §12.5.3). The session decodes only the codings that it
    /// requests itself.
    public static func acceptEncoding(_ value: String) -> Self { Self("Accept-Encoding", value) }
    /// Credentials as the field carries them (RFC 9110 §11.6.2).
    public static func authorization(_ value: String) -> Self { Self("Authorization", value) }
    /// A bearer token (RFC 6750 §2.1).
    public static func authorization(bearer token: String) -> Self { Self("Authorization", "Bearer \(token)") }
    /// How the content is to be presented (RFC 6266).
    public static func contentDisposition(_ value: String) -> Self { Self("Content-Disposition", value) }
    /// The content codings that were applied (RFC 9110 §8.4).
    public static func contentEncoding(_ value: String) -> Self { Self("Content-Encoding", value) }
    /// The media type of the content (RFC 9110 §8.3).
    public static func contentType(_ value: String) -> Self { Self("Content-Type", value) }
    /// The program that sends the request (RFC 9110 §10.1.5).
    public static func userAgent(_ value: String) -> Self { Self("User-Agent", value) }
}

/// A request method (RFC 9110 §9). Methods are case-sensitive.
public struct HTTPMethod: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    public init(stringLiteral value: String) { rawValue = value }

    public var description: String { rawValue }

    /// RFC 9110 §9.3.1.
    public static let get = HTTPMethod(rawValue: "GET")
    /// RFC 9110 §9.3.2. The answer has no content.
    public static let head = HTTPMethod(rawValue: "HEAD")
    /// RFC 9110 §9.3.3.
    public static let post = HTTPMethod(rawValue: "POST")
    /// RFC 9110 §9.3.4.
    public static let put = HTTPMethod(rawValue: "PUT")
    /// RFC 5789.
    public static let patch = HTTPMethod(rawValue: "PATCH")
    /// RFC 9110 §9.3.5.
    public static let delete = HTTPMethod(rawValue: "DELETE")
    /// RFC 9110 §9.3.7.
    public static let options = HTTPMethod(rawValue: "OPTIONS")
    /// RFC 9110 §9.3.8.
    public static let trace = HTTPMethod(rawValue: "TRACE")
    /// The QUERY method: safe and idempotent, with content.
    public static let query = HTTPMethod(rawValue: "QUERY")

    /// Whether sending the method twice has the effect of sending it once (RFC 9110 §9.2.2).
    public var isIdempotent: Bool { Self.idempotent.contains(self) }

    static let idempotent: Set<HTTPMethod> = [.delete, .get, .head, .options, .put, .trace, .query]
}

extension HTTPHeaders.Field {
    /// Whether both parts have the characters of the grammar alone. Others could end the field or the message and begin
    /// another.
    var isValid: Bool { name.isToken && value.isFieldValue }
}

extension String {
    /// A field value has no control characters but the tab (RFC 9110 §5.5).
    var isFieldValue: Bool { utf8.allSatisfy { $0 == 0x09 || $0 >= 0x20 && $0 != 0x7F } }

    /// Whether a header or a parameter of this name holds a secret, which no description shows.
    var namesSecret: Bool { Self.secrets.lists(self) }
    private static let secrets = SecretFields(SecretFields.usualNames.union(["Cookie", "Set-Cookie"]))
}

/// A media type or a media range (RFC 9110 §12.5.1): `text/html`, `image/*`, `*/*`.
struct MediaRange {
    /// In lower case.
    private let type: [UInt8]
    private let subtype: [UInt8]

    /// Parameters are ignored. Nil for text without a slash, and for text that is not ASCII.
    init?(_ text: some StringProtocol) {
        let name = Substring(text).utf8.prefix { $0 != UInt8(ascii: ";") }
        guard name.allSatisfy({ $0 < 0x80 }) else { return nil }
        let parts = name.split(separator: UInt8(ascii: "/"), maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        type = parts[0].withoutBlanks.map(\.lowercased)
        subtype = parts[1].withoutBlanks.map(\.lowercased)
        guard !type.isEmpty, !subtype.isEmpty else { return nil }
    }

    /// Whether the text is a type without blanks and parameters. Decided without an allocation.
    static func isPlain(_ text: String) -> Bool {
        let parts = text.utf8
        guard let slash = parts.firstIndex(of: UInt8(ascii: "/")), slash != parts.startIndex else { return false }
        let subtype = parts[parts.index(after: slash)...]
        return !subtype.isEmpty && !subtype.contains(UInt8(ascii: "/"))
            && parts.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: ";") }
    }

    private static let any = Array("*".utf8)

    var isEverything: Bool { type == Self.any && subtype == Self.any }

    /// Whether this range contains the other. A type with a structured suffix also belongs to the application type of
    /// that suffix (RFC 6839): `application/json` contains `application/problem+json`, `application/xml` contains
    /// `image/svg+xml`.
    func contains(_ other: MediaRange) -> Bool {
        if type == Self.any || type == other.type, subtype == Self.any || subtype == other.subtype { return true }
        let suffix = [UInt8(ascii: "+")] + subtype
        return type.elementsEqual("application".utf8) && other.subtype.suffix(suffix.count) == suffix[...]
    }

    /// The ranges of an Accept field, without those of weight zero.
    static func accepted(by field: String) -> [String] {
        field.utf8.split(separator: UInt8(ascii: ",")).filter { !isRefused($0) }
            .map { String(Substring($0.prefix { $0 != UInt8(ascii: ";") }.withoutBlanks)) }
            .filter { MediaRange($0) != nil }
    }

    /// weight = OWS ";" OWS "q=" qvalue (§12.4.2)
    private static func isRefused(_ member: Substring.UTF8View) -> Bool {
        member.split(separator: UInt8(ascii: ";")).dropFirst().contains { parameter in
            let weight = parameter.withoutBlanks.map(\.lowercased)
            return weight.starts(with: "q=".utf8) && Double(String(decoding: weight.dropFirst(2), as: UTF8.self)) == 0
        }
    }
}
