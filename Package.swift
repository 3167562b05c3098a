// swift-tools-version: 6.2
import PackageDescription

/// Every room is compiled under the same strict rules: the compiler, not review, keeps them.
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .strictMemorySafety(),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

/// Tests live by the same language mode, without the marks on every C call.
let testing: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

/// A product of a package that a trait brings.
func product(_ name: String, of package: String, by trait: String) -> Target.Dependency {
    .product(name: name, package: package, condition: .when(traits: [trait]))
}

/// What a session and a manager tell of their work to, each by its trait.
let observation = [
    product("Logging", of: "swift-log", by: "SwiftLog"),
    product("Metrics", of: "swift-metrics", by: "SwiftMetrics"),
    product("Tracing", of: "swift-distributed-tracing", by: "SwiftDistributedTracing"),
]

/// The same kept in memory, for tests.
let observed = [
    product("InMemoryLogging", of: "swift-log", by: "SwiftLog"),
    product("MetricsTestKit", of: "swift-metrics", by: "SwiftMetrics"),
    product("InMemoryTracing", of: "swift-distributed-tracing", by: "SwiftDistributedTracing"),
]

let package = Package(
    name: "uncurl",
    products: [
        .library(name: "HTTP1", targets: ["HTTP1"]),
        .library(name: "HTTPSemantics", targets: ["HTTPSemantics"]),
        .library(name: "Reactor", targets: ["Reactor"]),
        .library(name: "TLS", targets: ["TLS"]),
        .library(name: "WebSocket", targets: ["WebSocket"]),
        .library(name: "HTTPEngine", targets: ["HTTPEngine"]),
        .library(name: "URLLoading", targets: ["URLLoading"]),
        .library(name: "Uncurl", targets: ["Uncurl"]),
        .library(name: "UncurlExtras", targets: ["UncurlExtras"]),
        .library(name: "UncurlXML", targets: ["UncurlXML"]),
        .library(name: "UncurlTestKit", targets: ["UncurlTestKit"]),
        .library(name: "TestServer", targets: ["TestServer"]),
        .library(name: "LoadGenerator", targets: ["LoadGenerator"]),
        .library(name: "LoadReports", targets: ["LoadReports"]),
        .executable(name: "volley", targets: ["volley"]),
        .executable(name: "httpbin", targets: ["httpbin"]),
        .executable(name: "fetch", targets: ["fetch"]),
    ],
    traits: [
        // On unless a package says `traits: []`, which spares it what only these commands and the load generator need.
        .default(enabledTraits: ["Commands"]),
        .trait(name: "Commands", description: "volley, httpbin and LoadGenerator, which need two packages"),
        // For programs that have these packages; off unless asked for.
        .trait(name: "SwiftLog", description: "sessions and managers write to swift-log"),
        .trait(name: "SwiftMetrics", description: "sessions and managers count by swift-metrics"),
        .trait(name: "SwiftDistributedTracing", description: "sessions and managers trace (swift-distributed-tracing)"),
        .trait(name: "HTTPTypes", description: "URLSession takes and gives the messages of swift-http-types"),
        // Codings of content, each with a system library; off unless asked for.
        .trait(name: "Brotli", description: "answers in br are asked for and decoded, by libbrotli (libbrotli-dev)"),
        .trait(name: "Zstd", description: "answers in zstd are asked for and decoded, by libzstd (libzstd-dev)"),
    ],
    dependencies: [
        // By the trait `Commands` alone: the command lines use the first, the load generator the second.
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", from: "0.2.0"),
        // By their traits alone.
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    ],
    targets: [
        .target(name: "CLinux"),
        .target(name: "CPublicSuffixes"),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
        // Linked by their traits alone. They name no pkgConfig: SwiftPM warns of a missing one in every build.
        .systemLibrary(name: "CBrotli"),
        .systemLibrary(name: "CZstd"),
        // Below every room: hexadecimal digits, Base64, percent-encoding.
        .target(name: "TextCoding", exclude: ["README.md"], swiftSettings: strict),
        .target(name: "HTTP1", exclude: ["README.md"], swiftSettings: strict),
        .target(name: "Reactor", dependencies: ["CLinux"], exclude: ["README.md"], swiftSettings: strict),
        .target(name: "TLS", dependencies: ["COpenSSL", "TextCoding"], exclude: ["README.md"], swiftSettings: strict),
        .target(
            name: "WebSocket",
            dependencies: ["CZlib", "TextCoding"],
            exclude: ["README.md"],
            swiftSettings: strict
        ),
        .target(
            name: "HTTPSemantics",
            dependencies: ["HTTP1", "TLS", "CPublicSuffixes", "TextCoding"],
            exclude: ["README.md"],
            swiftSettings: strict
        ),
        .target(
            name: "HTTPEngine",
            dependencies: [
                "Reactor", "HTTPSemantics", "HTTP1", "TLS", "WebSocket", "TextCoding", "CZlib",
                .target(name: "CBrotli", condition: .when(traits: ["Brotli"])),
                .target(name: "CZstd", condition: .when(traits: ["Zstd"])),
            ],
            exclude: ["README.md"],
            swiftSettings: strict
        ),
        .target(
            name: "URLLoading",
            dependencies: [
                "HTTPEngine", "HTTPSemantics", "WebSocket", "Reactor", "HTTP1", "TLS", "TextCoding", "CZlib",
                product("HTTPTypes", of: "swift-http-types", by: "HTTPTypes"),
            ] + observation,
            exclude: ["README.md"],
            swiftSettings: strict
        ),
        .target(
            name: "Uncurl",
            dependencies: [
                "URLLoading", "HTTPEngine", "HTTPSemantics", "WebSocket", "Reactor", "HTTP1", "TLS", "TextCoding",
                "CZlib",
            ]
                + observation,
            exclude: ["README.md"],
            swiftSettings: strict
        ),
        // Images, caches and signs of progress: a product of its own, which no request needs.
        .target(name: "UncurlExtras", dependencies: ["Uncurl", "CZlib"], swiftSettings: strict),
        // FoundationXML links libxml2: a product of its own, so that other programs are spared it.
        .target(name: "UncurlXML", dependencies: ["Uncurl"], swiftSettings: strict),
        .target(name: "UncurlTestKit", dependencies: ["Uncurl", "TextCoding"], swiftSettings: strict),
        .target(
            name: "TestServer",
            dependencies: ["TextCoding", "TLS", "Reactor", "HTTP1", "WebSocket", "CZlib", "COpenSSL"],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "httpbin",
            dependencies: [
                "TestServer", "TLS", "Reactor", "HTTP1",
                product("ArgumentParser", of: "swift-argument-parser", by: "Commands"),
            ],
            swiftSettings: strict
        ),
        // No package and no Foundation: the linkage check reads what it links.
        .executableTarget(
            name: "fetch",
            dependencies: ["HTTPEngine", "HTTP1", "Reactor", "TLS"],
            swiftSettings: strict
        ),
        .target(
            name: "LoadGenerator",
            dependencies: [
                "TextCoding",
                "HTTPEngine", "HTTPSemantics", "WebSocket", "TLS", "TestServer", "Reactor", "HTTP1", "CLinux", "CZlib",
                .product(name: "Histogram", package: "hdrhistogram-swift", condition: .when(traits: ["Commands"])),
            ],
            swiftSettings: strict
        ),
        .target(
            name: "LoadReports",
            dependencies: ["LoadGenerator", "HTTPEngine", "HTTP1", "TLS", "Reactor", "CLinux", "TextCoding"],
            swiftSettings: strict
        ),
        .target(
            name: "LocustWorker",
            dependencies: ["LoadGenerator", "HTTPEngine", "TLS", "Reactor", "CLinux"],
            exclude: ["README.md"],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "volley",
            dependencies: [
                "TextCoding",
                "LoadGenerator", "LoadReports", "LocustWorker", "HTTPEngine", "HTTPSemantics", "HTTP1", "TLS",
                "TestServer", "Reactor", "CLinux",
                product("ArgumentParser", of: "swift-argument-parser", by: "Commands"),
            ],
            exclude: ["README.md", "REPORTS.md", "SCENARIOS.md", "SWARMS.md", "Dockerfile", "grafana-dashboard.json"],
            swiftSettings: strict
        ),
        // How the load tester is driven from Swift; no product.
        .executableTarget(
            name: "LoadScenario",
            dependencies: ["LoadGenerator", "LoadReports"],
            path: "Sources/Examples/LoadScenario",
            swiftSettings: strict
        ),
        // What the documentation's readers begin with; no products.
        .executableTarget(
            name: "FirstRequest",
            dependencies: ["Uncurl", "TestServer"],
            path: "Sources/Examples/FirstRequest",
            swiftSettings: testing
        ),
        .executableTarget(
            name: "UploadForm",
            dependencies: ["Uncurl", "TestServer"],
            path: "Sources/Examples/UploadForm",
            swiftSettings: testing
        ),
        .executableTarget(
            name: "ResumedDownload",
            dependencies: ["Uncurl", "TestServer"],
            path: "Sources/Examples/ResumedDownload",
            swiftSettings: testing
        ),
        .executableTarget(
            name: "LiveEvents",
            dependencies: ["Uncurl", "TestServer"],
            path: "Sources/Examples/LiveEvents",
            swiftSettings: testing
        ),
        // The main job, whole: `./dev run`.
        .executableTarget(
            name: "Tour",
            dependencies: ["Uncurl", "UncurlExtras", "TestServer", "TLS"],
            path: "Sources/Examples/Tour",
            swiftSettings: testing
        ),
        // For the linkage check; no product.
        .executableTarget(
            name: "OneRequest",
            dependencies: ["URLLoading"],
            path: "Tests/OneRequest",
            swiftSettings: testing
        ),
        // `./dev chaos`; no product.
        .systemLibrary(name: "CMalloc", path: "Fuzz/Sources/CMalloc"),
        .executableTarget(
            name: "Chaos",
            dependencies: ["Uncurl", "TestServer", "TLS", "CMalloc"],
            path: "Fuzz/Sources/Chaos",
            swiftSettings: testing
        ),
        // `./dev garden`; no product.
        .executableTarget(
            name: "GardenClient",
            dependencies: ["URLLoading", "HTTP1"],
            path: "Tests/garden/Client",
            swiftSettings: testing
        ),
        // What tests of several rooms need; no product.
        .target(name: "TestSupport", dependencies: ["CLinux"], path: "Tests/TestSupport", swiftSettings: testing),
        // What tests of the facade's rooms need besides; no product.
        .target(
            name: "FacadeTestSupport",
            dependencies: ["Uncurl", "TestServer", "TestSupport"],
            path: "Tests/FacadeTestSupport",
            swiftSettings: testing
        ),
        .testTarget(name: "TextCodingTests", dependencies: ["TextCoding", "TestSupport"], swiftSettings: testing),
        .testTarget(name: "HTTP1Tests", dependencies: ["HTTP1", "TestSupport"], swiftSettings: testing),
        .testTarget(
            name: "HTTPSemanticsTests",
            dependencies: ["TextCoding", "HTTPSemantics", "HTTP1", "TLS", "TestSupport"],
            swiftSettings: testing
        ),
        .testTarget(
            name: "WebSocketTests",
            dependencies: ["WebSocket", "TextCoding", "TestSupport"],
            swiftSettings: testing
        ),
        .testTarget(name: "ReactorTests", dependencies: ["Reactor", "CLinux", "TestSupport"], swiftSettings: testing),
        .testTarget(
            name: "TLSTests",
            dependencies: ["TLS", "COpenSSL", "TestServer", "TestSupport"],
            swiftSettings: testing
        ),
        .testTarget(
            name: "HTTPEngineTests",
            dependencies: ["HTTPEngine", "HTTPSemantics", "WebSocket", "TLS", "TestServer", "TestSupport"],
            swiftSettings: testing
        ),
        .testTarget(
            name: "URLLoadingTests",
            dependencies: [
                "URLLoading", "HTTPEngine", "HTTPSemantics", "WebSocket", "Reactor", "HTTP1", "TLS", "TestServer",
                "TestSupport",
                product("HTTPTypes", of: "swift-http-types", by: "HTTPTypes"),
            ] + observed,
            swiftSettings: testing
        ),
        .testTarget(
            name: "UncurlTests",
            dependencies: [
                "Uncurl", "UncurlTestKit", "HTTPEngine", "TLS", "Reactor", "TestServer", "TestSupport",
                "FacadeTestSupport",
            ] + observed,
            swiftSettings: testing
        ),
        // The programs in the documentation's pages.
        .testTarget(
            name: "ArticleTests",
            dependencies: ["UncurlExtras", "UncurlXML", "UncurlTestKit", "LoadReports", "TestSupport"],
            swiftSettings: testing
        ),
        // The words of all products' errors.
        .testTarget(
            name: "ErrorTests",
            dependencies: [
                "UncurlExtras", "UncurlXML", "UncurlTestKit", "Uncurl", "URLLoading", "HTTPEngine", "HTTPSemantics",
                "WebSocket", "TLS", "Reactor", "HTTP1",
            ],
            swiftSettings: testing
        ),
        // Everything that reads what others have written; the fuzzer compiles the same readers.
        .testTarget(
            name: "FuzzTests",
            dependencies: [
                "UncurlExtras", "UncurlTestKit", "TestServer", "LoadReports", "LocustWorker", "volley", "Chaos",
                "HTTPSemantics", "FacadeTestSupport", "TestSupport",
            ],
            swiftSettings: testing
        ),
        .testTarget(
            name: "UncurlExtrasTests",
            dependencies: ["UncurlExtras", "UncurlTestKit", "FacadeTestSupport", "TestServer", "TestSupport"],
            swiftSettings: testing
        ),
        .testTarget(name: "UncurlXMLTests", dependencies: ["UncurlXML", "FacadeTestSupport"], swiftSettings: testing),
        .testTarget(
            name: "UncurlTestKitTests",
            dependencies: ["UncurlTestKit", "FacadeTestSupport", "TestServer", "TestSupport"],
            swiftSettings: testing
        ),
        .testTarget(
            name: "TestServerTests",
            dependencies: [
                "TextCoding", "TestServer", "TLS", "Reactor", "HTTP1", "WebSocket", "httpbin", "TestSupport",
            ],
            swiftSettings: testing
        ),
        // What tests of several of the load tester's rooms need; no product.
        .target(
            name: "LoadTestSupport",
            dependencies: ["LoadGenerator", "Reactor", "TestSupport"],
            path: "Tests/LoadTestSupport",
            swiftSettings: testing
        ),
        .testTarget(
            name: "LoadGeneratorTests",
            dependencies: [
                "LoadGenerator", "LoadScenario", "HTTPEngine", "HTTPSemantics", "HTTP1", "TLS", "Reactor", "TestServer",
                "TestSupport",
            ],
            swiftSettings: testing
        ),
        .testTarget(
            name: "LoadReportsTests",
            dependencies: [
                "LoadReports", "LoadGenerator", "LoadTestSupport", "TextCoding", "Reactor", "CLinux", "TestSupport",
            ],
            swiftSettings: testing
        ),
        .testTarget(
            name: "LocustWorkerTests",
            dependencies: ["LocustWorker", "LoadGenerator", "TestSupport"],
            swiftSettings: testing
        ),
        .testTarget(
            name: "VolleyTests",
            dependencies: [
                "volley", "LoadGenerator", "LoadReports", "LocustWorker", "LoadTestSupport", "HTTPEngine", "HTTP1",
                "TLS",
                "TextCoding", "Reactor", "TestServer", "TestSupport",
            ],
            swiftSettings: testing
        ),
        .testTarget(
            name: "FetchTests",
            dependencies: ["fetch", "TLS", "TestServer", "TestSupport"],
            swiftSettings: testing
        ),
        .testTarget(name: "COpenSSLTests", dependencies: ["COpenSSL"], swiftSettings: testing),
        .testTarget(name: "ArchitectureTests", dependencies: ["TestSupport"], swiftSettings: testing),
    ]
)

// `.ci/run` alone: a warning is an error. Other builds succeed also with a newer compiler, which may warn of more.
if Context.environment["UNCURL_GATE"] != nil {
    for target in package.targets { target.swiftSettings?.append(.treatAllWarnings(as: .error)) }
}

// `./dev test ROOM` builds that room's tests alone, `./dev mutations` those of several.
if let rooms = Context.environment["UNCURL_ROOM"] {
    let wanted = rooms.split(separator: ",").map { "\($0)Tests" }
    package.targets.removeAll { $0.type == .test && !wanted.contains($0.name) }
}

// `./dev dropin` alone: the module that an installed FoundationNetworking is. Never in a package graph, where what is compiled before it would be
// linked to the toolchain's. Library evolution spares its clients the modules below URLLoading.
if Context.environment["UNCURL_DROPIN"] != nil {
    let installed: [SwiftSetting] = [
        .unsafeFlags([
            "-enable-library-evolution", "-module-link-name", "UncurlDropIn",
            // The compiled modules are what is installed. 6.3.1 writes interfaces that it cannot read (`nonisolated(nonsending)` of parameters).
            "-no-verify-emitted-module-interface",
        ])
    ]
    for target in package.targets where ["URLLoading", "Uncurl", "UncurlTestKit"].contains(target.name) {
        target.swiftSettings = strict + installed
    }
    package.targets.append(
        .target(
            name: "FoundationNetworking",
            dependencies: ["URLLoading"],
            path: "Sources/DropIn",
            swiftSettings: strict + installed
        )
    )
    package.products.append(
        .library(name: "UncurlDropIn", type: .dynamic, targets: ["FoundationNetworking", "UncurlTestKit"])
    )
}
// Fuzz/run.sh alone: rooms that are no products.
if Context.environment["UNCURL_FUZZ"] != nil {
    package.products.removeAll { $0.name == "volley" }
    package.products += [.library(name: "InnerRooms", targets: ["TextCoding", "LocustWorker", "volley"])]
    // Without its entry volley is a library as any other.
    package.targets = package.targets.map { target in
        guard target.name == "volley" else { return target }
        return .target(
            name: target.name,
            dependencies: target.dependencies,
            exclude: target.exclude + ["Commands/Program.swift"],
            swiftSettings: strict
        )
    }
}
