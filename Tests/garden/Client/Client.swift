import Foundation
import URLLoading
import UncurlHTTP1

/// Our side of the garden. `GardenClient fetch URL COUNT`: asks for URL/0, URL/1 … and says what came of each.
/// `GardenClient parse FILE`: has the parser alone read each response of a file, which are headed by their lengths.
/// A line of JSON each.
@main
enum GardenClient {
    private struct Line: Codable {
        var id: Int
        var verdict: String
        var status = 0
        var length = 0
        var sum = ""
        var why = ""
    }

    static func main() async throws {
        let words = CommandLine.arguments
        switch words.count > 2 ? words[1] : "" {
        case "fetch" where words.count == 4:
            for line in await fetch(words[2], Int(words[3]) ?? 0) { write(line) }
        case "parse":
            for line in parse(try Data(contentsOf: URL(fileURLWithPath: words[2]))) { write(line) }
        default:
            print("usage: GardenClient fetch URL COUNT | parse FILE")
            exit(2)
        }
    }

    private static func write(_ line: Line) {
        guard let json = try? JSONEncoder().encode(line) else { return }
        print(String(decoding: json, as: UTF8.self))
    }

    /// FNV-1a of 32 bits, which every client of the garden can compute.
    private static func sum(_ octets: some Sequence<UInt8>) -> String {
        let sum = octets.reduce(0x811c_9dc5 as UInt32) { ($0 ^ UInt32($1)) &* 0x100_0193 }
        return String(sum, radix: 16)
    }

    /// Redirects are not followed.
    private final class Keeper: NSObject, URLSessionTaskDelegate {
        func urlSession(
            _ session: URLSession,
            task: URLSessionTask,
            willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest,
            completionHandler: @escaping @Sendable (URLRequest?) -> Void
        ) { completionHandler(nil) }
    }

    private static func fetch(_ base: String, _ count: Int) async -> [Line] {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        configuration.timeoutIntervalForRequest = 3
        configuration.timeoutIntervalForResource = 3
        let session = URLSession(configuration: configuration, delegate: Keeper(), delegateQueue: nil)
        defer { session.invalidateAndCancel() }
        var lines: [Line] = []
        for start in stride(from: 0, to: count, by: 16) {
            lines += await withTaskGroup(of: Line.self, returning: [Line].self) { group in
                for id in start..<min(start + 16, count) { group.addTask { await fetch(session, base, id) } }
                return await group.reduce(into: []) { $0.append($1) }
            }
        }
        return lines
    }

    private static func fetch(_ session: URLSession, _ base: String, _ id: Int) async -> Line {
        guard let url = URL(string: "\(base)/\(id)") else { return Line(id: id, verdict: "refused") }
        do {
            let (data, answer) = try await session.data(from: url)
            let status = (answer as? HTTPURLResponse)?.statusCode ?? 0
            return Line(id: id, verdict: "taken", status: status, length: data.count, sum: sum(data))
        } catch let error as URLError where error.code == .timedOut {
            return Line(id: id, verdict: "waits")
        } catch {
            return Line(id: id, verdict: "refused", why: "\((error as? URLError)?.code.rawValue ?? 0)")
        }
    }

    // MARK: The parser alone

    private static func parse(_ file: Data) -> [Line] {
        var lines: [Line] = []
        var rest = file[...]
        while rest.count >= 4 {
            let length = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
            let octets = Array(rest.dropFirst(4).prefix(length))
            rest = rest.dropFirst(4 + length)
            lines.append(parse(octets, lines.count))
        }
        return lines
    }

    private static func parse(_ octets: [UInt8], _ id: Int) -> Line {
        let outcome = feedResponses(octets, answering: [.other(offeredUpgrade: false)])
        if let error = outcome.error { return Line(id: id, verdict: "refused", why: "\(error.kind)") }
        if let error = outcome.finishError { return Line(id: id, verdict: "cut", why: "\(error.kind)") }
        var status = 0
        for case .head(let head) in outcome.events where head.count > 2 { status = Int(head[1]) * 100 + Int(head[2]) }
        return Line(id: id, verdict: "taken", status: status, length: outcome.body.count, sum: sum(outcome.body))
    }
}
