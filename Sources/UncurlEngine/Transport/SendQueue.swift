internal import UncurlReactor

/// The bytes that the kernel has not taken yet, in order. Pieces are shared arrays: nothing is copied.
struct SendQueue {
    /// The result of one flush: how many bytes were sent, how many of them are content, and whether the queue is empty.
    typealias Progress = (bytes: Int, content: Int, finished: Bool)

    /// How many places of sent pieces are kept, until they are worth moving the others.
    private static let mostGone = 64

    /// Content counts as progress of the request's content; heads and chunk framing do not.
    private var pieces: [(bytes: [UInt8], isContent: Bool)] = []
    private var next = 0
    /// How much of the first piece has been sent.
    private var sent = 0

    /// How many places the storage has, those of sent pieces included.
    var places: Int { pieces.count }
    var isEmpty: Bool { next == pieces.count }

    mutating func append(_ bytes: [UInt8], isContent: Bool) {
        guard !bytes.isEmpty else { return }
        pieces.append((bytes, isContent))
    }

    /// Removes `count` bytes, which the kernel has already taken, of what was just appended to an empty queue.
    mutating func skip(_ count: Int) { _ = advance(count) }

    /// Sends until the queue is empty, `write` takes nothing more, or `limit` bytes were sent. Pieces are sent in
    /// pairs, so that a head and a small body share a call and a packet.
    mutating func flush(
        atMost limit: Int = .max,
        _ write: (Span<UInt8>, Span<UInt8>) throws(Errno) -> Int?
    ) throws(Errno) -> Progress {
        var progress: Progress = (0, 0, false)
        while !isEmpty {
            let first = pieces[next].bytes
            let second = next + 1 < pieces.count ? pieces[next + 1].bytes : []
            let room = limit - progress.bytes
            guard room > 0 else { return progress }
            let head = first.span.extracting(droppingFirst: sent).extracting(first: room)
            let taken = try write(head, second.span.extracting(first: room - head.count))
            guard let taken else { return progress }
            progress.bytes += taken
            progress.content += advance(taken)
        }
        progress.finished = true
        return progress
    }

    mutating func removeAll() {
        pieces = []
        next = 0
        sent = 0
    }

    /// Advances by `count` bytes. Returns how many of them were content.
    private mutating func advance(_ count: Int) -> Int {
        var left = count
        var content = 0
        while left > 0, next < pieces.count {
            let piece = pieces[next]
            let step = min(left, piece.bytes.count - sent)
            left -= step
            sent += step
            if piece.isContent { content += step }
            if sent == piece.bytes.count {
                pieces[next] = ([], false)
                next += 1
                sent = 0
            }
        }
        if next == pieces.count {
            pieces.removeAll(keepingCapacity: true)
            next = 0
        } else if next >= SendQueue.mostGone, next * 2 > pieces.count {
            // A writer that is always ahead of the socket never sees the queue empty.
            pieces.removeFirst(next)
            next = 0
        }
        return content
    }
}
