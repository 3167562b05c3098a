internal import CUncurlLinux
internal import UncurlLibC
import UncurlReactor

/// The largest file, in bytes. A file is held in memory once; a larger one needs an upload test of another kind.
package let largestFile = 256 << 20

/// The name of standard input and output.
package let standardStream = "-"

/// Returns the whole content of a file, or of standard input.
package func readFile(_ path: String, limit: Int = largestFile) throws(UsageError) -> [UInt8] {
    let descriptor = path == standardStream ? dup(STDIN_FILENO) : unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .unreadable(path, Errno(code: uncurl_errno())) }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    while let chunk = try nextChunk(of: descriptor, path, count: 1 << 16) {
        bytes += chunk
        guard bytes.count <= limit else { throw .tooLarge(path, limit: limit) }
    }
    return bytes
}

/// Returns the result of one read of a file of `/proc`, at most this number of bytes.
func readStart(of path: String, count: Int) throws(UsageError) -> [UInt8] {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .unreadable(path, Errno(code: uncurl_errno())) }
    defer { close(descriptor) }
    return try nextChunk(of: descriptor, path, count: count) ?? []
}

/// Reads once, at most this number of bytes; nil at the end.
private func nextChunk(of descriptor: Int32, _ path: String, count: Int) throws(UsageError) -> [UInt8]? {
    var chunk = [UInt8](repeating: 0, count: count)
    while true {
        let length = unsafe Glibc.read(descriptor, &chunk, count)
        if length >= 0 { return length == 0 ? nil : Array(chunk[..<length]) }
        let code = uncurl_errno()
        if code != EINTR { throw .unreadable(path, Errno(code: code)) }
    }
}

/// Returns the whole numbers in a file of `/proc`. Empty where it cannot be read.
package func numbers(inFile path: String) -> [UInt64] {
    guard let bytes = try? readFile(path, limit: 1 << 16) else { return [] }
    return String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isWhitespace).compactMap { UInt64($0) }
}

extension UsageError {
    static func unreadable(_ path: String, _ error: Errno) -> Self {
        Self("\(quoted(path)) cannot be read: \(error): name a readable file", isOfFile: true)
    }

    static func tooLarge(_ path: String, limit: Int) -> Self {
        Self("\(quoted(path)) is larger than \(limit >> 20) MiB: use a smaller file", isOfFile: true)
    }
}
