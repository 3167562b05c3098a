internal import Foundation
internal import Synchronization

/// Which domains belong to nobody in particular, so that no one of those below may set cookies for all of them: `com`,
/// `co.uk`, `github.io`. The list changes weekly, so none is built in; who has one sets
/// ``HTTPCookieStorage/isPublicSuffix``.
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
        return rule?(domain) ?? false
    }

    /// With a rule: the same registrable domain. Without one, where siblings may be strangers: one is below the other.
    static func areSameSite(_ left: String, _ right: String) -> Bool {
        if left == right { return true }
        guard rule != nil else {
            return CookieScope.host(left, isBelow: right) && !contains(right)
                || CookieScope.host(right, isBelow: left) && !contains(left)
        }
        return registrable(left) == registrable(right)
    }

    /// The public suffix and the label before it; a host that is a public suffix stands for itself.
    private static func registrable(_ host: String) -> Substring {
        var domain = host[...]
        while let dot = domain.firstIndex(of: ".") {
            let parent = domain[domain.index(after: dot)...]
            if parent.isEmpty || contains(String(parent)) { return domain }
            domain = parent
        }
        return domain
    }
}
