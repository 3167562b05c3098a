// swift-tools-version: 6.3
import PackageDescription

/// The form that `Benchmarks/multipart.py` sends; apart from the rest, since it needs nothing but Uncurl.
let package = Package(
    name: "forms",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "uncurl", path: "../..")],
    targets: [.executableTarget(name: "form", dependencies: [.product(name: "Uncurl", package: "uncurl")])]
)
