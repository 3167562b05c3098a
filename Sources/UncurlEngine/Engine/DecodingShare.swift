/// How much a connection may decode in one turn of its loop. A few kilobytes may expand to gigabytes. Without a limit,
/// the loop would serve no other socket, fire no timer and take no cancel until all of it is decoded.
struct DecodingShare {
    /// In bytes: some milliseconds' work. One read of ordinary text, of 256 KiB, expands to less.
    static let most = 4 << 20

    private var left = most
    private var isWaiting = false

    /// Begins a turn. Returns false if the connection waits for the others.
    mutating func begin() -> Bool {
        left = DecodingShare.most
        return !isWaiting
    }

    /// Counts decoded bytes. Returns whether there may be more in this turn.
    mutating func take(_ count: Int) -> Bool {
        left -= count
        return left > 0
    }

    mutating func wait() { isWaiting = true }

    mutating func endWait() { isWaiting = false }
}
