internal import HTTPEngine
internal import Reactor
internal import Synchronization

/// The threads that all sessions of the process share: as many loops as there are cores, each started when the sessions
/// before it have one of their own. A session stays on its loop, so limits by host are exact without locks.
enum SharedLoops {
    /// One look-up of a name serves all sessions.
    static let resolver = Resolver()
    /// For certificates to be read and the like.
    static let blocking = BlockingPool(name: "urlloading")

    private struct State {
        var groups: [EventLoopGroup] = []
        var next = 0
    }

    private static let state = Mutex(State())
    /// More loops than this are of no use: one carries some hundred thousand requests a second.
    private static let limit = 4

    /// Throws what the kernel says where no loop can be had: no descriptors, no memory.
    static func next() throws(Errno) -> EventLoop {
        let result = state.withLock { state -> Result<EventLoop, Errno> in
            let wanted = min(limit, max(1, ProcessFacts.processors))
            if state.groups.count < wanted {
                do throws(Errno) {
                    let group = try EventLoopGroup(name: "urlloading-\(state.groups.count)")
                    state.groups.append(group)
                    return .success(group.nextLoop())
                } catch {
                    // With others at hand this session shares one.
                    guard !state.groups.isEmpty else { return .failure(error) }
                }
            }
            state.next = (state.next + 1) % state.groups.count
            return .success(state.groups[state.next].nextLoop())
        }
        return try result.get()
    }
}
