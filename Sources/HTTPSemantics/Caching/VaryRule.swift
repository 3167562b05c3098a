public import HTTP1
internal import TLS
internal import TextCoding

/// Which requests a stored response answers, of all those for its URL.
///
/// - Those with the same values in the fields that its Vary names (RFC 9111 §4.1).
/// - Those of the same user. RFC 9111 means a private cache to serve one user; a program on Linux serves many with one
///   cache. So what identifies the user (Authorization, Cookie and every other secret field) counts as if Vary had
///   named it, unless the server says `public`: that its answer is for everyone (§5.2.2.9).
///
/// Secret values are kept and compared as digests: the cache is not a second place where tokens are stored.
public struct VaryRule: Hashable, Sendable {
    /// With the fields that are secret without a session's own words.
    public static let usual = VaryRule(.usual)

    private let secrets: SecretFields

    /// - Parameter secrets: what another origin is not sent identifies the user here.
    public init(_ secrets: SecretFields) { self.secrets = secrets }

    /// What is stored beside a response.
    ///
    /// - Parameters:
    ///   - request: its fields as they were sent; for fields that change with each request, something constant
    ///     stands in: the user's name and password for a Digest answer.
    ///   - response: its fields, with or without Vary.
    ///   - requested: seconds since 1970, as `received`.
    ///   - received: when the response's head had come.
    public func record(
        of request: HTTPFields,
        varying response: HTTPFields,
        requested: Int64,
        received: Int64
    ) -> CacheRecord {
        let isForAnyone = Self.isForAnyone(response)
        var varying = select(request, varying: response)
        if !isForAnyone { varying += identifying(request, except: varying) }
        return CacheRecord(varying: varying, isForAnyone: isForAnyone, requested: requested, received: received)
    }

    /// Whether the stored response answers a request with these fields.
    public func matches(_ record: CacheRecord, _ request: HTTPFields) -> Bool {
        matches(record.varying, request) && !isUnknownAsker(request, to: record)
    }

    /// Whether the request says that it comes from another user than the one that the stored response was for. What
    /// Vary names besides does not count, and a request that identifies no user is refused nothing.
    public func isForeign(_ record: CacheRecord, to request: HTTPFields) -> Bool {
        let isAnother = record.varying.contains { field in
            field.isSecret && request.contains(field.name) && field.value != value(of: field, in: request)
        }
        return isAnother || isUnknownAsker(request, to: record)
    }

    /// Whether the request comes from the user that the stored response was for, whatever Vary names besides.
    public func isSameAsker(_ record: CacheRecord, _ request: HTTPFields) -> Bool {
        matches(record.varying.filter(\.isSecret), request) && !isUnknownAsker(request, to: record)
    }

    /// Whether a field identifies the user.
    public func identifies(_ name: String) -> Bool {
        let name = name.lowercased()
        return name == Self.clientCertificate || secrets.contains(name)
    }

    /// Stands for the certificate shown in the handshake; RFC 9440 tells servers behind a proxy by the same name.
    public static let clientCertificate = "client-cert"

    /// Whether any field identifies the user.
    public func identifies(_ fields: HTTPFields) -> Bool {
        (0..<fields.count).contains { identifies(fields.name(at: $0)) }
    }

    // MARK: Vary

    /// The request's fields that a response's Vary names.
    public func select(_ request: HTTPFields, varying response: HTTPFields) -> [VaryingField] {
        guard response.contains(.vary) else { return [] }
        var selected: [VaryingField] = []
        for member in response.listMembers(of: "Vary") {
            let name = member.lowercased()
            if !selected.contains(where: { $0.name == name }) { selected.append(field(name, in: request)) }
        }
        return selected
    }

    /// Whether a request has what the stored response was selected by. `Vary: *` never matches.
    public func matches(_ varying: [VaryingField], _ request: HTTPFields) -> Bool {
        varying.allSatisfy { $0.name != "*" && $0.value == value(of: $0, in: request) }
    }

    // MARK: Who asks

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
    /// alone are no reason: they come with the very answers that are stored.
    private func isUnknownAsker(_ request: HTTPFields, to record: CacheRecord) -> Bool {
        guard !record.isForAnyone else { return false }
        return (0..<request.count).contains { index in
            guard request.known(at: index) != .cookie else { return false }
            let name = request.name(at: index).lowercased()
            return identifies(name) && !record.varying.contains { $0.name == name }
        }
    }

    /// A response that sets a cookie is for whom the cookie is for, whatever else it says.
    private static func isForAnyone(_ response: HTTPFields) -> Bool {
        response.contains(.cacheControl) && CacheControl(response).isPublic && !response.contains(.setCookie)
    }

    // MARK: Values

    private func field(_ name: String, in request: HTTPFields) -> VaryingField {
        var field = VaryingField(name: name, value: nil, isSecret: identifies(name))
        field.value = value(of: field, in: request)
        return field
    }

    /// Lines are joined and blanks around commas dropped (§4.1): neither means anything in a list. Nothing is known
    /// here of what else may be the same in a field.
    private func value(of field: VaryingField, in request: HTTPFields) -> String? {
        guard request.contains(field.name) else { return nil }
        let value = request.listMembers(of: field.name).joined(separator: ",")
        return field.isSecret ? Self.digest(field.name, value) : value
    }

    /// Of the name, too: what two fields have in common does not show.
    private static func digest(_ name: String, _ value: String) -> String {
        // Without a digest nothing compares as equal: a new value each time.
        guard let octets = MessageDigest.sha256.hash(Array("\(name):\(value)".utf8).span) else {
            return "\(UInt64.random(in: .min ... .max))"
        }
        return Hex.text(octets)
    }
}
