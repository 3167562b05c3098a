/// What the peer is asked to do, named in the request's target: `/deed/id/size/offset`.
enum Deed: String, Sendable, CaseIterable {
    /// The whole answer, by length or in chunks or until close.
    case length, chunks, close
    /// Half of it at once, the rest some milliseconds later.
    case slow
    /// The whole answer and a few bytes that nobody asked for.
    case stray
    /// The first `offset` bytes of the message, then FIN, RST or nothing more.
    case fin, reset, stall
    /// The whole answer, and perhaps the end of the connection, now or soon.
    case race
    /// The same for a POST, which may also meet the end instead of an answer.
    case post

    /// Whether the answer is meant to arrive whole.
    var isWhole: Bool {
        switch self {
        case .length, .chunks, .close, .slow, .stray, .race: true
        case .fin, .reset, .stall, .post: false
        }
    }
}

/// An answer as bytes on the wire.
struct Message: Sendable {
    let bytes: [UInt8]

    init(_ deed: Deed, _ pattern: Pattern, size: Int) {
        var bytes = Array("HTTP/1.1 200 OK\r\n".utf8)
        let content = pattern.bytes(0..<size)
        switch deed {
        case .chunks:
            bytes += Array("Transfer-Encoding: chunked\r\n\r\n".utf8)
            for start in stride(from: 0, to: size, by: 1_000) {
                let part = content[start..<min(size, start + 1_000)]
                bytes += Array("\(String(part.count, radix: 16))\r\n".utf8) + part + Array("\r\n".utf8)
            }
            bytes += Array("0\r\n\r\n".utf8)
        case .close:
            bytes += Array("Connection: close\r\n\r\n".utf8) + content
        case .length, .slow, .stray, .fin, .reset, .stall, .race, .post:
            bytes += Array("Content-Length: \(size)\r\n\r\n".utf8) + content
        }
        if case .stray = deed { bytes += Array("HTTP/1.1 200 OK\r\n".utf8) }
        self.bytes = bytes
    }
}
