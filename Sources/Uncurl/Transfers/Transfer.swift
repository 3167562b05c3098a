/// A request under way: its reins, and its response.
public struct Transfer<Value: Sendable>: Sendable {
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

    public var value: Value {
        get async throws(UncurlError) { try await response.result.get() }
    }

    public func cancel() { control.cancel() }
    public func suspend() { control.suspend() }
    public func resume() { control.resume() }
}
