internal import Foundation

extension URLSessionTask {
    /// Ends the task as cancelled, and passes the data from which a later task can resume.
    ///
    /// - Parameter completionHandler: called on the delegate queue, before the end is reported; called at once with nil
    ///   for a task that has ended.
    func cancelProducingResumeData(_ completionHandler: @escaping (Data?) -> Void) {
        let handler = HandedHandler(call: completionHandler)
        guard let session, state == .running || state == .suspended else { return completionHandler(nil) }
        let hand: @Sendable (Data?) -> Void = { handler.call($0) }
        if !cancel(.producingResumeData(hand)) { session.delegateQueue.addLasting { hand(nil) } }
    }
}

/// A handler that is passed to the delegate queue, and called only there.
private struct HandedHandler: @unchecked Sendable {
    let call: (Data?) -> Void
}
