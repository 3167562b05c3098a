import UncurlLoad

/// The content of a master's `spawn`.
package struct LocustSpawn: Hashable, Sendable {
    /// The number of users of this worker, by class. It is absolute, and is repeated about once per second while a test
    /// ramps up.
    var classes: [String: Int]
    /// The host in the locustfile.
    var host: String?
    /// The master's command line, with the arguments of the locustfile.
    package var options: MessagePack
    /// The time of the master's decision; a later one replaces it.
    var timestamp: Double

    /// The most users. A worker holds one connection per user, and no machine has more.
    static let userLimit = 1_000_000
    /// The most octets in the name of a class. A Python program names them, and names are compared often.
    static let nameLimit = 1_000

    package init(_ data: MessagePack) throws(LocustError) {
        guard case .map(let pairs)? = data["user_classes_count"] else {
            throw .unreadable("its spawn names no user_classes_count")
        }
        classes = [:]
        var sum = 0
        for pair in pairs {
            guard let name = pair.key.text, let count = pair.value.count else {
                throw .unreadable("its user_classes_count is not a map of names and numbers")
            }
            guard name.utf8.count <= Self.nameLimit else {
                throw .unreadable("it names a class with more than \(Self.nameLimit) octets")
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

    /// The counts as they came, in a stable order so that messages can be compared.
    var classCounts: MessagePack {
        .map(classes.sorted { $0.key < $1.key }.map { MessagePack.Pair($0.key, .integer(Int64($0.value))) })
    }

    /// The value of an argument that the locustfile declares; nil where it has none.
    func option(_ name: String) -> String? {
        switch options[name] {
        case .string(let text)? where !text.isEmpty: text
        case .integer(let value)?: "\(value)"
        case .number(let value)?: value == value.rounded() && value.magnitude < 1e15 ? "\(Int64(value))" : "\(value)"
        case nil, .null?, .bool?, .string?, .bytes?, .array?, .map?: nil
        }
    }
}
