public import Foundation
internal import Synchronization
internal import UncurlEngine
internal import UncurlLibC
internal import UncurlSemantics

/// A store for cookies. Any thread.
///
/// ``shared`` and the storages of groups are files under `XDG_DATA_HOME` (`~/.local/share` without it), in a folder
/// named after the program. Only their owner may read them, and a crash leaves the old content or the new. Several
/// processes may share a file; each sees within a second what the others store. Cookies without a date live as long as
/// the process. A file that is damaged, or was edited by hand, does not match its checksum: it counts as empty, a line
/// on standard error says so, and the next change moves it aside for a week, under its name with `.damaged` appended.
///
/// A storage keeps at most 180 cookies for each domain and 3000 in all. Beyond that, expired cookies are removed first,
/// then a domain's cookies without `Secure`, and then those that were not used for the longest time.
///
/// A subclass may keep cookies elsewhere, or choose which ones are stored. A session calls it by the methods that take
/// a task, one call after the other on a queue of the session's own, and the task waits meanwhile. Unless they are
/// overridden, these call ``cookies(for:)-(URL)`` and ``setCookies(_:for:mainDocumentURL:)``.
open class HTTPCookieStorage: NSObject, @unchecked Sendable {
    let store: CookieStore

    /// Makes a storage in memory alone.
    public override init() {
        store = CookieStore(file: nil)
        super.init()
        observeStore()
    }

    init(store: CookieStore) {
        self.store = store
        super.init()
        observeStore()
    }

    private func observeStore() {
        store.whenChanged { [weak self] in self?.tellOfChange() }
    }

    private static let process = HTTPCookieStorage(
        store: CookieStore.open(CookieStore.sharedPath, writesFirstAtOnce: true)
    )
    private static let groups = Mutex<[String: HTTPCookieStorage]>([:])

    /// The storage of this program.
    open class var shared: HTTPCookieStorage { process }

    /// Returns the storage of a group of programs: the same for the same identifier, in every process of the user.
    open class func sharedCookieStorage(forGroupContainerIdentifier identifier: String) -> HTTPCookieStorage {
        groups.withLock { groups in
            if let storage = groups[identifier] { return storage }
            let path = CookieStore.path(ofGroup: identifier)
            let storage = HTTPCookieStorage(store: CookieStore.open(path))
            groups[identifier] = storage
            return storage
        }
    }

    /// The program's rule for public suffixes: domains below which anybody may register names (`co.uk`, `github.io`).
    /// No server may set a cookie for a public suffix. Nil, the default: the list of publicsuffix.org decides, of which
    /// a snapshot is built in (``publicSuffixVersion``). If a rule is set, it alone decides.
    ///
    /// The rule is called with domains in lower case, without dots at their ends. It is called on any thread, so it
    /// must be quick. It applies to every storage of the process. Names of one label, like `com`, always are public
    /// suffixes.
    ///
    /// Two hosts are of the same site (``HTTPCookie/AcceptPolicy/onlyFromMainDocumentDomain``, `SameSite`) if they
    /// share the label before the suffix.
    public static var isPublicSuffix: (@Sendable (_ domain: String) -> Bool)? {
        get { PublicSuffixes.installedRule }
        set { PublicSuffixes.installedRule = newValue }
    }

    /// When the built-in list of public suffixes was made, in the list's own words: "2026-10-22_08-36-41_UTC".
    public static var publicSuffixVersion: String { PublicSuffixes.version }

    /// Which cookies are taken; ``HTTPCookie/AcceptPolicy/always`` by default. A session's configuration may be
    /// stricter.
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

    /// Returns all cookies that have not expired, sorted.
    open func sortedCookies(using sortOrder: [NSSortDescriptor]) -> [HTTPCookie] {
        let cookies = NSArray(array: store.all().map(Self.cookie))
        return cookies.sortedArray(using: sortOrder).compactMap { $0 as? HTTPCookie }
    }

    /// Returns the cookies that a request for the URL would carry, in the request's order: longer paths first, then
    /// older cookies. Nil for a URL without a host.
    open func cookies(for url: URL) -> [HTTPCookie]? {
        CookieScope(url).map { store.entries(for: $0, isSameSite: true).map(Self.cookie) }
    }

    /// Stores a cookie in place of the one with its name, domain and path; an expired cookie only removes that one. Of
    /// all rules only the accept policy `never` applies to cookies that a program sets.
    open func setCookie(_ cookie: HTTPCookie) {
        if store.set(cookie.cookie, created: cookie.created) { tellOfChange() }
    }

    /// Stores the cookies that the URL may set, as if they had come from it: their domain must be its host or a parent,
    /// secure ones must come by https, and the accept policy applies. Without a URL it does nothing.
    open func setCookies(_ cookies: [HTTPCookie], for url: URL?, mainDocumentURL: URL?) {
        guard let url, let scope = CookieScope(url) else { return }
        if store.store(
            cookies.map(\.cookie),
            from: scope,
            document: mainDocumentURL.flatMap { CookieScope($0) },
            policy: .always
        ) {
            tellOfChange()
        }
    }

    /// Calls ``setCookies(_:for:mainDocumentURL:)`` with the URL and the main document of the task's current request.
    open func storeCookies(_ cookies: [HTTPCookie], for task: URLSessionTask) {
        let request = task.currentRequest
        setCookies(cookies, for: request?.url, mainDocumentURL: request?.mainDocumentURL)
    }

    /// Gets the cookies that the task's current request would carry: those of ``cookies(for:)-(URL)``, except those
    /// that `SameSite` excludes because of its main document. Nil without a URL. The handler is called before this
    /// returns, on the caller's thread.
    open func getCookiesFor(_ task: URLSessionTask, completionHandler: @escaping @Sendable ([HTTPCookie]?) -> Void) {
        completionHandler(task.currentRequest.flatMap { cookies(sentWith: $0) })
    }

    /// Returns the cookies for a request, except those that `SameSite` excludes because of its main document. Nil
    /// without a URL.
    package func cookies(sentWith request: URLRequest) -> [HTTPCookie]? {
        guard let url = request.url, let scope = CookieScope(url) else { return nil }
        let isSameSite = scope.isSameSite(as: request.mainDocumentURL.flatMap { CookieScope($0) })
        return cookies(for: url)?.filter { isSameSite || $0.sameSitePolicy == nil }
    }

    /// Removes the cookie of that name, domain and path, whatever its value.
    open func deleteCookie(_ cookie: HTTPCookie) {
        if store.remove(cookie.cookie.key) { tellOfChange() }
    }

    /// Removes the cookies that were made after the date.
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

    /// Writes what is not on disk yet, and returns once it is.
    func flush() { store.flush() }
}

extension Notification.Name {
    /// The cookies of the storage in `object` have changed. It is posted on the thread of the change, or on a thread of
    /// Dispatch for changes from the network or another process.
    public static let NSHTTPCookieManagerCookiesChanged = Notification.Name(
        rawValue: "NSHTTPCookieManagerCookiesChangedNotification"
    )

    /// The accept policy of the storage in `object` has changed.
    public static let NSHTTPCookieManagerAcceptPolicyChanged = Notification.Name(
        rawValue: "NSHTTPCookieManagerAcceptPolicyChangedNotification"
    )
}
