import UncurlLoad

/// Counts the connects that this machine's listeners dropped because their accept queues were full. Such a connect is
/// repeated after one, three and seven seconds, which looks like a slow server.
package struct ListenQueues: Hashable, Sendable {
    /// The count since the start of the machine or of its network namespace.
    let overflows: UInt64

    /// Nil where `/proc` does not have the count.
    package init?(path: String = "/proc/net/netstat") {
        guard let bytes = try? Files.read(path, limit: 1 << 16) else { return nil }
        self.init(String(decoding: bytes, as: UTF8.self))
    }

    /// Parses pairs of lines: the names of a group, then its numbers in the same order.
    package init?(_ text: String) {
        let rows = text.split(separator: "\n").map { $0.split(separator: " ") }.filter { $0.first == "TcpExt:" }
        guard rows.count == 2, let column = rows[0].firstIndex(of: "ListenOverflows"), column < rows[1].count,
            let count = UInt64(rows[1][column])
        else { return nil }
        overflows = count
    }

    /// A note about connects that were dropped since `before`. Nil if there were none, or if the server is on another
    /// machine, whose queues are unknown.
    package static func note(since before: ListenQueues?, now: ListenQueues?, isLocal: Bool) -> String? {
        guard isLocal, let before, let now, now.overflows > before.overflows else { return nil }
        return
            "\(grouped(now.overflows - before.overflows)) connects met a full accept queue on this machine (ListenOverflows) and were tried "
            + "again after a second or more: give the server a longer backlog, or use --connect-rate"
    }
}
