import UncurlLoad

extension LoadOptions {
    /// Reduces these options to those of one part: its share of connections and requests, and no more threads than
    /// connections. A rate stays whole, because the parts take turns in its schedule.
    mutating func take(_ shard: Shard) throws(UsageError) {
        guard connections >= shard.count else {
            throw UsageError(
                "-c \(connections) is less than the \(shard.count) parts of --shard: each needs a connection, use -c \(shard.count)"
            )
        }
        self.shard = shard
        connections = shard.part(of: connections)
        threads = min(threads, connections)
        requests = requests.map { shard.part(of: $0) }
        if let requests, requests < connections {
            throw UsageError(
                "-n leaves part \(shard.index) of --shard \(requests) requests for \(connections) connections: use a smaller -c"
            )
        }
    }
}
