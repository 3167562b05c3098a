import LoadGenerator

/// What a master's `spawn` asks of this worker.
package struct LocustSpawn: Hashable, Sendable {
    /// How many users this worker is to have, by class. Absolute, and repeated about once a second while a test ramps
    /// up.
    var classes: [String: Int]
    /// Where the locustfile says the load goes.
    var host: String?
    /// The master's command line, with the arguments that the locustfile adds.
    package var options: MessagePack
    /// When the master decided on it; a later one replaces it.
    var timestamp: Double

    /// A worker holds a connection a user: no machine has more.
    static let userLimit = 1_000_000

    package init(_ data: MessagePack) throws(LocustError) {
        guard case .map(let pairs)? = data["user_classes_count"] else {
            throw .unreadable("its spawn names no user_classes_count")
        }
        classes = [:]
        var sum = 0
        for pair in pairs {
            guard let name = pair.key.text, let count = pair.value.count else {
                throw .unreadable("its user_classes_count is no map of names and numbers")
            }
            sum += min(count, Self.userLimit + 1)
            guard sum <= Self.userLimit else { throw .unreadable("it wants more than \(Self.userLimit) users") }
            classes[name] = count
        }
        host = data["host"]?.text
        options = data["parsed_options"] ?? .null
        timestamp = data["timestamp"]?.number ?? 0
    }

    package var users: Int { classes.values.reduce(0, +) }

    /// As it came: stable in order, so that messages compare.
    var classCounts: MessagePack {
        .map(classes.sorted { $0.key < $1.key }.map { MessagePack.Pair($0.key, .integer(Int64($0.value))) })
    }

    /// An argument that the locustfile declares and somebody gave a value.
    func option(_ name: String) -> String? {
        switch options[name] {
        case .string(let text)? where !text.isEmpty: text
        case .integer(let value)?: "\(value)"
        case .number(let value)?: value == value.rounded() && value.magnitude < 1e15 ? "\(Int64(value))" : "\(value)"
        case nil, .null?, .bool?, .string?, .bytes?, .array?, .map?: nil
        }
    }
}
