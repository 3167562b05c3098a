import TestSupport
import Testing
import UncurlTLS
import UncurlTestServer

@Suite("Key updates and late tickets", .ownThread)
struct TLSSessionKeysTests {
    private let data = [UInt8](repeating: 9, count: 20_000)

    @Test("keys change in the midst of data, both ways, whichever end asks")
    func updates() throws {
        let pair = try TLSFixture().connected()
        for round in 0..<4 {
            let asks = round % 2 == 0
            _ = try pair.write(fromServer: data)
            #expect(pair.updateServerKeys(askingPeer: asks))
            _ = try pair.write(fromServer: data)
            #expect(pair.updateClientKeys(askingPeer: asks))
            _ = try pair.write(fromClient: data)
            pair.piece = round == 3 ? 11 : Int.max
            try pair.run()
        }
        #expect(pair.clientReceived.count == 8 * data.count)
        #expect(pair.serverReceived.count == 4 * data.count)
    }

    @Test("TLS 1.2 has no such message, and an unfinished handshake no time for it")
    func refused() throws {
        let old = try TLSFixture(server: { $0.maximumVersion = .v1_2 }).connected()
        #expect(!old.updateClientKeys(askingPeer: true))
        #expect(try old.write(fromClient: [1]) == 1)
        #expect(try !TLSFixture().pair().updateClientKeys(askingPeer: true))
    }

    /// The client is done; tickets are on their way to it.
    private func waitingForTickets(_ fixture: TLSFixture) throws -> MemoryPair {
        let pair = try fixture.pair()
        while pair.client.info == nil {
            try pair.stepClient()
            try pair.stepServer()
        }
        return pair
    }

    @Test("tickets that come late, and in pieces, hold nothing up")
    func lateTickets() throws {
        let fixture = try TLSFixture()
        let size = try waitingForTickets(fixture).toClient.count
        #expect(size > 100)
        for cut in [0, 1, 4, 5, 6, 50, size / 2, size - 1] {
            let pair = try waitingForTickets(fixture)
            let tickets = pair.toClient
            pair.toClient = Array(tickets.prefix(cut))
            try pair.stepClient()
            #expect(try pair.write(fromClient: data) == data.count)
            _ = try pair.write(fromServer: data)
            pair.toClient = tickets.dropFirst(cut) + pair.toClient
            try pair.run()
            #expect(pair.serverReceived == data)
            #expect(pair.clientReceived == data)
        }
    }

    @Test("a ticket long after the handshake is kept for the next connection")
    func ticketLater() throws {
        let fixture = try TLSFixture(server: { $0.tickets = 1 })
        let pair = try fixture.connected()
        #expect(fixture.context.sessions.count == 1)
        for count in 2...4 {
            _ = try pair.write(fromServer: data)
            #expect(pair.sendTicket())
            try pair.run()
            #expect(fixture.context.sessions.count == count)
        }
        #expect(try fixture.connected().client.info?.isResumed == true)
        #expect(try !TLSFixture(server: { $0.maximumVersion = .v1_2 }).connected().sendTicket())
    }

    @Test("between the two records of one ticket writes wait, within bounds; with the second they leave in order")
    func halfATicket() throws {
        // A ticket that holds the client's certificate does not fit a small record.
        let client = try TestCertificates.client
        let fixture = try TLSFixture(
            client: { $0.identity = try? ClientIdentity(pem: Array((client.chainPEM + client.keyPEM).utf8)) },
            server: {
                $0.clientCertificate = .required(Array(client.authorityPEM.utf8))
                $0.recordSize = 512
                $0.tickets = 1
            }
        )
        let pair = try waitingForTickets(fixture)
        #expect(pair.server.info?.chain != nil)
        let tickets = pair.toClient
        let first = 5 + Int(tickets[3]) << 8 + Int(tickets[4])
        #expect(first < tickets.count)
        pair.toClient = Array(tickets[..<first])
        try pair.stepClient()
        var sent: [UInt8] = []
        for byte in 0..<UInt8.max {
            let piece = [UInt8](repeating: byte, count: data.count)
            let taken = try pair.write(fromClient: [byte, byte], piece)
            #expect(pair.toServer.isEmpty)
            guard taken > 0 else { break }
            #expect(taken == 2 + data.count)
            sent += [byte, byte] + piece
        }
        // A quarter of a mebibyte and the piece that went beyond it.
        #expect((262_144..<300_000).contains(sent.count))
        pair.toClient = Array(tickets[first...])
        try pair.stepClient()
        #expect(try pair.write(fromClient: data) == data.count)
        try pair.run()
        #expect(pair.serverReceived == sent + data)
        #expect(fixture.context.sessions.count == 1)
    }
}
