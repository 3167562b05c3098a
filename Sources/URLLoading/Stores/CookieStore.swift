internal import Dispatch
internal import Foundation
internal import Synchronization
internal import UncurlClient
internal import UncurlEngine
internal import UncurlLibC
internal import UncurlReactor
internal import UncurlSemantics

/// A cookie jar that threads share, in memory or on disk. The rules are ``CookieJar``'s and ``Cookie``'s.
///
/// The store writes changes on a queue of its own, those of a tenth of a second together, and when the process exits.
/// Changes that another process wrote meanwhile are read first, and ours are applied to them. No code of the program's
/// is called under the lock.
final class CookieStore: Sendable {
    private struct State {
        var jar: CookieJar
        var policy = HTTPCookie.AcceptPolicy.always
        var isLoaded: Bool
        /// The file as it was last read or written.
        var fileState: StoreFile?
        /// The file as it was found damaged.
        var damagedState: StoreFile?
        var isFlushPlanned = false
        /// When the file was last looked at, in seconds since 1970.
        var lastLook = 0.0
        var failure: Errno?
    }

    /// The longest file that is read, in octets: four times what a full jar of the largest cookies takes.
    static let longestFile = 64 << 20
    private static let writeDelay = DispatchTimeInterval.milliseconds(100)
    /// How old, in seconds, the known state of the file may be.
    private static let lookInterval = 1.0
    /// How long to wait for another process that writes the file.
    private static let lockLimit = Duration.seconds(1)
    static let exitLockLimit = Duration.milliseconds(500)

    private let state: Mutex<State>
    private let file: CookieFile?
    /// The queue of a store with a file: the file is read and written here alone, except for the first reading.
    private let queue: DispatchQueue?
    private struct Observer {
        /// What to call after changes.
        var body: (@Sendable () -> Void)?
        /// Whether a call is already on its way.
        var isOnItsWay = false
    }

    private let observer = Mutex(Observer())

    private let writesFirstAtOnce: Bool
    private let reportLine: @Sendable (String) -> Void

    /// - Parameters:
    ///   - file: the file; nil for a store in memory alone.
    ///   - writesFirstAtOnce: whether to write the program's first cookie at once if there is no file yet.
    ///   - report: called with a sentence on a file that cannot be read or written.
    init(
        file: CookieFile?,
        writesFirstAtOnce: Bool = false,
        report: @escaping @Sendable (String) -> Void = StoreFile.report
    ) {
        self.file = file
        self.writesFirstAtOnce = writesFirstAtOnce
        reportLine = report
        queue = file.map { _ in DispatchQueue(label: "uncurl.cookies") }
        state = Mutex(State(jar: CookieJar(recordsChanges: file != nil), isLoaded: file == nil))
    }

    static var now: Double { Date().timeIntervalSince1970 }

    var isEphemeral: Bool { file == nil }

    /// Why the last reading or writing of the file failed; nil if it did not.
    var failure: Errno? { state.withLock { $0.failure } }

    var policy: HTTPCookie.AcceptPolicy {
        get { state.withLock { $0.policy } }
        set { state.withLock { $0.policy = newValue } }
    }

    /// Sets the observer. It is called after changes that no call of the program has made: changes from the network or
    /// from another process.
    func whenChanged(_ body: @escaping @Sendable () -> Void) {
        observer.withLock { $0.body = body }
    }

    // MARK: Reading

    func all() -> [CookieJar.Entry] {
        lookAtFile()
        return withJar { jar, now in jar.all(at: now) }
    }

    func entries(for scope: CookieScope, isSameSite: Bool) -> [CookieJar.Entry] {
        lookAtFile()
        return withJar { jar, now in jar.take(for: scope, isSameSite: isSameSite, now: now) }
    }

    /// Returns the Cookie field for the loader. It never waits for the file, except the first time.
    func header(for scope: CookieScope, document: CookieScope?) -> [UInt8]? {
        // This is computed outside of the lock: the public-suffix rule is the program's code.
        let isSameSite = scope.isSameSite(as: document)
        var isOld = false
        let header = withJar { jar, now in
            jar.octets(for: scope, isSameSite: isSameSite, now: now)
        } also: { state, now in
            isOld = file != nil && !(0..<Self.lookInterval).contains(now - state.lastLook)
            if isOld { state.lastLook = now }
        }
        if isOld { queue?.async { self.exchange(Self.lockLimit) } }
        return header
    }

    // MARK: Changing

    /// Stores the cookies in a response's Set-Cookie fields. The observer is called on another thread.
    ///
    /// - Parameter policy: the session's policy; the store's own applies too.
    func store(
        setCookieLines lines: [ArraySlice<UInt8>],
        from scope: CookieScope,
        document: CookieScope?,
        policy: HTTPCookie.AcceptPolicy
    ) {
        guard !lines.isEmpty else { return }
        let cookies = Self.cookies(in: lines, from: scope)
        if store(cookies, from: scope, document: document, policy: policy) { notifyLater() }
    }

    /// The store for a session's loads, with the session's policy.
    func serving(_ policy: HTTPCookie.AcceptPolicy) -> ClientSettings.Cookies {
        (
            { self.header(for: $0, document: $1) },
            { self.store(setCookieLines: $0, from: $1, document: $2, policy: policy) }
        )
    }

    /// Returns the cookies in a response's Set-Cookie fields, whether or not its server may set them.
    static func cookies(in lines: [ArraySlice<UInt8>], from scope: CookieScope) -> [Cookie] {
        let now = CookieStore.now
        return lines.prefix(maximumLines).compactMap(SetCookieLine.init(octets:)).map {
            $0.cookie(from: scope, now: now)
        }
    }

    /// The most Set-Cookie lines of one response that are read, as in curl.
    private static let maximumLines = 50

    /// Stores what a server sent. `policy` is the session's; the stricter of it and the store's own applies.
    func store(
        _ cookies: [Cookie],
        from scope: CookieScope,
        document: CookieScope?,
        policy: HTTPCookie.AcceptPolicy
    ) -> Bool {
        let admitted = Self.admitted(cookies, from: scope, document: document, by: [policy, self.policy])
        guard !admitted.isEmpty else { return false }
        return change { jar, now in
            var isChanged = false
            for (index, cookie) in admitted.enumerated() where scope.isSecure || !jar.overlaysSecure(cookie) {
                // Cookies of one response get different ages too; otherwise their order would be lost.
                let creation = now + Double(index) * 1e-6
                if jar.set(cookie, creation: creation, now: now) { isChanged = true }
                jar.evict(after: cookie.domain, now: now)
            }
            return isChanged
        }
    }

    /// Returns those cookies that their server may set and that all the policies take.
    static func admitted(
        _ cookies: [Cookie],
        from scope: CookieScope,
        document: CookieScope?,
        by policies: [HTTPCookie.AcceptPolicy]
    ) -> [Cookie] {
        let isSameSite = scope.isSameSite(as: document)
        for policy in policies {
            switch policy {
            case .always: break
            case .never: return []
            case .onlyFromMainDocumentDomain: if !isSameSite { return [] }
            }
        }
        let suffixes = PublicSuffixes.installed
        return cookies.compactMap {
            $0.admitted(from: scope, isSameSite: isSameSite, suffixes: suffixes)
        }
    }

    /// Stores a cookie for the program itself.
    func set(_ cookie: Cookie, created: Double) -> Bool {
        guard policy != .never else { return false }
        let isChanged = change { jar, now in
            let isChanged = jar.set(cookie, creation: created, now: now)
            jar.evict(after: cookie.domain, now: now)
            return isChanged
        }
        // As in FoundationNetworking, the file is written with the first cookie. If it cannot be written, that is not
        // tried again for each cookie.
        if writesFirstAtOnce, state.withLock({ $0.fileState == nil && $0.failure == nil }) { flush() }
        return isChanged
    }

    func remove(_ key: Cookie.Key) -> Bool {
        change { jar, _ in jar.remove(key) }
    }

    /// Removes the cookies made after that time, in seconds since 1970.
    func remove(since time: Double) -> Bool {
        lookAtFile()
        return change { jar, _ in jar.removeAll { $0.creation > time } }
    }

    private func change(_ body: (inout CookieJar, Double) -> Bool) -> Bool {
        let isChanged = withJar(body)
        planFlush()
        return isChanged
    }

    private func planFlush() {
        let isNeeded = state.withLock { state in
            guard !state.isFlushPlanned, !state.jar.changes.isEmpty else { return false }
            state.isFlushPlanned = true
            return true
        }
        if isNeeded { queue?.asyncAfter(deadline: .now() + Self.writeDelay) { self.exchange(Self.lockLimit) } }
    }

    private func withJar<Value>(
        _ body: (inout CookieJar, Double) -> Value,
        also: (inout State, Double) -> Void = { _, _ in }
    ) -> Value {
        let now = Self.now
        return state.withLock { state in
            if !state.isLoaded { load(&state, now) }
            let value = body(&state.jar, now)
            also(&state, now)
            return value
        }
    }

    // MARK: The file

    /// Writes our changes, and reads those of other processes, before it returns.
    func flush(upTo limit: Duration = lockLimit) {
        queue?.sync { exchange(limit) }
    }

    private func load(_ state: inout State, _ now: Double) {
        state.isLoaded = true
        state.lastLook = now
        guard let file else { return }
        file.removeLeftovers()
        // The state is read first: if another file takes this one's place meanwhile, that is read the next time.
        let seen = file.state
        do throws(Errno) {
            let entries = try seen.flatMap { _ throws(Errno) in try file.read() } ?? []
            state.fileState = seen
            _ = state.jar.adopt(entries, except: [], now: now)
        } catch {
            state.failure = error
            // A file that could not be read is not known: it is read again before it is replaced.
            if error == StoreFile.damage { (state.fileState, state.damagedState) = (seen, seen) }
            report(error)
        }
    }

    /// Reads the file if another process has changed it.
    private func lookAtFile() {
        guard let file else { return }
        let isCurrent = state.withLock { !$0.isLoaded || $0.fileState == file.state }
        if !isCurrent { flush() }
    }

    /// Reads the file if it is not the one last seen, and writes it if anything was changed here. Runs on the queue,
    /// one at a time.
    private func exchange(_ limit: Duration) {
        guard let file else { return }
        let (isLoaded, mine, known) = state.withLock { state in
            state.isFlushPlanned = false
            return (state.isLoaded, state.jar.takeChanges(), state.fileState)
        }
        guard isLoaded, !mine.isEmpty || file.state != known else { return }
        do throws(Errno) {
            if mine.isEmpty {
                try adopt(file, except: mine, known)
            } else {
                try file.locked(upTo: limit) { () throws(Errno) in
                    try adopt(file, except: mine, known)
                    let now = Self.now
                    let (entries, damaged) = state.withLock { state in
                        (state.jar.all(at: now).filter(\.cookie.isPersistent), state.damagedState)
                    }
                    if let damaged, file.state == damaged { file.setAside() }
                    let written = try file.write(entries)
                    state.withLock { $0.fileState = written }
                }
            }
            state.withLock { $0.failure = nil }
        } catch {
            let isNew = state.withLock { state in
                defer { state.failure = error }
                state.jar.restoreChanges(mine)
                return state.failure != error
            }
            if isNew { report(error) }
            // Other failures do not pass by themselves: the next change tries again.
            if error == .busy { planFlush() }
        }
    }

    private func adopt(
        _ file: CookieFile,
        except mine: Set<Cookie.Key>,
        _ known: StoreFile?
    ) throws(Errno) {
        // A file that is gone changes nothing.
        guard let found = file.state, found != known else { return }
        let entries: [CookieJar.Entry]
        do throws(Errno) {
            entries = try file.read() ?? []
        } catch StoreFile.damage {
            // The file's content is lost; our cookies need not be.
            state.withLock { ($0.fileState, $0.damagedState) = (found, found) }
            report(StoreFile.damage)
            return
        }
        let now = Self.now
        let isChanged = state.withLock { state in
            state.fileState = found
            return state.jar.adopt(entries, except: mine, now: now)
        }
        if isChanged { notifyLater() }
    }

    private func report(_ failure: Errno) {
        guard let file else { return }
        reportLine(
            failure == StoreFile.damage
                ? file.damage : "the cookies in \(file.path) could not be kept: \(failure.words)"
        )
    }

    /// Calls the observer on a global queue: on a loop it would hold up the loop, and on the store's queue it might
    /// wait for itself. Changes in close succession cause one call.
    func notifyLater() {
        let isNeeded = observer.withLock { observer in
            defer { observer.isOnItsWay = observer.body != nil }
            return observer.body != nil && !observer.isOnItsWay
        }
        guard isNeeded else { return }
        DispatchQueue.global().async {
            let body = self.observer.withLock { observer in
                observer.isOnItsWay = false
                return observer.body
            }
            body?()
        }
    }
}

/// The stores on disk of this process, one for each file.
extension CookieStore {
    private static let opened = Mutex<[CookieStore]>([])

    /// Opens the store of a file. It is written for the last time when the process exits.
    static func open(_ path: String, writesFirstAtOnce: Bool = false) -> CookieStore {
        let store = CookieStore(file: CookieFile(path: path), writesFirstAtOnce: writesFirstAtOnce)
        let isFirst = opened.withLock { stores in
            stores.append(store)
            return stores.count == 1
        }
        guard isFirst else { return store }
        atexit {
            for store in CookieStore.opened.withLock({ $0 }) { store.flush(upTo: CookieStore.exitLockLimit) }
        }
        return store
    }

    static var sharedPath: String { sharedPath(ofBundle: Bundle.main.bundlePath) }

    /// Returns the path of FoundationNetworking's shared storage for a bundle's path, which is that of the executable's
    /// folder. The storage's folder has the bundle's name without its extension.
    static func sharedPath(ofBundle path: String) -> String {
        let name = path.split(separator: "/").last ?? ""
        return StoreFile.data(of: String(name[..<(name.lastIndex(of: ".") ?? name.endIndex)]))
            + "/.cookies.shared"
    }

    /// Returns the path of a group's storage, in a folder that all programs find.
    static func path(ofGroup identifier: String) -> String {
        StoreFile.data(of: name(identifier)) + "/cookies.group"
    }

    /// Returns a name for one folder, whatever the identifier holds: never "..", and different for different
    /// identifiers.
    private static func name(_ identifier: String) -> String {
        let allowed = CharacterSet.alphanumerics.union(CharacterSet(charactersIn: "-_."))
        let name = identifier.addingPercentEncoding(withAllowedCharacters: allowed) ?? ""
        return name.allSatisfy { $0 == "." } ? "%" + name : name
    }
}

extension CookieScope {
    /// Makes the scope of a URL; nil for one without a host. A host that no name service would take is compared as it
    /// is.
    init?(_ url: URL) {
        guard let text = url.host(percentEncoded: true), !text.isEmpty else { return nil }
        let scheme = url.scheme?.lowercased()
        let isSecure = scheme == "https" || scheme == "wss"
        let port = url.port.flatMap { UInt16(exactly: $0) } ?? (isSecure ? 443 : 80)
        let target = url.path(percentEncoded: true)
        let host = try? URLHost(text)
        self.init(
            host: host?.bare ?? text.lowercased(),
            isAddress: host?.isAddress ?? false,
            port: port,
            target: target,
            isSecure: isSecure
        )
    }

    /// Whether a load of this URL is part of its document's own site. A load without a document is.
    func isSameSite(as document: CookieScope?) -> Bool {
        guard let document, document.host != host else { return true }
        return isSameSite(as: document, suffixes: .installed)
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
