// swift-tools-version: 6.1
import PackageDescription

/// A package of its own, so that users of the library resolve nothing of what measuring needs.
let package = Package(
    name: "benchmarks",
    platforms: [.macOS(.v13)],
    dependencies: [
        .package(name: "uncurl", path: ".."),
        // Without its jemalloc trait: mallocs are counted by our own interposer.
        .package(url: "https://github.com/ordo-one/benchmark", from: "1.38.1", traits: []),
    ],
    targets: [
        // Ours against two parsers in C, interleaved in one process; run through peers.sh.
        .executableTarget(
            name: "ParserRatio",
            dependencies: [.product(name: "UncurlHTTP1", package: "uncurl")],
            path: "Sources/ParserRatio"
        ),
        .executableTarget(
            name: "ParserBenchmark",
            dependencies: [
                .product(name: "UncurlHTTP1", package: "uncurl"),
                .product(name: "Benchmark", package: "benchmark"),
            ],
            path: "Benchmarks/Parser",
            plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")]
        ),
        // What a request costs the engine: mallocs by an interposer, CPU of its own thread.
        .target(name: "CMallocCounter", path: "Sources/CMallocCounter"),
        .executableTarget(
            name: "EngineBenchmarks",
            dependencies: [
                "CMallocCounter",
                .product(name: "UncurlEngine", package: "uncurl"),
                .product(name: "UncurlHTTP1", package: "uncurl"),
                .product(name: "UncurlTestServer", package: "uncurl"),
                .product(name: "Benchmark", package: "benchmark"),
            ],
            path: "Benchmarks/Engine",
            plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")]
        ),
        // What parked connections cost; run through idle.py.
        .target(name: "CHeap", path: "Sources/CHeap"),
        .executableTarget(
            name: "IdleConnections",
            dependencies: [
                "CHeap",
                .product(name: "UncurlEngine", package: "uncurl"),
                .product(name: "UncurlHTTP1", package: "uncurl"),
            ],
            path: "Sources/IdleConnections"
        ),
        // The loop's own steps: letters, wake-ups, timers, tasks.
        .executableTarget(
            name: "LoopBenchmarks",
            dependencies: [
                .product(name: "UncurlEngine", package: "uncurl"),
                .product(name: "Benchmark", package: "benchmark"),
            ],
            path: "Benchmarks/Loop",
            plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")]
        ),
    ]
)
