internal import Synchronization
public import URLLoading

extension HTTPRequestOperation {
    /// Makes one more operation that depends on all the given ones.
    ///
    /// - Parameters:
    ///   - operations: none of them queued yet.
    ///   - progress: called after each operation's own handlers, on the manager's completion queue, with the number of
    ///     ended operations and the number of all.
    ///   - completion: called by the last operation after every call of `progress`, also for an empty batch.
    /// - Returns: the operations in their order, then the last one. None of them is queued.
    public static func batch(
        _ operations: [HTTPRequestOperation],
        progress: (@Sendable (_ finished: Int, _ total: Int) -> Void)? = nil,
        completion: @escaping @Sendable ([HTTPRequestOperation]) -> Void
    ) -> [Operation] {
        let ended = Tally()
        let last = BlockOperation { completion(operations) }
        for operation in operations {
            // The last operation does not block until the others end: it might hold the thread that a handler needs.
            let told = BlockOperation()
            last.addDependency(operation)
            last.addDependency(told)
            operation.onCompletion { _ in
                progress?(ended.next(), operations.count)
                told.start()
            }
        }
        return operations + [last]
    }
}

private final class Tally: Sendable {
    private let count = Mutex(0)

    func next() -> Int {
        count.withLock { count in
            count += 1
            return count
        }
    }
}
