/// Python's `websockets`, which shares no line with ours: a server that does by its path what a test asks for.
///
/// `/echo` · `/pieces`: what comes goes back, whole or in fragments of seven · `/close/CODE/REASON` closes after the first message ·
/// `/farewell/COUNT` sends so many messages and closes after the first message · `/ping` pings, waits for the pong, and says so · `/big/COUNT` · `/abort` resets after the first message · `/remember` waits
/// for the client's close, which `/tell` then tells · `/quiet` reads nothing for as long as the test runs, and `/pester` pings
/// meanwhile · `/late` answers the last ping alone, after the first message · `/headers` says what the request's fields were.
public enum WebSocketPeer {
    /// - Parameters:
    ///   - extensions: of the server, as Python writes them; nil for its usual permessage-deflate, `[]` for none.
    ///   - identity: certificate chain and key in PEM, for wss.
    public static func start(
        subprotocols: [String] = [],
        extensions: String? = nil,
        identity: (chain: String, key: String)? = nil
    ) async throws -> Peer {
        let list = "[" + subprotocols.map { "'\($0)'" }.joined(separator: ", ") + "]"
        var files = [
            "server.py": script.replacing("SUBPROTOCOLS", with: list)
                .replacing("EXTENSIONS", with: extensions ?? "[ServerPerMessageDeflateFactory()]")
                .replacing("SECURE", with: identity == nil ? "False" : "True")
        ]
        if let identity { (files["chain.pem"], files["key.pem"]) = (identity.chain, identity.key) }
        return try await Peer("/usr/bin/python3", files: files, ["FOLDER/server.py", "PORT", "FOLDER"])
    }

    private static let script = """
        import asyncio, socket, ssl, sys, websockets
        from websockets.extensions.permessage_deflate import ServerPerMessageDeflateFactory

        closes = asyncio.Queue()

        async def serve(ws, path=None):
            what, *rest = ws.path.split("?")[0].strip("/").split("/")
            if what == "echo":
                async for message in ws: await ws.send(message)
            elif what == "pieces":
                async for message in ws: await ws.send([message[i:i + 7] for i in range(0, len(message), 7)] or [message])
            elif what == "close":
                await ws.recv()
                await ws.close(int(rest[0]), rest[1])
            elif what == "farewell":
                await ws.recv()
                for number in range(int(rest[0])): await ws.send(str(number))
                await ws.close(1001, "bye")
                await closes.put("closed")
            elif what == "ping":
                await (await ws.ping(b"are you there"))
                await ws.send("pong came")
                await ws.wait_closed()
            elif what == "big":
                await ws.send(bytes(range(256)) * (int(rest[0]) // 256))
                await ws.wait_closed()
            elif what == "abort":
                await ws.recv()
                ws.transport.abort()
            elif what == "vanish":
                await ws.send("go on")
                ws.data_received = lambda data: ws.transport.abort()
                await asyncio.Future()
            elif what == "remember":
                await ws.send("go on")
                await ws.wait_closed()
                await closes.put(f"{ws.close_code} {ws.close_reason}")
            elif what == "tell":
                await ws.send(await closes.get())
            elif what == "quiet":
                ws.transport.pause_reading()
                await asyncio.Future()
            elif what == "pester":
                ws.transport.pause_reading()
                for _ in range(400): ws.transport.write((b"\\x89\\x7d" + b"5" * 125) * 500)
                await asyncio.Future()
            elif what == "late":
                pings, pong = [], ws.pong
                async def keep(payload): pings.append(payload)
                ws.pong = keep
                await ws.send("go on")
                await ws.recv()
                await pong(pings[-1])
                await ws.send(str(len(pings)))
                await ws.wait_closed()
            elif what == "headers":
                await ws.send("\\n".join(f"{n}: {v}" for n, v in ws.request_headers.raw_items()))

        async def main():
            context = None
            if SECURE:
                context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
                context.load_cert_chain(sys.argv[2] + "/chain.pem", sys.argv[2] + "/key.pem")
            async with websockets.serve(serve, "127.0.0.1", int(sys.argv[1]), subprotocols=SUBPROTOCOLS or None,
                                        extensions=EXTENSIONS, compression=None, max_size=None, ssl=context,
                                        ping_interval=None) as server:
                # What is not read stays with the sender, but for this much; Linux may take 32 MB otherwise.
                for listener in server.sockets:
                    listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
                await asyncio.Future()

        asyncio.run(main())
        """
}
