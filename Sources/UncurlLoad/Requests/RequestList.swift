/// The order in which a run takes the requests of its inputs.
package enum RequestOrder: String, Hashable, Sendable {
    /// In the order of the file, each as often in a row as its weight says. The first follows the last. All threads
    /// share the order.
    case inOrder = "in-order"
    /// At random, each as often as its weight says.
    case random
}

/// The requests of a run's inputs, and the choice of the next one. All threads share the list.
struct RequestList: Sendable {
    let requests: [PlannedRequest]
    private let order: RequestOrder
    /// The sum of the weights up to and including each request.
    private let sums: [UInt64]

    init(_ requests: [PlannedRequest], weights: [UInt64], order: RequestOrder) {
        (self.requests, self.order) = (requests, order)
        var sum: UInt64 = 0
        sums = weights.map {
            sum += $0
            return sum
        }
    }

    /// Whether the next request depends on how many were sent before.
    var isNumbered: Bool { order == .inOrder && requests.count > 1 }

    /// - Parameter number: The request's number among those of all threads and parts.
    func index(_ number: UInt64, _ shard: Shard, _ random: inout RandomStream) -> Int {
        guard let total = sums.last, requests.count > 1 else { return 0 }
        let place =
            switch order {
            case .inOrder: shard.place(of: number, in: total)
            case .random: UInt64.random(in: 0..<total, using: &random)
            }
        var (low, high) = (0, sums.count - 1)
        while low < high {
            let middle = (low + high) / 2
            if sums[middle] > place { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
