import CUncurlLinux
import Foundation
import Glibc

/// A network of a test's own: links that go up and down, and nobody else's. Gone with it.
///
/// Needs root and iproute2: a test that needs one asks ``isAllowed`` first.
public final class NetworkNamespace: Sendable {
    public let name: String

    public struct Failure: Error, CustomStringConvertible {
        public let description: String
    }

    /// Why there can be none here; nil: there can.
    public static let refusal: String? = {
        guard FileManager.default.isExecutableFile(atPath: tool) else { return "iproute2 is not installed" }
        sweep()
        do {
            let one = try NetworkNamespace()
            try one.ip("link", "add", "try0", "type", "veth", "peer", "name", "try1")
            try one.inside {}
            return nil
        } catch {
            return "network namespaces are forbidden here: \(error)"
        }
    }()

    public static var isAllowed: Bool { refusal == nil }

    private static let tool =
        ["/sbin/ip", "/usr/sbin/ip", "/bin/ip"].first { FileManager.default.isExecutableFile(atPath: $0) } ?? "/sbin/ip"

    public init() throws {
        name = "uncurl-\(getpid())-\(UUID().uuidString.prefix(8))"
        try Self.run(["netns", "add", name])
    }

    deinit { try? Self.run(["netns", "del", name]) }

    /// `ip -n NAME …`.
    public func ip(_ arguments: String...) throws { try Self.run(["-n", name] + arguments) }

    /// Two links that are each other's far end, both up.
    public func addPair(_ first: String, _ second: String) throws {
        try ip("link", "add", first, "type", "veth", "peer", "name", second)
        try ip("link", "set", first, "up")
        try ip("link", "set", second, "up")
    }

    /// Runs it on a thread of its own in the namespace: what sockets it opens belong there for ever.
    @discardableResult
    public func inside<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) throws -> Value {
        let path = "/run/netns/\(name)"
        let result = Answer<Result<Value, any Error>>()
        let thread = Thread {
            let file = uncurl_open_read(path)
            defer { close(file) }
            guard file >= 0, uncurl_enter_network(file) == 0 else {
                return result.give(.failure(Failure(description: "\(path) cannot be entered: errno \(errno)")))
            }
            result.give(Result { try body() })
        }
        thread.start()
        return try result.wait().get()
    }

    private final class Answer<Value: Sendable>: @unchecked Sendable {
        // `@unchecked`: written before the signal, read after it.
        private let done = DispatchSemaphore(value: 0)
        private var value: Value?

        func give(_ value: Value) {
            self.value = value
            done.signal()
        }

        func wait() throws -> Value {
            guard done.wait(timeout: .now() + .seconds(300)) == .success, let value else {
                throw Failure(description: "the namespace's thread does not answer")
            }
            return value
        }
    }

    /// Those of programs that have ended before they could take theirs away.
    private static func sweep() {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: "/run/netns")) ?? [] {
            let parts = name.split(separator: "-")
            guard parts.count == 3, parts[0] == "uncurl", let owner = pid_t(parts[1]) else { continue }
            if kill(owner, 0) != 0, errno == ESRCH { try? run(["netns", "del", name]) }
        }
    }

    private static func run(_ arguments: [String]) throws {
        let ended = try EndedProgram(tool, arguments)
        guard ended.status == 0 else {
            throw Failure(description: "ip \(arguments.joined(separator: " ")): \(ended.err)")
        }
    }
}
