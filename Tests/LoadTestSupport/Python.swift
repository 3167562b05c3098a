import Foundation
package import TestSupport

/// Python with the packages that `./dev test` installs beside the build: Locust, hdrhistogram, jsonschema,
/// prometheus_client, kubernetes-validate.
package enum Python {
    package static let path: String? = {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let path = root.appendingPathComponent(".build/python/bin/python").path
        return FileManager.default.isExecutableFile(atPath: path) ? path : nil
    }()

    /// The one with packages where there is one, or else the system's, which has none.
    package static var anyPath: String { path ?? "/usr/bin/python3" }

    package static var isInstalled: Bool { path != nil }

    /// Whether a package's program is there too: the folder may be older than the list of packages.
    package static func has(_ program: String) -> Bool {
        path.map { FileManager.default.isExecutableFile(atPath: $0.dropLast("python".count) + program) } ?? false
    }

    package static let reason = "./dev test makes .build/python where pip can install; it is not there"

    /// What a script printed; its arguments are `sys.argv[1:]`.
    package static func run(_ script: String, _ arguments: String...) throws -> EndedProgram {
        try EndedProgram(anyPath, ["-c", script] + arguments)
    }
}
