// swift-tools-version: 6.3
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

/// What is there by a trait alone: products of packages, and system libraries.
let byTrait: [String: Target.Dependency] = [
    "ArgumentParser": product("ArgumentParser", of: "swift-argument-parser", by: "Commands"),
    "Histogram": product("Histogram", of: "hdrhistogram-swift", by: "Commands"),
    "Logging": product("Logging", of: "swift-log", by: "SwiftLog"),
    "InMemoryLogging": product("InMemoryLogging", of: "swift-log", by: "SwiftLog"),
    "Metrics": product("Metrics", of: "swift-metrics", by: "SwiftMetrics"),
    "MetricsTestKit": product("MetricsTestKit", of: "swift-metrics", by: "SwiftMetrics"),
    "Tracing": product("Tracing", of: "swift-distributed-tracing", by: "SwiftDistributedTracing"),
    "InMemoryTracing": product("InMemoryTracing", of: "swift-distributed-tracing", by: "SwiftDistributedTracing"),
    "HTTPTypes": product("HTTPTypes", of: "swift-http-types", by: "HTTPTypes"),
    "CUncurlBrotli": .target(name: "CUncurlBrotli", condition: .when(traits: ["Brotli"])),
    "CUncurlZstd": .target(name: "CUncurlZstd", condition: .when(traits: ["Zstd"])),
]

func product(_ name: String, of package: String, by trait: String) -> Target.Dependency {
    .product(name: name, package: package, condition: .when(traits: [trait]))
}

/// One row of the tables below. Names stand in one text with blanks between them.
struct Room {
    enum Kind { case library, program, tests }

    var name: String
    var kind = Kind.library
    /// Other rooms, and names of `byTrait`.
    var needs = ""
    /// What its tests (`Tests/NAMETests`) need besides the room; none if it has no tests.
    var tests: String?
    /// Files of its folder that are no sources.
    var pages = ""
    /// The same of its tests' folder.
    var records = ""
    /// Where it is not `Sources/NAME`, or `Tests/NAME`.
    var folder: String?

    func target(_ settings: [SwiftSetting]) -> Target {
        let needs = self.needs.split(separator: " ").map { byTrait[String($0)] ?? .byName(name: String($0)) }
        let pages = self.pages.split(separator: " ").map(String.init)
        return switch kind {
        case .library:
            .target(name: name, dependencies: needs, path: folder, exclude: pages, swiftSettings: settings)
        case .program:
            .executableTarget(name: name, dependencies: needs, path: folder, exclude: pages, swiftSettings: settings)
        case .tests:
            .testTarget(name: name, dependencies: needs, exclude: pages, swiftSettings: settings)
        }
    }

    /// The row of its tests.
    var suite: Room? {
        let title = name.prefix(1).uppercased() + name.dropFirst()
        return tests.map { Room(name: "\(title)Tests", kind: .tests, needs: "\(name) \($0)", pages: records) }
    }
}

/// What users take, and the rooms below it, from the bottom up.
let rooms = [
    // glibc or musl.
    Room(name: "UncurlLibC"),
    // Hexadecimal digits, Base64, percent-encoding, addresses and JSON, for all.
    Room(name: "UncurlText", needs: "CUncurlLinux", tests: "TestSupport", pages: "README.md"),
    Room(name: "UncurlHTTP1", tests: "TestSupport", pages: "README.md"),
    Room(
        name: "UncurlReactor",
        needs: "UncurlText CUncurlLinux",
        tests: "CUncurlLinux TestSupport",
        pages: "README.md"
    ),
    Room(
        name: "UncurlTLS",
        needs: "UncurlLibC CUncurlOpenSSL UncurlText",
        tests: "CUncurlOpenSSL UncurlTestServer CertificateTestSupport TestSupport",
        pages: "README.md"
    ),
    Room(
        name: "UncurlWebSocket",
        needs: "UncurlHTTP1 UncurlText CUncurlZlib",
        tests: "UncurlText TestSupport",
        pages: "README.md"
    ),
    Room(
        name: "UncurlSemantics",
        needs: "UncurlHTTP1 UncurlTLS CUncurlPublicSuffixes UncurlText",
        tests: "UncurlText UncurlHTTP1 UncurlTLS TestSupport",
        pages: "README.md"
    ),
    Room(
        name: "UncurlEngine",
        needs: """
            UncurlReactor UncurlSemantics UncurlHTTP1 UncurlTLS UncurlWebSocket UncurlText CUncurlZlib CUncurlBrotli CUncurlZstd
            """,
        tests: """
            UncurlSemantics UncurlWebSocket UncurlTLS UncurlTestServer CertificateTestSupport ScriptedPeer TestSupport
            """,
        pages: "README.md"
    ),
    // One load, with its events and questions.
    Room(
        name: "UncurlClient",
        needs: "UncurlLibC UncurlEngine UncurlSemantics UncurlWebSocket UncurlReactor UncurlHTTP1 UncurlTLS UncurlText",
        tests: "UncurlEngine TestSupport",
        pages: "README.md"
    ),
    Room(
        name: "URLLoading",
        needs: """
            UncurlLibC UncurlClient UncurlEngine UncurlSemantics UncurlWebSocket UncurlReactor UncurlHTTP1 UncurlTLS UncurlText CUncurlZlib \
            HTTPTypes Logging Metrics Tracing
            """,
        tests: """
            UncurlClient UncurlEngine UncurlSemantics UncurlWebSocket UncurlReactor UncurlHTTP1 UncurlTLS \
            UncurlTestServer ScriptedPeer TestSupport
            """,
        pages: "README.md"
    ),
    Room(
        name: "Uncurl",
        needs: """
            UncurlLibC URLLoading UncurlClient UncurlEngine UncurlSemantics UncurlWebSocket UncurlReactor UncurlHTTP1 UncurlTLS \
            UncurlText Logging Metrics Tracing
            """,
        tests: """
            UncurlTestKit UncurlEngine UncurlTLS UncurlReactor UncurlTestServer CertificateTestSupport ScriptedPeer TestSupport \
            FacadeTestSupport
            """,
        pages: "README.md"
    ),
    // Images, caches and signs of progress: a product of its own, which no request needs.
    Room(
        name: "UncurlExtras",
        needs: "UncurlLibC Uncurl UncurlReactor UncurlText CUncurlZlib",
        tests: "UncurlTestKit FacadeTestSupport UncurlTestServer TestSupport"
    ),
    // FoundationXML links libxml2: a product of its own, so that other programs are spared it.
    Room(name: "UncurlXML", needs: "Uncurl", tests: "FacadeTestSupport"),
    Room(name: "UncurlTestKit", needs: "Uncurl UncurlText", tests: "FacadeTestSupport UncurlTestServer TestSupport"),
    Room(
        name: "UncurlTestServer",
        needs: "UncurlLibC UncurlText UncurlTLS UncurlReactor UncurlHTTP1 UncurlWebSocket CUncurlOpenSSL",
        tests: "UncurlText UncurlTLS UncurlReactor UncurlHTTP1 UncurlWebSocket httpbin ScriptedPeer TestSupport"
    ),
    Room(
        name: "httpbin",
        kind: .program,
        needs: "UncurlLibC UncurlTestServer UncurlTLS UncurlReactor UncurlHTTP1 ArgumentParser"
    ),
    // No package and no Foundation: the linkage check reads what it links.
    Room(
        name: "fetch",
        kind: .program,
        needs: "UncurlLibC UncurlEngine UncurlSemantics UncurlHTTP1 UncurlReactor UncurlTLS",
        tests: "UncurlSemantics UncurlTLS ScriptedPeer TestSupport"
    ),
    Room(
        name: "UncurlLoad",
        needs: """
            UncurlLibC UncurlText UncurlEngine UncurlSemantics UncurlWebSocket UncurlTLS UncurlTestServer UncurlReactor UncurlHTTP1 \
            CUncurlLinux CUncurlZlib Histogram
            """,
        tests: """
            LoadScenario UncurlText UncurlEngine UncurlSemantics UncurlHTTP1 UncurlTLS UncurlReactor UncurlTestServer TestSupport
            """
    ),
    Room(
        name: "UncurlLoadReports",
        needs:
            "UncurlLibC UncurlLoad UncurlEngine UncurlSemantics UncurlHTTP1 UncurlTLS UncurlReactor CUncurlLinux UncurlText",
        tests: "UncurlLoad LoadTestSupport UncurlHTTP1 UncurlText UncurlReactor CUncurlLinux TestSupport",
        records: "Recorded"
    ),
    Room(
        name: "UncurlLocust",
        needs: "UncurlLibC UncurlLoad UncurlEngine UncurlSemantics UncurlTLS UncurlReactor CUncurlLinux",
        tests: "UncurlLoad TestSupport",
        pages: "README.md"
    ),
    Room(
        name: "volley",
        kind: .program,
        needs: """
            UncurlLibC UncurlText UncurlLoad UncurlLoadReports UncurlLocust UncurlEngine UncurlSemantics UncurlHTTP1 UncurlTLS \
            UncurlTestServer UncurlReactor CUncurlLinux ArgumentParser
            """,
        tests: """
            UncurlLoad UncurlLoadReports UncurlLocust LoadTestSupport UncurlEngine UncurlSemantics UncurlHTTP1 UncurlTLS UncurlText \
            UncurlReactor UncurlTestServer ScriptedPeer TestSupport
            """,
        pages: "README.md REPORTS.md SCENARIOS.md SWARMS.md Dockerfile grafana-dashboard.json"
    ),
    // How the load tester is driven from Swift; no product.
    example("LoadScenario", needs: "UncurlLoad UncurlLoadReports"),
]

/// What no product has: examples, programs that scripts run, what tests of several rooms need, and tests of all rooms.
let besides = [
    // What the documentation's readers begin with. `./dev run` runs Tour.
    example("FirstRequest", needs: "Uncurl UncurlTestServer"),
    example("UploadForm", needs: "Uncurl UncurlTestServer"),
    example("ResumedDownload", needs: "Uncurl UncurlTestServer"),
    example("LiveEvents", needs: "Uncurl UncurlTestServer"),
    example("Tour", needs: "Uncurl UncurlExtras UncurlTestServer UncurlTLS"),
    // The linkage check reads what it links.
    Room(name: "OneRequest", kind: .program, needs: "URLLoading", folder: "Tests/OneRequest"),
    // `tools/chaos` and `tools/garden` run them.
    Room(
        name: "Chaos",
        kind: .program,
        needs: "Uncurl UncurlTestServer UncurlTLS ScriptedPeer CMalloc",
        folder: "Fuzz/Sources/Chaos"
    ),
    Room(name: "GardenClient", kind: .program, needs: "URLLoading UncurlHTTP1", folder: "Tests/garden/Client"),
    support("TestSupport", needs: "CUncurlLinux"),
    // A table of trusted and refused certificates.
    support("CertificateTestSupport", needs: "UncurlTestServer UncurlTLS CUncurlOpenSSL"),
    support("FacadeTestSupport", needs: "Uncurl UncurlTestServer ScriptedPeer TestSupport"),
    // A server that follows a script: exact bytes, pauses and faults.
    support("ScriptedPeer", needs: "UncurlReactor UncurlTLS UncurlHTTP1 UncurlText"),
    support("LoadTestSupport", needs: "UncurlLoad UncurlReactor TestSupport"),
    // The programs in the documentation's pages.
    tests("ArticleTests", needs: "UncurlExtras UncurlXML UncurlTestKit UncurlLoadReports ScriptedPeer TestSupport"),
    // The words of all products' errors.
    tests(
        "ErrorTests",
        needs: """
            UncurlExtras UncurlXML UncurlTestKit Uncurl URLLoading UncurlEngine UncurlSemantics UncurlWebSocket UncurlTLS \
            UncurlReactor UncurlHTTP1 UncurlText
            """
    ),
    // Everything that reads what others have written; the fuzzer compiles the same readers.
    tests(
        "FuzzTests",
        needs: """
            UncurlExtras UncurlTestKit UncurlTestServer UncurlLoadReports UncurlLocust volley Chaos UncurlSemantics \
            FacadeTestSupport TestSupport
            """
    ),
    // What traits add: `tools/traits`.
    tests(
        "TraitTests",
        needs: """
            UncurlEngine URLLoading Uncurl UncurlTestServer FacadeTestSupport ScriptedPeer TestSupport HTTPTypes \
            InMemoryLogging MetricsTestKit InMemoryTracing
            """
    ),
    tests("CUncurlOpenSSLTests", needs: "CUncurlOpenSSL"),
    tests("ArchitectureTests", needs: "TestSupport"),
]

func example(_ name: String, needs: String) -> Room {
    Room(name: name, kind: .program, needs: needs, folder: "Sources/Examples/\(name)")
}

func support(_ name: String, needs: String) -> Room { Room(name: name, needs: needs, folder: "Tests/\(name)") }

func tests(_ name: String, needs: String) -> Room { Room(name: name, kind: .tests, needs: needs) }

/// Ours in C, and libraries of the system.
let declarations: [Target] = [
    .target(name: "CUncurlLinux"),
    .target(name: "CUncurlPublicSuffixes"),
    .systemLibrary(name: "CUncurlZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
    .systemLibrary(name: "CUncurlOpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
    // Linked by their traits alone. They name no pkgConfig: SwiftPM warns of a missing one in every build.
    .systemLibrary(name: "CUncurlBrotli"),
    .systemLibrary(name: "CUncurlZstd"),
    // For Chaos.
    .systemLibrary(name: "CMalloc", path: "Fuzz/Sources/CMalloc"),
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
        // All are off unless asked for: a program resolves no package that it does not use.
        .trait(name: "Commands", description: "volley, httpbin and UncurlLoad, which need two packages"),
        // For programs that have these packages.
        .trait(name: "SwiftLog", description: "sessions and managers write to swift-log"),
        .trait(name: "SwiftMetrics", description: "sessions and managers count by swift-metrics"),
        .trait(name: "SwiftDistributedTracing", description: "sessions and managers trace (swift-distributed-tracing)"),
        .trait(name: "HTTPTypes", description: "URLSession takes and gives the messages of swift-http-types"),
        // Codings of content, each with a system library.
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
    targets: declarations + rooms.map { $0.target(strict) }
        + (rooms.compactMap(\.suite) + besides).map { $0.target(testing) }
)

// `.ci/run` alone: a warning is an error. Other builds succeed also with a newer compiler, which may warn of more. All but the tests are
// optimised, with their assertions: the tests save more time than the compiler takes for it.
if Context.environment["UNCURL_GATE"] != nil {
    for target in package.targets {
        target.swiftSettings?.append(.treatAllWarnings(as: .error))
        guard target.type != .test, !["TestSupport", "ScriptedPeer"].contains(target.name) else { continue }
        target.swiftSettings?.append(.unsafeFlags(["-O", "-assert-config", "Debug"]))
    }
}

// `./dev test ROOM` builds that room's tests alone, `tools/mutations` those of several.
if let rooms = Context.environment["UNCURL_ROOM"], !rooms.isEmpty {
    let wanted = rooms.split(separator: ",").map { "\($0)Tests" }
    package.targets.removeAll { $0.type == .test && !wanted.contains($0.name) }
}

// `tools/dropin` alone: the module that an installed FoundationNetworking is. Never in a package graph, where what is compiled before it would be
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
