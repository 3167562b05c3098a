internal import Foundation
internal import Synchronization
internal import UncurlEngine
internal import UncurlReactor

// The threads that all sessions of the process share.

extension Resolver {
    /// The resolver: one look-up of a name serves all sessions.
    static let shared = Resolver(options: sharedOptions)

    /// Any number of look-ups may wait: how many hosts are asked for is the program's own choice, and each session
    /// limits how many connections it opens at once.
    static var sharedOptions: Options {
        var options = Options()
        options.maximumWaiting = .max
        return options
    }
}

extension BlockingPool {
    /// Threads for work that blocks, such as reading certificates.
    static let shared = BlockingPool(name: "urlloading")
}

/// As many loops as there are cores, up to a limit. A loop is started for each new session until there are that many. A
/// session stays on its loop, so limits by host are exact without locks.
extension EventLoop {
    private static let shared = Mutex<(groups: [EventLoopGroup], next: Int)>(([], 0))
    /// The most loops. More are of no use: one carries some hundred thousand requests a second.
    private static let sharedLimit = 4
    private static let processors = ProcessInfo.processInfo.activeProcessorCount

    /// Returns the loop for the next session. Throws the kernel's error if there is none: no descriptors, no memory.
    static func nextShared() throws(Errno) -> EventLoop {
        try shared.withLock { shared throws(Errno) in
            if shared.groups.count < min(sharedLimit, max(1, processors)) {
                do throws(Errno) {
                    let group = try EventLoopGroup(name: "urlloading-\(shared.groups.count)")
                    shared.groups.append(group)
                    return group.nextLoop()
                } catch {
                    // If there are other loops, this session shares one.
                    if shared.groups.isEmpty { throw error }
                }
            }
            shared.next = (shared.next + 1) % shared.groups.count
            return shared.groups[shared.next].nextLoop()
        }
    }
}
