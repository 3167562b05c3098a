/// A run's course: intervals in order, none over another, with the counts of each part of the run. Times are in
/// nanoseconds after the start of the measured part.
struct RunCourse<Counts> {
    struct Interval {
        var start: UInt64
        var end: UInt64
        var counts: [Counts]

        var length: UInt64 { end - min(start, end) }

        mutating func add(_ other: Interval) {
            (start, end) = (min(start, other.start), max(end, other.end))
            counts += other.counts
        }
    }

    private(set) var intervals: [Interval] = []

    /// Adds an interval at the end. What lies within the intervals before it belongs to the last of these.
    mutating func append(_ interval: Interval) {
        guard let last = intervals.last else { return intervals.append(interval) }
        if interval.end > last.end, last.length > 0 {
            intervals.append(Interval(start: max(interval.start, last.end), end: interval.end, counts: interval.counts))
        } else {
            intervals[intervals.count - 1].add(interval)
        }
    }

    /// Merges the course of another part by time. Parts may have different intervals: longer ones where a thread was
    /// held up, and pairs of them in a long run. So a merged interval ends where both parts have an end, not more than
    /// half an interval apart.
    func merged(with other: RunCourse) -> RunCourse {
        var (mine, theirs) = (intervals[...], other.intervals[...])
        var course = RunCourse()
        while var left = mine.popFirst() {
            guard var right = theirs.popFirst() else {
                course.append(left)
                continue
            }
            var shortest = min(left.length, right.length)
            while max(left.end, right.end) - min(left.end, right.end) > shortest / 2 {
                let isMine = left.end < right.end
                guard let next = isMine ? mine.popFirst() : theirs.popFirst() else { break }
                shortest = min(shortest, next.length)
                if isMine { left.add(next) } else { right.add(next) }
            }
            left.add(right)
            course.append(left)
        }
        for interval in theirs { course.append(interval) }
        return course
    }
}
