import UncurlLoad

/// ZeroMQ's transport (ZMTP 3.0, RFC 23), as far as a DEALER without security needs it. It reads what a peer sends,
/// from bytes in any pieces: greeting, READY, then messages.
struct ZMTP {
    enum Event: Hashable, Sendable {
        /// Greeting and READY have come, so messages may be sent.
        case ready
        case message([UInt8])
        /// The answer is a PONG with the same context.
        case ping(context: [UInt8])
    }

    private var hasGreeting = false
    private var isOpen = false
    /// The frames so far of a message in several frames.
    private var parts: [UInt8] = []
    private var input: [UInt8] = []
    private var start = 0

    /// Adds bytes. The caller then calls ``next()`` until it returns nil.
    mutating func append(_ bytes: some Collection<UInt8>) {
        input.removeFirst(start)
        start = 0
        input += bytes
    }

    mutating func next() throws(UsageError) -> Event? {
        if !hasGreeting {
            guard try readGreeting() else { return nil }
            hasGreeting = true
        }
        while let frame = try readFrame() {
            if frame.isCommand {
                if let event = try command(frame.body) { return event }
                continue
            }
            guard isOpen else { throw .malformedCommand }
            let length = parts.count + frame.body.count
            guard length <= Self.frameLimit else { throw .frameTooLong(UInt64(length)) }
            parts += frame.body
            guard !frame.hasMore else { continue }
            defer { parts = [] }
            return .message(parts)
        }
        return nil
    }

    /// Reads the greeting; returns false if it is incomplete. The first byte shows whether the peer speaks ZeroMQ, so
    /// another server, which never sends 64 bytes, is refused at once.
    private mutating func readGreeting() throws(UsageError) -> Bool {
        if start < input.count, input[start] != 0xFF { throw .notZeroMQ }
        guard input.count - start >= Self.greetingSize else { return false }
        let greeting = Array(input[start..<(start + Self.greetingSize)])
        guard greeting[9] & 1 == 1 else { throw .notZeroMQ }
        guard greeting[10] >= 3 else { throw .version(greeting[10]) }
        let name = String(decoding: greeting[12..<32].prefix { $0 != 0 }, as: UTF8.self)
        guard name == "NULL" else { throw .mechanism(name) }
        start += Self.greetingSize
        return true
    }

    private mutating func readFrame() throws(UsageError) -> (isCommand: Bool, hasMore: Bool, body: [UInt8])? {
        let left = input.count - start
        guard left >= 2 else { return nil }
        let flags = input[start]
        guard flags & 0xF8 == 0 else { throw .malformedCommand }
        var length = UInt64(input[start + 1])
        var head = 2
        if flags & 2 != 0 {
            head = 9
            guard left >= head else { return nil }
            length = input[(start + 1)..<(start + 9)].reduce(0) { $0 << 8 | UInt64($1) }
        }
        guard length <= Self.frameLimit else { throw .frameTooLong(length) }
        guard left - head >= Int(length) else { return nil }
        let body = Array(input[(start + head)..<(start + head + Int(length))])
        start += head + Int(length)
        return (flags & 4 != 0, flags & 1 != 0, body)
    }

    private mutating func command(_ body: [UInt8]) throws(UsageError) -> Event? {
        guard let size = body.first, body.count > Int(size) else { throw .malformedCommand }
        let name = String(decoding: body.dropFirst().prefix(Int(size)), as: UTF8.self)
        let data = body.dropFirst(1 + Int(size))
        switch (name, isOpen) {
        case ("READY", false):
            let type = try Self.properties(data)["socket-type"] ?? ""
            guard type.isSame(as: "ROUTER") else { throw .socketType(type) }
            isOpen = true
            return .ready
        case ("ERROR", _): throw .refused(String(decoding: data.dropFirst(), as: UTF8.self))
        // The first 16 bits are a time to live, which is ignored.
        case ("PING", true) where data.count >= 2: return .ping(context: Array(data.dropFirst(2)))
        case (_, true): return nil
        case (_, false): throw .malformedCommand
        }
    }

    /// Returns the properties, with names in lower case, because names are compared without case.
    private static func properties(_ data: ArraySlice<UInt8>) throws(UsageError) -> [String: String] {
        var found: [String: String] = [:]
        var rest = data
        while let size = rest.first {
            guard rest.count >= 1 + Int(size) + 4 else { throw .malformedCommand }
            let name = String(decoding: rest.dropFirst().prefix(Int(size)), as: UTF8.self)
            rest = rest.dropFirst(1 + Int(size))
            let length = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
            rest = rest.dropFirst(4)
            guard rest.count >= length else { throw .malformedCommand }
            found[name.lowercased()] = String(decoding: rest.prefix(length), as: UTF8.self)
            rest = rest.dropFirst(length)
        }
        return found
    }
}

extension ZMTP {
    /// The greeting: signature, version 3.0, mechanism NULL, not a server.
    static let greeting: [UInt8] =
        [0xFF] + [UInt8](repeating: 0, count: 8) + [0x7F, 3, 0]
        + Array("NULL".utf8) + [UInt8](repeating: 0, count: 16 + 32)

    static let greetingSize = 64
    /// The longest frame. Locust's largest message lists a locustfile's options and is a thousand times shorter.
    static let frameLimit = 16 << 20

    /// READY with the socket's type and its identity, by which the master's ROUTER addresses it.
    static func ready(identity: String) -> [UInt8] {
        command("READY", property("Socket-Type", "DEALER") + property("Identity", identity))
    }

    /// The answer to a PING, with the PING's context.
    static func pong(_ context: some Collection<UInt8>) -> [UInt8] { command("PONG", Array(context)) }

    /// A message of one frame. Locust's messages have no empty frame before it.
    static func message(_ body: [UInt8]) -> [UInt8] { frame(0, body) }

    private static func command(_ name: String, _ data: [UInt8]) -> [UInt8] {
        frame(4, [UInt8(name.utf8.count)] + Array(name.utf8) + data)
    }

    private static func property(_ name: String, _ value: String) -> [UInt8] {
        [UInt8(name.utf8.count)] + Array(name.utf8) + bigEndian(UInt64(value.utf8.count), width: 4) + Array(value.utf8)
    }

    private static func frame(_ flags: UInt8, _ body: [UInt8]) -> [UInt8] {
        if body.count <= 0xFF { return [flags, UInt8(body.count)] + body }
        return [flags | 2] + bigEndian(UInt64(body.count), width: 8) + body
    }
}

/// Why a worker cannot continue with its master, or cannot take part in a test. One line with the error and, where a
/// user can mend it, a remedy.
extension UsageError {
    static func unreachable(_ reason: String) -> Self { Self("the master cannot be reached: \(reason)") }
    static func gone(_ reason: String) -> Self { Self("the master has gone: \(reason)") }

    /// A message that is not one of Locust's.
    static func unreadable(_ reason: String) -> Self {
        Self("the master sent a message that cannot be read: \(reason)")
    }

    /// No heartbeat came back.
    static func silent(seconds: UInt64) -> Self { Self("the master has been silent for \(seconds) seconds") }
    private static func peer(_ fault: String) -> Self { Self("the peer is not a Locust master: it\(fault)") }
    static let notZeroMQ = peer(" does not speak ZeroMQ")
    static let malformedCommand = peer(" sends a command that cannot be read")
    static func frameTooLong(_ length: UInt64) -> Self { peer(" sends a frame of \(length) bytes") }
    static func refused(_ reason: String) -> Self { peer(" refuses: \(oneLine(reason))") }
    /// A version before 3.0, as in ZeroMQ 3.2 and older.
    static func version(_ major: UInt8) -> Self { peer(" speaks ZMTP \(major), which is older than 3.0") }
    /// CURVE or PLAIN. Locust does not use their keys.
    static func mechanism(_ name: String) -> Self { peer(" asks for the security mechanism \(quoted(name))") }
    static func socketType(_ name: String) -> Self { peer("s socket is a \(quoted(name)), not a ROUTER") }
    static func load(_ error: LoadTestError, _ names: SettingNames = [:]) -> Self { Self(error.text(names)) }

    static func notReadyForTLS(url: String) -> Self {
        Self("\(quoted(url)) is https, but this worker was started without TLS: give it an https URL too")
    }

    static let noTarget = Self(
        "there is no URL to test: give the worker one, the locustfile a target_url or the master --host"
    )

    static func pipelinedRate(_ names: SettingNames) -> Self {
        let advice = "the master sets target_rate: leave one of them out"
        return Self("\(names.of(.pipeline)) is for a closed loop, but \(advice)")
    }

    static let unknownUsers = Self(
        "target_rate is shared among users, but the master does not say how many: start it with -u"
    )

    static func noAddress(_ name: String) -> Self { Self("the master \(quoted(name)) has no address") }
    static func thread(reason: String) -> Self { Self("no thread can be started to look the master up: \(reason)") }
    /// No master answered for a minute. The error is that of the last attempt.
    static func master(_ error: UsageError) -> Self { Self("\(error): start a master there first") }
}
