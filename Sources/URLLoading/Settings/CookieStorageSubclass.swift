internal import Dispatch
internal import Foundation

/// A session's cookie storage of a class that the program declares. The session calls the methods that such a class may
/// override, one call after the other on a queue of its own: not on a loop, which they might block.
struct CookieStorageSubclass: Sendable {
    private let storage: HTTPCookieStorage
    private let queue = DispatchQueue(label: "URLLoading.HTTPCookieStorage")

    /// - Returns: nil without a storage, and for one of `HTTPCookieStorage` itself.
    init?(_ storage: HTTPCookieStorage?) {
        guard let storage, type(of: storage) != HTTPCookieStorage.self else { return nil }
        self.storage = storage
    }

    /// Gets the cookies for the task's current request. `done` is released without a call if the storage does so with
    /// its handler.
    func get(for task: URLSessionTask, _ done: @escaping @Sendable ([HTTPCookie]) -> Void) {
        queue.async { storage.getCookiesFor(task) { done($0 ?? []) } }
    }

    /// Has the storage store the cookies of an answer to the task's current request.
    func store(_ cookies: [HTTPCookie], for task: URLSessionTask, _ done: @escaping @Sendable () -> Void) {
        queue.async {
            storage.storeCookies(cookies, for: task)
            done()
        }
    }
}
