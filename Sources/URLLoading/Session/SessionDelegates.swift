internal import Foundation

/// A session's delegate, seen once through each protocol it may conform to.
struct SessionDelegates: Sendable {
    let session: (any URLSessionDelegate)?
    /// Of every task without a delegate of its own.
    let listener: Listener?

    init(_ delegate: (any URLSessionDelegate)?) {
        session = delegate
        listener = (delegate as? any URLSessionTaskDelegate).map { Listener($0) }
    }

    var task: (any URLSessionTaskDelegate)? { listener?.delegate }
}
