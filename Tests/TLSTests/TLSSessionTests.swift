import TLS
import Testing

@Suite("TLSSession")
struct TLSSessionTests {
    let identity: TestIdentity
    let context: TLSContext
    let serverContext: TLSServerContext

    init() throws {
        identity = try TestIdentity.shared.get()
        var configuration = TLSConfiguration()
        configuration.roots = .pem(identity.certificate)
        context = try TLSContext(configuration)
        context.trust.load()
        serverContext = try TLSServerContext(.init(certificate: identity.forServer))
    }

    @Test("bytes cross both ways, however the ciphertext is cut", arguments: [1, 2, 3, 5, 7, 1000, Int.max])
    func pieces(piece: Int) throws {
        let pair = try MemoryPair(context, serverContext)
        pair.piece = piece
        try pair.run()
        let (head, content) = ([UInt8]("GET / HTTP/1.1\r\n\r\n".utf8), [UInt8](repeating: 7, count: 40_000))
        #expect(try pair.write(fromClient: head, content) == head.count + content.count)
        #expect(try pair.write(fromServer: content) == content.count)
        try pair.run()
        #expect(pair.serverReceived == head + content)
        #expect(pair.clientReceived == content)
        pair.closeClient()
        try pair.run()
        #expect(pair.serverClosed)
        let info = try #require(pair.client.info)
        #expect(info.version == .v1_3)
        #expect(info.applicationProtocol == "http/1.1")
        #expect(!info.isResumed)
    }
}
