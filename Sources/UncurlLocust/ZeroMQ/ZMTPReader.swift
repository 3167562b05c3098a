import UncurlLoad

/// Reads what a ZeroMQ peer sends, from bytes in any pieces: greeting, READY, then messages.
struct ZMTPReader {
    enum Event: Hashable, Sendable {
        /// Greeting and READY have come, so messages may be sent.
        case ready
        case message([UInt8])
        /// The answer is a PONG with the same context.
        case ping(context: [UInt8])
    }

    private enum State {
        case greeting
        case handshake
        case open
    }

    private var state = State.greeting
    /// The frames so far of a message in several frames.
    private var parts: [UInt8] = []
    private var input: [UInt8] = []
    private var start = 0

    /// Adds bytes. The caller then calls ``next()`` until it returns nil.
    mutating func append(_ bytes: some Collection<UInt8>) {
        if start > 0 {
            input.removeFirst(start)
            start = 0
        }
        input += bytes
    }

    mutating func next() throws(ZMTPError) -> Event? {
        if case .greeting = state {
            guard try readGreeting() else { return nil }
            state = .handshake
        }
        while let frame = try readFrame() {
            if frame.isCommand {
                if let event = try command(frame.body) { return event }
                continue
            }
            guard case .open = state else { throw .malformedCommand }
            let length = parts.count + frame.body.count
            guard length <= ZMTP.frameLimit else { throw .frameTooLong(UInt64(length)) }
            parts += frame.body
            guard !frame.hasMore else { continue }
            defer { parts = [] }
            return .message(parts)
        }
        return nil
    }

    /// Reads the greeting; returns false if it is incomplete. The first byte shows whether the peer speaks ZeroMQ, so
    /// another server, which never sends 64 bytes, is refused at once.
    private mutating func readGreeting() throws(ZMTPError) -> Bool {
        if start < input.count, input[start] != 0xFF { throw .notZeroMQ }
        guard input.count - start >= ZMTP.greetingSize else { return false }
        let greeting = Array(input[start..<(start + ZMTP.greetingSize)])
        guard greeting[9] & 1 == 1 else { throw .notZeroMQ }
        guard greeting[10] >= 3 else { throw .version(greeting[10]) }
        let name = String(decoding: greeting[12..<32].prefix { $0 != 0 }, as: UTF8.self)
        guard name == "NULL" else { throw .mechanism(name) }
        start += ZMTP.greetingSize
        return true
    }

    private mutating func readFrame() throws(ZMTPError) -> (isCommand: Bool, hasMore: Bool, body: [UInt8])? {
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
        guard length <= ZMTP.frameLimit else { throw .frameTooLong(length) }
        guard left - head >= Int(length) else { return nil }
        let body = Array(input[(start + head)..<(start + head + Int(length))])
        start += head + Int(length)
        return (flags & 4 != 0, flags & 1 != 0, body)
    }

    private mutating func command(_ body: [UInt8]) throws(ZMTPError) -> Event? {
        guard let size = body.first, body.count > Int(size) else { throw .malformedCommand }
        let name = String(decoding: body.dropFirst().prefix(Int(size)), as: UTF8.self)
        let data = body.dropFirst(1 + Int(size))
        switch (name, state) {
        case ("READY", .handshake):
            let type = try Self.properties(data)["socket-type"] ?? ""
            guard type.isSame(as: "ROUTER") else { throw .socketType(type) }
            state = .open
            return .ready
        case ("ERROR", _): throw .refused(String(decoding: data.dropFirst(), as: UTF8.self))
        // The first 16 bits are a time to live, which is ignored.
        case ("PING", .open) where data.count >= 2: return .ping(context: Array(data.dropFirst(2)))
        case (_, .open): return nil
        case (_, .greeting), (_, .handshake): throw .malformedCommand
        }
    }

    /// Returns the properties, with names in lower case, because names are compared without case.
    private static func properties(_ data: ArraySlice<UInt8>) throws(ZMTPError) -> [String: String] {
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
