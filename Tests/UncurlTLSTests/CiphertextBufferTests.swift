import TestSupport
import Testing
import UncurlTLS

@Suite("CiphertextBuffer", .ownThread)
struct CiphertextBufferTests {
    @Test("a buffer holds what a session wrote until the session's owner takes it")
    func takes() throws {
        let context = try TLSContext()
        let buffer = CiphertextBuffer()
        #expect(buffer.isEmpty)
        var hellos: [[UInt8]] = []
        for _ in 0..<2 {
            let session = try TLSSession(
                client: context,
                name: ServerName("localhost"),
                resumptionScope: "",
                output: buffer
            )
            var offset = 0
            guard case .needsInput = try session.handshake(Span(), from: &offset) else {
                Issue.record("done without a server")
                return
            }
            #expect(!buffer.isEmpty)
            let count = buffer.count
            #expect(buffer.withBytes { $0.count } == count)
            // A handshake record (RFC 8446 §5.1).
            #expect(buffer.withBytes { $0[0] } == 22)
            hellos.append(buffer.take())
            #expect(hellos.last?.count == count)
            #expect(buffer.isEmpty)
        }
        #expect(hellos[0] != hellos[1])
    }

    @Test("what is left when one session is done is not another's: it is emptied at will")
    func empties() throws {
        let pair = try TLSFixture().connected()
        let size = 100_000
        #expect(try pair.client.write([UInt8](repeating: 0, count: size).span) == size)
        let waiting = try pair.write(fromClient: [])
        #expect(waiting == 0)
        #expect(pair.toServer.count > size)
    }
}
