import UncurlLoad

extension Shard {
    /// The most parts. No scheduler starts more at once.
    private static var limit: Int { 100_000 }

    /// Reads `2/8`, or `/8` with the index that a Kubernetes Indexed Job gives its pods.
    ///
    /// - Parameter completionIndex: the value of `JOB_COMPLETION_INDEX`.
    init(_ text: String, completionIndex: String?) throws(UsageError) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let count = Int(parts[1]), (1...Self.limit).contains(count) else {
            throw UsageError(
                "--shard \(quoted(text)) is no part of a whole: use I/N such as 0/4, or /N in an Indexed Job"
            )
        }
        let number = parts[0].isEmpty ? completionIndex ?? "" : String(parts[0])
        guard let index = Int(number), index >= 0 else {
            throw UsageError(
                parts[0].isEmpty
                    ? "--shard \(quoted(text)) names no part and JOB_COMPLETION_INDEX is not set: use I/\(count)"
                    : "--shard \(quoted(text)) is no part of a whole: use I/N such as 0/\(count)"
            )
        }
        guard index < count else {
            throw UsageError("--shard \(quoted(text)) is beyond the last part: parts count from 0 to \(count - 1)")
        }
        self.init(index: index, count: count)
    }
}
