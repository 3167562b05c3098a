import UncurlEngine
import UncurlReactor

/// The times of events in answers that are streams.
extension VirtualUserDriver {
    func note(_ bytes: Span<UInt8>, of user: VirtualUser, _ stream: StreamOptions) {
        var counter = user.events ?? EventCounter(stream.kind)
        let count = counter.count(in: bytes)
        user.events = counter
        if count > 0 { note(count, of: user, stream) }
    }

    /// Counts the event that ends with the whole content.
    func noteLastEvent(of user: VirtualUser) {
        guard let stream = plan.stream, user.events?.hasOpenEvent == true else { return }
        note(1, of: user, stream)
    }

    private func note(_ count: Int, of user: VirtualUser, _ stream: StreamOptions) {
        let now = worker.loop.now
        if let last = user.lastEvent {
            worker.metrics.gap(worker.nanoseconds(from: last, to: now), stall: stream.stall)
        } else {
            user.firstEvent = now
        }
        user.lastEvent = now
        worker.metrics.events(UInt64(count))
    }

    /// Counts a stream at its end, or at the run's end.
    ///
    /// - Parameters:
    ///   - sent: The time when the request's first byte was sent.
    ///   - isCut: Whether the run's end has cut the stream short.
    func noteStream(_ user: VirtualUser, sent: Instant, until end: Instant, isCut: Bool) {
        guard let stream = plan.stream else { return }
        defer { (user.events, user.firstEvent, user.lastEvent) = (nil, nil, nil) }
        let isDue = user.isFirstOfVisit && user.due >= since && plan.profile != nil
        let corrected = isDue ? worker.nanoseconds(from: user.due, to: user.firstEvent ?? end) : nil
        if let first = user.firstEvent {
            worker.metrics.firstEvent(worker.nanoseconds(from: sent, to: first), corrected: corrected)
        } else {
            worker.metrics.silent(corrected: isCut ? corrected : nil)
        }
        // A gap that the end has cut short counts if it is already a stall.
        if isCut, let last = user.lastEvent {
            let gap = worker.nanoseconds(from: last, to: end)
            if gap > stream.stall { worker.metrics.gap(gap, stall: stream.stall) }
        }
    }
}
