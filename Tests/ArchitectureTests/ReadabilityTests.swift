import TestSupport
import Testing

@Suite("Readability", .ownThread)
struct ReadabilityTests {
    private static let files = SourceTree.sources

    @Test("no file has the name of another of its room")
    func names() {
        // Each example is a program of its own, with its `main.swift`.
        for room in SourceTree.folders(in: "Sources") where room != "Examples" {
            let names = Self.files.filter { $0.room == room }.map(\.name)
            #expect(Set(names).count == names.count, "\(room)")
        }
    }

    @Test("no file has a fatalError, try!, as! or unchecked unwrap")
    func noTraps() {
        for file in Self.files {
            let code = file.code
            for word in ["fatalError", "try!", "as!", "unsafelyUnwrapped"] {
                #expect(!code.contains(word), "\(file) holds \(word)")
            }
        }
    }

    @Test("no file has a note on unfinished work")
    func noLeftovers() {
        for file in Self.files {
            for word in ["TO" + "DO", "FIX" + "ME"] { #expect(!file.text.contains(word), "\(file)") }
        }
    }

    @Test("no file speaks of papers that a reader of this repository does not have")
    func noForeignPapers() {
        let words = [
            "shared" + "/design", "house" + " plan", "TRANSPORT" + ".md", "UncurlHTTP1" + ".md", "FACADE" + ".md",
            "STYLE" + ".md", "LOAD-TESTING" + ".md",
        ]
        let isText = { (name: String) in [".swift", ".h", ".c", ".md", ".py", ".sh"].contains { name.hasSuffix($0) } }
        for folder in ["Sources", "Tests", "Fuzz", "Benchmarks"] {
            for file in SourceTree.files(in: folder, where: isText) {
                for word in words { #expect(!file.text.contains(word), "\(file) speaks of \(word)") }
            }
        }
    }

    /// Polls a condition of another program, which signals nothing.
    private static let maySleep = [
        "Tests/TestSupport/ChildProcess.swift", "Tests/TestSupport/EndedProgram.swift",
        "Tests/TestSupport/OpenSSLServer.swift", "Tests/TestSupport/Peer.swift",
        // What is let go of signals nothing.
        "Tests/URLLoadingTests/DefectTests.swift",
        // A clock on which no test waits.
        "Tests/FacadeTestSupport/ImmediateClock.swift",
        // Asks a clock that stands still.
        "Tests/UncurlTestKitTests/TestClockTests.swift",
        // Kills itself at any moment of a write.
        "Tests/URLLoadingTests/Cookies/CookieFileTests.swift",
    ]

    @Test("tests wait for events, never for time to pass")
    func noSleeping() {
        for file in SourceTree.tests where !Self.maySleep.contains(file.path) {
            for word in ["sleep(", "sleep(for", "sleep(until"] { #expect(!file.code.contains(word), "\(file)") }
        }
    }

    @Test("a suite that waits for a program has threads of its own")
    func ownThreads() {
        let waits = [#/\bEndedProgram\(/#, #/\bChildProcess\(/#, #/\btry volley\(/#]
        for file in SourceTree.tests where file.text.contains("@Test") {
            guard waits.contains(where: { file.code.contains($0) }) else { continue }
            #expect(file.code.contains("ownThread"), "\(file)")
        }
    }

    @Test(
        "the repository has the files that a newcomer looks for",
        arguments: [
            "README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "LICENSE",
            "LIMITS.md",
            "MAINTAINERS.md", "MIGRATION.md", "SECURITY.md", ".gitignore", ".swift-format",
            ".ci/run", "dev", "Package.swift",
        ]
    )
    func papers(path: String) {
        #expect(SourceTree.exists(path))
    }
}
