public import Foundation
internal import Synchronization
internal import UncurlSemantics

/// Credentials by protection space. Any thread; notifications are posted on the caller's thread, with no lock held.
///
/// ``shared`` keeps permanent credentials in `$XDG_DATA_HOME/<program>/credentials` (mode 0600, passwords
/// unencrypted), where other processes of the program find them; setting or removing one of those blocks for a disk
/// write. All other storages, also those of ephemeral sessions, write nothing. A file that is damaged, or was edited by
/// hand, does not match its checksum: it counts as empty, a line on standard error says so, and the next change moves
/// it aside for a week, as `credentials.damaged`.
///
/// A session that uses a storage forgets what it knows by a credential as soon as the program replaces or removes it
/// here: answers to challenges, connections, tunnels, TLS sessions. A change of the file by another process does not
/// reach the sessions; see `URLSession.reset(completionHandler:)`.
///
/// Of the credentials that sessions add in memory, the newest 32 of a server are kept, and those of 1,024 servers: a
/// server may name a new realm in each challenge. What the program itself stores has no limit.
/// A credential is not stored if its user or its password has more than 128 combining marks in a row.
///
/// A subclass may keep credentials elsewhere, or choose which ones are stored. A session calls it by
/// ``getDefaultCredential(for:task:completionHandler:)`` and ``set(_:for:task:)``, one call after the other on a queue
/// of the session's own; a task that is challenged waits meanwhile.
open class URLCredentialStorage: NSObject, @unchecked Sendable {
    private let store: CredentialStore
    /// What to call after a change, by the sessions that use this storage.
    private let watchers = Mutex<[ObjectIdentifier: @Sendable (ProtectionSpaceValues) -> Void]>([:])

    private static let process = URLCredentialStorage(
        file: CredentialFile(path: StoreFile.dataDirectory + "/credentials")
    )

    /// The storage of the program, with a file for permanent credentials.
    open class var shared: URLCredentialStorage { process }

    /// Makes a storage that keeps everything in memory.
    public override init() {
        store = CredentialStore(file: nil)
    }

    init(file: CredentialFile?) {
        store = CredentialStore(file: file)
    }

    /// Returns the credentials of a space by user name; nil if there are none.
    open func credentials(for space: URLProtectionSpace) -> [String: URLCredential]? {
        store.credentials(for: space.space)?.mapValues(URLCredential.init)
    }

    /// All credentials, by space and then by user name.
    open var allCredentials: [URLProtectionSpace: [String: URLCredential]] {
        let all = store.all()
        return Dictionary(
            uniqueKeysWithValues: all.map { (URLProtectionSpace($0), $1.mapValues(URLCredential.init)) }
        )
    }

    /// Stores a credential in place of the one that the same user has in the space. Ignores one without persistence.
    open func set(_ credential: URLCredential, for space: URLProtectionSpace) {
        announce(store.set(credential.value, for: space.space, isDefault: false), space)
    }

    /// Stores a credential for a session. It may be left out later, for newer ones.
    final func add(_ credential: URLCredential, for space: URLProtectionSpace) {
        announce(store.set(credential.value, for: space.space, isDefault: false, isAdded: true))
    }

    /// Removes a credential if exactly this one is stored.
    open func remove(_ credential: URLCredential, for space: URLProtectionSpace) {
        remove(credential, for: space, options: [:])
    }

    /// Removes a credential. The only option is about synchronizable credentials, of which there are none.
    open func remove(
        _ credential: URLCredential,
        for space: URLProtectionSpace,
        options: [String: AnyObject]? = [:]
    ) {
        announce(store.remove(credential.value, for: space.space), space)
    }

    /// Returns the space's default: the credential that was set as default, or else was stored first. A default for
    /// ``NSURLAuthenticationMethodDefault`` also serves Basic and Digest.
    open func defaultCredential(for space: URLProtectionSpace) -> URLCredential? {
        store.defaultCredential(for: space.space).map(URLCredential.init)
    }

    /// Makes a credential the default of the space, and stores it.
    open func setDefaultCredential(_ credential: URLCredential, for space: URLProtectionSpace) {
        announce(store.set(credential.value, for: space.space, isDefault: true), space)
    }

    // MARK: With the task that a session asks for

    /// Gets the credentials of ``credentials(for:)``. The handler is called before this returns.
    open func getCredentials(
        for protectionSpace: URLProtectionSpace,
        task: URLSessionTask,
        completionHandler: ([String: URLCredential]?) -> Void
    ) {
        completionHandler(credentials(for: protectionSpace))
    }

    /// Does the same as ``set(_:for:)``.
    open func set(_ credential: URLCredential, for protectionSpace: URLProtectionSpace, task: URLSessionTask) {
        set(credential, for: protectionSpace)
    }

    /// Does the same as ``remove(_:for:options:)``.
    open func remove(
        _ credential: URLCredential,
        for protectionSpace: URLProtectionSpace,
        options: [String: AnyObject]? = [:],
        task: URLSessionTask
    ) {
        remove(credential, for: protectionSpace, options: options)
    }

    /// Gets the credential of ``defaultCredential(for:)``. The handler is called before this returns.
    open func getDefaultCredential(
        for space: URLProtectionSpace,
        task: URLSessionTask,
        completionHandler: (URLCredential?) -> Void
    ) {
        completionHandler(defaultCredential(for: space))
    }

    /// Does the same as ``setDefaultCredential(_:for:)``.
    open func setDefaultCredential(
        _ credential: URLCredential,
        for protectionSpace: URLProtectionSpace,
        task: URLSessionTask
    ) {
        setDefaultCredential(credential, for: protectionSpace)
    }

    /// Calls `call` with each space in which the program changes or removes a credential, on the caller's thread, until
    /// ``unwatch(_:)``.
    final func watch(_ watcher: AnyObject, _ call: @escaping @Sendable (ProtectionSpaceValues) -> Void) {
        watchers.withLock { $0[ObjectIdentifier(watcher)] = call }
    }

    final func unwatch(_ watcher: AnyObject) {
        watchers.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(watcher)) }
    }

    /// - Parameter space: where the program has changed something; nil for what a session has added.
    private func announce(_ isChanged: Bool, _ space: URLProtectionSpace? = nil) {
        guard isChanged else { return }
        if let space {
            for call in watchers.withLock({ Array($0.values) }) { call(space.space) }
        }
        NotificationCenter.default.post(name: .NSURLCredentialStorageChanged, object: self)
    }
}

/// The content of a ``URLCredentialStorage``: a table in memory and, for the shared one, its permanent part on disk.
/// Any thread.
final class CredentialStore: Sendable {
    /// What this process knows.
    private struct Known {
        /// The credentials of this process: all if there is no file, or else those for this session.
        var own = CredentialTable()
        /// Those of ``own`` that sessions have added.
        var added = AddedCredentials()
        /// The file's content when it was in the state ``seen``.
        var kept = CredentialTable()
        var seen: StoreFile.State?
        var hasLooked = false
        /// Why the last reading failed; nil if it did not.
        var failure: StoreFile.Fault?
    }

    /// The longest file that is read and written, in octets: some ten thousand credentials.
    static let longestFile = 4 << 20

    private let known = Mutex(Known())
    /// Held by the thread that makes a change, which may wait for the file's lock and for the disk. Readers wait for
    /// neither: a session reads on its loop.
    private let changing = Mutex(())
    private let file: CredentialFile?
    private let reportLine: @Sendable (String) -> Void

    /// - Parameters:
    ///   - file: the file; nil for a store in memory alone.
    ///   - report: called with a sentence on a file that cannot be read.
    init(file: CredentialFile?, report: @escaping @Sendable (String) -> Void = StoreFile.report) {
        self.file = file
        reportLine = report
    }

    /// Runs `body` with what is known, once the file was read if another process has changed it.
    private func read<Result: Sendable>(_ body: (Known) -> Result) -> Result {
        known.withLock { known in
            if let file { refresh(&known, file) }
            return body(known)
        }
    }

    private func refresh(_ known: inout Known, _ file: CredentialFile) {
        if !known.hasLooked { file.removeLeftovers() }
        known.hasLooked = true
        let state = file.state
        guard state != known.seen else { return }
        do throws(StoreFile.Fault) {
            known.kept = try file.table()
            (known.seen, known.failure) = (state, nil)
        } catch {
            // The program continues without the file's credentials: an unreadable file must not stop it. If the disk or
            // a lack of descriptors is the reason, what was known stays, and the next look reads again.
            if error == .damaged { (known.kept, known.seen) = (CredentialTable(), state) }
            if error != known.failure {
                let unread = "the credentials in \(file.path) cannot be read: \(error)"
                reportLine(error == .damaged ? file.damage : unread)
            }
            known.failure = error
        }
    }

    func credentials(for space: ProtectionSpaceValues) -> [String: Credential]? {
        read { known in
            guard let kept = known.kept.credentials(for: space) else { return known.own.credentials(for: space) }
            return kept.merging(known.own.credentials(for: space) ?? [:]) { _, session in session }
        }
    }

    func all() -> [ProtectionSpaceValues: [String: Credential]] {
        read { $0.kept.spaces.merging($0.own.spaces) { kept, session in kept.merging(session) { $1 } } }
    }

    /// Returns the default: the session's own first, then the file's.
    func defaultCredential(for space: ProtectionSpaceValues) -> Credential? {
        read { $0.own.defaultCredential(for: space) ?? $0.kept.defaultCredential(for: space) }
    }

    /// - Parameter isAdded: whether a session stores it, and not the program.
    /// - Returns: whether anything changed.
    func set(
        _ credential: Credential,
        for space: ProtectionSpaceValues,
        isDefault: Bool,
        isAdded: Bool = false
    ) -> Bool {
        let place = (space: space, name: credential.name)
        func set(in table: inout CredentialTable, isFirst: Bool) -> Bool {
            isDefault ? table.setDefault(credential, for: space) : table.set(credential, for: space, isFirst: isFirst)
        }
        return changing.withLock { _ in
            if credential.persistence == .permanent, credential.user != nil,
                // The next process knows only what the file holds, so its first credential is the default there.
                let isChanged = keep({ set(in: &$0, isFirst: $0.credentials(for: space) == nil) })
            {
                return known.withLock { known in
                    known.added.remove(place)
                    return known.own.yield(to: credential, for: space, isDefault: isDefault)
                } || isChanged
            }
            let isFirst = credentials(for: space) == nil
            return known.withLock { known in
                let isNew = known.own.credentials(for: space)?[place.name] == nil
                let isChanged = set(in: &known.own, isFirst: isFirst)
                if !isAdded {
                    known.added.remove(place)
                } else if isNew, isChanged {
                    for old in known.added.add(place) { known.own.removeUser(old.name, for: old.space) }
                }
                return isChanged
            }
        }
    }

    func remove(_ credential: Credential, for space: ProtectionSpaceValues) -> Bool {
        changing.withLock { _ in
            let isOwn = known.withLock { known in
                let isOwn = known.own.remove(credential, for: space)
                if isOwn { known.added.remove((space, credential.name)) }
                return isOwn
            }
            guard file != nil, credential.persistence == .permanent else { return isOwn }
            return keep { $0.remove(credential, for: space) } ?? false || isOwn
        }
    }

    /// Makes a change in the file.
    ///
    /// - Returns: whether anything changed; nil if there is no file, or if the disk refuses the change. Then the
    ///   process keeps it for itself, so that nothing is lost.
    private func keep(_ body: (inout CredentialTable) -> Bool) -> Bool? {
        guard let file else { return nil }
        var isChanged = false
        do throws(StoreFile.Fault) {
            let (table, state) = try file.update { isChanged = body(&$0) }
            known.withLock { ($0.kept, $0.seen) = (table, state) }
            return isChanged
        } catch {
            return nil
        }
    }
}

/// The credentials that sessions have added to a storage, by server, the oldest first. A server may name a new realm in
/// each challenge, so as many are kept as of the answers to them (``AuthorizationMemory``). Those that the program
/// stores itself have no limit.
struct AddedCredentials {
    /// A space, and the user of the credential in it.
    typealias Place = (space: ProtectionSpaceValues, name: String)

    private var places: [ProtectionSpaceValues: [Place]] = [:]
    /// The servers, the oldest first.
    private var servers: [ProtectionSpaceValues] = []

    /// Adds a place. Returns those that are left out for it.
    mutating func add(_ place: Place) -> [Place] {
        let server = place.space.server
        var old: [Place] = []
        if places[server] == nil {
            if servers.count == AuthorizationMemory.serverLimit {
                old = places.removeValue(forKey: servers.removeFirst()) ?? []
            }
            servers.append(server)
        }
        var own = places[server] ?? []
        if own.count == AuthorizationMemory.realmLimit { old.append(own.removeFirst()) }
        own.append(place)
        places[server] = own
        return old
    }

    /// Leaves out a place that the program itself has changed.
    mutating func remove(_ place: Place) { places[place.space.server]?.removeAll { $0 == place } }
}

extension ProtectionSpaceValues {
    /// What all spaces of the server have in common.
    fileprivate var server: ProtectionSpaceValues {
        ProtectionSpaceValues(host: host, port: port, side: side, realm: nil, method: nil)
    }
}

/// Credentials by space and user, and for some spaces the default, which is tried first.
struct CredentialTable: Equatable, Sendable {
    private(set) var spaces: [ProtectionSpaceValues: [String: Credential]] = [:]
    private(set) var defaults: [ProtectionSpaceValues: Credential] = [:]

    var isEmpty: Bool { spaces.isEmpty && defaults.isEmpty }

    func credentials(for space: ProtectionSpaceValues) -> [String: Credential]? { spaces[space] }

    /// Returns the credential that was set as the space's default, or else was its first; nil once that one has been
    /// removed. A space without a default falls back on the one stored for the same space with the default method.
    func defaultCredential(for space: ProtectionSpaceValues) -> Credential? {
        defaults[space] ?? (Self.passwordMethods.contains(space.method) ? defaults[space.forDefaultMethod] : nil)
    }

    /// The methods that the default method stands for.
    private static let passwordMethods: Set<String> = [
        NSURLAuthenticationMethodHTTPBasic, NSURLAuthenticationMethodHTTPDigest,
    ]

    /// - Parameter isFirst: whether no other is known for the space: then it becomes the default.
    /// - Returns: whether anything changed.
    mutating func set(_ credential: Credential, for space: ProtectionSpaceValues, isFirst: Bool) -> Bool {
        guard credential.isStorable, spaces[space]?[credential.name] != credential else { return false }
        spaces[space, default: [:]][credential.name] = credential
        // If the default's user gets another credential, that becomes the default.
        if isFirst || defaults[space]?.name == credential.name { defaults[space] = credential }
        return true
    }

    mutating func setDefault(_ credential: Credential, for space: ProtectionSpaceValues) -> Bool {
        guard credential.isStorable else { return false }
        let isNew = set(credential, for: space, isFirst: false)
        guard defaults[space] != credential else { return isNew }
        defaults[space] = credential
        return true
    }

    /// Makes way for a credential that another table keeps from here on: the same user's is removed.
    ///
    /// - Parameter isDefault: whether it is the default there.
    /// - Returns: whether anything changed.
    mutating func yield(to credential: Credential, for space: ProtectionSpaceValues, isDefault: Bool) -> Bool {
        let before = self
        spaces[space]?[credential.name] = nil
        if spaces[space]?.isEmpty == true { spaces[space] = nil }
        if isDefault {
            defaults[space] = nil
        } else if defaults[space]?.name == credential.name {
            defaults[space] = credential
        }
        return self != before
    }

    /// Removes a user's credential, whatever it is.
    mutating func removeUser(_ name: String, for space: ProtectionSpaceValues) {
        if let credential = spaces[space]?[name] { _ = remove(credential, for: space) }
    }

    mutating func remove(_ credential: Credential, for space: ProtectionSpaceValues) -> Bool {
        var isChanged = false
        if spaces[space]?[credential.name] == credential {
            spaces[space]?[credential.name] = nil
            if spaces[space]?.isEmpty == true { spaces[space] = nil }
            isChanged = true
        }
        if defaults[space] == credential {
            defaults[space] = nil
            isChanged = true
        }
        return isChanged
    }
}
