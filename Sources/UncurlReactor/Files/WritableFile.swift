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
        var done = 0
        while done < bytes.count {
            let written = try writeOnce(bytes.extracting(done..<bytes.count), at: offset)
            // A write of 0 bytes without an error is not tried again: it might never end.
            guard written > 0 else { throw .noSpace }
            done += written
            offset += UInt64(written)
        }
    }

    /// Overwrites bytes at an offset. The offset of the next byte does not change.
    public func write(_ bytes: Span<UInt8>, at place: UInt64) throws(Errno) {
        guard try writeOnce(bytes, at: place) == bytes.count else { throw .noSpace }
    }

    private func writeOnce(_ bytes: Span<UInt8>, at place: UInt64) throws(Errno) -> Int {
        guard let position = off_t(exactly: place) else { throw .invalidArgument }
        let number = descriptor.number
        return try retryingInterrupts(.writeFile) {
            unsafe bytes.withUnsafeBytes { unsafe pwrite(number, $0.baseAddress, $0.count, position) }
        }
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

/// Writes to the descriptors of a command line program: terminals, pipes, files. It blocks until all is written, so it
/// is not for a loop's sockets.
public enum BlockingOutput {
    /// The descriptor of standard output.
    public static let standard: CInt = 1
    /// The descriptor of standard error.
    public static let errors: CInt = 2

    /// Writes all of `bytes`, in as many calls as it takes.
    public static func writeAll(_ bytes: Span<UInt8>, to descriptor: CInt) throws(Errno) {
        var written = 0
        while written < bytes.count {
            do throws(Errno) {
                written += try retryingInterrupts {
                    unsafe bytes.withUnsafeBytes { buffer in
                        unsafe write(
                            descriptor,
                            buffer.baseAddress.map { unsafe $0 + written },
                            buffer.count - written
                        )
                    }
                }
            } catch .wouldBlock {
                try awaitRoom(in: descriptor)
            }
        }
    }

    /// Waits until a descriptor takes bytes. Another process that shares a terminal or a pipe may have made it
    /// nonblocking, as ssh does.
    private static func awaitRoom(in descriptor: CInt) throws(Errno) {
        var room = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = try retryingInterrupts { unsafe poll(&room, 1, -1) }
    }

    /// Throws the error of an earlier write to a file that its file system tells only when a descriptor is closed, as
    /// NFS does. A duplicate of the descriptor is closed for that; without a free one nothing is known.
    package static func checkWrites(to descriptor: CInt) throws(Errno) {
        do throws(Errno) {
            _ = try callingOnce(.writeFile) {
                let copy = uncurl_duplicate(descriptor)
                return copy < 0 ? 0 : close(copy)
            }
        } catch {
            // The descriptor is closed all the same.
            if error != .interrupted { throw error }
        }
    }

    /// Writes all of a text, in UTF-8.
    public static func writeAll(_ text: String, to descriptor: CInt) throws(Errno) {
        try writeAll(Array(text.utf8).span, to: descriptor)
    }
}
