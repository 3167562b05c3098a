internal import Foundation
internal import Synchronization

/// Which domains belong to nobody in particular, so that no one of those below may set cookies for all of them: `com`,
/// `co.uk`, `github.io`. The ``PublicSuffixList`` says so, or whoever sets ``HTTPCookieStorage/isPublicSuffix``.
enum PublicSuffixes {
    typealias Rule = @Sendable (_ domain: String) -> Bool

    private static let installed = Mutex<Rule?>(nil)

    static var rule: Rule? {
        get { installed.withLock { $0 } }
        set { installed.withLock { $0 = newValue } }
    }

    /// Names of one label always are: the default rule of the list is `*`. Asked in the canonical form, lower case and
    /// without a trailing dot.
    static func contains(_ domain: String) -> Bool {
        let domain = domain.hasSuffix(".") ? String(domain.dropLast()) : domain
        guard domain.utf8.contains(UInt8(ascii: ".")) else { return true }
        // Called outside of the lock: it is the user's.
        return rule.map { $0(domain) } ?? PublicSuffixList.contains(domain)
    }

    /// The same registrable domain.
    static func areSameSite(_ left: String, _ right: String) -> Bool {
        left == right || registrable(left) == registrable(right)
    }

    /// A name among those that a rule with a star takes for suffixes, and that is somebody's: `city.kobe.jp`.
    private static func isException(_ domain: Substring) -> Bool {
        rule == nil && PublicSuffixList.isException(String(domain))
    }

    /// The public suffix and the label before it; a host that is a public suffix stands for itself.
    static func registrable(_ host: String) -> Substring {
        var domain = host[...]
        while let dot = domain.firstIndex(of: ".") {
            let parent = domain[domain.index(after: dot)...]
            if parent.isEmpty || contains(String(parent)) || isException(domain) { return domain }
            domain = parent
        }
        return domain
    }
}
