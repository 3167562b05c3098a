internal import Foundation
internal import Synchronization

extension URLSessionTask {
    /// Notes that the task's answer begins.
    func expect(_ response: URLResponse) {
        let expected = response.expectedContentLength
        _ = count(with: response) { counts in
            counts.expectedToReceive = expected
            // A new try of a download counts from zero. If it continues the first one, the delegate gets the offset.
            counts.received = 0
        }
    }

    /// Counts content, and shows it on the task's progress. That runs observers of the program, which may cancel the
    /// task.
    ///
    /// - Parameter response: the task's new response; nil to keep the present one.
    func count(with response: URLResponse? = nil, _ change: (inout TaskCounts) -> Void) -> TaskCounts {
        let (counts, shown, progress) = snapshot.withLock { snapshot in
            if let response { snapshot.response = response }
            change(&snapshot.counts)
            return (snapshot.counts, snapshot.progressCounts, snapshot.progress)
        }
        if let progress { shown.show(on: progress) }
        return counts
    }

    /// Shows on a new progress how far the task has come by now. The loop may show later counts at the same time, and
    /// older ones must not stay over them, so they are compared afterwards.
    func show(on progress: Progress) {
        var shown: (counts: TaskCounts, isWhole: Bool)?
        while true {
            let (counts, isWhole) = snapshot.withLock { snapshot in
                (snapshot.progressCounts, snapshot.state == .completed && snapshot.error == nil)
            }
            if let shown, shown == (counts, isWhole) { return }
            counts.show(on: progress)
            if isWhole { progress.finish() }
            shown = (counts, isWhole)
        }
    }
}

extension Data {
    init(_ bytes: Span<UInt8>) {
        self = unsafe bytes.withUnsafeBufferPointer { unsafe Data(buffer: $0) }
    }

    /// - Parameter expected: the length of the whole, if it is known. At most a megabyte is reserved for it, since a
    ///   server may state any length.
    mutating func append(_ bytes: Span<UInt8>, expecting expected: Int64) {
        if isEmpty {
            guard expected > bytes.count else {
                self = Data(bytes)
                return
            }
            reserveCapacity(Int(clamping: Swift.min(expected, 1 << 20)))
        }
        unsafe bytes.withUnsafeBufferPointer { unsafe append($0) }
    }
}
