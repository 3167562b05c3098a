internal import Foundation
internal import Synchronization
internal import UncurlEngine
internal import UncurlSemantics

extension CookieScope {
    init(_ url: HTTPURL) {
        let isAddress =
            switch url.host {
            case .name: false
            case .v4, .v6: true
            }
        self.init(
            host: url.origin.host,
            isAddress: isAddress,
            port: url.port,
            target: url.target,
            isSecure: url.scheme == .https
        )
    }

    /// Makes the scope of a URL; nil for one without a host. A host that no name service would take is compared as it
    /// is.
    init?(_ url: URL) {
        guard let text = url.host(percentEncoded: true), !text.isEmpty else { return nil }
        let scheme = url.scheme?.lowercased()
        let isSecure = scheme == "https" || scheme == "wss"
        let port = url.port.flatMap { UInt16(exactly: $0) } ?? (isSecure ? 443 : 80)
        let target = url.path(percentEncoded: true)
        let (host, isAddress) = Self.host(text)
        self.init(host: host, isAddress: isAddress, port: port, target: target, isSecure: isSecure)
    }

    private static func host(_ text: String) -> (String, isAddress: Bool) {
        switch try? URLHost(text) {
        case .name(let name): (name, false)
        case .v4, .v6: ((try? Origin(host: text))?.host ?? text, true)
        case nil: (text.lowercased(), false)
        }
    }

    /// Whether a load of this URL is part of its document's own site. A load without a document is.
    func isSameSite(as document: URL?) -> Bool {
        guard let document, let other = CookieScope(document), other.host != host else { return true }
        return isSameSite(as: other, suffixes: .installed)
    }
}

extension PublicSuffixes {
    private static let rule = Mutex<Rule?>(nil)

    /// The rule that the program has set in place of the list (``HTTPCookieStorage/isPublicSuffix``).
    static var installedRule: Rule? {
        get { rule.withLock { $0 } }
        set { rule.withLock { $0 = newValue } }
    }

    /// The public suffixes by the program's rule, or else by the list.
    static var installed: PublicSuffixes { PublicSuffixes(installedRule) }
}
