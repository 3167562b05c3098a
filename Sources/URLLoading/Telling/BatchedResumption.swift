internal import UncurlReactor

/// Resumes the functions that wait on other threads, for all answers of a burst at once. Loop-confined.
///
/// Resumed one by one, each would wake a thread that does one task's work and sleeps again: two thread switches a
/// request, a quarter of what a request costs (`./dev bench session`).
final class BatchedResumption {
    private let loop: EventLoop
    private var due: [Resumption] = []

    init(on loop: EventLoop) { self.loop = loop }

    func add(_ resumption: Resumption) {
        due.append(resumption)
        if due.count == 1 { loop.runWhenIdle { [self] in wake() } }
    }

    private func wake() {
        let all = due
        due = []
        // The next burst will be about as large.
        due.reserveCapacity(all.count)
        guard all.count > 1 else {
            for resumption in all { resumption.resume() }
            return
        }
        // One thread of the pool then finds all of them in its queue, and does not sleep until the last is done.
        Task.detached { for resumption in all { resumption.resume() } }
    }
}
