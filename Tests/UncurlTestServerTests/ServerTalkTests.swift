import TestSupport
import Testing
import UncurlWebSocket

@testable import UncurlTestServer

@Suite(.ownThread, .timeLimit(.minutes(5))) struct ServerTalkTests {
    private let handshake = """
        GET /websocket HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r
        Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n
        """

    @Test("frames after the handshake are answered in pieces of any size", arguments: [1, 3, 1_000])
    func pieces(size: Int) throws {
        let harness = MachineHarness()
        var client = WebSocketMachine(.client)
        _ = client.send(.text("hello"))
        _ = client.ping([1])
        _ = client.close(.none)
        var rest = (Array(handshake.utf8) + client.takeOutput())[...]
        var need = ServerMachine.Need.input
        while !rest.isEmpty {
            need = harness.receive(Array(rest.prefix(size)))
            rest = rest.dropFirst(size)
        }
        #expect(need == .end(.linger))
        let (head, frames) = try split(harness.sent)
        #expect(head.hasPrefix("HTTP/1.1 101 Switching Protocols\r\n") && !head.contains("Content-Length"))
        #expect(frames == [0x81, 5] + Array("hello".utf8) + [0x8A, 1, 1, 0x88, 0])
    }

    @Test("the server stops reading from a client that does not read its echoes")
    func room() {
        let harness = MachineHarness()
        _ = harness.receive(handshake)
        var client = WebSocketMachine(.client)
        for _ in 0..<5 { _ = client.send(.binary([UInt8](repeating: 1, count: 50_000))) }
        var need = harness.receive(client.takeOutput())
        #expect(need == .room)
        for _ in 0..<5 where need == .room { need = harness.resume() }
        #expect(need == .input && harness.sent.count > 250_000 && harness.isIdle)
    }

    @Test("a client that breaks the protocol gets a close frame, and the connection ends")
    func violation() throws {
        let harness = MachineHarness()
        _ = harness.receive(handshake)
        #expect(harness.receive([0x81, 0x01, 0x61]) == .end(.linger))
        #expect(try split(harness.sent).frames.starts(with: [0x88]))
    }

    private func split(_ sent: [UInt8]) throws -> (head: String, frames: [UInt8]) {
        let end = try #require(sent.firstRange(of: Array("\r\n\r\n".utf8)))
        return (String(decoding: sent[..<end.upperBound], as: UTF8.self), Array(sent[end.upperBound...]))
    }

    @Test("Python's client agrees with the server on messages, fragments, pings, compression and closing")
    func python() throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let script = """
            import asyncio, websockets
            async def run(query, **options):
                async with websockets.connect("ws://127.0.0.1:\(server.port)/websocket" + query, subprotocols=["a", "b"],
                                              max_size=None, **options) as ws:
                    assert ws.subprotocol == "a"
                    for m in ["", "text", "\\u20ac" * 1000, b"", bytes(range(256)) * 300, "x" * 5_000_000]:
                        await ws.send(m)
                        assert await ws.recv() == m
                    await ws.send(["frag", "ments", "", " of text"])
                    assert await ws.recv() == "fragments of text"
                    await (await ws.ping(b"payload"))
                    await ws.close(4000, "bye")
                    assert (ws.close_code, ws.close_reason) == (4000, "bye"), ws.close_code
            async def all():
                await run("")
                await run("?deflate=0")
                await run("", compression=None)
                try: await websockets.connect("ws://127.0.0.1:\(server.port)/get")
                except websockets.InvalidStatusCode as e: assert e.status_code == 200
                else: assert False
            asyncio.run(all())
            print("agreed")
            """
        let run = try EndedProgram(shell: "/usr/bin/python3 - 2>&1 <<'EOF'\n\(script)\nEOF\n")
        #expect(run.out == "agreed\n")
    }
}
