internal import Foundation

/// A session's delegate, seen once through each protocol it may conform to.
struct SessionDelegates: Sendable {
    let session: (any URLSessionDelegate)?
    let task: (any URLSessionTaskDelegate)?

    init(_ delegate: (any URLSessionDelegate)?) {
        session = delegate
        task = delegate as? any URLSessionTaskDelegate
    }
}
