public import Foundation
internal import Synchronization

/// Credentials by protection space. Any thread; notifications are posted on the caller's, with no lock held.
///
/// ``shared`` keeps permanent credentials in `$XDG_DATA_HOME/<program>/credentials.json` (mode 0600, passwords as they
/// are), where other processes of the program find them; setting or removing one of those blocks for a disk write.
/// Every other storage, and that of ephemeral sessions, writes nothing. A file that is damaged, or was edited by hand,
/// does not match the checksum in it: it holds nothing, a line on standard error says so, and the next change puts it
/// aside for a week, as `credentials.json.damaged`.
open class URLCredentialStorage: NSObject, @unchecked Sendable {
    private let store: Mutex<CredentialStore>

    private static let process = URLCredentialStorage(
        file: CredentialFile(path: StoreDirectories.data + "/credentials.json")
    )

    /// The one of the program, with a file for permanent credentials.
    open class var shared: URLCredentialStorage { process }

    /// One that keeps everything in memory.
    public override init() {
        store = Mutex(CredentialStore(file: nil))
    }

    init(file: CredentialFile?) {
        store = Mutex(CredentialStore(file: file))
    }

    /// By user name; nil if there are none.
    open func credentials(for space: URLProtectionSpace) -> [String: URLCredential]? {
        store.withLock { $0.credentials(for: space.space) }?.mapValues(URLCredential.init)
    }

    /// By space, then by user name.
    open var allCredentials: [URLProtectionSpace: [String: URLCredential]] {
        let all = store.withLock { $0.all() }
        return Dictionary(
            uniqueKeysWithValues: all.map { (URLProtectionSpace($0), $1.mapValues(URLCredential.init)) }
        )
    }

    /// Replaces the credential that the same user has in the space. Credentials without persistence are not stored.
    open func set(_ credential: URLCredential, for space: URLProtectionSpace) {
        change { $0.set(credential.value, for: space.space, isDefault: false) }
    }

    /// Removes it if it is there just like this.
    open func remove(_ credential: URLCredential, for space: URLProtectionSpace) {
        remove(credential, for: space, options: [:])
    }

    /// The only option is about synchronizable credentials, of which there are none.
    open func remove(
        _ credential: URLCredential,
        for space: URLProtectionSpace,
        options: [String: AnyObject]? = [:]
    ) {
        change { $0.remove(credential.value, for: space.space) }
    }

    /// The one set as default, else the only one there is. What was stored for ``NSURLAuthenticationMethodDefault``
    /// answers for Basic and Digest, too.
    open func defaultCredential(for space: URLProtectionSpace) -> URLCredential? {
        store.withLock { $0.defaultCredential(for: space.space) }.map(URLCredential.init)
    }

    /// Stores it as well.
    open func setDefaultCredential(_ credential: URLCredential, for space: URLProtectionSpace) {
        change { $0.set(credential.value, for: space.space, isDefault: true) }
    }

    private func change(_ body: (inout CredentialStore) -> Bool) {
        guard store.withLock({ body(&$0) }) else { return }
        NotificationCenter.default.post(name: .NSURLCredentialStorageChanged, object: self)
    }
}

// What a subclass that keeps credentials elsewhere is asked by a session: here the answer comes at once.
extension URLCredentialStorage {
    /// Those of ``credentials(for:)``, before this returns.
    public func getCredentials(
        for protectionSpace: URLProtectionSpace,
        task: URLSessionTask,
        completionHandler: ([String: URLCredential]?) -> Void
    ) {
        completionHandler(credentials(for: protectionSpace))
    }

    /// The same as ``set(_:for:)``.
    public func set(_ credential: URLCredential, for protectionSpace: URLProtectionSpace, task: URLSessionTask) {
        set(credential, for: protectionSpace)
    }

    /// The same as ``remove(_:for:options:)``.
    public func remove(
        _ credential: URLCredential,
        for protectionSpace: URLProtectionSpace,
        options: [String: AnyObject]? = [:],
        task: URLSessionTask
    ) {
        remove(credential, for: protectionSpace, options: options)
    }

    /// That of ``defaultCredential(for:)``, before this returns.
    public func getDefaultCredential(
        for space: URLProtectionSpace,
        task: URLSessionTask,
        completionHandler: (URLCredential?) -> Void
    ) {
        completionHandler(defaultCredential(for: space))
    }

    /// The same as ``setDefaultCredential(_:for:)``.
    public func setDefaultCredential(
        _ credential: URLCredential,
        for protectionSpace: URLProtectionSpace,
        task: URLSessionTask
    ) {
        setDefaultCredential(credential, for: protectionSpace)
    }
}
