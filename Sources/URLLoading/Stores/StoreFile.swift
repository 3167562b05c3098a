internal import Foundation
internal import UncurlClient
internal import UncurlLibC
internal import UncurlReactor
internal import UncurlTLS

/// The state of a store's file, which changes with its content, and how such files are read and replaced: whole, so
/// that no reader finds half of a file, even after a process was killed.
package struct StoreFile: Hashable, Sendable {
    let inode: UInt64
    let size: Int64
    let seconds: Int64
    let nanoseconds: Int64

    /// Writes a line to standard error: without it, a program would not learn that a store does not read its file.
    @Sendable static func report(_ line: String) {
        try? FileHandle.standardError.write(contentsOf: Data("URLLoading: \(line)\n".utf8))
    }

    /// - Parameter limit: in octets; a longer file throws EFBIG.
    static func read(_ path: String, limit: Int) throws(Errno) -> [UInt8] {
        let file = try opened(path)
        guard file.status.size <= limit else { throw Errno(code: EFBIG) }
        return try read(file, Int(file.status.size))
    }

    /// Returns the value of a record's file; nil for a file that is gone or damaged. Throws what may pass.
    static func value<Value: Kept>(_ path: String, limit: Int, _ kind: StoreRecord.Kind) throws(Errno) -> Value? {
        do throws(Errno) {
            return StoreRecord.value(of: try read(path, limit: limit), kind)
        } catch  where isOfFile(error) {
            return nil
        }
    }

    /// Returns the first octets of a file: `count`, or as many as there are.
    static func read(_ path: String, first count: Int) throws(Errno) -> [UInt8] { try read(opened(path), count) }

    private static func read(_ file: OpenFile, _ count: Int) throws(Errno) -> [UInt8] {
        var octets = try file.read(at: 0, atMost: count)
        while octets.count < count {
            let more = try file.read(at: UInt64(octets.count), atMost: count - octets.count)
            if more.isEmpty { break }
            octets += more
        }
        return octets
    }

    /// Opens a regular file. Anything else is refused (EINVAL), above all a pipe: the reader would wait for its writer.
    private static func opened(_ path: String) throws(Errno) -> OpenFile {
        try patiently { () throws(Errno) in
            do throws(OpenFile.Problem) {
                return try OpenFile(path: path)
            } catch {
                guard case .system(let error) = error else { throw .invalidArgument }
                throw error
            }
        }
    }

    /// How long a store waits for a descriptor, in microseconds: connections and downloads give theirs back meanwhile.
    private static let patience: (pause: UInt32, count: Int) = (10_000, 20)

    /// Opens a file. If the process has no descriptor to spare, it tries again a moment later.
    private static func patiently<File>(_ open: () throws(Errno) -> File) throws(Errno) -> File {
        for _ in 0..<patience.count {
            do throws(Errno) { return try open() } catch { if error != .tooManyOpenFiles { throw error } }
            usleep(patience.pause)
        }
        throw .tooManyOpenFiles
    }

    /// Opens a file that is not read or written here. The caller closes it.
    private static func descriptor(_ open: () -> CInt) throws(Errno) -> CInt {
        try patiently { () throws(Errno) in
            let descriptor = open()
            if descriptor < 0 { throw Errno(code: errno) }
            if DescriptorLimit.hasPlace(for: descriptor) { return descriptor }
            close(descriptor)
            throw .tooManyOpenFiles
        }
    }

    /// Replaces the file at `path` by one of these octets, which is written beside it and then renamed. Only its owner
    /// may read it. On an error nothing changes.
    ///
    /// - Parameter isDurable: waits until the disk has the file, so that a power failure leaves the old file or the new
    ///   one. A file that has a checksum and may be lost does not need that.
    static func replace(_ path: String, with bytes: [UInt8], isDurable: Bool) throws(Errno) {
        let temporary = "\(path).\(getpid())-\(UInt32.random(in: .min ... .max))\(unfinished)"
        let file = try patiently { () throws(Errno) in try WritableFile(creating: temporary) }
        do throws(Errno) {
            try file.write(bytes.span)
            if isDurable { try file.sync() }
            guard unsafe rename(temporary, path) == 0 else { throw Errno(code: errno) }
        } catch {
            remove(temporary)
            throw error
        }
        if isDurable { synchronizeDirectory(of: path) }
    }

    /// Waits until the disk has the directory: only then is a renamed file on disk. Errors are ignored: file systems
    /// that cannot do so do not need it.
    static func synchronizeDirectory(of path: String) {
        let descriptor = unsafe open(parent(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        close(descriptor)
    }

    static func parent(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// Waits until the disk has what was written to a file.
    static func synchronize(_ path: String) throws(Errno) {
        let descriptor = try descriptor { unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) }
        defer { close(descriptor) }
        if fsync(descriptor) != 0 { throw Errno(code: errno) }
    }

    static func remove(_ path: String) { unsafe unlink(path) }

    /// Makes a directory and those above it, for its owner alone.
    static func makeDirectory(_ path: String) throws(Errno) {
        if unsafe mkdir(path, 0o700) == 0 || errno == EEXIST { return }
        guard errno == ENOENT, parent(of: path) != path else { throw Errno(code: errno) }
        try makeDirectory(parent(of: path))
        guard unsafe mkdir(path, 0o700) == 0 || errno == EEXIST else { throw Errno(code: errno) }
    }

    /// Runs `body` while no other process, and no other thread, runs one with this path. The lock file stays behind,
    /// empty: if it were removed, two could hold the lock. Blocks.
    ///
    /// - Parameter limit: how long to wait at most, since a stopped process may hold the lock for ever; after that
    ///   EBUSY is thrown.
    static func locked<Result>(
        _ path: String,
        upTo limit: Duration? = nil,
        _ body: () throws(Errno) -> Result
    ) throws(Errno) -> Result {
        let descriptor = try descriptor { unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, mode_t(0o600)) }
        defer { unlock(descriptor) }
        let end = limit.map { ContinuousClock.now + $0 }
        while flock(descriptor, end == nil ? LOCK_EX : LOCK_EX | LOCK_NB) != 0 {
            guard errno == EINTR || errno == EWOULDBLOCK else { throw Errno(code: errno) }
            guard let end else { continue }
            if ContinuousClock.now >= end { throw .busy }
            usleep(2_000)
        }
        return try body()
    }

    /// Releases the lock of a descriptor, and closes it. Closing alone is not enough: a child process that another
    /// thread has just forked holds the same lock until it runs its program.
    static func unlock(_ descriptor: CInt) {
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    // MARK: What lies beside a file

    /// The suffix of a file that is being written.
    private static let unfinished = ".tmp"
    /// The suffix of a file that could not be read, kept for a person to look at.
    private static let damaged = ".damaged"
    /// How long a file is kept to which nothing refers, such as a part of a download or a damaged file: the program or
    /// its user may still want it. In seconds: a week, the default limit of a resource.
    static let keptTime: Int64 = 604_800

    static func damagedPath(of path: String) -> String { path + damaged }

    /// Moves a file that cannot be read out of the way, so that the next one can be written. It replaces one that was
    /// moved away earlier. Does not wait for the disk.
    static func setAside(_ path: String) {
        if unsafe rename(path, damagedPath(of: path)) == 0 { touch(damagedPath(of: path)) }
    }

    /// Removes files beside `path` that should not stay: those that killed writers have left, which may hold what the
    /// file itself no longer does, and those that were set aside a week ago. The caller holds the file's lock, so that
    /// no writer is at work.
    static func removeLeftovers(of path: String) {
        for leftover in leftovers(of: path) { remove(leftover) }
    }

    /// Does the same for a file that is locked by ``locked(_:upTo:_:)`` with the path and `.lock`. It does nothing
    /// while another process holds the lock, and takes no lock if there are no leftovers.
    static func removeLeftoversIfUnlocked(of path: String) {
        guard !leftovers(of: path).isEmpty else { return }
        try? locked(path + ".lock", upTo: .zero) { () throws(Errno) in removeLeftovers(of: path) }
    }

    private static func leftovers(of path: String) -> [String] {
        let folder = parent(of: path)
        let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
        let file = slash.map { path[path.utf8.index(after: $0)...] } ?? path[...]
        let now = unixTime()
        return ((try? names(in: folder)) ?? []).compactMap { name in
            guard name.hasPrefix(file + ".") else { return nil }
            let isOld =
                name == file + damaged && state("\(folder)/\(name)").map { now - $0.seconds > keptTime } == true
            return isOld || name.hasSuffix(unfinished) ? "\(folder)/\(name)" : nil
        }
    }

    // MARK: Faults

    /// The file is no record of ours, or only a part of one. The system has no such error.
    static let damage = Errno(code: -1)

    /// Whether the fault is the file's own, so that another look finds the same: the file is gone, too long, or not a
    /// regular file. Other faults, such as a lack of descriptors, say nothing about the file and may pass.
    static func isOfFile(_ fault: Errno) -> Bool { [ENOENT, EFBIG, EINVAL, ENXIO].contains(fault.code) }

    // MARK: States

    /// Returns the state of a file or directory; nil if there is no such file. Allocates nothing.
    static func state(_ path: String) -> StoreFile? {
        var found = stat()
        // A string that is passed as an argument would be copied first.
        guard unsafe path.withCString({ unsafe stat($0, &found) }) == 0 else { return nil }
        return StoreFile(
            inode: UInt64(found.st_ino),
            size: Int64(found.st_size),
            seconds: Int64(found.st_mtim.tv_sec),
            nanoseconds: Int64(found.st_mtim.tv_nsec)
        )
    }

    /// Returns the names in a directory; none if there is no such directory.
    static func names(in path: String) throws(Errno) -> [String] {
        do throws(FileFault) { return try fileNames(in: path) } catch {
            if error.code == ENOENT { return [] }
            throw Errno(code: error.code)
        }
    }

    /// Sets a file's time to now: the file used last is evicted last.
    static func touch(_ path: String) { _ = unsafe utimensat(AT_FDCWD, path, nil, 0) }
}

extension StoreFile: Kept {
    static func keep(_ state: Self?, in record: inout StoreRecord) throws(Errno) -> Self {
        try record.rows(of: state, Self.init, \.inode, \.size, \.seconds, \.nanoseconds)
    }
}

extension Errno {
    /// Another process holds the lock.
    static let busy = Errno(code: EBUSY)

    /// The system's words without the symbol.
    var words: String { unsafe String(cString: strerror(code)) }
}

/// The directories of this program's stores, by the XDG Base Directory Specification 0.8.
extension StoreFile {
    /// For what can be deleted at any time: `$XDG_CACHE_HOME/<program>`, mostly `~/.cache/<program>`.
    static var cacheDirectory: String { base("XDG_CACHE_HOME", "/.cache") + "/" + program }

    /// For what a program remembers from one run to the next: `$XDG_STATE_HOME/<program>`, mostly
    /// `~/.local/state/<program>`.
    static var stateDirectory: String { base("XDG_STATE_HOME", "/.local/state") + "/" + program }

    /// The directory of the folders of background sessions.
    ///
    /// - Parameter base: the parent directory; nil for ``stateDirectory``.
    static func background(in base: String?) -> String { (base ?? stateDirectory) + "/background" }

    /// For what is meant to last: `$XDG_DATA_HOME/<program>`, mostly `~/.local/share/<program>`.
    static var dataDirectory: String { data(of: program) }

    /// The directory of what several programs share: `$XDG_DATA_HOME/<folder>`.
    static func data(of folder: String) -> String { base("XDG_DATA_HOME", "/.local/share") + "/" + folder }

    private static func base(_ variable: String, _ usual: String) -> String {
        let environment = ProcessInfo.processInfo.environment
        // "If an implementation encounters a relative path … it should consider the path invalid and ignore it."
        return environment[variable].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? NSHomeDirectory() + usual
    }

    /// The program's name as one path component: nothing in a name may lead elsewhere.
    private static var program: String {
        let name = ProcessInfo.processInfo.processName.replacingOccurrences(of: "/", with: "_")
        return name.isEmpty || name.hasPrefix(".") ? "_" + name : name
    }
}

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
    var state: StoreFile? { StoreFile.state(path) }

    /// Returns what the file holds; nil if there is no file. ``StoreFile/damage``: it is not a file of this
    /// kind, or only part of one.
    func read() throws(Errno) -> Content? {
        let octets: [UInt8]
        do throws(Errno) {
            octets = try StoreFile.read(path, limit: limit)
        } catch {
            if error.code == ENOENT { return nil }
            throw error
        }
        guard let content = StoreRecord.value(of: octets, kind) ?? foreign?(octets) else { throw StoreFile.damage }
        return content
    }

    /// Writes the file, and returns its state after that. The caller holds the lock.
    func write(_ content: Content) throws(Errno) -> StoreFile? {
        guard let octets = StoreRecord.file(kind, of: content) else { throw Errno(code: EINVAL) }
        guard octets.count <= limit else { throw Errno(code: EFBIG) }
        try StoreFile.replace(path, with: octets, isDurable: true)
        return state
    }

    /// Runs `body` while no other process does so with the same file.
    ///
    /// - Parameter limit: how long to wait at most; after that EBUSY is thrown. A lock is held while the file is
    ///   written once, some milliseconds; only a stopped process holds it longer.
    func locked<Value>(
        upTo limit: Duration = .seconds(1),
        _ body: () throws(Errno) -> Value
    ) throws(Errno) -> Value {
        try StoreFile.makeDirectory(StoreFile.parent(of: path))
        return try StoreFile.locked(path + ".lock", upTo: limit) { () throws(Errno) in
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
