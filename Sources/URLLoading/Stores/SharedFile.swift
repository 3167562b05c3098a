/// A file of one record that the processes of a program share. Only its owner may read it. It is a ``StoreFile``, so
/// that a reader finds the old content or the new after any crash; writers take turns by a lock on a file beside it.
/// Its methods block and are not called on a loop.
struct SharedFile<Content: Kept>: Sendable {
    let path: String
    let kind: StoreRecord.Kind
    /// The longest file that is read and written, in octets.
    let limit: Int
    /// What the file holds if it is in the form of another library; nil if it is not.
    var foreign: (@Sendable ([UInt8]) -> Content?)?

    /// The file's state, which is another one after a process has written the file. Nil if there is no file.
    var state: StoreFile.State? { StoreFile.state(path) }

    /// Returns what the file holds; nil if there is no file. ``StoreFile/Fault/damaged``: it is not a file of this
    /// kind, or only part of one.
    func read() throws(StoreFile.Fault) -> Content? {
        let octets: [UInt8]
        do throws(StoreFile.Fault) {
            octets = try StoreFile.read(path, limit: limit)
        } catch {
            if error.code == ENOENT { return nil }
            throw error
        }
        guard let content = StoreRecord.value(of: octets, kind) ?? foreign?(octets) else { throw .damaged }
        return content
    }

    /// Writes the file, and returns its state after that. The caller holds the lock.
    func write(_ content: Content) throws(StoreFile.Fault) -> StoreFile.State? {
        guard let octets = StoreRecord.file(kind, of: content) else { throw StoreFile.Fault(code: EINVAL) }
        guard octets.count <= limit else { throw StoreFile.Fault(code: EFBIG) }
        try StoreFile.replace(path, with: octets, isDurable: true)
        return state
    }

    /// Runs `body` while no other process does so with the same file.
    ///
    /// - Parameter limit: how long to wait at most; after that EBUSY is thrown. A lock is held while the file is
    ///   written once, some milliseconds; only a stopped process holds it longer.
    func locked<Value>(
        upTo limit: Duration = .seconds(1),
        _ body: () throws(StoreFile.Fault) -> Value
    ) throws(StoreFile.Fault) -> Value {
        try StoreFile.makeDirectory(StoreFile.parent(of: path))
        return try StoreFile.locked(path + ".lock", upTo: limit) { () throws(StoreFile.Fault) in
            StoreFile.removeLeftovers(of: path)
            return try body()
        }
    }

    /// Moves a damaged file away, so that the next one can be written. The caller holds the lock.
    func setAside() { StoreFile.setAside(path) }

    /// Removes what killed writers have left beside the file: it may hold secrets.
    func removeLeftovers() { StoreFile.removeLeftoversIfUnlocked(of: path) }

    /// Tells that the file is damaged.
    var damage: String {
        "\(path) is damaged and not read; the next change puts it aside, as \(StoreFile.damagedPath(of: path))"
    }
}
