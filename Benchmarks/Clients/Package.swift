// swift-tools-version: 6.3
import PackageDescription

/// Programs that do the same work with one client each, for `Benchmarks/clients.py`; apart from the rest, since the peers bring
/// half an hour of dependencies.
let package = Package(
    name: "clients",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "uncurl", path: "../.."),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    ],
    targets: [
        .target(name: "Driver"),
        .executableTarget(
            name: "session",
            dependencies: ["Driver", .product(name: "URLLoading", package: "uncurl")]
        ),
        .executableTarget(
            name: "manager",
            dependencies: ["Driver", .product(name: "Uncurl", package: "uncurl")]
        ),
        // What a session must stand, one word a trial; run through trials.py.
        .executableTarget(
            name: "trials",
            dependencies: [.product(name: "URLLoading", package: "uncurl")]
        ),
        .executableTarget(name: "foundation", dependencies: ["Driver"]),
        .executableTarget(
            name: "ahc",
            dependencies: ["Driver", .product(name: "AsyncHTTPClient", package: "async-http-client")]
        ),
    ]
)
