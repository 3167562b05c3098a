internal import CUncurlLinux

/// A regular file being written, from some offset on, by one thread at a time. It waits for slow disks, since regular
/// files cannot be polled; usually the kernel takes the bytes at once and writes them later.
public final class WritableFile {
    private let descriptor: OwnedFD
    /// The offset of the next byte.
    public private(set) var offset: UInt64

    /// Makes the file, readable by its user alone. If it already exists, that is an error (EEXIST).
    public init(creating path: String) throws(Errno) {
        var isMade = false
        do throws(Errno) {
            descriptor = try opening(.openFile) {
                let number = unsafe path.withCString { unsafe uncurl_create_file($0) }
                isMade = number >= 0
                return number
            }
        } catch {
            if isMade { Self.remove(path) }
            throw error
        }
        offset = 0
    }

    /// Opens a regular file that exists and truncates it at `offset`. A shorter file is refused (EINVAL), since the gap
    /// would be filled with zeros; and so is one that another `WritableFile` continues, of any process (EWOULDBLOCK).
    public init(path: String, continuingAt offset: UInt64) throws(Errno) {
        descriptor = try Self.locked(path)
        var (size, device, inode): (UInt64, UInt64, UInt64) = (0, 0, 0)
        let number = descriptor.number
        let isRegular = try callingOnce(.fileStatus) { unsafe uncurl_file_status(number, &size, &device, &inode) }
        guard isRegular == 1, size >= offset, let length = off_t(exactly: offset) else { throw .invalidArgument }
        _ = try callingOnce(.writeFile) { ftruncate(number, length) }
        self.offset = offset
    }

    /// Closing alone would not release the lock: a child process that another thread has just forked holds it until it
    /// runs its program.
    deinit { flock(descriptor.number, LOCK_UN) }

    /// Opens a file that exists, and locks it until its descriptor is closed. On a file system without locks it is
    /// opened all the same.
    private static func locked(_ path: String) throws(Errno) -> OwnedFD {
        let descriptor = try opening(.openFile) {
            unsafe path.withCString { unsafe uncurl_open_file_for_writing($0) }
        }
        let number = descriptor.number
        do throws(Errno) {
            _ = try callingOnce { flock(number, LOCK_EX | LOCK_NB) }
        } catch {
            if error == .wouldBlock { throw error }
        }
        return descriptor
    }

    /// Writes all of `bytes`, or throws: then some of it may be in the file, and ``offset`` tells how much.
    public func write(_ bytes: Span<UInt8>) throws(Errno) {
        let number = descriptor.number
        var done = 0
        while done < bytes.count {
            let rest = bytes.extracting(done..<bytes.count)
            guard let position = off_t(exactly: offset) else { throw .invalidArgument }
            let written = try retryingInterrupts(.writeFile) {
                unsafe rest.withUnsafeBytes { unsafe pwrite(number, $0.baseAddress, $0.count, position) }
            }
            // A write of 0 bytes without an error is not tried again: it might never end.
            guard written > 0 else { throw .noSpace }
            done += written
            offset += UInt64(written)
        }
    }

    /// Overwrites bytes at an offset. The offset of the next byte does not change.
    public func write(_ bytes: Span<UInt8>, at place: UInt64) throws(Errno) {
        let number = descriptor.number
        guard let position = off_t(exactly: place) else { throw .invalidArgument }
        let written = try retryingInterrupts(.writeFile) {
            unsafe bytes.withUnsafeBytes { unsafe pwrite(number, $0.baseAddress, $0.count, position) }
        }
        guard written == bytes.count else { throw .noSpace }
    }

    /// Throws the error of an earlier write that the file system tells only now, at the end of the writing.
    package func checkWrites() throws(Errno) { try BlockingOutput.checkWrites(to: descriptor.number) }

    /// Waits until what was written would survive a crash of the machine.
    public func sync() throws(Errno) {
        let number = descriptor.number
        _ = try callingOnce(.writeFile) { fdatasync(number) }
    }

    /// Removes a file that no `WritableFile` continues. One that is continued, or cannot be opened, stays.
    package static func removeUnlessContinued(_ path: String) {
        guard let descriptor = try? locked(path) else { return }
        remove(path)
        flock(descriptor.number, LOCK_UN)
    }

    /// Removes a file. One that does not exist is no error.
    public static func remove(_ path: String) { _ = unsafe path.withCString { unsafe unlink($0) } }
}
