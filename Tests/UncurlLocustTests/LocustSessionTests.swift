import Testing

@testable import UncurlLoad
@testable import UncurlLocust

struct LocustSessionTests {
    private static let opening: [UInt8] =
        [0xFF] + [UInt8](repeating: 0, count: 8) + [0x7F, 3, 1] + Array("NULL".utf8) + [UInt8](repeating: 0, count: 48)
        + {
            let body =
                [5] + Array("READY".utf8) + [11] + Array("Socket-Type".utf8) + [0, 0, 0, 6] + Array("ROUTER".utf8)
            return [4, UInt8(body.count)] + body
        }()
    private let load: LocustLoad = (12.5, 1_000)

    private func master(_ type: String, _ data: MessagePack = .null) -> [UInt8] {
        ZMTP.message(MessagePack.array([.string(type), data, .string("me")]).encoded)
    }

    private func spawn(_ users: Int64, at time: Double) -> [UInt8] {
        master(
            "spawn",
            .map([
                .init("timestamp", .number(time)),
                .init("user_classes_count", .map([.init("A", .integer(users)), .init("B", .integer(1))])),
                .init("host", .string("http://h")),
                .init(
                    "parsed_options",
                    .map([.init("target_url", .string("http://x/")), .init("target_rate", .integer(9))])
                ),
            ])
        )
    }

    /// Types of the messages sent, and the names of other effects.
    private func names(_ effects: [LocustSession.Effect]) throws -> [String] {
        try effects.map { effect in
            switch effect {
            case .send(let bytes):
                guard case .array(let parts) = try message(bytes) else { return "no message" }
                return parts[0].text ?? "no type"
            case .run(let order): return "run \(order.users)"
            case .stop: return "stop"
            case .quit: return "quit"
            case .reconnect: return "reconnect"
            }
        }
    }

    private func message(_ bytes: [UInt8]) throws -> MessagePack {
        try MessagePack(decoding: Array(bytes.dropFirst(bytes[0] == 2 ? 9 : 2)))
    }

    private func ready() throws -> LocustSession {
        var session = LocustSession(identity: "me", now: 0)
        #expect(try names(session.received(Self.opening, at: 0)) == ["client_ready"])
        #expect(try names(session.received(master("ack", .map([.init("index", .integer(0))])), at: 0)) == [])
        return session
    }

    @Test("a master is one that has said something of Locust's, and is missed for a minute")
    func patience() throws {
        var session = LocustSession(identity: "me", now: 0)
        _ = try session.received(Self.opening, at: 0)
        #expect(!session.isIntroduced)
        _ = try session.received(master("ack"), at: 0)
        #expect(session.isIntroduced)
        #expect(!LocustClient.isTooLong(since: 5, until: 64) && LocustClient.isTooLong(since: 5, until: 65))
        #expect(!LocustClient.isTooLong(since: 60, until: 65) && LocustClient.isTooLong(since: 60, until: 120))
    }

    @Test(
        "what is no message ends the session with a reason, however deep or long it says it is",
        arguments: [
            [UInt8](repeating: 0x91, count: 100_000), [0xDD, 0xFF, 0xFF, 0xFF, 0xFF],
            [0xDF, 0xFF, 0xFF, 0xFF, 0xFF, 0xC0],
            [0xC6, 0xFF, 0xFF, 0xFF, 0xFF], [0x93, 0xA5], [0xC1], [],
        ] as [[UInt8]]
    )
    func garbage(bytes: [UInt8]) throws {
        var session = try ready()
        #expect(throws: UsageError.self) { try session.received(ZMTP.message(bytes), at: 1) }
        var other = try ready()
        let whole = ZMTP.message([0x93, 0xA4] + Array("stop".utf8) + [0xC0, 0xC0])
        // Cut in the middle of a frame nothing has come yet; with the rest, it has.
        #expect(try other.received(Array(whole.dropLast(3)), at: 1) == [])
        #expect(try names(other.received(Array(whole.suffix(3)), at: 1)).first == "client_stopped")
    }

    @Test("a pipeline and a master's rate exclude each other, and the master's page can say so")
    func pipeline() throws {
        let url = try TargetURL("http://127.0.0.1/")
        let request = try RequestDescription(
            method: nil,
            target: "/",
            hostField: "127.0.0.1",
            headers: [],
            body: nil
        )
        var options = LoadOptions(url, request)
        options.pipeline = 2
        let order = { (rate: String) throws(UsageError) in
            try LocustSpawn(
                .map([
                    .init("user_classes_count", .map([.init("A", .integer(3))])),
                    .init(
                        "parsed_options",
                        .map([.init("target_rate", .string(rate)), .init("num_users", .integer(3))])
                    ),
                ])
            )
        }
        #expect { try options.following(order("9")) } throws: {
            "\($0)".hasPrefix("pipeline is for a closed loop")
        }
        #expect(try options.following(order("")).pipeline == 2)
    }

    @Test("a worker introduces itself with version -1, until it is acknowledged")
    func introduction() throws {
        var session = LocustSession(identity: "me", now: 0)
        #expect(session.opening.starts(with: ZMTP.greeting))
        #expect(try session.tick(at: 1, load) == [])
        let effects = try session.received(Self.opening, at: 1)
        guard case .send(let bytes)? = effects.first else {
            Issue.record("nothing sent")
            return
        }
        #expect(try message(bytes) == .array([.string("client_ready"), .integer(-1), .string("me")]))
        #expect(try names(session.tick(at: 2, load)) == ["heartbeat"])
        #expect(try names(session.tick(at: 2.5, load)) == [])
        #expect(try names(session.tick(at: 6, load)) == ["client_ready", "heartbeat"])
        _ = try session.received(master("ack"), at: 6)
        #expect(try names(session.tick(at: 12, load)) == ["heartbeat"])
    }

    @Test("a spawn runs, a later one changes the users, an older one is ignored, stop and spawn again")
    func test() throws {
        var session = try ready()
        #expect(try names(session.received(spawn(10, at: 100), at: 1)) == ["spawning", "run 11", "spawning_complete"])
        #expect(session.order?.option("target_url") == "http://x/")
        #expect(session.order?.option("target_rate") == "9")
        #expect(session.order?.option("nothing") == nil)
        #expect(try names(session.received(spawn(20, at: 101), at: 2)) == ["spawning", "run 21", "spawning_complete"])
        #expect(try names(session.received(spawn(5, at: 99), at: 3)) == [])
        #expect(try names(session.received(spawn(5, at: 101), at: 3)) == [])
        #expect(try names(session.received(master("stop"), at: 4)) == ["stop"])
        #expect(session.order == nil)
        #expect(try names(session.received(master("stop"), at: 4)) == [])
        let last = session.stopped(LocustStats(name: "/", method: "GET"), at: 5)
        #expect(try names(last) == ["stats", "client_stopped", "client_ready"])
        #expect(session.stopped(nil, at: 5) == [])
        #expect(try names(session.received(master("ack"), at: 5)) == [])
        #expect(try names(session.received(spawn(1, at: 102), at: 6)) == ["spawning", "run 2", "spawning_complete"])
    }

    @Test("a stop with nothing to stop is answered, and unknown messages are not")
    func idle() throws {
        var session = try ready()
        #expect(try names(session.received(master("stop"), at: 1)) == ["client_stopped", "client_ready"])
        #expect(try names(session.received(master("update_user_class", .map([])), at: 1)) == [])
        #expect(try names(session.received(master("spawning_complete", .null), at: 1)) == [])
        #expect(try names(session.received(master("quit"), at: 1)) == ["quit"])
        #expect(try names(session.received(master("reconnect"), at: 1)) == ["reconnect"])
    }

    @Test("heartbeats keep a session alive; a minute of silence ends it")
    func silence() throws {
        var session = try ready()
        _ = try session.received(master("heartbeat"), at: 30)
        #expect(try names(session.tick(at: 89, load)) == ["heartbeat"])
        #expect(throws: UsageError.silent(seconds: 60)) { try session.tick(at: 90, load) }
    }

    @Test("a master's nonsense is an error in words, never a trap")
    func nonsense() throws {
        let bad: [[UInt8]] = [
            ZMTP.message([0xC1]), ZMTP.message([0x93, 0xC0, 0xC0, 0xC0]), ZMTP.message([1]), master("spawn"),
            master("spawn", .map([.init("user_classes_count", .map([.init("A", .string("x"))]))])),
            master("spawn", .map([.init("user_classes_count", .map([.init("A", .integer(-4))]))])),
            master("spawn", .map([.init("user_classes_count", .map([.init("A", .integer(.max))]))])),
            master(
                "spawn",
                .map([
                    .init("user_classes_count", .map([.init("A", .integer(900_000)), .init("B", .integer(900_000))]))
                ])
            ),
        ]
        for bytes in bad {
            var session = try ready()
            #expect(throws: UsageError.self) { try session.received(bytes, at: 1) }
        }
        var session = LocustSession(identity: "me", now: 0)
        #expect(throws: UsageError.notZeroMQ) { try session.received(Array("GET / HTTP/1.1\r\n".utf8), at: 0) }
    }
}
