import LoadGenerator

/// What this machine's listeners turned away because their accept queues were full. A connect that meets this is tried
/// again after a second, three, seven, and looks like a slow server.
package struct ListenQueues: Hashable, Sendable {
    /// Since the machine, or its network namespace, began.
    let overflows: UInt64

    /// nil where `/proc` does not tell.
    package init?(path: String = "/proc/net/netstat") {
        guard let bytes = try? Files.read(path, limit: 1 << 16) else { return nil }
        self.init(String(decoding: bytes, as: UTF8.self))
    }

    /// Lines in pairs: a group's names, and its numbers in their order.
    package init?(_ text: String) {
        let rows = text.split(separator: "\n").map { $0.split(separator: " ") }.filter { $0.first == "TcpExt:" }
        guard rows.count == 2, let column = rows[0].firstIndex(of: "ListenOverflows"), column < rows[1].count,
            let count = UInt64(rows[1][column])
        else { return nil }
        overflows = count
    }

    /// Nothing where none were turned away since `before`, or the server is on another machine, whose queues are not
    /// seen from here.
    package static func note(since before: ListenQueues?, now: ListenQueues?, isLocal: Bool) -> String? {
        guard isLocal, let before, let now, now.overflows > before.overflows else { return nil }
        return
            "\(grouped(now.overflows - before.overflows)) connects met a full accept queue on this machine (ListenOverflows) and were tried "
            + "again after a second or more: give the server a longer backlog, or use --connect-rate"
    }
}
