internal import Synchronization

/// The requests of a manager that have begun and not ended.
final class TransferList: Sendable {
    /// Each transfer stores its index, so that adding and removing one is cheap: every request does both.
    private struct Places {
        var transfers: [TransferControl?] = []
        var free: [Int] = []
    }

    private let places = Mutex(Places())

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
