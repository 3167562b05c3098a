import Foundation
import LoadTestSupport
import TestServer
import TestSupport
import Testing

@testable import LoadGenerator
@testable import LoadReports
@testable import LocustWorker
@testable import volley

/// Which connections a run opens and uses, by the server's own record.
@Suite("The use of connections", .ownThread, .serialized)
struct ConnectionUseTests {
    private static let ok = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"

    /// What a server does with its first connection. Every later one is answered.
    enum Fault: String, CaseIterable {
        case none, resetForAnswer, finishForAnswer, resetForFirstAnswer, closeAfterAnswer, resetAfterAnswer, cutHead
        case announcedClose, shortKeepAlive, lastOfKeepAlive

        var first: RawScript {
            switch self {
            case .none, .shortKeepAlive, .lastOfKeepAlive: .answering(Array(answer.utf8))
            case .resetForAnswer: [.receive(.headEnd), .send(answer), .receive(.headEnd), .reset]
            case .finishForAnswer: [.receive(.headEnd), .send(answer), .receive(.headEnd), .finish]
            case .resetForFirstAnswer: [.receive(.headEnd), .reset]
            case .closeAfterAnswer: [.receive(.headEnd), .send(answer), .close]
            case .resetAfterAnswer: [.receive(.headEnd), .send(answer), .reset]
            case .cutHead: [.receive(.headEnd), .send("HTTP/1.1 200 O"), .close]
            case .announcedClose:
                [
                    .receive(.headEnd), .send("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"),
                    .finish,
                ]
            }
        }

        var answer: String {
            let hint = self == .shortKeepAlive ? "timeout=1" : self == .lastOfKeepAlive ? "timeout=60, max=0" : nil
            return "HTTP/1.1 200 OK\r\n\(hint.map { "Keep-Alive: \($0)\r\n" } ?? "")Content-Length: 0\r\n\r\n"
        }

        /// What the server does, and not what it says that it may do, ends a connection.
        var connections: Int { [.none, .shortKeepAlive, .lastOfKeepAlive].contains(self) ? 1 : 2 }
    }

    @Test(
        "after a fault of the server, each method opens as many connections as GET",
        arguments: Fault.allCases,
        [[], ["--think", "12ms"], ["-R", "80", "--max-lag", "60s"]]
    )
    func methods(fault: Fault, pace: [String]) throws {
        var counts: [String: Int] = [:]
        for method in ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "PURGE"] {
            let server = try RawServer.start([fault.first], otherwise: .answering(Array(fault.answer.utf8)))
            defer { server.stop() }
            let line = ["--format", "json", "-m", method, "-n", "8", "-c", "1", "-t", "1"]
            let ended = try volley(line + pace + [server.url("/")])
            #expect([0, 4].contains(ended.status), "\(ended.err)\(ended.out)")
            counts[method] = server.connections.count
            #expect(ended.number("connections", "opened") == server.connections.count, "\(method)")
        }
        #expect(counts.allSatisfy { $0.value == fault.connections }, "\(counts)")
    }
}
