internal import Reactor

/// How the bytes of a response are taken from its socket.
///
/// ```
///   usual ──a turn's reads were all full──▶ bulk ◀──▶ gathering ──the peer pauses──▶ fitful
/// ```
enum ReadingPace: Hashable {
    /// As they come, in reads of ``ReadBuffer/usual``.
    case usual
    /// As they come, in reads of ``ReadBuffer/bulk``.
    case bulk
    /// Once ``Gathering/amount`` of them are there; the timer is for a peer that pauses before.
    case gathering(TimerID)
    /// As bulk, to the end of the response: its peer has kept us waiting once.
    case fitful
}

/// A fast download costs what its wake-ups cost: left to itself, a socket wakes its reader for a record or two. So the
/// kernel gathers, and the reader is woken for much at once (`SO_RCVLOWAT`); it still is at once for FIN, RST, and a
/// full window.
///
/// Only where Content-Length says that so much is still to come, and only for a peer that sends without pause: the
/// first pause ends it for the whole response, so nothing is held back twice.
enum Gathering {
    /// Of 64, 128 and 256 KiB this takes as little CPU as the largest (`./dev bench download`).
    static let amount = 128 * 1024
    /// What comes more slowly than 5 MB/s is worth no gathering; a tenth of what people notice.
    static let patience: Int64 = 25_000_000
}
