#if SwiftLog
public import Dispatch
internal import URLLoading
public import Logging
internal import UncurlText

/// Writes the events of requests to a `swift-log` logger: the end of a request at one level, the events before it at
/// another. It needs the package trait `SwiftLog`.
///
/// A URL is written without user, password and query, which often hold secrets.
public struct LoggingMonitor: EventMonitor {
    /// The queue on which events are delivered: a serial queue of the monitor's own.
    public let queue = DispatchQueue(label: "Uncurl.log")
    private let logger: Logger
    private let endLevel: Logger.Level
    private let stepLevel: Logger.Level

    /// - Parameters:
    ///   - logger: what the lines are written to.
    ///   - ends: the level for the end of a request that succeeded. A failure is logged as an error, a cancellation
    ///     at the level of the steps.
    ///   - steps: the level for every other event.
    public init(_ logger: Logger, ends: Logger.Level = .info, steps: Logger.Level = .debug) {
        self.logger = logger
        endLevel = ends
        stepLevel = steps
    }

    public func receive(_ event: TransferEvent) {
        var facts: Logger.Metadata = ["transfer": "\(event.transfer)"]
        switch event.kind {
        case .began: break
        case .built: break
        case .adapted(let request):
            facts["method"] = "\(request.httpMethod ?? "GET")"
            facts["url"] = "\(request.url?.observed() ?? "")"
            logger.log(level: stepLevel, "adapted", metadata: facts)
        case .createdTask(let task):
            facts["method"] = "\(task.originalRequest?.httpMethod ?? "GET")"
            facts["url"] = "\(task.originalRequest?.url?.observed() ?? "")"
            logger.log(level: stepLevel, "sending", metadata: facts)
        case .suspended: logger.log(level: stepLevel, "suspended", metadata: facts)
        case .resumed: logger.log(level: stepLevel, "resumed", metadata: facts)
        case .cancelled: logger.log(level: stepLevel, "cancelled", metadata: facts)
        case .completedTask, .collectedMetrics, .serialized, .detail: break
        case .retries(let delay, let error):
            facts["error"] = "\(error.words)"
            facts["delay"] = "\(delay)"
            logger.log(level: stepLevel, "trying again", metadata: facts)
        case .finished(let status, let error, let retryCount):
            facts["status"] = status.map { "\($0)" }
            if retryCount > 0 { facts["retries"] = "\(retryCount)" }
            if let error { facts["error"] = "\(error.words)" }
            logger.log(level: level(of: error), error == nil ? "done" : "failed", metadata: facts)
        }
    }

    private func level(of error: UncurlError?) -> Logger.Level {
        switch error {
        case nil: endLevel
        case .cancelled?: stepLevel
        default: .error
        }
    }
}

extension LoggingMonitor: CustomStringConvertible {
    public var description: String {
        described(Self.self, ["logger": logger.label, "ends": endLevel, "steps": stepLevel])
    }
}
#endif
