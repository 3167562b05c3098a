internal import URLLoading
internal import UncurlLibC
internal import UncurlReactor

/// Puts a finished file at its place in one step: at every moment the place has what it had before, or the whole file.
///
/// A regular file is replaced if `replacesFile` says so. Anything else is never replaced: a folder, a device, a socket,
/// a pipe or a symbolic link. A file from another file system is first copied to a file beside its place. Once it is at
/// its place, the file has the permissions of any new file: those that the process's umask leaves. Only its user can
/// read it before that.
struct FilePlacement {
    let file: URL
    let place: URL
    let replacesFile: Bool
    /// Whether the file stays readable for its user alone.
    var staysPrivate = false

    /// - Throws: ``FileFailure/Obstacle`` for what is not replaced, or `CocoaError`. The file then stays where it was.
    func run() throws {
        if isLinked {
            _ = try permitting(file) {
                guard unsafe unlink(file.path) == 0 else { throw failure(errno) }
                return true
            }
            return
        }
        if let obstacle = try obstacle() { throw obstacle }
        if try permitting(file, { try put(file) }) { return }
        let copy = copyPlace
        do {
            try write(copy)
            guard try permitting(copy, { try put(copy) }) else { throw failure(EXDEV) }
        } catch {
            WritableFile.remove(copy.path)
            throw error
        }
        WritableFile.remove(file.path)
    }

    /// Copies the file, and waits until the disk has the copy: some file systems tell only then that it does not fit.
    private func write(_ copy: URL) throws {
        let source: OpenFile
        do throws(OpenFile.Problem) {
            source = try OpenFile(path: file.path)
        } catch {
            throw failure(code(of: error))
        }
        WritableFile.remove(copy.path)
        do throws(Errno) {
            let target = try WritableFile(creating: copy.path)
            while case let piece = try source.read(at: target.offset, atMost: 1 << 20), !piece.isEmpty {
                try target.write(piece.span)
            }
            try target.sync()
        } catch {
            throw failure(error.code)
        }
    }

    /// Gives a file its permissions if `move` has put it at the place. Everything that this needs is there before the
    /// move, so that a file without its permissions is never at the place.
    ///
    /// - Returns: what `move` returns: whether the file is there.
    private func permitting(_ source: URL, _ move: () throws -> Bool) throws -> Bool {
        guard !staysPrivate, let mode = try mode else { return try move() }
        // Opened before the move: at the place, another file may have taken the name since.
        let descriptor = unsafe open(source.path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        if descriptor < 0 { try throwShortage(errno) }
        defer { if descriptor >= 0 { close(descriptor) } }
        guard try move() else { return false }
        fchmod(descriptor, mode)
        return true
    }

    /// The permissions of a new file; nil where the umask cannot be read: the file then stays readable for its user
    /// alone. The umask is read from `/proc`: the system call that returns it also sets it, for all threads.
    private var mode: mode_t? {
        get throws {
            let file: OpenFile
            do throws(OpenFile.Problem) {
                file = try OpenFile(path: "/proc/self/status")
            } catch {
                try throwShortage(code(of: error))
                return nil
            }
            let status = String(decoding: (try? file.read(at: 0, atMost: 1 << 14)) ?? [], as: UTF8.self)
            guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix("Umask:") }),
                let text = line.split(separator: "\t").last, let mask = mode_t(text, radix: 8)
            else { return nil }
            return 0o666 & ~mask
        }
    }

    /// Throws if a file could not be opened because the process or the machine has too many open files, or no memory.
    private func throwShortage(_ code: CInt) throws {
        switch code {
        case EMFILE, ENFILE, ENOMEM: throw failure(code)
        default: break
        }
    }

    private func code(of problem: OpenFile.Problem) -> CInt {
        if case .system(let error) = problem { error.code } else { EINVAL }
    }

    /// The name of the copy is made from the file's own, so that the next attempt replaces what a killed process has
    /// left of it.
    private var copyPlace: URL {
        place.deletingLastPathComponent().appendingPathComponent(".\(file.lastPathComponent).part")
    }

    /// What is at the place and must not be replaced. Of a symbolic link, the link itself counts, not its target.
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

    /// Whether the file is already at its place and still has its old name too. That happens if a process is killed
    /// between the two steps of ``link(_:)``.
    private var isLinked: Bool {
        guard let own = facts(of: file), own.st_nlink > 1, isSame(own, facts(of: place)) else { return false }
        guard file.lastPathComponent == place.lastPathComponent else { return true }
        let (folder, other) = (file.deletingLastPathComponent(), place.deletingLastPathComponent())
        return !isSame(facts(of: folder), facts(of: other))
    }

    /// The file behind a name.
    private func facts(of url: URL) -> stat? {
        var facts = stat()
        return unsafe lstat(url.path, &facts) == 0 ? facts : nil
    }

    private func isSame(_ one: stat?, _ other: stat?) -> Bool {
        one?.st_dev == other?.st_dev && one?.st_ino == other?.st_ino
    }

    /// - Returns: false if `source` is on another file system than the place.
    private func put(_ source: URL) throws -> Bool {
        if replacesFile {
            if unsafe rename(source.path, place.path) == 0 { return true }
        } else if try link(source) {
            return true
        }
        switch errno {
        case EXDEV: return false
        // Since the check, a folder, or a file that must not be replaced, has appeared there.
        case EISDIR, EEXIST:
            if let obstacle = try obstacle() { throw obstacle }
            throw failure(EEXIST)
        case let code: throw failure(code)
        }
    }

    /// Gives the file a second name and then removes the first. Unlike a rename, this replaces nothing. False: `errno`
    /// says why it failed.
    private func link(_ source: URL) throws -> Bool {
        if unsafe Glibc.link(source.path, place.path) == 0 {
            _ = unsafe unlink(source.path)
            return true
        }
        guard Self.hasNoLink(errno) else { return false }
        return try move(source)
    }

    /// Whether the error of `link` says that the file system has no hard links, or no more for this file. Linux before
    /// 6.15 gives ENOSYS where a FUSE daemon has none.
    static func hasNoLink(_ code: CInt) -> Bool {
        switch code {
        case EPERM, EOPNOTSUPP, EMLINK, ENOSYS: true
        default: false
        }
    }

    /// Renames the file, on a file system without hard links. Since the first check, while the file was copied, another
    /// may have appeared at its place.
    func move(_ source: URL) throws -> Bool {
        if let obstacle = try obstacle() { throw obstacle }
        return unsafe rename(source.path, place.path) == 0
    }

    private func failure(_ code: CInt) -> CocoaError {
        let cause = POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO)
        let words = unsafe String(cString: strerror(code))
        let facts: [String: Any] = [
            NSLocalizedDescriptionKey: words, NSFilePathErrorKey: place.path, NSUnderlyingErrorKey: cause,
        ]
        return CocoaError(.fileWriteUnknown, userInfo: facts)
    }
}
