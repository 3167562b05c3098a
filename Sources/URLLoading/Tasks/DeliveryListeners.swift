/// The events that the delegate of a delivery's task gets.
extension Delivery {
    /// Whether a delegate with the methods of this protocol gets the answer in pieces. It does not if the task has a
    /// completion handler. If a function waits for the whole answer, only a delegate of the task's own gets the pieces.
    func tellsPieces<Kind>(to kind: Kind.Type) -> Bool {
        switch reception {
        case .delegate, .report: true
        case .awaitedData, .awaitedFile, .bytes: task.delegate is Kind
        case .data, .download: false
        }
    }

    /// Whether the delegate decides about the answer, and gets the events that follow from its decision.
    var involvesDelegate: Bool {
        switch reception {
        case .delegate, .report: true
        case .awaitedData, .awaitedFile, .bytes, .data, .download: false
        }
    }

    /// Whether Uncurl made the task. Its hooks must answer within the request's time limit; a delegate of a plain
    /// `URLSession` may take its time.
    var isReported: Bool {
        switch reception {
        case .report, .bytes: listener?.delegate is any SelectiveDelegate
        case .delegate, .data, .download, .awaitedData, .awaitedFile: false
        }
    }

    /// Whether the answer may be stored in the cache. Answers that go to files and streams are not, as on Apple's
    /// platforms: they are large, and already kept.
    var isStorable: Bool {
        switch reception {
        case .data, .awaitedData, .delegate: !(task is URLSessionDownloadTask)
        case .report(let terms):
            switch terms.keeping {
            case .memory: true
            case .file: false
            case .nothing(let isStorable): isStorable
            }
        case .download, .awaitedFile, .bytes: false
        }
    }

    /// The task's own delegate, or else the session's.
    var listener: TaskListener? { task.listener ?? session.listener }

    func hasListener(for event: TaskInterests) -> Bool { listener?.hears(of: event) ?? false }

    var wantsMetrics: Bool {
        if case .report(let terms) = reception, terms.collectsMetrics { return true }
        return hasListener(for: .metrics)
    }

    /// Whether the delegate decides what is stored of the answer.
    var isAskedAboutCaching: Bool {
        guard involvesDelegate, hasListener(for: .caching), let delegate = listener?.delegate else { return false }
        return session.recipient(delegate, as: (any URLSessionDataDelegate).self) != nil
    }
}
