import UncurlWebSocket

/// Any octets from a peer: no trap, no message beyond the limit, and the same events and verdict however the input is cut; what
/// is answered breaks no rule. The same octets said by us arrive as they were, and in a handshake's fields they harm nobody.
///
/// The first octet chooses role and compression, the second the limit, the third how the input is cut.
public func webSocketProperty(_ input: [UInt8]) {
    guard input.count >= 4 else { return }
    let role = input[0] & 1 == 0 ? Role.client : .server
    let deflate = input[0] & 2 == 0 ? nil : agreement(input[0])
    let limit = input[1] == 0 ? 1 << 20 : Int(input[1]) * 16
    let raw = Array(input[4...])
    let whole = hear(raw, as: role, deflate, limit, piece: max(raw.count, 1))
    let cut = hear(raw, as: role, deflate, limit, piece: Int(input[2]) % 16 + 1)
    require(whole.events == cut.events, "what is heard does not depend on the cuts")
    // Which of two faults of one message is met first may: more octets at once pass its limit before they are found to be no text.
    require(whole.hasFailed == cut.hasFailed, "nor does the verdict")
    require(whole.output.count > 0 || !whole.hasFailed, "a failure is told")
    for event in whole.events {
        if case .message(.binary(let bytes)) = event { require(bytes.count <= limit, "the limit holds") }
        if case .message(.text(let text)) = event { require(text.utf8.count <= limit, "the limit holds") }
    }
    let answer = hear(whole.output, as: role == .client ? .server : .client, nil, 1 << 20, piece: 7)
    require(!answer.hasFailed, "what is answered breaks no rule")
    say(raw, as: role, deflate, piece: Int(input[3]) % 32 + 1)
    shakeHands(String(decoding: raw, as: UTF8.self))
}

private struct Heard {
    var events: [WebSocketMachine.Event] = []
    var hasFailed = false
    var output: [UInt8] = []
}

private func hear(_ raw: [UInt8], as role: Role, _ deflate: DeflateAgreement?, _ limit: Int, piece: Int) -> Heard {
    var heard = Heard()
    var machine = WebSocketMachine(role, deflate: deflate, maximumMessageSize: limit)
    var start = 0
    while start < raw.count {
        let end = min(raw.count, start + piece)
        var position = start
        do throws(WebSocketError) {
            while let event = try machine.receive(raw.span.extracting(0..<end), &position) {
                heard.events.append(event)
                if case .ping(let payload) = event { machine.pong(payload) }
            }
        } catch {
            require(!heard.hasFailed, "it fails once")
            heard.hasFailed = true
        }
        require(position == end, "all of the input is used before more is asked for")
        start = end
    }
    heard.output = machine.takeOutput()
    return heard
}

/// Messages of up to `piece` octets' own length squared, one after the other.
private func say(_ raw: [UInt8], as role: Role, _ deflate: DeflateAgreement?, piece: Int) {
    var speaker = WebSocketMachine(role, deflate: deflate)
    var expected: [WebSocketMachine.Event] = []
    var rest = raw[...]
    while !rest.isEmpty {
        let bytes = Array(rest.prefix(piece * piece))
        rest = rest.dropFirst(bytes.count)
        let message = String(validating: bytes, as: UTF8.self).map { WebSocketMessage.text($0) } ?? .binary(bytes)
        require(speaker.send(message), "an open machine sends")
        expected.append(.message(message))
    }
    let other = role == .client ? Role.server : .client
    let heard = hear(speaker.takeOutput(), as: other, deflate, max(raw.count, 1), piece: piece * 3)
    require(heard.events == expected && !heard.hasFailed, "what is said is heard")
}

/// What a server accepts, the client who offered it takes.
private func shakeHands(_ text: String) {
    guard let client = try? ClientHandshake(protocols: ["chat"]) else { return }
    let fields = client.fields.filter { $0.name != "Sec-WebSocket-Extensions" }
    let values = { (name: String) in
        name == "Sec-WebSocket-Extensions" ? [text] : fields.filter { $0.name == name }.map(\.value)
    }
    guard let server = try? ServerHandshake(values, deflates: true, speaking: { _ in true }) else {
        return require(false, "an offer that is none is passed over")
    }
    let answered = { (name: String) in
        name == "Sec-WebSocket-Extensions" ? [text] : server.fields.filter { $0.name == name }.map(\.value)
    }
    _ = try? client.check(answered)
    require(server.agreement.subprotocol == "chat", "the rest of the handshake is as it was")
}

private func agreement(_ choice: UInt8) -> DeflateAgreement {
    var agreement = DeflateAgreement()
    agreement.serverForgets = choice & 4 != 0
    agreement.clientForgets = choice & 8 != 0
    agreement.serverWindowBits = choice & 16 == 0 ? 15 : 9
    agreement.clientWindowBits = choice & 32 == 0 ? 15 : 8
    return agreement
}

/// Ends the process where a property does not hold: the fuzzer takes that for a finding, a test run for a failure.
private func require(_ holds: Bool, _ sentence: @autoclosure () -> String) {
    if !holds { fatalError("property violated: \(sentence())") }
}
