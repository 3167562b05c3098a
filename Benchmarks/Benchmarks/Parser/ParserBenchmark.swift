import Benchmark
import Foundation
import UncurlHTTP1

/// Input × feed: a round is the whole input, parsed as a connection would. For the comparison with parsers in C, which
/// has to happen in one process, see ../../peers.sh.
let benchmarks: @Sendable () -> Void = {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Inputs").standardized
    let inputs = [
        "resp-minimal", "resp-small-api", "resp-small-api-x64", "resp-large-headers", "req-browser",
        "resp-chunked-small", "resp-chunked-tiny", "resp-chunked-large", "resp-content-length-256k",
    ]
    for name in inputs {
        guard let data = try? Data(contentsOf: folder.appending(path: "\(name).http")) else { continue }
        let input = Array(data)
        for (label, feed) in [("whole", Int.max), ("1448", 1448), ("64", 64), ("1", 1)] {
            Benchmark(
                "\(name) \(label)",
                configuration: .init(
                    metrics: [.cpuTotal, .throughput],
                    scalingFactor: input.count > 100_000 ? .one : .kilo,
                    maxDuration: .seconds(1)
                )
            ) { benchmark in
                var messages = Messages()
                messages.run(
                    input,
                    feed: feed,
                    isRequest: name.hasPrefix("req-"),
                    rounds: benchmark.scaledIterations.count
                )
                blackHole(messages.sink)
            }
        }
    }
}
