public import Foundation
internal import Synchronization

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
