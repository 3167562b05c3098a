public import UncurlHTTP1

/// The answers that servers have accepted from a session. Later requests to the same protection space carry them from
/// the start, which saves each of them a refusal (RFC 7617 §2.2, RFC 7616 §3.6).
///
/// A value. Its owner keeps it in one place, since a Digest answer increments a count.
public struct AuthorizationMemory: Sendable {
    private var known: [Origin: [Authorizer]] = [:]

    /// The most realms of one server. A server that has more invents them.
    public static let realmLimit = 32
    /// The most servers. Beyond that one is forgotten, and asks again.
    public static let serverLimit = 1024

    /// Makes an empty memory.
    public init() {}

    /// Whether it is empty: then no request needs a look-up.
    public var isEmpty: Bool { known.isEmpty }

    /// Returns the Authorization value for a request; nil if nothing is known for its URL. Looks nothing up while
    /// nothing is known.
    ///
    /// - Parameters: as for ``Authorizer/value(method:target:content:)``.
    public mutating func authorization(
        for url: HTTPURL,
        method: String,
        target: String,
        content: [UInt8]?
    ) -> SentAuthorization? {
        guard !known.isEmpty, let place = place(url), var authorizer = known[url.origin]?[place] else { return nil }
        defer { known[url.origin]?[place] = authorizer }
        // A value that cannot be made now, as auth-int for a stream, is left for the server to ask for.
        guard let value = try? authorizer.octets(method: method, target: target, content: content) else { return nil }
        return SentAuthorization(octets: value, by: authorizer)
    }

    /// Returns the credentials with which ``authorization(for:method:target:content:)`` would answer, without
    /// answering.
    public func credentials(for url: HTTPURL) -> Credentials? {
        guard !known.isEmpty, let place = place(url) else { return nil }
        return known[url.origin]?[place].credentials
    }

    /// Returns the authorizer for this URL and space, for a task whose request was refused.
    public func authorizer(for url: HTTPURL, _ space: ProtectionSpace) -> Authorizer? {
        known[url.origin]?.first { $0.space == space }
    }

    /// Remembers an answer that was accepted. The engine remembers those for a proxy.
    public mutating func remember(_ authorizer: Authorizer, for url: HTTPURL) {
        guard authorizer.side == .origin else { return }
        let origin = url.origin
        if known[origin] == nil, known.count >= Self.serverLimit, let other = known.keys.first { known[other] = nil }
        var all = known[origin] ?? []
        // The same realm may have been met in another folder: then both folders are known.
        all.removeAll { $0.space == authorizer.space && ($0.paths == authorizer.paths || !$0.isSameUser(authorizer)) }
        if all.count >= Self.realmLimit { all.removeFirst() }
        all.append(authorizer)
        known[origin] = all
    }

    /// Forgets an answer that was refused, so that it is not sent again.
    public mutating func forget(_ space: ProtectionSpace, for url: HTTPURL) {
        known[url.origin]?.removeAll { $0.space == space }
        if known[url.origin]?.isEmpty == true { known[url.origin] = nil }
    }

    /// Forgets all answers to a server, by either scheme.
    package mutating func forget(host: String, port: Int) {
        known = known.filter { $0.key.host.lowercased() != host.lowercased() || Int($0.key.port) != port }
    }

    /// Forgets everything.
    public mutating func forgetAll() { known = [:] }

    /// Takes what a response to a request that carried an answer says (RFC 7616 §3.5).
    ///
    /// - Parameters:
    ///   - fields: the fields of the response.
    ///   - url: the URL of the request.
    ///   - space: that of the answer; nil for the one that ``authorization(for:method:target:content:)`` gives.
    public mutating func note(_ fields: HTTPFields, for url: HTTPURL, in space: ProtectionSpace? = nil) {
        guard !known.isEmpty, fields.contains(ChallengeAuthenticator.Side.origin.informationField),
            let place = place(url, space)
        else { return }
        known[url.origin]?[place].note(fields)
    }

    /// Returns the index of the authorizer that covers the most of the path; among equals, the last.
    private func place(_ url: HTTPURL, _ space: ProtectionSpace? = nil) -> Int? {
        var best: (covered: Int, place: Int)?
        for (place, authorizer) in (known[url.origin] ?? []).enumerated() {
            guard space == nil || authorizer.space == space,
                let covered = Authorizer.covered(of: url, by: authorizer.paths),
                covered >= best?.covered ?? 0
            else { continue }
            best = (covered, place)
        }
        return best?.place
    }
}

extension Authorizer {
    fileprivate func isSameUser(_ other: Authorizer) -> Bool { credentials == other.credentials }
}
