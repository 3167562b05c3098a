internal import Foundation
internal import Synchronization
internal import UncurlEngine
internal import UncurlReactor

/// The threads that all sessions of the process share: as many loops as there are cores, up to a limit. A loop is
/// started for each new session until there are that many. A session stays on its loop, so limits by host are exact
/// without locks.
enum SharedLoops {
    /// The resolver: one look-up of a name serves all sessions.
    static let resolver = Resolver(options: namesOptions)

    /// Any number of look-ups may wait: how many hosts are asked for is the program's own choice, and each session
    /// limits how many connections it opens at once.
    static var namesOptions: Resolver.Options {
        var options = Resolver.Options()
        options.maximumWaiting = .max
        return options
    }

    /// Threads for work that blocks, such as reading certificates.
    static let blocking = BlockingPool(name: "urlloading")

    private static let state = Mutex<(groups: [EventLoopGroup], next: Int)>(([], 0))
    private static let processors = ProcessInfo.processInfo.activeProcessorCount
    /// The most loops. More are of no use: one carries some hundred thousand requests a second.
    private static let limit = 4

    /// Returns the loop for the next session. Throws the kernel's error if there is none: no descriptors, no memory.
    static func next() throws(Errno) -> EventLoop {
        let result = state.withLock { state -> Result<EventLoop, Errno> in
            let wanted = min(limit, max(1, processors))
            if state.groups.count < wanted {
                do throws(Errno) {
                    let group = try EventLoopGroup(name: "urlloading-\(state.groups.count)")
                    state.groups.append(group)
                    return .success(group.nextLoop())
                } catch {
                    // If there are other loops, this session shares one.
                    guard !state.groups.isEmpty else { return .failure(error) }
                }
            }
            state.next = (state.next + 1) % state.groups.count
            return .success(state.groups[state.next].nextLoop())
        }
        return try result.get()
    }
}
