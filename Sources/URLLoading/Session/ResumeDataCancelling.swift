internal import Foundation

extension URLSessionTask {
    /// Ends the task as cancelled, and tells what a later one can go on from.
    ///
    /// - Parameter completionHandler: called on the delegate queue, before the end is told; at once for a task that has
    ///   ended.
    func cancelProducingResumeData(_ completionHandler: @escaping (Data?) -> Void) {
        let handler = HandedHandler(call: completionHandler)
        guard let session, state == .running || state == .suspended else { return completionHandler(nil) }
        let hand: @Sendable (Data?) -> Void = { handler.call($0) }
        if !cancel(.producingResumeData(hand)) { session.delegateQueue.addOperation { hand(nil) } }
    }
}

/// A handler on its way to the delegate queue, where alone it is called.
private struct HandedHandler: @unchecked Sendable {
    let call: (Data?) -> Void
}
