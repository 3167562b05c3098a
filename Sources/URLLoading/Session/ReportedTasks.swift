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
        delegate: any SelectiveDelegate & TaskWatcher,
        report: TaskReport
    ) -> URLSessionTask {
        let receiver = TaskSpec.Receiver.report(report)
        let task: URLSessionTask =
            switch kind {
            case .data: add { URLSessionDataTask(self, $0, TaskSpec(request, .request, receiver)) }
            case .upload(let content): add { URLSessionUploadTask(self, $0, TaskSpec(request, content, receiver)) }
            case .download(let content):
                add { URLSessionDownloadTask(self, $0, TaskSpec(request, content, receiver)) }
            case .resumedDownload(let data):
                add {
                    URLSessionDownloadTask(self, $0, TaskSpec(resumingFrom: data, by: request, in: self, receiver))
                }
            }
        let waitsOnLoop = report.wakesWaiter && home.isOnLoop
        task.snapshot.withLock { snapshot in
            snapshot.listener = .selective(delegate)
            snapshot.watcher = delegate
            snapshot.waitsOnLoop = waitsOnLoop
        }
        return task
    }
}
