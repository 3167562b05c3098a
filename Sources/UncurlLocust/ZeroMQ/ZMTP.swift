import UncurlLoad

/// The sending side of ZeroMQ's transport (ZMTP 3.0, RFC 23), as far as a DEALER without security needs it.
enum ZMTP {
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

    private static func bigEndian(_ number: UInt64, width: Int) -> [UInt8] {
        stride(from: 8 * (width - 1), through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> UInt64($0)) }
    }
}

/// What is wrong with a peer's greeting or messages.
package enum ZMTPError: Error, Hashable, Sendable, CustomStringConvertible {
    case notZeroMQ
    /// A version before 3.0, as in ZeroMQ 3.2 and older.
    case version(UInt8)
    /// CURVE and PLAIN need keys, which Locust does not use.
    case mechanism(String)
    case socketType(String)
    case frameTooLong(UInt64)
    case malformedCommand
    /// The error that the peer has sent.
    case refused(String)

    package var description: String {
        switch self {
        case .notZeroMQ: "it does not speak ZeroMQ"
        case .version(let major): "it speaks ZMTP \(major), which is older than 3.0"
        case .mechanism(let name): "it asks for the security mechanism \(quoted(name))"
        case .socketType(let name): "its socket is a \(quoted(name)), not a ROUTER"
        case .frameTooLong(let length): "it sends a frame of \(length) bytes"
        case .malformedCommand: "it sends a command that cannot be read"
        case .refused(let reason): "it refuses: \(oneLine(reason))"
        }
    }
}
