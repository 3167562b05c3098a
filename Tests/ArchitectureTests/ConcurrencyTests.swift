import TestSupport
import Testing

/// Where Swift concurrency ends and where the compiler's checks are put aside.
@Suite("Concurrency", .ownThread)
struct ConcurrencyTests {
    /// Files below the rooms of `async`, with what they need it for.
    private static let mayAwait: [String: String] = [
        "Sources/UncurlReactor/Loop/EventLoop.swift": "the loop as a task executor",
        "Sources/UncurlLoad/LoadTest.swift": "a program's visits in async form",
        "Sources/UncurlLoad/Users/LoadUser.swift": "the same: tasks that prefer the user's loop",
        "Sources/UncurlLoad/Plan/LoadOptions.swift": "the same",
        "Sources/UncurlLoad/Workers/VirtualUserDriver.swift": "the same",
    ]

    /// Every `@unchecked Sendable`, and why the compiler cannot see that it holds.
    private static let unchecked: [String: String] = [
        "Sources/UncurlReactor/Loop/EventLoop.swift":
            "its fields are touched by its own thread alone; others reach the mailbox, and no value that is bound to it",
        "Sources/UncurlTestServer/Certificates/TestKey.swift": "OpenSSL's key is counted atomically and never changed",
        "Sources/UncurlTestKit/Stubs.swift": "a loading class's methods are called one after the other",
        "Sources/Uncurl/Managers/URLSessionManager.swift":
            "open to subclasses, which can only claim; its own state is under a Mutex",
        "Sources/Uncurl/Managers/HTTPSessionManager.swift":
            "the same, one class further; what it adds never changes, or is under a Mutex",
        "Sources/Uncurl/Managers/URLSessionManagerTasks.swift": "the keys of its dictionary are strings",
        "Sources/Uncurl/Operations/HTTPRequestOperation.swift": "open as Operation is; its state is under a Mutex",
        "Sources/Uncurl/Tasks/TaskDelegate.swift": "subclassed in its room alone; its state is under a Mutex",
        "Sources/UncurlReactor/System/Monitor.swift":
            "the state is touched under a pthread mutex only: Mutex has no condition",
    ]

    /// Without URLLoading: its open classes, which programs may subclass, can only claim.
    private static let files = SourceTree.sources.filter { $0.room != "URLLoading" }

    /// `async` begins in URLLoading.
    private static let below = files.filter { file in
        !["Uncurl", "UncurlExtras", "UncurlXML", "UncurlTestKit", "Examples"].contains(file.room)
    }

    private func words(_ file: SourceTree.File) -> Set<Substring> { Set(file.words) }

    @Test("no file of the engine and below suspends: bytes pass through plain calls on one thread")
    func noAsync() {
        for file in Self.below where Self.mayAwait[file.path] == nil {
            #expect(words(file).isDisjoint(with: ["async", "await", "AsyncStream"]), "\(file)")
        }
    }

    @Test("unchecked claims stand in the list, each with its reason, and the list is not longer than the claims")
    func uncheckedSendable() {
        let claims = Set(Self.files.filter { $0.code.contains("@unchecked") }.map(\.path))
        #expect(claims == Set(Self.unchecked.keys))
    }

    /// Each look at it would wrap it once more (a fault of Swift 6.3's reabstraction): memory and stack would grow with
    /// every look. In a structure, an array or a dictionary it lies as it was stored.
    @Test("no closure lies bare in a mutex")
    func bareClosures() {
        for file in SourceTree.sources {
            // Of its own: others have the same names.
            let function = /typealias (\w+)(?:<[^>]*>)? =\s*((?:@\w+ )*\((?:[^()]|\([^()]*\))*\)[^\n]*)/
            let aliases = file.code.matches(of: function)
                .filter { $0.output.2.contains("->") }.map { String($0.output.1) }
            for match in file.code.matches(of: /Mutex<(.*)/) {
                let type = Self.argument(match.output.1)
                let names = Set(type.split { !$0.isLetter }.map(String.init))
                #expect(!type.contains("->") && names.isDisjoint(with: aliases), "\(file): \(type)")
            }
        }
    }

    /// The text up to the closing angle bracket, without what stands in square brackets.
    private static func argument(_ text: Substring) -> String {
        var (angles, squares, result, last) = (1, 0, "", Character(" "))
        for character in text {
            switch character {
            case "[": squares += 1
            case "]": squares -= 1
            case "<": angles += 1
            case ">" where last != "-": angles -= 1
            default: break
            }
            if angles == 0 { break }
            if squares == 0, character != "]" { result.append(character) }
            last = character
        }
        return result
    }

    @Test("no global escapes the checks")
    func nonisolatedUnsafe() {
        for file in Self.files { #expect(!file.code.contains("nonisolated(unsafe)"), "\(file)") }
    }

    @Test("threads start in LoopThread alone: from main.swift such a closure is main-actor code and crashes")
    func threads() {
        for file in Self.files where words(file).contains("pthread_create") {
            #expect(file.path == "Sources/UncurlReactor/Loop/EventLoopGroup.swift")
        }
    }
}
