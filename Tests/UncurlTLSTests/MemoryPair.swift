import UncurlTLS

/// A client and a server of ours, with two byte queues for a network. Input that a session asked for is kept for it.
final class MemoryPair {
    let client: TLSSession
    let server: TLSSession
    private let clientOutput = CiphertextBuffer()
    private let serverOutput = CiphertextBuffer()
    /// Ciphertext on its way.
    var toServer: [UInt8] = []
    var toClient: [UInt8] = []
    /// At most so many bytes are handed over in one call.
    var piece = Int.max
    var clientReceived: [UInt8] = []
    var serverReceived: [UInt8] = []
    var clientClosed = false
    var serverClosed = false
    /// What the client's user says of the server, and shows it; the handshake fails where one is asked for and not there.
    var judge: ((PeerTrust) -> TrustVerdict)?
    var choose: ((IdentityRequest) -> IdentityAnswer)?
    private(set) var clientDone = false
    private(set) var serverDone = false

    init(
        _ context: TLSContext,
        _ serverContext: TLSServerContext,
        name: String = "localhost",
        scope: String = ""
    ) throws {
        client = try TLSSession(
            client: context,
            name: ServerName(name),
            resumptionScope: scope,
            output: clientOutput
        )
        server = try TLSSession(server: serverContext, output: serverOutput)
    }

    /// Everything that can be done without new data from above.
    func run() throws {
        repeat {
            try stepClient()
            try stepServer()
        } while !toClient.isEmpty || !toServer.isEmpty
    }

    func write(fromClient bytes: [UInt8], _ more: [UInt8] = []) throws -> Int {
        defer { toServer += clientOutput.take() }
        return try client.write(bytes.span, more.span)
    }

    func write(fromServer bytes: [UInt8]) throws -> Int {
        defer { toClient += serverOutput.take() }
        return try server.write(bytes.span)
    }

    func updateServerKeys(askingPeer: Bool) -> Bool {
        defer { toClient += serverOutput.take() }
        return server.updateKeys(askingPeer: askingPeer)
    }

    func updateClientKeys(askingPeer: Bool) -> Bool {
        defer { toServer += clientOutput.take() }
        return client.updateKeys(askingPeer: askingPeer)
    }

    func sendHelloRequest() -> Bool {
        defer { toClient += serverOutput.take() }
        return server.sendHelloRequest()
    }

    func sendTicket() -> Bool {
        defer { toClient += serverOutput.take() }
        return server.sendTicket()
    }

    func closeClient() {
        client.close()
        toServer += clientOutput.take()
    }

    func closeServer() {
        server.close()
        toClient += serverOutput.take()
    }

    func stepClient() throws {
        let input = Array(toClient.prefix(piece))
        toClient.removeFirst(input.count)
        defer { toServer += clientOutput.take() }
        try step(client, input, &clientDone, &clientReceived, &clientClosed)
    }

    func stepServer() throws {
        let input = Array(toServer.prefix(piece))
        toServer.removeFirst(input.count)
        defer { toClient += serverOutput.take() }
        try step(server, input, &serverDone, &serverReceived, &serverClosed)
    }

    private func step(
        _ session: TLSSession,
        _ input: [UInt8],
        _ done: inout Bool,
        _ received: inout [UInt8],
        _ closed: inout Bool
    ) throws {
        var offset = 0
        while !done {
            switch try session.handshake(input.span, from: &offset) {
            case .needsInput: return
            case .trust(let question):
                guard let judge else { throw Stopped() }
                session.decide(judge(question))
            case .identity(let request):
                guard let choose else { throw Stopped() }
                session.present(choose(request))
            case .needsRoots: throw Stopped()
            case .done: done = true
            }
        }
        var buffer = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            let read = try buffer.withUnsafeMutableBufferPointer { buffer in
                try session.read(input.span, from: &offset, into: buffer)
            }
            switch read {
            case .bytes(let count): received += buffer[..<count]
            case .needsInput: return
            case .closed:
                closed = true
                return
            }
        }
    }

    struct Stopped: Error {}
}
