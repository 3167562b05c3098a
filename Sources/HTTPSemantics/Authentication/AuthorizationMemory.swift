public import HTTP1

/// The answers that servers have accepted from a session: they go out unasked with later requests to the same
/// protection space, which saves each of them a refusal (RFC 7617 §2.2, RFC 7616 §3.6).
///
/// A value; its owner keeps it in one place, since a Digest answer counts up.
public struct AuthorizationMemory: Sendable {
    private var known: [WebOrigin: [Authorizer]] = [:]

    /// Realms of one server. A server that has more of them makes them up.
    public static let realmLimit = 32
    /// Servers: beyond it, one is forgotten and asks again.
    public static let serverLimit = 1024

    /// Nothing is known yet.
    public init() {}

    /// Whether nothing is known: then nothing need be looked up.
    public var isEmpty: Bool { known.isEmpty }

    /// The Authorization value for a request; nil if nothing is known for its URL. Nothing is looked at while nothing
    /// is known.
    ///
    /// - Parameters: as for ``Authorizer/value(method:target:content:)``.
    public mutating func authorization(
        for url: WebURL,
        method: String,
        target: String,
        content: [UInt8]?
    ) -> SentAuthorization? {
        guard !known.isEmpty, let origin = url.origin, let place = place(origin, url) else { return nil }
        guard var authorizer = known[origin]?[place] else { return nil }
        defer { known[origin]?[place] = authorizer }
        // What cannot be written now, as auth-int for a stream, is left for the server to ask.
        guard let value = try? authorizer.value(method: method, target: target, content: content) else { return nil }
        return SentAuthorization(value: value, by: authorizer)
    }

    /// By whose name and password ``authorization(for:method:target:content:)`` would answer, which it is not asked to.
    public func credentials(for url: WebURL) -> Credentials? {
        guard !known.isEmpty, let origin = url.origin, let place = place(origin, url) else { return nil }
        return known[origin]?[place].credentials
    }

    /// The one that answers for this URL and space, to be taken up by a task whose request was refused.
    public func authorizer(for url: WebURL, _ space: ProtectionSpace) -> Authorizer? {
        url.origin.flatMap { known[$0] }?.first { $0.space == space }
    }

    /// Takes an answer that was accepted. One for a proxy is the engine's to remember.
    public mutating func remember(_ authorizer: Authorizer, for url: WebURL) {
        guard authorizer.side == .origin, let origin = url.origin else { return }
        if known[origin] == nil, known.count >= Self.serverLimit, let other = known.keys.first { known[other] = nil }
        var all = known[origin] ?? []
        // The same realm may have been met in another folder: both folders are known then.
        all.removeAll { $0.space == authorizer.space && ($0.scope == authorizer.scope || !$0.isSameUser(authorizer)) }
        if all.count >= Self.realmLimit { all.removeFirst() }
        all.append(authorizer)
        known[origin] = all
    }

    /// What was refused is not sent again.
    public mutating func forget(_ space: ProtectionSpace, for url: WebURL) {
        guard let origin = url.origin else { return }
        known[origin]?.removeAll { $0.space == space }
        if known[origin]?.isEmpty == true { known[origin] = nil }
    }

    /// What it is as new.
    public mutating func forgetAll() { known = [:] }

    /// Takes up what a response to a request with an answer of ours says (RFC 7616 §3.5).
    public mutating func note(_ fields: HTTPFields, for url: WebURL) {
        guard !known.isEmpty, fields.contains(Authenticator.Side.origin.informationField),
            let origin = url.origin, let place = place(origin, url)
        else { return }
        known[origin]?[place].note(fields)
    }

    /// The one that covers most of the path; of equals, the last.
    private func place(_ origin: WebOrigin, _ url: WebURL) -> Int? {
        var best: (covered: Int, place: Int)?
        for (place, authorizer) in (known[origin] ?? []).enumerated() {
            guard let covered = authorizer.scope.covers(url), covered >= best?.covered ?? 0 else { continue }
            best = (covered, place)
        }
        return best?.place
    }
}

extension Authorizer {
    fileprivate func isSameUser(_ other: Authorizer) -> Bool { credentials == other.credentials }
}
