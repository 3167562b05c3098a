internal import URLLoading

/// What one task does besides its manager's hooks. It is fixed when the task is made. Most tasks have no such behavior
/// and share one object.
final class TaskBehavior: Sendable {
    /// The options of the request.
    let options: RequestOptions
    let newBodyStream: (@Sendable () throws -> InputStream)?
    /// Used by code that keeps the content in place of the task. `takesHead` decides before all hooks whether the task
    /// continues; `takesContent` gets the content after them.
    let takesHead: (@Sendable (HTTPURLResponse?) -> Bool)?
    let takesContent: (@Sendable (URLSessionTask, Data) -> Void)?
    let interests: TaskInterests

    static let plain = TaskBehavior(RequestOptions())

    init(
        _ options: RequestOptions,
        newBodyStream: (@Sendable () throws -> InputStream)? = nil,
        takesHead: (@Sendable (HTTPURLResponse?) -> Bool)? = nil,
        takesContent: (@Sendable (URLSessionTask, Data) -> Void)? = nil
    ) {
        self.options = options
        self.newBodyStream = newBodyStream
        self.takesHead = takesHead
        self.takesContent = takesContent
        var interests = options.interests
        if takesHead != nil { interests.insert(.response) }
        if takesContent != nil { interests.insert(.content) }
        if newBodyStream != nil { interests.insert(.bodyStream) }
        self.interests = interests
    }

    /// The same behavior, for code that keeps the content in place of the task, and so knows its progress.
    func taking(
        head takesHead: @escaping @Sendable (HTTPURLResponse?) -> Bool,
        content takesContent: @escaping @Sendable (URLSessionTask, Data) -> Void,
        uploadProgress: (@Sendable (TransferProgress) -> Void)?
    ) -> TaskBehavior {
        TaskBehavior(
            options.reporting(uploadProgress, nil),
            newBodyStream: newBodyStream,
            takesHead: takesHead,
            takesContent: takesContent
        )
    }
}

extension RequestOptions {
    /// - Parameter newBodyStream: makes the stream of a request whose content is a stream.
    func behavior(newBodyStream: (@Sendable () throws -> InputStream)? = nil) -> TaskBehavior {
        isPlain && newBodyStream == nil ? .plain : TaskBehavior(self, newBodyStream: newBodyStream)
    }
}
