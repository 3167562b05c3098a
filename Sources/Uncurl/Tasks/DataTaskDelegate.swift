/// The delegate of a data task.
public class DataTaskDelegate: TaskDelegate, @unchecked Sendable {}

/// The delegate of an upload task.
public final class UploadTaskDelegate: DataTaskDelegate, @unchecked Sendable {}

/// The delegate of a download task.
public final class DownloadTaskDelegate: TaskDelegate, @unchecked Sendable {}
