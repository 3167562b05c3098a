package import FoundationEssentials
internal import Synchronization

/// The functions by which Uncurl makes its tasks.
extension URLSession {
    /// The kind of a task with a report, and the source of its request's content.
    package enum ReportedKind: Sendable {
        case data
        case upload(ContentSource)
        case download(ContentSource)
        case resumedDownload(Data)

        package var content: ContentSource {
            switch self {
            case .data, .resumedDownload: .request
            case .upload(let content), .download(let content): content
            }
        }
    }

    /// Makes a suspended task.
    ///
    /// - Parameters:
    ///   - request: the request; nil takes that of the resume data.
    ///   - delegate: the task's own delegate. It is also told when the task is resumed or suspended.
    package func task(
        _ kind: ReportedKind,
        _ request: URLRequest?,
        delegate: any TaskObserver,
        report: TaskReport
    ) -> URLSessionTask {
        let receiver = TaskSpec.Receiver.report(report)
        let waitsOnLoop = report.wakesWaiter && home.isOnLoop
        // The session tells its delegate of a task when it takes it in: the task has its own delegate by then.
        func made<Made: URLSessionTask>(_ make: (Int) -> Made) -> Made {
            add { number in
                let task = make(number)
                task.listen(by: delegate, waitsOnLoop: waitsOnLoop)
                return task
            }
        }
        return switch kind {
        case .data: made { URLSessionDataTask(self, $0, TaskSpec(request, .request, receiver)) }
        case .upload(let content): made { URLSessionUploadTask(self, $0, TaskSpec(request, content, receiver)) }
        case .download(let content): made { URLSessionDownloadTask(self, $0, TaskSpec(request, content, receiver)) }
        case .resumedDownload(let data):
            made { URLSessionDownloadTask(self, $0, TaskSpec(resumingFrom: data, by: request, in: self, receiver)) }
        }
    }
}

extension URLSessionTask {
    /// Gives a new task its delegate, which also hears when the task is resumed or suspended.
    func listen(by delegate: any TaskObserver, waitsOnLoop: Bool = false) {
        snapshot.withLock { snapshot in
            snapshot.listener = .observer(delegate)
            snapshot.watcher = delegate
            snapshot.waitsOnLoop = waitsOnLoop
        }
    }
}
