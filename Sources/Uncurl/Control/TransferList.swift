internal import Synchronization
internal import URLLoading

/// The requests of a manager that have begun and not ended.
final class TransferList: Sendable {
    /// Each transfer stores its index, so that adding and removing one is cheap: every request does both.
    private struct Places {
        var transfers: [TransferControl?] = []
        var free: [Int] = []
    }

    private let places = Mutex(Places())

    /// How long a call of an interceptor may take; nil for any time.
    let stepLimit: Duration?
    /// Whether a Swift task looks after the limits of the steps.
    private let isWatching = Mutex(false)

    /// - Parameter stepLimit: how long a call of an interceptor may take, in seconds.
    init(stepLimit: TimeInterval) {
        self.stepLimit = stepLimit > 0 && stepLimit.isFinite ? .seconds(min(stepLimit, 1e9)) : nil
    }

    /// Lets steps under way end when their time is over. One Swift task looks after all of them: a timer for each would
    /// cost every request with interceptors.
    func watchSteps() {
        let isFirst = isWatching.withLock { isWatching in
            defer { isWatching = true }
            return !isWatching
        }
        guard isFirst else { return }
        Task { [weak self] in
            while let next = self?.endLateSteps() { try await Task.sleep(until: next, clock: .continuous) }
        }
    }

    /// - Returns: when to look again; nil if no step is under way.
    private func endLateSteps() -> ContinuousClock.Instant? {
        isWatching.withLock { isWatching in
            let now = ContinuousClock.now
            let next = all.compactMap { $0.endLateStep(at: now) }.min()
            isWatching = next != nil
            return next
        }
    }

    var all: [TransferControl] {
        places.withLock { $0.transfers }.compactMap { $0 }.sorted { $0.identifier < $1.identifier }
    }

    /// - Returns: the index of the transfer, for ``remove(at:)``.
    func add(_ transfer: TransferControl) -> Int {
        places.withLock { places in
            if let place = places.free.popLast() {
                places.transfers[place] = transfer
                return place
            }
            places.transfers.append(transfer)
            return places.transfers.count - 1
        }
    }

    func remove(at place: Int) {
        let gone = places.withLock { places in
            places.free.append(place)
            return places.transfers[place].take()
        }
        withExtendedLifetime(gone) {}
    }
}
