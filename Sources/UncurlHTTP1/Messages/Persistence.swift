/// What a message says about its connection's life after it (RFC 9112 §9.3).
public enum Persistence: Sendable, Hashable {
    /// Another message may follow.
    case keepAlive
    /// The connection ends with this message.
    case close
    /// The connection speaks another protocol from here on.
    case upgraded

    /// `close` anywhere in Connection ends it; HTTP/1.1 lives on by default, HTTP/1.0 only with `keep-alive`.
    @inline(__always)
    static func of(_ fields: inout HTTPFields, _ version: HTTPVersion) -> Persistence {
        guard fields.table.seen & KnownField.connection.bit != 0 else {
            return version.minor == 0 ? .close : .keepAlive
        }
        if let entry = fields.table.first(.connection), version.minor > 0,
            isValue(fields.block.span, entry.value, "keep-alive"), fields.table.isOnly(.connection)
        {
            return .keepAlive
        }
        return ofList(fields, version)
    }

    @inline(never)
    private static func ofList(_ fields: HTTPFields, _ version: HTTPVersion) -> Persistence {
        if fields.hasToken(.connection, "close") { return .close }
        if version.minor > 0 || fields.hasToken(.connection, "keep-alive") { return .keepAlive }
        return .close
    }
}

/// `Keep-Alive: timeout=5, max=100`: a hint of the peer's intent, in seconds and in further requests.
public struct KeepAliveHint: Sendable, Hashable {
    /// Seconds that the peer keeps an idle connection; nil where it does not say.
    public var timeout: UInt32?
    /// Requests that the peer serves before it closes; nil where it does not say.
    public var max: UInt32?

    /// nil without the field. Parameters that are no numbers are as good as absent.
    public init?(_ fields: HTTPFields) {
        guard fields.contains(.keepAlive) else { return nil }
        let bytes = fields.block.span
        for index in 0..<fields.count where fields.known(at: index) == .keepAlive {
            let value = fields.valueRange(at: index)
            var position = value.lowerBound
            while let member = bytes.nextMember(&position, value.upperBound) {
                take(bytes, member)
            }
        }
    }

    private mutating func take(_ bytes: Span<UInt8>, _ member: Range<Int>) {
        let nameEnd = bytes.endOfToken(member.lowerBound, member.upperBound)
        let equals = bytes.endOfBlanks(nameEnd, member.upperBound)
        guard equals < member.upperBound, bytes.byte(equals) == ASCII.equals else { return }
        let digits = trimmedRange(bytes, (equals + 1)..<member.upperBound)
        guard let number = BodyFraming.length(bytes, digits) else { return }
        let clamped = UInt32(clamping: number)
        let name = member.lowerBound..<nameEnd
        if equalIgnoringCase(bytes, name, "timeout") { timeout = clamped }
        if equalIgnoringCase(bytes, name, "max") { max = clamped }
    }
}
