internal import Glibc
internal import URLLoading
internal import UncurlReactor

/// The file of a download that comes in several parts at once. Any thread may write to it. If its process is killed, it
/// stays in the temporary folder for a week, as a part of any other download does.
final class SegmentFile: Sendable {
    let url: URL
    private let descriptor: CInt

    init() throws(UncurlError) {
        url = URL(fileURLWithPath: DownloadParts.newPart(in: NSTemporaryDirectory()))
        descriptor = unsafe open(url.path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o600)
        if descriptor < 0 { throw Self.failure(url, errno) }
    }

    deinit { close(descriptor) }

    func write(_ data: Data, at place: Int64) throws(UncurlError) {
        var written = 0
        while written < data.count {
            let count = unsafe data.withUnsafeBytes { bytes in
                let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[written...])
                return unsafe pwrite(descriptor, rest.baseAddress, rest.count, off_t(place) + written)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw Self.failure(url, count < 0 ? errno : EIO) }
            written += count
        }
    }

    /// Throws the error of an earlier write that the file system tells only now, at the end of the writing. The file is
    /// removed then: nothing tells which part of it is missing.
    func checkWrites() throws(UncurlError) {
        do throws(Errno) {
            try BlockingOutput.checkWrites(to: descriptor)
        } catch {
            remove()
            throw Self.failure(url, error.code)
        }
    }

    /// The length in bytes; -1 where it cannot be read.
    var length: Int64 {
        var facts = stat()
        return unsafe fstat(descriptor, &facts) == 0 ? Int64(facts.st_size) : -1
    }

    /// - Returns: false if the file could not be cut; it is then unchanged.
    func cut(to length: Int64) -> Bool { ftruncate(descriptor, off_t(length)) == 0 }

    func remove() { try? FileManager.default.removeItem(at: url) }

    private static func failure(_ url: URL, _ code: CInt) -> UncurlError {
        let cause = POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO)
        let words = "The download could not be written to \(url.path): \(cause.localizedDescription)"
        let facts: [String: Any] = [NSLocalizedDescriptionKey: words, NSUnderlyingErrorKey: cause as NSError]
        return .transport(URLError(.cannotWriteToFile, userInfo: facts))
    }
}
