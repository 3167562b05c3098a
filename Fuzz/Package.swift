// swift-tools-version: 6.1
import PackageDescription

/// A package of its own: its executables link only under `--sanitize fuzzer` (see run.sh).
let parserTargets = ["Response", "Request", "Split", "Chunked", "RoundTrip"]

let package = Package(
    name: "fuzz",
    dependencies: [.package(name: "uncurl", path: "..")],
    targets: [
        // The properties, free of libFuzzer; Tests/HTTP1Tests compiles the same files to replay the corpora.
        .target(name: "FuzzProperties", dependencies: [.product(name: "HTTP1", package: "uncurl")]),
        // The same for the engine, compiled by Tests/HTTPEngineTests too.
        .target(name: "FuzzDecoderProperty", dependencies: [.product(name: "HTTPEngine", package: "uncurl")]),
        .executableTarget(name: "FuzzContentDecoder", dependencies: ["FuzzDecoderProperty"]),
    ]
        + parserTargets.map { .executableTarget(name: "Fuzz\($0)", dependencies: ["FuzzProperties"]) }
)
