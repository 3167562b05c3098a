/// The last refusals of servers, by host. A refusal holds a chain of certificates, so only the newest are kept.
struct RefusalTable {
    /// The most refusals. Tasks of fewer hosts are refused at one time; beyond that, a task ends with the session's own
    /// error.
    private static let capacity = 64

    /// The oldest first.
    private var rows: [(key: String, refusal: UncurlError)] = []

    func refusal(of key: String) -> UncurlError? { rows.last { $0.key == key }?.refusal }

    /// - Parameter refusal: nil if the server is no longer refused.
    /// - Returns: what has left the table: the owner's lock is not held while the program's values are released.
    mutating func note(_ refusal: UncurlError?, of key: String) -> [UncurlError] {
        var old: [UncurlError] = []
        if let index = rows.firstIndex(where: { $0.key == key }) { old.append(rows.remove(at: index).refusal) }
        if let refusal { rows.append((key, refusal)) }
        if rows.count > Self.capacity { old.append(rows.removeFirst().refusal) }
        return old
    }
}
