internal import Reactor

/// A value that belongs to a loop, as other threads may carry it: opened on that loop alone.
struct LoopBound<Value>: @unchecked Sendable {
    // `@unchecked`: `value` is reached through `open`, which refuses every thread but the loop's.
    private let value: Value
    private let loop: EventLoop

    init(_ value: Value, on loop: EventLoop) {
        self.value = value
        self.loop = loop
    }

    func open() -> Value {
        precondition(loop.isCurrent, "a loop's object was opened on another thread")
        return value
    }
}

extension EventLoop {
    /// Runs `body` on the loop and waits for what it gives. Not from the loop itself, nor after it has ended.
    func perform<Result: Sendable>(_ body: @escaping @Sendable () throws(Errno) -> Result) throws(Errno) -> Result {
        let answer = Monitor<Swift.Result<Result, Errno>?>(nil)
        let taken = post {
            let result: Swift.Result<Result, Errno>
            do throws(Errno) {
                result = .success(try body())
            } catch {
                result = .failure(error)
            }
            answer.update { $0 = result }
        }
        guard taken, let result = answer.wait(within: .seconds(30), { $0 }) else { throw .timedOut }
        return try result.get()
    }
}
