public import UncurlHTTP1
internal import UncurlTLS
internal import UncurlText

/// Decides which requests a stored response answers, of all those for its URL.
///
/// - Those with the same values in the fields that its Vary names (RFC 9111 §4.1).
/// - Those of the same user. RFC 9111 assumes that a private cache serves one user; a program on Linux serves many with
///   one cache. So the fields that identify the user (Authorization, Cookie and every other secret field) count as if
///   Vary had named them, unless the server says with `public` that its answer is for everyone (§5.2.2.9).
///
/// - Those with the same Accept-Encoding, if the response has a Content-Encoding: a request's own Accept-Encoding
///   decides whether the content is stored coded or decoded.
///
/// Secret values are kept and compared as digests, so that the cache is no second place where tokens are stored.
public struct VaryRule: Hashable, Sendable {
    /// The rule with the usual secret fields.
    public static let usual = VaryRule(.usual)

    private let secrets: SecretFields

    /// - Parameter secrets: the fields that another origin is not sent. Here they identify the user.
    public init(_ secrets: SecretFields) { self.secrets = secrets }

    /// Returns what is stored with a response.
    ///
    /// - Parameters:
    ///   - request: the request's fields as they were sent. A field that changes with each request is replaced by
    ///   something constant: a Digest answer by the user's name and password.
    ///   - response: the response's fields, with or without Vary.
    ///   - requested: when the request was sent, in seconds since 1970.
    ///   - received: when the response's head came, in seconds since 1970.
    public func record(
        of request: HTTPFields,
        varying response: HTTPFields,
        requested: Int64,
        received: Int64
    ) -> CacheRecord {
        let isForAnyone = Self.isForAnyone(response)
        var varying = select(request, varying: response)
        if Self.dependsOnCoding(response, varying) { varying.append(field(Self.acceptEncoding, in: request)) }
        if !isForAnyone { varying += identifying(request, except: varying) }
        return CacheRecord(varying: varying, isForAnyone: isForAnyone, requested: requested, received: received)
    }

    /// Whether the stored response answers a request with these fields.
    public func matches(_ record: CacheRecord, _ request: HTTPFields) -> Bool {
        matches(record.varying, request) && !isUnknownAsker(request, to: record)
    }

    /// Whether the request says that it comes from another user than the one that the stored response was for. Other
    /// fields that Vary names do not count, and a request that identifies no user is not foreign.
    public func isForeign(_ record: CacheRecord, to request: HTTPFields) -> Bool {
        let isAnother = record.varying.contains { field in
            field.isSecret && request.contains(field.name) && field.value != value(of: field, in: request)
        }
        return isAnother || isUnknownAsker(request, to: record)
    }

    /// Whether the request comes from the user that the stored response was for, whatever else Vary names.
    public func isSameAsker(_ record: CacheRecord, _ request: HTTPFields) -> Bool {
        let fields = record.varying.filter(\.isSecret)
        return matches(fields, request) && !isUnknownAsker(request, to: record)
    }

    /// Whether a field identifies the user.
    public func identifies(_ name: String) -> Bool {
        let name = name.lowercased()
        return name == Self.clientCertificate || secrets.contains(name)
    }

    /// The name that stands for the certificate shown in the handshake; RFC 9440 uses it for servers behind a proxy.
    public static let clientCertificate = "client-cert"

    /// Whether any field identifies the user.
    public func identifies(_ fields: HTTPFields) -> Bool {
        (0..<fields.count).contains { identifies(fields.name(at: $0)) }
    }

    // MARK: Vary

    /// The most names in a Vary that is followed. Servers name a few; each is looked up in each request for the URL.
    private static let maximumNames = 64

    /// Returns the members of a response's Vary. One with too many counts as `Vary: *`.
    static func members(of response: HTTPFields) -> [String] {
        let members = response.listMembers(of: "Vary")
        return members.count > maximumNames ? ["*"] : members
    }

    /// Returns the request's fields that a response's Vary names; the name `*` alone if it names too many.
    public func select(_ request: HTTPFields, varying response: HTTPFields) -> [VaryingField] {
        guard response.contains(.vary) else { return [] }
        var selected: [VaryingField] = []
        for member in Self.members(of: response) {
            // No field has a name that is not ASCII: no request differs in it.
            guard let name = member.ascii?.lowercased() else { continue }
            if !selected.contains(where: { $0.name == name }) { selected.append(field(name, in: request)) }
        }
        return selected
    }

    /// Whether a request has the values that the stored response was selected by. `Vary: *` never matches.
    public func matches(_ varying: [VaryingField], _ request: HTTPFields) -> Bool {
        varying.allSatisfy { $0.name.ascii != "*" && $0.value == value(of: $0, in: request) }
    }

    private static let acceptEncoding = "accept-encoding"

    /// Whether the form of the stored content follows from the request's Accept-Encoding, which Vary does not name.
    private static func dependsOnCoding(_ response: HTTPFields, _ varying: [VaryingField]) -> Bool {
        response.contains(.contentEncoding) && !varying.contains { $0.name == acceptEncoding }
    }

    // MARK: The user

    private func identifying(_ request: HTTPFields, except selected: [VaryingField]) -> [VaryingField] {
        var found: [VaryingField] = []
        for index in 0..<request.count {
            let name = request.name(at: index).lowercased()
            guard identifies(name), !(selected + found).contains(where: { $0.name == name }) else { continue }
            found.append(field(name, in: request))
        }
        return found
    }

    /// Whether the request identifies its user by a field that the stored response's request did not have. Cookies
    /// alone do not count: they come with the very answers that are stored.
    private func isUnknownAsker(_ request: HTTPFields, to record: CacheRecord) -> Bool {
        guard !record.isForAnyone else { return false }
        return (0..<request.count).contains { index in
            guard request.known(at: index) != .cookie else { return false }
            let name = request.name(at: index).lowercased()
            return identifies(name) && !record.varying.contains { $0.name == name }
        }
    }

    /// Whether a response is for every user. One that sets a cookie is for the cookie's user, whatever else it says.
    private static func isForAnyone(_ response: HTTPFields) -> Bool {
        response.contains(.cacheControl) && CacheControl(response).isPublic && !response.contains(.setCookie)
    }

    // MARK: Values

    private func field(_ name: String, in request: HTTPFields) -> VaryingField {
        var field = VaryingField(name: name, value: nil, isSecret: identifies(name))
        field.value = value(of: field, in: request)
        return field
    }

    /// Returns the value to compare: lines are joined and blanks around commas dropped (§4.1), since neither has a
    /// meaning in a list. Other equivalences of values are not known here.
    private func value(of field: VaryingField, in request: HTTPFields) -> String? {
        guard request.contains(field.name) else { return nil }
        var value = request.listMembers(of: field.name).joined(separator: ",")
        // Different octets that are no UTF-8 are all read as U+FFFD.
        if value.unicodeScalars.contains("\u{FFFD}") {
            value += hexText(request.octets(of: field.name).flatMap(\.self))
        }
        return field.isSecret ? Self.digest(field.name, value) : value
    }

    /// Returns a digest of name and value, so that equal values of two fields cannot be recognised.
    private static func digest(_ name: String, _ value: String) -> String {
        // Without a hash function no values are equal: each gets a new random one.
        guard let octets = MessageDigest.sha256.hash(Array("\(name):\(value)".utf8).span) else {
            return "\(UInt64.random(in: .min ... .max))"
        }
        return hexText(octets)
    }
}
