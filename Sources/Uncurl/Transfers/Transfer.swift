/// A request under way, and its response.
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

    /// How much of the request's content has been sent, as it goes on:
    ///
    /// ```swift
    /// for await progress in transfer.uploadProgress() { print(progress.completed) }
    /// ```
    ///
    /// Each call makes a sequence of its own, which begins with the next value and ends with the transfer.
    public func uploadProgress() -> ProgressSequence { control.uploadProgressSequence() }

    /// How much of the response's content has come; else as ``uploadProgress()``.
    public func downloadProgress() -> ProgressSequence { control.downloadProgressSequence() }

    /// See ``TransferControl/cancel()``.
    public func cancel() { control.cancel() }
    /// See ``TransferControl/suspend()``.
    public func suspend() { control.suspend() }
    /// See ``TransferControl/resume()``.
    public func resume() { control.resume() }
}
