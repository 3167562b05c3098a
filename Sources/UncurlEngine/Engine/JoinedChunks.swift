/// The small chunks of one read, which are delivered together: a delegate is called as often as the socket is read, and
/// not as often as a server makes a chunk (`./dev bench chunks`).
struct JoinedChunks {
    /// The longest chunk that is joined to others, in bytes. To deliver a longer one costs less than to copy it.
    static let most = 1 << 10
    /// The most that is delivered together, in bytes.
    static let capacity = 16 << 10

    private var count = 0

    var isEmpty: Bool { count == 0 }

    func hasRoom(for piece: Span<UInt8>) -> Bool { piece.count <= JoinedChunks.capacity - count }

    mutating func add(_ piece: Span<UInt8>, to buffer: UnsafeMutableBufferPointer<UInt8>) {
        unsafe piece.withUnsafeBufferPointer { piece in
            guard let source = piece.baseAddress, let start = buffer.baseAddress else { return }
            unsafe (start + count).update(from: source, count: piece.count)
        }
        count += piece.count
    }

    /// Returns how many bytes there are in the buffer, from its beginning, and forgets them.
    mutating func take() -> Int {
        defer { count = 0 }
        return count
    }
}
