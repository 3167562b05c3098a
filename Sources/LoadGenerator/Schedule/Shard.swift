/// A process's part of a run that several make together, each on its own: number `index` of `count`, from 0 on.
package struct Shard: Hashable, Sendable {
    package let index: Int
    package let count: Int

    package static let whole = Shard(index: 0, count: 1)
    /// More processes than a scheduler starts at once.
    private static let limit = 100_000

    package init(index: Int, count: Int) { (self.index, self.count) = (index, count) }

    /// `2/8`; or `/8`, where the index is what a Kubernetes Indexed Job gives its pods.
    ///
    /// - Parameter completionIndex: `JOB_COMPLETION_INDEX`.
    package init(_ text: String, completionIndex: String?) throws(UsageError) {
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

    /// A request's number among those of all parts: part p of n has the numbers p, p + n, p + 2n …
    ///
    /// - Parameter own: its number in this part, from 0 on.
    package func number(_ own: UInt64) -> UInt64 { own &* UInt64(count) &+ UInt64(index) }

    /// The place of request `number` in a list of `length`: all parts together take each place once a round. From round to round a part's
    /// places move on by one, so that each part comes to all of them.
    package func place(of number: UInt64, in length: UInt64) -> UInt64 {
        count == 1 ? number % length : (number &+ number / length) % length
    }

    /// This part of `whole`, the remainders to the first parts.
    package func part(of whole: Int) -> Int { RunPlan.part(whole, index, of: count) }
    package func part(of whole: UInt64) -> UInt64 { RunPlan.part(whole, UInt64(index), of: UInt64(count)) }
}
