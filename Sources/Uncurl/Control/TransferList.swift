internal import Synchronization

/// The requests of a manager that have begun and not ended.
final class TransferList: Sendable {
    private let running = Mutex<[Int: TransferControl]>([:])

    var all: [TransferControl] {
        running.withLock { running in running.sorted { $0.key < $1.key }.map(\.value) }
    }

    func add(_ transfer: TransferControl) { running.withLock { $0[transfer.identifier] = transfer } }

    func remove(_ transfer: TransferControl) {
        let gone = running.withLock { $0.removeValue(forKey: transfer.identifier) }
        withExtendedLifetime(gone) {}
    }
}
