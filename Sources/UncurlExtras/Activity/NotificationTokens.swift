internal import Synchronization
internal import Uncurl

/// Observers of a notification center. They are removed when this object is released.
final class NotificationTokens: @unchecked Sendable {
    // `@unchecked`: the tokens of a center are only stored and returned, and the list is accessed under the lock.

    private let center: NotificationCenter?
    private let lock = Mutex(())
    private var tokens: [any NSObjectProtocol] = []

    init(_ center: NotificationCenter?) { self.center = center }

    deinit { for token in tokens { center?.removeObserver(token) } }

    func observe(_ names: [Notification.Name], _ body: @escaping @Sendable (Notification) -> Void) {
        guard let center else { return }
        for name in names {
            let token = center.addObserver(forName: name, object: nil, queue: nil, using: body)
            lock.withLock { _ in tokens.append(token) }
        }
    }
}
