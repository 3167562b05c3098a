internal import Glibc
internal import URLLoading

/// Puts a finished file at its place in one step: at every moment the place has what it had before, or all of the file.
///
/// A regular file is replaced if that is wanted. Nothing else ever is: not a folder, a device, a socket, a pipe or a
/// symbolic link. From another file system the file comes by a copy beside its place. At its place it has the
/// permissions of any new file: those that the process's umask leaves.
struct FilePlacement {
    let file: URL
    let place: URL
    let replacesFile: Bool

    /// - Throws: ``FileFailure/Obstacle`` for what is not replaced, or `CocoaError`. The file is where it was then.
    func run() throws {
        if isLinked { return try removeName() }
        if let obstacle = try obstacle() { throw obstacle }
        permit(file)
        if try put(file) { return }
        let copy = place.deletingLastPathComponent().appendingPathComponent(".\(UUID().uuidString).part")
        do {
            try FileManager.default.copyItem(at: file, to: copy)
            permit(copy)
            guard try put(copy) else { throw failure(EXDEV) }
        } catch {
            try? FileManager.default.removeItem(at: copy)
            throw error
        }
        try? FileManager.default.removeItem(at: file)
    }

    /// The mask is read, as asking the system for it would set it for a moment, for all threads. Where it cannot be
    /// read the file stays its user's alone.
    private func permit(_ source: URL) {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix("Umask:") }),
            let text = line.split(separator: "\t").last, let mask = mode_t(text, radix: 8)
        else { return }
        _ = unsafe chmod(source.path, 0o666 & ~mask)
    }

    /// What lies at the place and has to stay there. A symbolic link is looked at itself, not what it leads to.
    private func obstacle() throws -> FileFailure.Obstacle? {
        var facts = stat()
        guard unsafe lstat(place.path, &facts) == 0 else {
            if errno == ENOENT { return nil }
            throw failure(errno)
        }
        switch facts.st_mode & S_IFMT {
        case S_IFREG: return replacesFile ? nil : .file
        case S_IFDIR: return .folder
        case S_IFLNK: return .symbolicLink
        case S_IFIFO: return .pipe
        case S_IFSOCK: return .socket
        default: return .device
        }
    }

    /// Whether the file is at its place already and has its old name besides: a process was killed between the two
    /// steps of ``link(_:)``.
    private var isLinked: Bool {
        guard let own = Inode(file), own.names > 1, Inode(place)?.number == own.number else { return false }
        let (folder, other) = (file.deletingLastPathComponent(), place.deletingLastPathComponent())
        return file.lastPathComponent != place.lastPathComponent || Inode(folder)?.number != Inode(other)?.number
    }

    /// What a name stands for.
    private struct Inode {
        struct Number: Equatable {
            let device: dev_t
            let inode: ino_t
        }

        let number: Number
        /// How many names it has.
        let names: nlink_t

        init?(_ url: URL) {
            var facts = stat()
            guard unsafe lstat(url.path, &facts) == 0 else { return nil }
            number = Number(device: facts.st_dev, inode: facts.st_ino)
            names = facts.st_nlink
        }
    }

    /// False: `source` is on another file system than the place.
    private func put(_ source: URL) throws -> Bool {
        if replacesFile {
            if unsafe rename(source.path, place.path) == 0 { return true }
        } else if try link(source) {
            return true
        }
        switch errno {
        case EXDEV: return false
        // A folder, or a file that is not to be replaced, has come there since.
        case EISDIR, EEXIST:
            if let obstacle = try obstacle() { throw obstacle }
            throw failure(EEXIST)
        case let code: throw failure(code)
        }
    }

    private func removeName() throws {
        guard unsafe unlink(file.path) == 0 else { throw failure(errno) }
    }

    /// A second name, and then no first one: unlike a rename it replaces nothing. False: `errno` says why not.
    private func link(_ source: URL) throws -> Bool {
        if unsafe Glibc.link(source.path, place.path) == 0 {
            _ = unsafe unlink(source.path)
            return true
        }
        // There are file systems that know no second names.
        guard errno == EPERM || errno == EOPNOTSUPP || errno == EMLINK else { return false }
        return unsafe rename(source.path, place.path) == 0
    }

    private func failure(_ code: CInt) -> CocoaError {
        let cause = POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO)
        return CocoaError(.fileWriteUnknown, userInfo: [NSFilePathErrorKey: place.path, NSUnderlyingErrorKey: cause])
    }
}
