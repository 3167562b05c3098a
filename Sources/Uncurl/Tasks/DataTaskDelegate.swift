internal import Synchronization
public import URLLoading

/// The delegate of a data task.
public class DataTaskDelegate: TaskDelegate, @unchecked Sendable {
    /// All of the content when the task has ended; before that, the part that has come since ``collectsData`` was set.
    public var data: Data { facts?.data ?? kept }

    /// Whether ``data`` grows while the content comes. By default false: copying each part costs time and memory.
    public var collectsData: Bool {
        get { keepsData }
        set { keepsData = newValue }
    }
}

/// The delegate of an upload task.
public final class UploadTaskDelegate: DataTaskDelegate, @unchecked Sendable {}

/// The delegate of a download task.
public final class DownloadTaskDelegate: TaskDelegate, @unchecked Sendable {
    private let place = Mutex<DownloadDestination?>(nil)

    /// Where the file goes. It replaces the destination of the call that made the task, until the download has ended.
    public var destination: DownloadDestination? {
        get { place.withLock { $0 } }
        set { place.withLock { $0 = newValue } }
    }

    /// The file's URL; nil before the task's end, and for a failed task.
    public var fileURL: URL? { facts?.fileURL }
}
