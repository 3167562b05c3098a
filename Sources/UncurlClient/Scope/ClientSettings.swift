package import UncurlEngine
package import UncurlHTTP1
package import UncurlSemantics

/// What the loads of one client are made by; read once. It is a class, since every request reads it, and copying so
/// many fields costs more than reading them.
package final class ClientSettings: Sendable {
    /// A store of cookies that answers at once, on any thread: `header` returns the Cookie field for a request of a
    /// document; `store` keeps the cookies in a response's Set-Cookie fields that its server may set.
    package typealias Cookies = (
        header: @Sendable (CookieScope, _ document: CookieScope?) -> [UInt8]?,
        store: @Sendable ([ArraySlice<UInt8>], _ from: CookieScope, _ document: CookieScope?) -> Void
    )

    /// The fields for every request that does not have its own.
    package let fields: HTTPFields
    /// The fields for requests that have neither their own nor one of ``fields``: Accept, User-Agent, Accept-Language.
    let defaults: [(name: String, value: String)]
    /// The rules for the answers to each request.
    package let rules: AnswerMachine.Rules
    /// Nil: no cookies are kept, or a store that answers later has them.
    package let cookies: Cookies?
    /// Whether the owner of each load is asked for cookies, and given them.
    package let asksForCookies: Bool
    /// Whether requests carry cookies.
    let setsCookies: Bool
    package let answers: (any AnswerStore)?
    package let proxies: ClientProxies
    /// What the engine is made by, but for its proxies and its trust.
    let engine: EngineConfiguration

    package init(
        fields: HTTPFields,
        defaults: [(name: String, value: String)],
        rules: AnswerMachine.Rules,
        cookies: Cookies?,
        asksForCookies: Bool,
        setsCookies: Bool,
        answers: (any AnswerStore)?,
        proxies: ClientProxies,
        engine: EngineConfiguration
    ) {
        (self.fields, self.defaults, self.rules) = (fields, defaults, rules)
        (self.cookies, self.asksForCookies, self.setsCookies) = (cookies, asksForCookies, setsCookies)
        (self.answers, self.proxies, self.engine) = (answers, proxies, engine)
    }

    /// The fields that a redirect to another origin does not carry.
    package var secrets: SecretFields { rules.secrets }

    /// The rule that distinguishes the users of stored answers.
    package var vary: VaryRule { VaryRule(secrets) }

    /// Returns a request's own fields, and those of the client that the request does not have.
    ///
    /// - Parameter hasLeftOrigin: whether a redirect has led to another origin, which gets no secrets of the client.
    package func fields(with own: HTTPFields?, hasLeftOrigin: Bool = false) -> HTTPFields {
        guard own != nil || hasLeftOrigin else { return fields }
        var all = own ?? HTTPFields()
        for index in 0..<fields.count {
            let name = fields.name(at: index)
            if applies(name, to: own, hasLeftOrigin: hasLeftOrigin) {
                try? all.append(fields, at: index)
            }
        }
        return all
    }

    /// Whether a field of the client is added to a request with these fields of its own.
    func applies(_ name: String, to own: HTTPFields?, hasLeftOrigin: Bool) -> Bool {
        own?.contains(name) != true && !(hasLeftOrigin && secrets.contains(name))
    }
}

/// The proxies of a client's requests. If a setting names no proxy, requests that would use it fail, instead of being
/// sent without a proxy.
package struct ClientProxies: Sendable {
    /// The proxies for all hosts, without those that cannot be read.
    package private(set) var configuration: OriginProxies
    /// Those that are tried before, in their order.
    private var listed: [ListedProxy]
    /// Whether TLS is spoken with one of the proxies.
    package let areSecure: Bool
    private let http: ProxyFault?
    private let https: ProxyFault?

    package init(
        http: Result<Proxy?, ProxyFault>,
        https: Result<Proxy?, ProxyFault>,
        exceptions: ProxyExceptions,
        listed: [ListedProxy] = []
    ) {
        (self.http, self.https, self.listed) = (http.failure, https.failure, listed)
        configuration = OriginProxies(http: http.proxy, https: https.proxy, exceptions: exceptions)
        areSecure = configuration.areSecure || listed.contains { (try? $0.proxy.get().kind) == .https }
    }

    /// Returns the proxies of a request.
    ///
    /// - Parameter failures: how many of the listed proxies for this host could not be used.
    package func route(
        for scheme: Origin.Scheme,
        _ host: String,
        after failures: Int = 0
    ) -> Result<OriginProxies, ProxyFault> {
        let indices = indices(for: host)
        if indices.indices.contains(failures) { return listed[indices[failures]].proxy.map { OriginProxies($0) } }
        guard indices.isEmpty else { return .success(.direct) }
        return fault(for: scheme, host).map { .failure($0) } ?? .success(configuration)
    }

    /// Whether a request may do without the proxy that it has now.
    func allowsFailover(for host: String, after failures: Int) -> Bool {
        let indices = indices(for: host)
        return indices.indices.contains(failures) && listed[indices[failures]].allowsFailover
    }

    /// Gives these credentials to the proxy of a request.
    package mutating func use(_ credentials: Credentials, for origin: Origin, after failures: Int) {
        func renewed(_ proxy: Proxy) -> Proxy {
            Proxy(
                proxy.kind,
                host: proxy.host,
                port: proxy.port,
                credentials: credentials,
                tunnelsAll: proxy.tunnelsAll
            )
        }
        let indices = indices(for: origin.host)
        if indices.indices.contains(failures) {
            listed[indices[failures]].proxy = listed[indices[failures]].proxy.map(renewed)
        } else if origin.scheme == .https {
            configuration.https = configuration.https.map(renewed)
        } else {
            configuration.http = configuration.http.map(renewed)
        }
    }

    private func indices(for host: String) -> [Int] { listed.indices.filter { listed[$0].applies(to: host) } }

    /// Returns the fault in the setting of the proxy for this host; nil if there is none.
    package func fault(for scheme: Origin.Scheme, _ host: String) -> ProxyFault? {
        guard let fault = scheme == .https ? https : http, !configuration.exceptions.covers(host) else { return nil }
        return fault
    }
}

extension OriginProxies {
    /// Whether TLS is spoken with one of the proxies.
    package var areSecure: Bool { http?.kind == .https || https?.kind == .https }
}

/// A setting that names no proxy, and the reason. It contains neither user nor password.
package struct ProxyFault: Error, CustomStringConvertible {
    package let description: String

    package init(_ reason: String) { description = "the proxy cannot be read: \(reason)" }
}

extension Result where Success == Proxy?, Failure == ProxyFault {
    fileprivate var proxy: Proxy? { if case .success(let proxy) = self { proxy } else { nil } }

    fileprivate var failure: ProxyFault? { if case .failure(let fault) = self { fault } else { nil } }
}

/// A proxy for some hosts, which is tried before others.
package struct ListedProxy: Sendable {
    var proxy: Result<Proxy, ProxyFault>
    let allowsFailover: Bool
    /// Nil: all hosts.
    private let matching: ProxyExceptions?
    private let excluded: ProxyExceptions

    package init(
        _ proxy: Result<Proxy, ProxyFault>,
        allowsFailover: Bool,
        matching: ProxyExceptions?,
        excluded: ProxyExceptions
    ) {
        (self.proxy, self.allowsFailover, self.matching, self.excluded) = (proxy, allowsFailover, matching, excluded)
    }

    func applies(to host: String) -> Bool {
        !excluded.covers(host) && matching?.covers(host) != false
    }
}
