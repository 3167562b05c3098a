internal import HTTP1
internal import HTTPSemantics

/// What each proxy has asked for, so that it asks once and not for each connection. One for each engine; loop-confined.
final class ProxyAuthenticators {
    /// More proxies than a program configures. A program that uses other credentials with each request pays for a round
    /// trip now and then; remembering all of them would cost memory.
    private static let capacity = 64

    private var known: [Proxy: Authenticator] = [:]

    var count: Int { known.count }

    subscript(proxy: Proxy) -> Authenticator {
        get { known[proxy] ?? Authenticator(.proxy, proxy.credentials, isPreemptive: proxy.isPreemptive) }
        set {
            if known.count >= ProxyAuthenticators.capacity, known[proxy] == nil { known = [:] }
            known[proxy] = newValue
        }
    }

    /// Returns the Proxy-Authorization value for one request to `proxy`; nil if it has not asked for one.
    func authorization(
        for proxy: Proxy,
        method: String,
        target: String,
        content: [UInt8]?
    ) throws(ProxyError) -> String? {
        guard proxy.credentials != nil else { return nil }
        var authenticator = self[proxy]
        defer { self[proxy] = authenticator }
        do throws(AuthenticationError) {
            return try authenticator.authorization(method: method, target: target, content: content)
        } catch {
            throw .credentials(error)
        }
    }

    /// Takes a 407 of `proxy`. Returns false if there is no point in asking again.
    ///
    /// - Parameter round: how often the same request was refused before.
    func accept(_ refusal: ProxyRefusal, of proxy: Proxy, refusing sent: String?, round: Int) -> Bool {
        var authenticator = self[proxy]
        defer { self[proxy] = authenticator }
        return authenticator.accept(refusal.challenges, refusing: sent, round: round)
    }

    func note(_ fields: HTTPFields, of proxy: Proxy) {
        guard fields.contains(Authenticator.Side.proxy.informationField) else { return }
        self[proxy].note(fields)
    }
}
