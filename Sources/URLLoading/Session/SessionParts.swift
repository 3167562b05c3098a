internal import Foundation
internal import Reactor

/// What is fixed when a session is made.
struct SessionParts: @unchecked Sendable {
    // `@unchecked`: the configuration is the session's own copy, and is never changed.

    let configuration: URLSessionConfiguration
    let settings: SessionSettings
    let security: SessionSecurity
    /// What makes it a background session.
    let background: BackgroundSession?
    /// The session's part on its loop, or why there is none.
    let home: Result<LoopBound<SessionEngine>, Errno>
    let queue: OperationQueue

    /// - Parameter queue: nil for a serial one of the session's own.
    init(_ configuration: URLSessionConfiguration, _ queue: OperationQueue?, hasDelegate: Bool) {
        let copy = (configuration.copy() as? URLSessionConfiguration) ?? .default
        let settings = SessionSettings(copy)
        let security = SessionSecurity(settings, hasDelegate: hasDelegate)
        self.configuration = copy
        self.settings = settings
        self.security = security
        background =
            copy.isBackground ? BackgroundSession(copy.identifier ?? "", in: copy.stateDirectory) : nil
        self.queue = queue ?? SessionParts.serialQueue()
        home = Result { () throws(Errno) in
            let loop = try SharedLoops.next()
            return LoopBound(SessionEngine(on: loop, settings, security), on: loop)
        }
    }

    private static func serialQueue() -> OperationQueue {
        let queue = OperationQueue()
        queue.name = "URLLoading.URLSession"
        queue.maxConcurrentOperationCount = 1
        return queue
    }
}
