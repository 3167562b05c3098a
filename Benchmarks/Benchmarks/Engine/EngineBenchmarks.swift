import Benchmark

/// What a request costs the engine's own thread, over loopback against the test server on another.
let benchmarks: @Sendable () -> Void = {
    let mallocs = BenchmarkMetric.custom("mallocs / 1000 requests", polarity: .prefersSmaller, useScalingFactor: false)
    let cpu = BenchmarkMetric.custom("CPU ns / request", polarity: .prefersSmaller, useScalingFactor: false)
    Benchmark.defaultConfiguration = .init(
        metrics: [.wallClock, mallocs, cpu],
        warmupIterations: 2,
        maxDuration: .seconds(4),
        maxIterations: 20
    )
    let cases: [(name: String, path: String, connections: Int)] = [
        ("128 bytes", "/bytes/128", 1), ("128 bytes", "/bytes/128", 64), ("256 KiB", "/bytes/262144", 8),
        ("20 chunks", "/stream-bytes/2000?chunk_size=100", 8), ("gzip", "/gzip", 8),
    ]
    for one in cases {
        Benchmark("GET \(one.name), \(one.connections) connections") { benchmark in
            let rig = try LoopbackRig(path: one.path, connections: one.connections)
            defer { rig.stop() }
            // The first requests open the connections and grow the tables.
            rig.run(requests: 2_000)
            benchmark.startMeasurement()
            let cost = rig.run(requests: 5_000)
            benchmark.stopMeasurement()
            benchmark.measurement(mallocs, cost.mallocs * 1_000 / 5_000)
            benchmark.measurement(cpu, cost.cpu / 5_000)
        }
    }
}
