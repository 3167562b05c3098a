internal import CUncurlLinux

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
