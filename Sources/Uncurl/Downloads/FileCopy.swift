internal import Glibc
internal import URLLoading

/// A copy of a file from another file system, readable by its user alone.
final class FileCopy {
    let url: URL
    let descriptor: CInt
    private let source: CInt

    /// Makes the file, empty. What an attempt before has left there is removed.
    init(of file: URL, at url: URL) throws {
        self.url = url
        source = unsafe open(file.path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        if source < 0 { throw CocoaError(writing: url, errno) }
        unsafe unlink(url.path)
        descriptor = unsafe open(url.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        if descriptor < 0 {
            let code = errno
            close(source)
            throw CocoaError(writing: url, code)
        }
    }

    deinit {
        close(source)
        close(descriptor)
    }

    /// Copies the content, and waits until the disk has it: some file systems tell only then that it does not fit.
    func write() throws {
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        while case let count = try read(into: &buffer), count > 0 { try write(buffer[..<count]) }
        guard fsync(descriptor) == 0 else { throw CocoaError(writing: url, errno) }
    }

    func remove() { unsafe unlink(url.path) }

    private func read(into buffer: inout [UInt8]) throws -> Int {
        while true {
            let count = unsafe buffer.withUnsafeMutableBytes { unsafe Glibc.read(source, $0.baseAddress, $0.count) }
            if count >= 0 { return count }
            if errno != EINTR { throw CocoaError(writing: url, errno) }
        }
    }

    private func write(_ bytes: ArraySlice<UInt8>) throws {
        var rest = bytes
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno != EINTR {
                throw CocoaError(writing: url, errno)
            }
        }
    }
}

extension CocoaError {
    /// The error of a system call with which a file was to be written.
    init(writing url: URL, _ code: CInt) {
        let cause = POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO)
        let words = unsafe String(cString: strerror(code))
        let facts: [String: Any] = [
            NSLocalizedDescriptionKey: words, NSFilePathErrorKey: url.path, NSUnderlyingErrorKey: cause,
        ]
        self = CocoaError(.fileWriteUnknown, userInfo: facts)
    }
}
