import UncurlHTTP1

@testable import UncurlTestServer

/// What `GET /` is answered with, but for the date.
let home = """
    HTTP/1.1 200 OK\r
    Server: uncurl-httpbin\r
    Date: DATE\r
    Content-Type: text/plain; charset=utf-8\r
    Content-Length: 19\r
    \r
    Uncurl test server

    """

/// A server without sockets: octets in, octets out, and what it needs.
final class MachineHarness {
    let scratch: ServerScratch
    let counters = ServerCounters()
    private var machine: ServerMachine
    private(set) var sent: [UInt8] = []

    /// - Parameter uploads: what several connections share.
    init(_ options: ServerOptions = ServerOptions(), uploads: ServerUploads = ServerUploads()) {
        scratch = ServerScratch(
            options: options,
            secure: nil,
            counters: counters,
            all: [counters],
            uploads: uploads
        )
        machine = ServerMachine(limits: options.limits)
    }

    var isIdle: Bool { machine.isIdle }

    /// What was sent, with the date's digits out of the way.
    var text: String { undated(sent) }

    func receive(_ text: String) -> ServerMachine.Need { receive(Array(text.utf8)) }

    func receive(_ octets: [UInt8]) -> ServerMachine.Need {
        take(machine.receive(octets.span, scratch) { "10.0.0.9" })
    }

    func resume() -> ServerMachine.Need { take(machine.resume(scratch) { "10.0.0.9" }) }

    func timeOut() -> ServerMachine.Need { take(machine.timeOut(scratch)) }

    func releaseStorage() { machine.releaseStorage() }

    private func take(_ need: ServerMachine.Need) -> ServerMachine.Need {
        sent += scratch.output
        scratch.output.removeAll()
        return need
    }

    /// Feeds `text` in pieces of `size`, making room and letting time pass as asked. The last need.
    @discardableResult
    func play(_ text: String, pieces size: Int = .max) -> ServerMachine.Need {
        var rest = Array(text.utf8)[...]
        var need = ServerMachine.Need.input
        while !rest.isEmpty {
            let piece = Array(rest.prefix(size))
            rest = rest.dropFirst(piece.count)
            need = settle(receive(piece))
            guard need == .input else { break }
        }
        return need
    }

    private func settle(_ first: ServerMachine.Need) -> ServerMachine.Need {
        var need = first
        while true {
            switch need {
            case .room, .time, .freeze: need = resume()
            case .input, .nothing, .end: return need
            }
        }
    }
}

/// Replaces each Date by `DATE`: the one part of a response that a test cannot foresee.
func undated(_ octets: [UInt8]) -> String {
    var lines: [Substring] = []
    for line in String(decoding: octets, as: UTF8.self).split(separator: "\r\n", omittingEmptySubsequences: false) {
        lines.append(line.hasPrefix("Date: ") && line.hasSuffix(" GMT") && line.utf8.count == 35 ? "Date: DATE" : line)
    }
    return lines.joined(separator: "\r\n")
}
