internal import UncurlReactor

/// How the bytes of a response are taken from its socket.
///
/// ```
///   usual ──a turn's reads were all full──▶ bulk ◀──▶ gathering ──the peer pauses──▶ fitful
/// ```
enum ReadingPace: Hashable {
    /// Takes bytes as they come, in reads of ``ReadBuffer/usual``.
    case usual
    /// Takes bytes as they come, in reads of ``ReadBuffer/bulk``.
    case bulk
    /// Waits until ``Gathering/amount`` of bytes are there; the timer is for a peer that pauses before that.
    case gathering(TimerID)
    /// Reads as bulk to the end of the response, since its peer has paused once.
    case fitful
}

/// Lets the kernel gather bytes, so that the reader is woken for many at once (`SO_RCVLOWAT`). The cost of a fast
/// download is the cost of its wake-ups: by default, a socket wakes its reader for a record or two. The kernel still
/// wakes it at once for FIN, RST, and a full window.
///
/// This is done only if Content-Length says that so much is still to come, and only for a peer that sends without
/// pauses: the first pause ends it for the whole response, so nothing is held back twice.
enum Gathering {
    /// Of 64, 128 and 256 KiB, this takes as little CPU as the largest (`./dev bench download`).
    static let amount = 128 * 1024
    /// In nanoseconds. Gathering is not worth it below 5 MB/s; this is a tenth of what people notice.
    static let patience: Int64 = 25_000_000
}
