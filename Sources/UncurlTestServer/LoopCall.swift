internal import UncurlReactor

extension EventLoop {
    /// Runs `body` on the loop and waits for its result. Must not be called on the loop itself, or after the loop has
    /// ended.
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
        guard taken, let result = answer.wait(atMost: .seconds(30), until: { $0 }) else { throw .timedOut }
        return try result.get()
    }
}
