// swift-tools-version: 6.1
import PackageDescription

/// A package of its own: its executables link only under `--sanitize fuzzer` (see run.sh).
let targets = ["Response", "Request", "Split", "Chunked", "RoundTrip"]

let package = Package(
    name: "fuzz",
    dependencies: [.package(name: "uncurl", path: "..", traits: ["Commands"])],
    targets: [
        // The properties, free of libFuzzer; the tests of the rooms compile the same files to replay the corpora.
        .target(name: "FuzzProperties", dependencies: [.product(name: "UncurlHTTP1", package: "uncurl")]),
        .target(name: "ContentDecoderProperty", dependencies: [.product(name: "UncurlEngine", package: "uncurl")]),
        .executableTarget(name: "FuzzContentDecoder", dependencies: ["ContentDecoderProperty"]),
        .target(name: "MessageProperty", dependencies: [.product(name: "URLLoading", package: "uncurl")]),
        .executableTarget(name: "FuzzMessages", dependencies: ["MessageProperty"]),
        .target(name: "WebSocketProperty", dependencies: [.product(name: "UncurlEngine", package: "uncurl")]),
        .executableTarget(name: "FuzzWebSocket", dependencies: ["WebSocketProperty"]),
        // Everything else that reads what others have written; the environment names the reader.
        .target(
            name: "Readers",
            dependencies: [
                "UncurlEngine", "URLLoading", "Uncurl", "UncurlExtras", "UncurlTestKit", "UncurlTestServer",
                "UncurlLoad", "InnerRooms",
            ].map { .product(name: $0, package: "uncurl") }
        ),
        .executableTarget(name: "FuzzReader", dependencies: ["Readers"]),
        // No fuzzer: a long walk through every fault (tools/soak, ./dev bench stale).
        .executableTarget(
            name: "Soak",
            dependencies: ["UncurlEngine", "UncurlTestServer"].map {
                .product(name: $0, package: "uncurl")
            }
        ),
    ]
        + targets.map { .executableTarget(name: "Fuzz\($0)", dependencies: ["FuzzProperties"]) }
)
