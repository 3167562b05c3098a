import FacadeTestSupport
import Foundation
import ScriptedPeer
import Uncurl
import UncurlHTTP1

/// The scripted servers of one recorded case, and what they have got, as text.
final class Wire: Sendable {
    static let ok = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"

    /// Answers every request with 200.
    static let usual: RawScript = [.receive(.request), .send(Wire.ok), .startOver]

    /// Reads heads alone, and answers each with 200: for requests that a parser may refuse.
    static let heads: RawScript = [.receive(.headEnd), .send(Wire.ok), .startOver]

    /// Asks for the content of a request, of as many octets as the small sample, after its head.
    static let careful: RawScript = [
        .receive(.headEnd), .send("HTTP/1.1 100 Continue\r\n\r\n"), .receive(.bytes(Sample.small.count)),
        .send(Wire.ok),
    ]

    /// Opens a tunnel, and answers a request in it.
    static let tunnel: RawScript = [.receive(.headEnd), .send(Wire.ok), .receive(.request), .send(Wire.ok)]

    let servers: [RawServer]
    let folder: TemporaryFolder

    /// - Parameters:
    ///   - hasOther: whether there is a second server, of another origin, which answers with 200.
    ///   - scripts: those of the first server's connections, made with the second one's URL. Further connections
    ///     answer with 200.
    init(hasOther: Bool = false, _ scripts: (String) -> [RawScript] = { _ in [] }) throws {
        folder = try TemporaryFolder()
        let others = hasOther ? [try RawServer.start(otherwise: Wire.usual)] : []
        let own = try RawServer.start(scripts(others.first?.url("") ?? ""), otherwise: Wire.usual)
        servers = [own] + others
    }

    deinit { for server in servers { server.stop() } }

    func url(_ path: String = "/path") -> URL { URL(string: servers[0].url(path))! }

    var port: Int { Int(servers[0].port) }

    /// A session that gets no field, cookie or proxy of this machine.
    func session(
        _ delegate: (any URLSessionDelegate)? = nil,
        _ change: (URLSessionConfiguration) -> Void = { _ in }
    ) -> URLSession {
        let configuration = URLSessionConfiguration.isolated
        change(configuration)
        return URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
    }

    func manager(_ change: (URLSessionConfiguration) -> Void = { _ in }) -> HTTPSessionManager {
        let configuration = URLSessionConfiguration.isolated
        change(configuration)
        return HTTPSessionManager(baseURL: url("/"), configuration: configuration)
    }

    /// A file with this content, and a name that is always the same.
    func file(_ content: Data, _ name: String = "file.txt") throws -> URL {
        let url = folder.url.appending(path: name)
        try content.write(to: url)
        return url
    }

    /// Everything that came, connection by connection.
    var text: String {
        var text = ""
        for (number, server) in servers.enumerated() {
            for (index, connection) in server.connections.enumerated() where !connection.received.isEmpty {
                text += "--- server \(number), connection \(index)\n" + Wire.text(connection.received)
            }
        }
        return settled(text)
    }

    /// A text without what differs from run to run.
    func settled(_ text: String) -> String {
        var text = text
        for (number, server) in servers.enumerated() {
            text = text.replacing(":\(server.port)", with: ":PORT\(number)")
        }
        text = text.replacing(folder.url.path, with: "FOLDER")
        text = text.replacing("Accept-Language: \(URLRequest.acceptLanguage)\n", with: "Accept-Language: LANGUAGE\n")
        let program = ProcessInfo.processInfo.processName
        text = text.replacing("User-Agent: \(program)", with: "User-Agent: PROGRAM")
        text = text.replacing(#/gzip, deflate(, br)?(, zstd)?/#, with: "CODINGS")
        text = text.replacing(#/Sec-WebSocket-Key: .*/#, with: "Sec-WebSocket-Key: KEY")
        text = text.replacing(#/cnonce="[^"]*"/#, with: "cnonce=\"CNONCE\"")
        text = text.replacing(#/Boundary\+[0-9A-Fa-f]{16}/#, with: "BOUNDARY")
        let lines = text.components(separatedBy: "\n").map { line in
            // It follows from the nonce of the client.
            line.contains("CNONCE") ? line.replacing(#/response="[^"]*"/#, with: "response=\"RESPONSE\"") : line
        }
        return lines.joined(separator: "\n")
    }

    // MARK: Octets as text

    /// Requests, each as its head, an empty line and its content. CRLF ends a line; other controls are escaped.
    static func text(_ bytes: [UInt8]) -> String {
        var (text, start) = ("", 0)
        while start < bytes.count {
            let rest = bytes[start...]
            guard let end = headEnd(rest) else { return text + escaped(rest) + "\n(no end of a head)\n" }
            let head = rest[start..<end]
            let (length, isChunked) = framing(String(decoding: head, as: UTF8.self).lowercased())
            let isPacked = String(decoding: head, as: UTF8.self).lowercased().contains("content-encoding: ")
            text += isPacked ? headWithoutLength(head) : escaped(head)
            start = end
            let stop = isChunked ? chunksEnd(bytes[start...]) : min(bytes.count, start + length)
            if stop > start {
                let content = bytes[start..<stop]
                // What zlib makes is its own affair.
                text += isPacked ? "(packed content)\n" : contentText(content, isChunked) + "\n"
            }
            start = stop
        }
        return text
    }

    private static func headWithoutLength(_ head: ArraySlice<UInt8>) -> String {
        escaped(head).replacing(#/Content-Length: [0-9]+/#, with: "Content-Length: LENGTH")
    }

    private static func headEnd(_ bytes: ArraySlice<UInt8>) -> Int? {
        for index in bytes.indices.dropLast(3) where bytes[index] == 13 {
            if bytes[index + 1] == 10, bytes[index + 2] == 13, bytes[index + 3] == 10 { return index + 4 }
        }
        return nil
    }

    private static func framing(_ head: String) -> (length: Int, isChunked: Bool) {
        for line in head.split(separator: "\r\n") where line.hasPrefix("content-length: ") {
            return (Int(line.dropFirst(16)) ?? 0, false)
        }
        return (0, head.contains("\r\ntransfer-encoding: chunked\r\n"))
    }

    /// Past the last chunk and its trailers.
    private static func chunksEnd(_ bytes: ArraySlice<UInt8>) -> Int {
        var start = bytes.startIndex
        while let (size, next) = chunkLine(bytes[start...]) {
            guard size == 0 else {
                start = min(bytes.endIndex, next + size + 2)
                continue
            }
            // Trailers end as a head does, and there may be none.
            return headEnd(bytes[(next - 2)...]) ?? bytes.endIndex
        }
        return bytes.endIndex
    }

    private static func chunkLine(_ bytes: ArraySlice<UInt8>) -> (size: Int, next: Int)? {
        guard let end = bytes.firstIndex(of: 10) else { return nil }
        let text = String(decoding: bytes[..<end], as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        return Int(text, radix: 16).map { ($0, end + 1) }
    }

    /// How much content is shown; of longer content, its length and a hash. The sizes of long content's chunks follow
    /// from how fast a thread reads, and are no part of the record.
    private static let shown = 1000

    private static func contentText(_ content: ArraySlice<UInt8>, _ isChunked: Bool) -> String {
        // Foundation writes the members of a dictionary in an order of its own, another in each process.
        if content.starts(with: Array("bplist".utf8)) { return "(a binary property list of \(content.count) octets)" }
        guard content.count > shown else { return escaped(content) }
        var octets: [UInt8] = []
        if isChunked {
            var start = content.startIndex
            while let (size, next) = chunkLine(content[start...]), size > 0 {
                octets += content[next..<min(next + size, content.endIndex)]
                start = min(content.endIndex, next + size + 2)
            }
        } else {
            octets = Array(content)
        }
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for octet in octets { hash = (hash ^ UInt64(octet)) &* 0x100_0000_01b3 }
        return "(\(octets.count) octets\(isChunked ? " in chunks" : ""), FNV-1a \(String(hash, radix: 16)))"
    }

    private static func escaped(_ bytes: ArraySlice<UInt8>) -> String {
        var text = String.UnicodeScalarView()
        var index = bytes.startIndex
        while index < bytes.endIndex {
            let octet = bytes[index]
            if octet == 13, index + 1 < bytes.endIndex, bytes[index + 1] == 10 {
                text.append("\n")
                index += 1
            } else if octet >= 32, octet < 127, octet != 92 {
                text.append(Unicode.Scalar(octet))
            } else {
                text.append(contentsOf: (octet < 16 ? "\\x0" : "\\x").unicodeScalars)
                text.append(contentsOf: String(octet, radix: 16).unicodeScalars)
            }
            index += 1
        }
        return String(text)
    }
}
