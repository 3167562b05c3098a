/// A request under way, with its response.
public struct Transfer<Value: Sendable>: Sendable {
    /// Controls the request, for code that does not need its value.
    public let control: TransferControl
    private let run: Task<Response<Value>, Never>

    init(_ control: TransferControl, _ run: Task<Response<Value>, Never>) {
        self.control = control
        self.run = run
    }

    /// Waits for the end. A Swift task that is cancelled while it waits cancels the transfer.
    public var response: Response<Value> {
        get async {
            await withTaskCancellationHandler {
                await run.value
            } onCancel: {
                control.cancel()
            }
        }
    }

    /// Waits for the value. A Swift task that is cancelled while it waits cancels the transfer.
    public var value: Value {
        get async throws(UncurlError) { try await response.result.get() }
    }

    /// The progress of the request's content, as a sequence:
    ///
    /// ```swift
    /// for await progress in transfer.uploadProgress() { print(progress.completed) }
    /// ```
    ///
    /// Each call makes a sequence of its own. It begins with the next value and ends with the transfer.
    public func uploadProgress() -> ProgressSequence { control.uploadProgressSequence() }

    /// The progress of the response's content, as ``uploadProgress()`` returns it for the request's.
    public func downloadProgress() -> ProgressSequence { control.downloadProgressSequence() }

    /// Cancels the request; see ``TransferControl/cancel()``.
    public func cancel() { control.cancel() }
    /// Suspends the request; see ``TransferControl/suspend()``.
    public func suspend() { control.suspend() }
    /// Begins or continues the request; see ``TransferControl/resume()``.
    public func resume() { control.resume() }
}
