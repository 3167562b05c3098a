internal import CLinux

/// A regular file open for reading. It has no position of its own: any number of readers share it, on any thread.
public final class OpenFile: Sendable {
    private let descriptor: OwnedFD
    /// What the file was when it was opened.
    public let status: Status

    /// What the file was when it was opened.
    public struct Status: Hashable, Sendable {
        /// Bytes.
        public let size: UInt64
        /// Which file it is, whatever its name has come to mean.
        public let identity: Identity
    }

    /// A file's device and inode: two open files with the same are one file.
    public struct Identity: Hashable, Sendable {
        let device: UInt64
        let inode: UInt64
    }

    /// Why a file cannot be read.
    public enum Problem: Error, Hashable, Sendable {
        /// What the kernel said.
        case system(Errno)
        /// A directory, a pipe, a device.
        case notRegular
    }

    /// Never waits for a pipe's writer, as it does not open one; a slow file system it does wait for.
    public convenience init(path: String) throws(Problem) {
        try self.init { unsafe path.withCString { unsafe uncurl_open_file($0) } }
    }

    /// A descriptor of the caller's, duplicated: the original stays the caller's to close.
    public convenience init(duplicating descriptor: CInt) throws(Problem) {
        try self.init { uncurl_duplicate(descriptor) }
    }

    private init(_ open: () -> CInt) throws(Problem) {
        do throws(Errno) {
            descriptor = OwnedFD(taking: try callingOnce(.openFile, open))
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

    /// For ``Socket/send(_:at:atMost:)``.
    var number: CInt { descriptor.number }

    /// Up to `count` bytes from `offset` on; empty where the file ends at or before it. Waits for the disk if it must.
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
