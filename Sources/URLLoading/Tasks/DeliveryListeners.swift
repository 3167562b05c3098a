/// What a delivery's task and its delegate hear of.
extension Delivery {
    /// Whether pieces on their way are told: to delegates, but not where a completion handler has been given instead. A
    /// delegate given to this task alone hears of them too where a function waits for the whole.
    var tellsPieces: Bool {
        switch reception {
        case .delegate, .report: true
        case .awaitedData, .awaitedFile, .bytes: task.delegate != nil
        case .data, .download: false
        }
    }

    /// Whether the delegate is asked about the answer and told what becomes of it: it takes part, instead of waiting
    /// for the end.
    var involvesDelegate: Bool {
        switch reception {
        case .delegate, .report: true
        case .awaitedData, .awaitedFile, .bytes, .data, .download: false
        }
    }

    /// Whether the room above made the task. Its hooks answer within the request's limit; a delegate of `URLSession`'s
    /// own may take its time.
    var isReported: Bool {
        switch reception {
        case .report, .bytes: listener?.delegate is any SelectiveDelegate
        case .delegate, .data, .download, .awaitedData, .awaitedFile: false
        }
    }

    /// Answers that go to files and streams are not stored, as on Apple's platforms: they are large, and have been kept
    /// already.
    var isStorable: Bool {
        switch reception {
        case .data, .awaitedData, .delegate: !(task is URLSessionDownloadTask)
        case .report(let terms): if case .memory = terms.keeping { true } else { false }
        case .download, .awaitedFile, .bytes: false
        }
    }

    /// The task's own delegate, or else the session's.
    var listener: Listener? { task.listener ?? session.listener }

    func hasListener(for event: TaskInterests) -> Bool { listener?.hears(of: event) ?? false }

    var wantsMetrics: Bool {
        if case .report(let terms) = reception, terms.collectsMetrics { return true }
        return hasListener(for: .metrics)
    }

    /// Whether the delegate decides what is stored of the answer.
    var isAskedAboutCaching: Bool {
        involvesDelegate && hasListener(for: .caching) && listener?.delegate is any URLSessionDataDelegate
    }
}
