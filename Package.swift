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
        // The parser and serializer alone.
        .library(name: "UncurlHTTP1", targets: ["UncurlHTTP1"]),
        // The engine, and what its users name besides: its loop, TLS, WebSockets and the rules of messages.
        .library(
            name: "UncurlEngine",
            targets: [
                "UncurlEngine", "UncurlHTTP1", "UncurlReactor", "UncurlSemantics", "UncurlTLS", "UncurlWebSocket",
            ]
        ),
        .library(name: "URLLoading", targets: ["URLLoading"]),
        .library(name: "Uncurl", targets: ["Uncurl"]),
        .library(name: "UncurlExtras", targets: ["UncurlExtras"]),
        .library(name: "UncurlXML", targets: ["UncurlXML"]),
        .library(name: "UncurlTestKit", targets: ["UncurlTestKit"]),
        .library(name: "UncurlTestServer", targets: ["UncurlTestServer"]),
        // Load tests from Swift, and their reports.
        .library(name: "UncurlLoad", targets: ["UncurlLoad", "UncurlLoadReports"]),
        .executable(name: "volley", targets: ["volley"]),
        .executable(name: "httpbin", targets: ["httpbin"]),
        .executable(name: "fetch", targets: ["fetch"]),
    ],
    traits: [
        // On unless a package says `traits: []`, which spares it what only these commands and the load generator need.
        .default(enabledTraits: ["Commands"]),
        .trait(name: "Commands", description: "volley, httpbin and UncurlLoad, which need two packages"),
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
        .target(name: "CUncurlLinux"),
        .target(name: "CUncurlPublicSuffixes"),
        .systemLibrary(name: "CUncurlZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "CUncurlOpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
        // Linked by their traits alone. They name no pkgConfig: SwiftPM warns of a missing one in every build.
        .systemLibrary(name: "CUncurlBrotli"),
        .systemLibrary(name: "CUncurlZstd"),
        // Below every room: hexadecimal digits, Base64, percent-encoding.
        .target(name: "UncurlText", exclude: ["README.md"], swiftSettings: strict),
        .target(name: "UncurlHTTP1", exclude: ["README.md"], swiftSettings: strict),
        .target(name: "UncurlReactor", dependencies: ["CUncurlLinux"], exclude: ["README.md"], swiftSettings: strict),
        .target(
            name: "UncurlTLS",
            dependencies: ["CUncurlOpenSSL", "UncurlText"],
            exclude: ["README.md"],
            swiftSettings: strict
        ),
        .target(
            name: "UncurlWebSocket",
            dependencies: ["UncurlHTTP1", "UncurlText", "CUncurlZlib"],
            exclude: ["README.md"],
            swiftSettings: strict
        ),
        .target(
            name: "UncurlSemantics",
            dependencies: ["UncurlHTTP1", "UncurlTLS", "CUncurlPublicSuffixes", "UncurlText"],
            exclude: ["README.md"],
            swiftSettings: strict
        ),
        .target(
            name: "UncurlEngine",
            dependencies: [
                "UncurlReactor", "UncurlSemantics", "UncurlHTTP1", "UncurlTLS", "UncurlWebSocket", "UncurlText",
                "CUncurlZlib",
                .target(name: "CUncurlBrotli", condition: .when(traits: ["Brotli"])),
                .target(name: "CUncurlZstd", condition: .when(traits: ["Zstd"])),
            ],
            exclude: ["README.md"],
            swiftSettings: strict
        ),
        .target(
            name: "URLLoading",
            dependencies: [
                "UncurlEngine", "UncurlSemantics", "UncurlWebSocket", "UncurlReactor", "UncurlHTTP1", "UncurlTLS",
                "UncurlText", "CUncurlZlib",
                product("HTTPTypes", of: "swift-http-types", by: "HTTPTypes"),
            ] + observation,
            exclude: ["README.md"],
            swiftSettings: strict
        ),
        .target(
            name: "Uncurl",
            dependencies: [
                "URLLoading", "UncurlEngine", "UncurlSemantics", "UncurlWebSocket", "UncurlReactor", "UncurlHTTP1",
                "UncurlTLS", "UncurlText",
                "CUncurlZlib",
            ]
                + observation,
            exclude: ["README.md"],
            swiftSettings: strict
        ),
        // Images, caches and signs of progress: a product of its own, which no request needs.
        .target(name: "UncurlExtras", dependencies: ["Uncurl", "CUncurlZlib"], swiftSettings: strict),
        // FoundationXML links libxml2: a product of its own, so that other programs are spared it.
        .target(name: "UncurlXML", dependencies: ["Uncurl"], swiftSettings: strict),
        .target(name: "UncurlTestKit", dependencies: ["Uncurl", "UncurlText"], swiftSettings: strict),
        .target(
            name: "UncurlTestServer",
            dependencies: [
                "UncurlText", "UncurlTLS", "UncurlReactor", "UncurlHTTP1", "UncurlWebSocket", "CUncurlZlib",
                "CUncurlOpenSSL",
            ],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "httpbin",
            dependencies: [
                "UncurlTestServer", "UncurlTLS", "UncurlReactor", "UncurlHTTP1",
                product("ArgumentParser", of: "swift-argument-parser", by: "Commands"),
            ],
            swiftSettings: strict
        ),
        // No package and no Foundation: the linkage check reads what it links.
        .executableTarget(
            name: "fetch",
            dependencies: ["UncurlEngine", "UncurlHTTP1", "UncurlReactor", "UncurlTLS"],
            swiftSettings: strict
        ),
        .target(
            name: "UncurlLoad",
            dependencies: [
                "UncurlText",
                "UncurlEngine", "UncurlSemantics", "UncurlWebSocket", "UncurlTLS", "UncurlTestServer", "UncurlReactor",
                "UncurlHTTP1", "CUncurlLinux", "CUncurlZlib",
                .product(name: "Histogram", package: "hdrhistogram-swift", condition: .when(traits: ["Commands"])),
            ],
            swiftSettings: strict
        ),
        .target(
            name: "UncurlLoadReports",
            dependencies: [
                "UncurlLoad", "UncurlEngine", "UncurlHTTP1", "UncurlTLS", "UncurlReactor", "CUncurlLinux", "UncurlText",
            ],
            swiftSettings: strict
        ),
        .target(
            name: "UncurlLocust",
            dependencies: ["UncurlLoad", "UncurlEngine", "UncurlTLS", "UncurlReactor", "CUncurlLinux"],
            exclude: ["README.md"],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "volley",
            dependencies: [
                "UncurlText",
                "UncurlLoad", "UncurlLoadReports", "UncurlLocust", "UncurlEngine", "UncurlSemantics", "UncurlHTTP1",
                "UncurlTLS",
                "UncurlTestServer", "UncurlReactor", "CUncurlLinux",
                product("ArgumentParser", of: "swift-argument-parser", by: "Commands"),
            ],
            exclude: ["README.md", "REPORTS.md", "SCENARIOS.md", "SWARMS.md", "Dockerfile", "grafana-dashboard.json"],
            swiftSettings: strict
        ),
        // How the load tester is driven from Swift; no product.
        .executableTarget(
            name: "LoadScenario",
            dependencies: ["UncurlLoad", "UncurlLoadReports"],
            path: "Sources/Examples/LoadScenario",
            swiftSettings: strict
        ),
        // What the documentation's readers begin with; no products.
        .executableTarget(
            name: "FirstRequest",
            dependencies: ["Uncurl", "UncurlTestServer"],
            path: "Sources/Examples/FirstRequest",
            swiftSettings: testing
        ),
        .executableTarget(
            name: "UploadForm",
            dependencies: ["Uncurl", "UncurlTestServer"],
            path: "Sources/Examples/UploadForm",
            swiftSettings: testing
        ),
        .executableTarget(
            name: "ResumedDownload",
            dependencies: ["Uncurl", "UncurlTestServer"],
            path: "Sources/Examples/ResumedDownload",
            swiftSettings: testing
        ),
        .executableTarget(
            name: "LiveEvents",
            dependencies: ["Uncurl", "UncurlTestServer"],
            path: "Sources/Examples/LiveEvents",
            swiftSettings: testing
        ),
        // The main job, whole: `./dev run`.
        .executableTarget(
            name: "Tour",
            dependencies: ["Uncurl", "UncurlExtras", "UncurlTestServer", "UncurlTLS"],
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
            dependencies: ["Uncurl", "UncurlTestServer", "UncurlTLS", "CMalloc"],
            path: "Fuzz/Sources/Chaos",
            swiftSettings: testing
        ),
        // `./dev garden`; no product.
        .executableTarget(
            name: "GardenClient",
            dependencies: ["URLLoading", "UncurlHTTP1"],
            path: "Tests/garden/Client",
            swiftSettings: testing
        ),
        // What tests of several rooms need; no product.
        .target(name: "TestSupport", dependencies: ["CUncurlLinux"], path: "Tests/TestSupport", swiftSettings: testing),
        // What tests of the facade's rooms need besides; no product.
        .target(
            name: "FacadeTestSupport",
            dependencies: ["Uncurl", "UncurlTestServer", "TestSupport"],
            path: "Tests/FacadeTestSupport",
            swiftSettings: testing
        ),
        .testTarget(name: "UncurlTextTests", dependencies: ["UncurlText", "TestSupport"], swiftSettings: testing),
        .testTarget(name: "UncurlHTTP1Tests", dependencies: ["UncurlHTTP1", "TestSupport"], swiftSettings: testing),
        .testTarget(
            name: "UncurlSemanticsTests",
            dependencies: ["UncurlText", "UncurlSemantics", "UncurlHTTP1", "UncurlTLS", "TestSupport"],
            swiftSettings: testing
        ),
        .testTarget(
            name: "UncurlWebSocketTests",
            dependencies: ["UncurlWebSocket", "UncurlText", "TestSupport"],
            swiftSettings: testing
        ),
        .testTarget(
            name: "UncurlReactorTests",
            dependencies: ["UncurlReactor", "CUncurlLinux", "TestSupport"],
            swiftSettings: testing
        ),
        .testTarget(
            name: "UncurlTLSTests",
            dependencies: ["UncurlTLS", "CUncurlOpenSSL", "UncurlTestServer", "TestSupport"],
            swiftSettings: testing
        ),
        .testTarget(
            name: "UncurlEngineTests",
            dependencies: [
                "UncurlEngine", "UncurlSemantics", "UncurlWebSocket", "UncurlTLS", "UncurlTestServer", "TestSupport",
            ],
            swiftSettings: testing
        ),
        .testTarget(
            name: "URLLoadingTests",
            dependencies: [
                "URLLoading", "UncurlEngine", "UncurlSemantics", "UncurlWebSocket", "UncurlReactor", "UncurlHTTP1",
                "UncurlTLS", "UncurlTestServer",
                "TestSupport",
                product("HTTPTypes", of: "swift-http-types", by: "HTTPTypes"),
            ] + observed,
            swiftSettings: testing
        ),
        .testTarget(
            name: "UncurlTests",
            dependencies: [
                "Uncurl", "UncurlTestKit", "UncurlEngine", "UncurlTLS", "UncurlReactor", "UncurlTestServer",
                "TestSupport",
                "FacadeTestSupport",
            ] + observed,
            swiftSettings: testing
        ),
        // The programs in the documentation's pages.
        .testTarget(
            name: "ArticleTests",
            dependencies: ["UncurlExtras", "UncurlXML", "UncurlTestKit", "UncurlLoadReports", "TestSupport"],
            swiftSettings: testing
        ),
        // The words of all products' errors.
        .testTarget(
            name: "ErrorTests",
            dependencies: [
                "UncurlExtras", "UncurlXML", "UncurlTestKit", "Uncurl", "URLLoading", "UncurlEngine", "UncurlSemantics",
                "UncurlWebSocket", "UncurlTLS", "UncurlReactor", "UncurlHTTP1", "UncurlText",
            ],
            swiftSettings: testing
        ),
        // Everything that reads what others have written; the fuzzer compiles the same readers.
        .testTarget(
            name: "FuzzTests",
            dependencies: [
                "UncurlExtras", "UncurlTestKit", "UncurlTestServer", "UncurlLoadReports", "UncurlLocust", "volley",
                "Chaos",
                "UncurlSemantics", "FacadeTestSupport", "TestSupport",
            ],
            swiftSettings: testing
        ),
        .testTarget(
            name: "UncurlExtrasTests",
            dependencies: ["UncurlExtras", "UncurlTestKit", "FacadeTestSupport", "UncurlTestServer", "TestSupport"],
            swiftSettings: testing
        ),
        .testTarget(name: "UncurlXMLTests", dependencies: ["UncurlXML", "FacadeTestSupport"], swiftSettings: testing),
        .testTarget(
            name: "UncurlTestKitTests",
            dependencies: ["UncurlTestKit", "FacadeTestSupport", "UncurlTestServer", "TestSupport"],
            swiftSettings: testing
        ),
        .testTarget(
            name: "UncurlTestServerTests",
            dependencies: [
                "UncurlText", "UncurlTestServer", "UncurlTLS", "UncurlReactor", "UncurlHTTP1", "UncurlWebSocket",
                "httpbin", "TestSupport",
            ],
            swiftSettings: testing
        ),
        // What tests of several of the load tester's rooms need; no product.
        .target(
            name: "LoadTestSupport",
            dependencies: ["UncurlLoad", "UncurlReactor", "TestSupport"],
            path: "Tests/LoadTestSupport",
            swiftSettings: testing
        ),
        .testTarget(
            name: "UncurlLoadTests",
            dependencies: [
                "UncurlLoad", "LoadScenario", "UncurlEngine", "UncurlSemantics", "UncurlHTTP1", "UncurlTLS",
                "UncurlReactor", "UncurlTestServer",
                "TestSupport",
            ],
            swiftSettings: testing
        ),
        .testTarget(
            name: "UncurlLoadReportsTests",
            dependencies: [
                "UncurlLoadReports", "UncurlLoad", "LoadTestSupport", "UncurlHTTP1", "UncurlText", "UncurlReactor",
                "CUncurlLinux", "TestSupport",
            ],
            exclude: ["Recorded"],
            swiftSettings: testing
        ),
        .testTarget(
            name: "UncurlLocustTests",
            dependencies: ["UncurlLocust", "UncurlLoad", "TestSupport"],
            swiftSettings: testing
        ),
        .testTarget(
            name: "VolleyTests",
            dependencies: [
                "volley", "UncurlLoad", "UncurlLoadReports", "UncurlLocust", "LoadTestSupport", "UncurlEngine",
                "UncurlHTTP1",
                "UncurlTLS",
                "UncurlText", "UncurlReactor", "UncurlTestServer", "TestSupport",
            ],
            swiftSettings: testing
        ),
        .testTarget(
            name: "FetchTests",
            dependencies: ["fetch", "UncurlTLS", "UncurlTestServer", "TestSupport"],
            swiftSettings: testing
        ),
        .testTarget(name: "CUncurlOpenSSLTests", dependencies: ["CUncurlOpenSSL"], swiftSettings: testing),
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
    package.products += [.library(name: "InnerRooms", targets: ["UncurlText", "UncurlLocust", "volley"])]
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
