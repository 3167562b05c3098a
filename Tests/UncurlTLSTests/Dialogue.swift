import UncurlTLS

/// A handshake that can be held up on the client's side.
final class Dialogue {
    let context: TLSContext
    let client: TLSSession
    let server: TLSSession
    private let clientOutput = CiphertextBuffer()
    private let serverOutput = CiphertextBuffer()
    private var toClient: [UInt8] = []
    private var isServerDone = false

    init(_ context: TLSContext, _ serverContext: TLSServerContext, _ name: ServerName) throws {
        self.context = context
        client = try TLSSession(client: context, name: name, resumptionScope: "", output: clientOutput)
        server = try TLSSession(server: serverContext, output: serverOutput)
    }

    /// Runs until the client is done or stands still for something other than input.
    func advance() throws -> TLSSession.Handshake {
        for _ in 0..<20 {
            var offset = 0
            let input = toClient
            let step = try client.handshake(input.span, from: &offset)
            toClient.removeFirst(offset)
            if case .needsInput = step {} else { return step }
            try advanceServer()
        }
        throw MemoryPair.Stopped()
    }

    func advanceServer() throws {
        let input = clientOutput.take()
        var offset = 0
        if !isServerDone, case .done = try server.handshake(input.span, from: &offset) { isServerDone = true }
        toClient += serverOutput.take()
    }

    func question() throws -> PeerTrust {
        guard case .trust(let trust) = try advance() else { throw MemoryPair.Stopped() }
        return trust
    }
}
