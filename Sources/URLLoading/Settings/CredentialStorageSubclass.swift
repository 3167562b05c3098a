internal import Dispatch
internal import Foundation

/// A session's credential storage of a class that the program declares. The session calls the methods that such a class
/// may override, one call after the other on a queue of its own: not on a loop, which they might block.
struct CredentialStorageSubclass: Sendable {
    private let storage: URLCredentialStorage
    private let queue = DispatchQueue(label: "URLLoading.URLCredentialStorage")

    /// - Returns: nil without a storage, and for one of `URLCredentialStorage` itself.
    init?(_ storage: URLCredentialStorage?) {
        guard let storage, type(of: storage) != URLCredentialStorage.self else { return nil }
        self.storage = storage
    }

    /// Gets the default credential of a space by which the task is challenged.
    func getDefault(
        for space: URLProtectionSpace,
        _ task: URLSessionTask,
        _ done: @escaping @Sendable (URLCredential?) -> Void
    ) {
        queue.async { storage.getDefaultCredential(for: space, task: task, completionHandler: done) }
    }

    /// Has the storage store a credential with which the task has been accepted.
    func set(_ credential: URLCredential, for space: URLProtectionSpace, _ task: URLSessionTask) {
        queue.async { storage.set(credential, for: space, task: task) }
    }

    /// Runs `call` when the credentials that are on their way to the storage have arrived there.
    func whenKept(_ call: @escaping @Sendable () -> Void) { queue.async(execute: call) }
}
