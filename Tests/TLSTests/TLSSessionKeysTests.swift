import TLS
import Testing

@Suite("Key updates and late tickets")
struct TLSSessionKeysTests {
    private let data = [UInt8](repeating: 9, count: 20_000)

    @Test("keys change in the midst of data, both ways, whoever asks")
    func updates() throws {
        let pair = try TLSFixture().connected()
        for round in 0..<4 {
            let asks = round % 2 == 0
            _ = try pair.write(fromServer: data)
            #expect(pair.updateServerKeys(askingPeer: asks))
            _ = try pair.write(fromServer: data)
            #expect(pair.updateClientKeys(askingPeer: asks))
            _ = try pair.write(fromClient: data)
            pair.piece = round == 3 ? 1 : Int.max
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

    @Test("a ticket cut in two holds writes up until the rest has come")
    func halfATicket() throws {
        let pair = try TLSFixture().pair()
        try pair.stepClient()
        try pair.stepServer()
        try pair.stepClient()
        try pair.stepServer()
        // The client is done; two tickets are on their way. Whole records hold whole tickets here, so any cut is harmless.
        let tickets = pair.toClient
        #expect(tickets.count > 100)
        for cut in [1, 4, 5, 6, 50, tickets.count / 2, tickets.count - 1] {
            let pair = try TLSFixture().pair()
            try pair.stepClient()
            try pair.stepServer()
            try pair.stepClient()
            try pair.stepServer()
            let tickets = pair.toClient
            pair.toClient = Array(tickets[..<cut])
            try pair.stepClient()
            #expect(try pair.write(fromClient: data) == data.count)
            pair.toClient = Array(tickets[cut...])
            try pair.run()
            #expect(pair.serverReceived == data)
        }
    }
}
