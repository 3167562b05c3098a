internal import Foundation
internal import UncurlEngine

/// A proxy of `proxyConfigurations`, in the form that a session's loader needs.
struct ListedProxy: Sendable {
    var proxy: Result<Proxy, ProxyFault>
    let allowsFailover: Bool
    /// Nil: all hosts.
    private let matching: ProxyExceptions?
    private let excluded: ProxyExceptions

    init(_ configuration: ProxyConfiguration) {
        proxy = Result { () throws(ProxyFault) in try configuration.proxy() }
        allowsFailover = configuration.allowFailover
        let matching = configuration.matchDomains.filter { !$0.isEmpty }
        self.matching = matching.isEmpty ? nil : ProxyExceptions(domains: matching)
        excluded = ProxyExceptions(domains: configuration.excludedDomains)
    }

    func applies(to host: String) -> Bool {
        !excluded.covers(host) && matching?.covers(host) != false
    }
}

extension ProxyExceptions {
    /// Makes a list of names, with all names below them, addresses and networks. `*.example.com` counts as
    /// `example.com`.
    init(domains: [String]) {
        self.init(domains.map { $0.hasPrefix("*.") ? String($0.dropFirst(2)) : $0 }.joined(separator: ","))
    }
}
