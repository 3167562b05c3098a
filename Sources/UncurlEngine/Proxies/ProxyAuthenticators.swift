internal import UncurlHTTP1
internal import UncurlSemantics

/// What each proxy has asked for, so that it asks once and not for each connection. One for each engine; loop-confined.
final class ProxyAuthenticators {
    /// More proxies than a program configures. A program that uses other credentials with each request pays for a round
    /// trip now and then; remembering all of them would cost memory.
    private static let capacity = 64

    private var known: [Proxy: ChallengeAuthenticator] = [:]
    /// The last challenges of each proxy, whatever credentials a request had for it: new ones answer them at once.
    private var asked: [Proxy: [AuthenticationChallenge]] = [:]

    var count: Int { known.count }

    subscript(proxy: Proxy) -> ChallengeAuthenticator {
        get { known[proxy] ?? authenticator(for: proxy) }
        set {
            if known.count >= ProxyAuthenticators.capacity, known[proxy] == nil { known = [:] }
            known[proxy] = newValue
        }
    }

    private func authenticator(for proxy: Proxy) -> ChallengeAuthenticator {
        var authenticator = ChallengeAuthenticator(.proxy, proxy.credentials, isPreemptive: proxy.isPreemptive)
        if let challenges = asked[proxy.bare] { _ = authenticator.accept(challenges, refusing: nil, round: 0) }
        return authenticator
    }

    /// Returns the Proxy-Authorization value for one request to `proxy`; nil if it has not asked for one.
    func authorization(
        for proxy: Proxy,
        method: String,
        target: String,
        content: [UInt8]?
    ) throws(ProxyError) -> [UInt8]? {
        guard proxy.credentials != nil else { return nil }
        var authenticator = self[proxy]
        defer { self[proxy] = authenticator }
        do throws(AuthenticationError) {
            return try authenticator.octets(method: method, target: target, content: content)
        } catch {
            throw .credentials(error)
        }
    }

    /// Takes a 407 of `proxy`. Returns false if there is no point in asking again.
    ///
    /// - Parameter round: how often the same request was refused before.
    func accept(_ refusal: ProxyRefusal, of proxy: Proxy, refusing sent: [UInt8]?, round: Int) -> Bool {
        var authenticator = self[proxy]
        defer { self[proxy] = authenticator }
        if asked.count >= ProxyAuthenticators.capacity, asked[proxy.bare] == nil { asked = [:] }
        asked[proxy.bare] = refusal.challenges
        let refused = sent.map { String(decoding: $0, as: UTF8.self) }
        return authenticator.accept(refusal.challenges, refusing: refused, round: round)
    }

    func note(_ fields: HTTPFields, of proxy: Proxy) {
        guard fields.contains(ChallengeAuthenticator.Side.proxy.informationField) else { return }
        self[proxy].note(fields)
    }
}

extension Proxy {
    /// The proxy without credentials.
    fileprivate var bare: Proxy { Proxy(kind, host: host, port: port) }
}
