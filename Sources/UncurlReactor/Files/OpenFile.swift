internal import CUncurlLinux

/// A regular file open for reading. It has no position: any number of readers share it, on any thread.
public final class OpenFile: Sendable {
    private let descriptor: OwnedFD
    /// The file's status when it was opened.
    public let status: Status

    /// The status of a file when it was opened.
    public struct Status: Hashable, Sendable {
        /// The size in bytes.
        public let size: UInt64
        /// The identity of the file, whatever file its name means later.
        public let identity: Identity
    }

    /// A file's device and inode: two open files with equal ones are the same file.
    public struct Identity: Hashable, Sendable {
        let device: UInt64
        let inode: UInt64
    }

    /// The reason why a file cannot be read.
    public enum Problem: Error, Hashable, Sendable {
        /// The kernel's error.
        case system(Errno)
        /// It is a directory, a pipe or a device.
        case notRegular
    }

    /// Opens a file. It never waits for a pipe's writer, since it does not open pipes; but it waits for a slow file
    /// system.
    public convenience init(path: String) throws(Problem) {
        // C would open the file whose name is the part before it.
        guard !path.utf8.contains(0) else { throw .system(.invalidArgument) }
        try self.init { unsafe path.withCString { unsafe uncurl_open_file($0) } }
    }

    /// Duplicates the caller's descriptor, which stays the caller's to close.
    public convenience init(duplicating descriptor: CInt) throws(Problem) {
        try self.init { uncurl_duplicate(descriptor) }
    }

    private init(_ open: () -> CInt) throws(Problem) {
        do throws(Errno) {
            descriptor = try opening(.openFile, open)
            var (size, device, inode): (UInt64, UInt64, UInt64) = (0, 0, 0)
            let number = descriptor.number
            let isRegular = try callingOnce(.fileStatus) {
                unsafe uncurl_file_status(number, &size, &device, &inode)
            }
            status = Status(size: size, identity: Identity(device: device, inode: inode))
            if isRegular == 1 { return }
        } catch {
            throw .system(error)
        }
        throw .notRegular
    }

    /// The descriptor, for ``Socket/send(_:at:atMost:)``.
    var number: CInt { descriptor.number }

    /// Reads up to `count` bytes from `offset` on; empty if the file ends at or before it. Waits for the disk if
    /// needed.
    public func read(at offset: UInt64, atMost count: Int) throws(Errno) -> [UInt8] {
        guard let offset = off_t(exactly: offset) else { throw .invalidArgument }
        var failure: Errno?
        let number = descriptor.number
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: max(0, count)) { buffer, filled in
            do throws(Errno) {
                filled = try retryingInterrupts(.readFile) {
                    unsafe pread(number, buffer.baseAddress, buffer.count, offset)
                }
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return bytes
    }
}

extension OpenFile.Problem: CustomStringConvertible {
    public var description: String {
        switch self {
        case .system(let error): "the file cannot be opened: \(error)"
        case .notRegular: "it is no regular file, but a directory, a pipe or a device"
        }
    }
}
