internal import Synchronization
public import URLLoading

/// The delegate of a data task.
public class DataTaskDelegate: TaskDelegate, @unchecked Sendable {
    /// The content: all of it when the task has ended, and before that what has come since ``collectsData`` was set.
    public var data: Data { facts?.data ?? kept }

    /// Whether ``data`` grows while the content comes. False unless set: a copy of each part costs time and memory.
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

    /// Where the file goes, in place of what was said when the task was made. It counts until the download has ended.
    public var destination: DownloadDestination? {
        get { place.withLock { $0 } }
        set { place.withLock { $0 = newValue } }
    }

    /// Where the file lies; nil before the task's end, and for a failed one.
    public var fileURL: URL? { facts?.fileURL }
}
