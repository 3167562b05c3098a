import Foundation
import ScriptedPeer
import Uncurl

/// A server that takes one form a connection and keeps it, byte by byte.
struct FormServer {
    let raw: RawServer

    static let ok = Array("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".utf8)

    /// - Parameter count: bytes of content, framing included.
    init(taking count: Int) throws {
        raw = try RawServer.start(otherwise: [
            .receive(.headEnd), .receive(.bytes(count)), .send(FormServer.ok), .startOver,
        ])
    }

    init(_ scripts: [RawScript], otherwise: RawScript = .silent) throws {
        raw = try RawServer.start(scripts, otherwise: otherwise)
    }

    var url: URL { URL(string: raw.url("/form"))! }

    var request: URLRequest {
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        return request
    }

    /// What came behind the head.
    func content(_ connection: Int = 0) -> [UInt8] {
        let received = raw.received(connection)
        let end = received.indices.first { received[$0...].starts(with: [13, 10, 13, 10]) } ?? 0
        return Array(received[min(end + 4, received.count)...])
    }

    func head(_ connection: Int = 0) -> String {
        String(decoding: raw.received(connection), as: UTF8.self).components(separatedBy: "\r\n\r\n")[0]
    }
}

/// Octets that do not compress and do not repeat soon.
func noise(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: ($0 &* 2_654_435_761) >> 7) } }

extension InputStream {
    /// A fresh one over these octets.
    static func of(_ bytes: [UInt8]) -> InputStream { InputStream(data: Data(bytes)) }
}

/// Chunked content (RFC 9112 §7.1) put together again; nil where it has no end.
func dechunked(_ bytes: [UInt8]) -> [UInt8]? {
    var (result, rest) = ([UInt8](), bytes[...])
    while let end = rest.indices.first(where: { rest[$0...].starts(with: [13, 10]) }) {
        guard let count = Int(String(decoding: rest[..<end], as: UTF8.self), radix: 16) else { return nil }
        rest = rest[(end + 2)...]
        if count == 0 { return rest.elementsEqual([13, 10]) ? result : nil }
        guard rest.count >= count + 2 else { return nil }
        result += rest.prefix(count)
        rest = rest.dropFirst(count)
        guard rest.starts(with: [13, 10]) else { return nil }
        rest = rest.dropFirst(2)
    }
    return nil
}
