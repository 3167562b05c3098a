public import Foundation
internal import HTTPEngine
internal import HTTPSemantics
internal import Synchronization

/// Where cookies are kept. Safe on every thread.
///
/// ``shared`` and those of groups are files under `XDG_DATA_HOME` (`~/.local/share` without it), in a folder named
/// after the program: only their owner may read them, a crash leaves the old content or the new, and several processes
/// may share one, each seeing within a second what the others keep. Cookies without a date live as long as the process.
/// A file that is damaged, or was edited by hand, does not match the checksum in it: it holds nothing, a line on
/// standard error says so, and the next change puts it aside for a week, under its name with `.damaged` behind it.
///
/// A storage keeps at most 180 cookies a domain and 3000 in all. Beyond that the expired ones go first, and then those
/// that were not used for the longest time.
open class HTTPCookieStorage: NSObject, @unchecked Sendable {
    let store: CookieStore

    init(store: CookieStore) {
        self.store = store
        super.init()
        store.whenChanged { [weak self] in
            guard let self else { return }
            NotificationCenter.default.post(name: .NSHTTPCookieManagerCookiesChanged, object: self)
        }
    }

    /// In memory alone.
    static func ephemeral() -> HTTPCookieStorage {
        HTTPCookieStorage(store: CookieStore(file: nil))
    }

    private static let process = HTTPCookieStorage(
        store: CookieStores.open(CookieStores.sharedPath, writesFirstAtOnce: true)
    )
    private static let groups = Mutex<[String: HTTPCookieStorage]>([:])

    /// The storage of this program.
    open class var shared: HTTPCookieStorage { process }

    /// The one of a group of programs: the same for the same identifier, in every process of the user.
    open class func sharedCookieStorage(forGroupContainerIdentifier identifier: String) -> HTTPCookieStorage {
        groups.withLock { groups in
            if let storage = groups[identifier] { return storage }
            let path = CookieStores.path(ofGroup: identifier)
            let storage = HTTPCookieStorage(store: CookieStores.open(path))
            groups[identifier] = storage
            return storage
        }
    }

    /// Says whether a domain is a public suffix: one below which anybody may register names (`co.uk`, `github.io`). No
    /// server may set a cookie for a public suffix. Nil, the default: the list of publicsuffix.org decides, of which a
    /// snapshot is built in (``publicSuffixVersion``). If a rule is set, it decides alone.
    ///
    /// A rule is asked for domains in lower case, without dots at their ends; on any thread, so it must be quick. It is
    /// for every storage of the process. Names of one label, like `com`, always are public suffixes.
    ///
    /// Two hosts are of one site (``HTTPCookie/AcceptPolicy/onlyFromMainDocumentDomain``, `SameSite`) when they share
    /// the label before the suffix.
    public static var isPublicSuffix: (@Sendable (_ domain: String) -> Bool)? {
        get { PublicSuffixes.installedRule }
        set { PublicSuffixes.installedRule = newValue }
    }

    /// When the list of public suffixes was made that is built in, as the list says itself: "2026-10-22_08-36-41_UTC".
    public static var publicSuffixVersion: String { PublicSuffixList.version }

    /// Which cookies are taken: ``HTTPCookie/AcceptPolicy/always`` at first. A session's configuration may be stricter.
    open var cookieAcceptPolicy: HTTPCookie.AcceptPolicy {
        get { store.policy }
        set {
            guard store.policy != newValue else { return }
            store.policy = newValue
            NotificationCenter.default.post(name: .NSHTTPCookieManagerAcceptPolicyChanged, object: self)
        }
    }

    /// All cookies that have not expired, in no order.
    open var cookies: [HTTPCookie]? { store.all().map(Self.cookie) }

    /// All cookies that have not expired, sorted.
    open func sortedCookies(using sortOrder: [NSSortDescriptor]) -> [HTTPCookie] {
        let cookies = NSArray(array: store.all().map(Self.cookie))
        return cookies.sortedArray(using: sortOrder).compactMap { $0 as? HTTPCookie }
    }

    /// The cookies that a request for the URL would carry, in the order of the request: longer paths first, then older
    /// cookies. Nil for a URL without a host.
    open func cookies(for url: URL) -> [HTTPCookie]? {
        CookieScope(url).map { store.entries(for: $0, isSameSite: true).map(Self.cookie) }
    }

    /// Keeps a cookie in place of the one of its name, domain and path; one that has expired only removes that. The
    /// program is asked nothing about it but the accept policy `never`.
    open func setCookie(_ cookie: HTTPCookie) {
        if store.set(cookie.cookie, created: cookie.created) { tellOfChange() }
    }

    /// Keeps those that the URL may set, as if they had come from it: their domain must be its host or a parent,
    /// secure ones must come by https, and the accept policy is asked. Without a URL, nothing.
    open func setCookies(_ cookies: [HTTPCookie], for url: URL?, mainDocumentURL: URL?) {
        guard let url, let scope = CookieScope(url) else { return }
        if store.store(cookies.map(\.cookie), from: scope, document: mainDocumentURL, policy: .always) {
            tellOfChange()
        }
    }

    /// ``setCookies(_:for:mainDocumentURL:)`` with the URL and the main document of the task's current request.
    open func storeCookies(_ cookies: [HTTPCookie], for task: URLSessionTask) {
        let request = task.currentRequest
        setCookies(cookies, for: request?.url, mainDocumentURL: request?.mainDocumentURL)
    }

    /// The cookies that the task's current request would carry, its main document considered; nil without a URL.
    /// Answers before it returns, on the caller's thread.
    open func getCookiesFor(_ task: URLSessionTask, completionHandler: @escaping @Sendable ([HTTPCookie]?) -> Void) {
        let request = task.currentRequest
        let scope = request?.url.flatMap { CookieScope($0) }
        completionHandler(
            scope.map { scope in
                let isSameSite = scope.isSameSite(as: request?.mainDocumentURL)
                return store.entries(for: scope, isSameSite: isSameSite).map(Self.cookie)
            }
        )
    }

    /// Removes the cookie of that name, domain and path, whatever its value.
    open func deleteCookie(_ cookie: HTTPCookie) {
        if store.remove(cookie.cookie.key) { tellOfChange() }
    }

    /// Removes those that were made after the date.
    open func removeCookies(since date: Date) {
        if store.remove(since: date.timeIntervalSince1970) { tellOfChange() }
    }

    open override var description: String {
        "\(store.isEphemeral ? "Ephemeral" : "")<NSHTTPCookieStorage cookies count:\(store.all().count)>"
    }

    private func tellOfChange() {
        NotificationCenter.default.post(name: .NSHTTPCookieManagerCookiesChanged, object: self)
    }

    private static func cookie(_ entry: CookieJar.Entry) -> HTTPCookie {
        HTTPCookie(entry.cookie, created: entry.creation)
    }

    /// Writes to disk what is not there yet, and returns once it is.
    func flush() { store.flush() }
}

extension Notification.Name {
    /// The cookies of the storage in `object` are others now. Posted on the thread of the change, or on one of the
    /// storage's own for what came from the network or another process.
    public static let NSHTTPCookieManagerCookiesChanged = Notification.Name(
        rawValue: "NSHTTPCookieManagerCookiesChangedNotification"
    )

    /// The accept policy of the storage in `object` is another now.
    public static let NSHTTPCookieManagerAcceptPolicyChanged = Notification.Name(
        rawValue: "NSHTTPCookieManagerAcceptPolicyChangedNotification"
    )
}
