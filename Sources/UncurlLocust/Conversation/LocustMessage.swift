import UncurlLoad

/// A message of Locust in either direction: an array of type, data and the worker's identity.
struct LocustMessage: Hashable, Sendable {
    var type: String
    var data: MessagePack
    var node: String?

    init(_ type: String, _ data: MessagePack = .null, node: String?) {
        (self.type, self.data, self.node) = (type, data, node)
    }

    /// - Throws: ``LocustError/unreadable(_:)`` for bytes that are not such a message.
    init(decoding bytes: [UInt8]) throws(LocustError) {
        let value: MessagePack
        do throws(MessagePackError) { value = try MessagePack(decoding: bytes) } catch { throw .unreadable("\(error)") }
        guard case .array(let parts) = value, parts.count == 3, let type = parts[0].text else {
            throw .unreadable("it is not an array of type, data and node")
        }
        (self.type, data, node) = (type, parts[1], parts[2].text)
    }

    var encoded: [UInt8] {
        MessagePack.array([.string(type), data, node.map { .string($0) } ?? .null]).encoded
    }
}

/// Why a worker cannot continue with its master.
package enum LocustError: Error, Hashable, Sendable, CustomStringConvertible {
    case unreachable(String)
    case peer(ZMTPError)
    /// The master or the network closed the connection.
    case gone(String)
    /// A message that is not one of Locust's.
    case unreadable(String)
    /// No heartbeat came back for this many seconds.
    case silent(seconds: UInt64)

    package var description: String {
        switch self {
        case .unreachable(let reason): "the master cannot be reached: \(reason)"
        case .peer(let error): "the peer is not a Locust master: \(error)"
        case .gone(let reason): "the master has gone: \(reason)"
        case .unreadable(let reason): "the master sent a message that cannot be read: \(reason)"
        case .silent(let seconds): "the master has been silent for \(seconds) seconds"
        }
    }
}
