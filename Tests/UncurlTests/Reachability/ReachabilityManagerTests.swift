import Dispatch
import FacadeTestSupport
import Glibc
import Synchronization
import TestSupport
import Testing
import UncurlReactor

@testable import Uncurl

/// Links that go up and down, in a network namespace of the test's own.
@Suite(
    "Reachability",
    .enabled(if: NetworkNamespace.isAllowed, "\(NetworkNamespace.refusal ?? "")"),
    .timeLimit(.minutes(5))
)
struct ReachabilityManagerTests {
    private let namespace: NetworkNamespace
    private let watch: NetworkWatch

    init() throws {
        var options = Resolver.Options()
        options.overrides = ["near.test": ["10.9.0.7", "2001:db9::7"].compactMap { IPAddress($0) }]
        options.lookup = { _, _ throws(ResolveError) in throw .noSuchHost }
        let namespace = try NetworkNamespace()
        self.namespace = namespace
        watch = NetworkWatch(resolver: Resolver(options: options), folder: "/nowhere") { () throws(Errno) in
            do { return NetlinkSocket(adopting: try namespace.inside { try NetlinkSocket().release() }) } catch {
                throw error as? Errno ?? .invalidArgument
            }
        }
    }

    private func manager(
        _ host: String? = nil,
        queue: DispatchQueue? = nil
    ) -> ReachabilityManager {
        ReachabilityManager(host, watch: watch, queue: queue, center: NotificationCenter())
    }

    private func connect() throws {
        try namespace.addPair("v0", "v1")
        try namespace.ip("addr", "add", "10.9.0.1/24", "dev", "v0")
        try namespace.ip("route", "add", "default", "via", "10.9.0.2")
    }

    private func cut() throws { try namespace.ip("link", "set", "v1", "down") }
    private func mend() throws { try namespace.ip("link", "set", "v1", "up") }

    @Test("unknown until the start, then the state soon, and each change once", .rows("R1", "R3"))
    func general() async throws {
        let manager = manager()
        let seen = Sightings<ReachabilityStatus>()
        let observation = manager.observe { seen.add($0) }
        #expect(manager.status == .unknown && !manager.isReachable)
        try manager.start()
        #expect(await seen.wait { $0 == [.notReachable] })
        try connect()
        #expect(await seen.wait { $0.last == .reachable(.wired) })
        #expect(manager.status == .reachable(.wired) && manager.isReachable)
        try cut()
        #expect(await seen.wait { $0.last == .notReachable })
        try mend()
        #expect(await seen.wait { $0.count == 4 })
        try namespace.ip("link", "del", "v0")
        #expect(await seen.wait { $0.count == 5 })
        let (yes, no) = (ReachabilityStatus.reachable(.wired), ReachabilityStatus.notReachable)
        #expect(seen.all == [no, yes, no, yes, no])
        observation.cancel()
    }

    @Test("twenty changes arrive in order, none twice, whatever else happens to the network", .rows("A22"))
    func ordered() async throws {
        try connect()
        let manager = manager()
        let seen = Sightings<ReachabilityStatus>()
        let observation = manager.observe { seen.add($0) }
        try manager.start()
        for round in 1...10 {
            #expect(await seen.wait { $0.count == 2 * round - 1 })
            // No change of the status, though of the network.
            try namespace.ip("addr", "add", "10.9.1.\(round)/24", "dev", "v0")
            try cut()
            #expect(await seen.wait { $0.count == 2 * round })
            try mend()
        }
        #expect(await seen.wait { $0.count == 21 })
        for (index, status) in seen.all.enumerated() {
            #expect(status == (index % 2 == 0 ? .reachable(.wired) : .notReachable))
        }
        observation.cancel()
    }

    @Test(
        "on the queue that was chosen, observers first and then the notification, with the original's names",
        .rows("R4")
    )
    func delivery() async throws {
        let queue = DispatchQueue(label: "chosen")
        let key = DispatchSpecificKey<Bool>()
        queue.setSpecific(key: key, value: true)
        let center = NotificationCenter()
        let manager = ReachabilityManager(nil, watch: watch, queue: queue, center: center)
        let seen = Sightings<String>()
        let observation = manager.observe { status in
            seen.add("observer \(status.rawValue) \(DispatchQueue.getSpecific(key: key) == true)")
        }
        let name = Notification.Name("com.alamofire.networking.reachability.change")
        let token = center.addObserver(forName: name, object: manager, queue: nil) { notification in
            let number = notification.userInfo?["AFNetworkingReachabilityNotificationStatusItem"] as? Int
            let status = notification.userInfo?[ReachabilityManager.statusKey] as? ReachabilityStatus
            seen.add("notification \(number ?? -9) \(status == .notReachable)")
        }
        try manager.start()
        #expect(await seen.wait { $0.count == 2 })
        #expect(seen.all == ["observer 0 true", "notification 0 true"])
        center.removeObserver(token)
        observation.cancel()
    }

    @Test("without a given queue no observer is called on the main queue", .rows("D23"))
    func notMain() async throws {
        let manager = manager()
        let seen = Sightings<Bool>()
        let observation = manager.observe { _ in seen.add(Thread.isMainThread) }
        try manager.start()
        #expect(await seen.wait { $0 == [false] })
        observation.cancel()
    }

    @Test("a second start reports the status anew; after a stop no observer is called", .rows("R3"))
    func restarts() async throws {
        let queue = DispatchQueue(label: "restarts")
        let manager = manager(queue: queue)
        let seen = Sightings<ReachabilityStatus>()
        let observation = manager.observe { seen.add($0) }
        try manager.start()
        #expect(await seen.wait { $0 == [.notReachable] })
        try manager.start()
        #expect(await seen.wait { $0 == [.notReachable, .notReachable] })
        // What is queued when it is stopped is dropped.
        queue.suspend()
        try connect()
        let other = self.manager()
        let arrived = Sightings<ReachabilityStatus>()
        let watching = other.observe { arrived.add($0) }
        try other.start()
        #expect(await arrived.wait { $0.last == .reachable(.wired) })
        manager.stop()
        queue.resume()
        queue.sync {}
        #expect(seen.all.count == 2 && manager.status == .notReachable)
        withExtendedLifetime(watching) { other.stop() }
        observation.cancel()
    }

    @Test(
        "a cancelled or released observer is not called, and cancelling waits for a call on another thread",
        .rows("D6")
    )
    func tokens() async throws {
        let manager = manager()
        let seen = Sightings<String>()
        let inside = Sightings<Void>()
        let go = DispatchSemaphore(value: 0)
        let slow = manager.observe { _ in
            inside.add(())
            go.wait()
            seen.add("slow")
        }
        var dropped: ReachabilityObservation? = manager.observe { _ in seen.add("dropped") }
        _ = dropped
        dropped = nil
        let itself = Mutex<ReachabilityObservation?>(nil)
        let own = manager.observe { _ in
            itself.withLock { $0 }?.cancel()
            seen.add("own")
        }
        itself.withLock { $0 = own }
        try manager.start()
        #expect(await inside.wait { $0.count == 1 })
        DispatchQueue.global().async {
            slow.cancel()
            seen.add("cancelled")
        }
        go.signal()
        #expect(await seen.wait { $0.count == 3 })
        #expect(
            seen.all.firstIndex(of: "slow").map { first in
                seen.all.firstIndex(of: "cancelled").map { first < $0 } ?? false
            } == true
        )
        let last = Sightings<ReachabilityStatus>()
        let end = manager.observe { last.add($0) }
        try connect()
        #expect(await last.wait { $0.last == .reachable(.wired) })
        #expect(!seen.all.contains("dropped") && seen.all.count { $0 == "own" } == 1 && seen.all.count == 3)
        itself.withLock { $0 = nil }
        end.cancel()
    }

    @Test("an observer that another one releases during a report is not called", .rows("D6"))
    func releasedMeanwhile() async throws {
        let manager = manager()
        let seen = Sightings<String>()
        let released = Mutex<ReachabilityObservation?>(nil)
        let first = manager.observe { _ in
            released.withLock { $0 = nil }
            seen.add("first")
        }
        released.withLock { $0 = manager.observe { _ in seen.add("released") } }
        let last = manager.observe { _ in seen.add("last") }
        try manager.start()
        #expect(await seen.wait { $0.contains("last") })
        #expect(seen.all == ["first", "last"])
        first.cancel()
        last.cancel()
    }

    @Test("a released manager stops, and observers do not retain it")
    func dropped() async throws {
        weak var gone: ReachabilityManager?
        let seen = Sightings<ReachabilityStatus>()
        var observation: ReachabilityObservation?
        var statuses: AsyncStream<ReachabilityStatus>?
        do {
            let manager = manager()
            gone = manager
            observation = manager.observe { seen.add($0) }
            try manager.start()
            #expect(await seen.wait { $0.count == 1 })
            statuses = manager.statuses
        }
        #expect(await Sightings<Void>.eventually { gone == nil })
        var last: ReachabilityStatus?
        for await status in try #require(statuses) { last = status }
        #expect(last == .notReachable, "a sequence ends with its manager")
        try connect()
        #expect(seen.all.count == 1)
        withExtendedLifetime(observation) {}
    }

    @Test(
        "a host can be reached while there is a route to one of its addresses, by a link that runs",
        .rows("R2", "R5")
    )
    func host() async throws {
        let near = manager("near.test")
        let numeric = manager("10.9.0.9")
        let far = manager("192.0.2.1")
        let unnamed = manager("nobody.test")
        let seen = [near, numeric, far, unnamed].map { _ in Sightings<ReachabilityStatus>() }
        let observations = zip([near, numeric, far, unnamed], seen).map { pair in
            pair.0.observe { [log = pair.1] in log.add($0) }
        }
        for one in [near, numeric, far, unnamed] { try one.start() }
        for log in seen { #expect(await log.wait { $0 == [.notReachable] }) }
        try namespace.addPair("v0", "v1")
        try namespace.ip("addr", "add", "10.9.0.1/24", "dev", "v0")
        #expect(await seen[0].wait { $0.last == .reachable(.wired) })
        #expect(await seen[1].wait { $0.last == .reachable(.wired) })
        #expect(far.status == .notReachable)
        try namespace.ip("route", "add", "default", "via", "10.9.0.2")
        #expect(await seen[2].wait { $0.last == .reachable(.wired) })
        try namespace.ip("route", "add", "unreachable", "192.0.2.0/24")
        try cut()
        for log in seen[..<3] { #expect(await log.wait { $0.last == .notReachable }) }
        try mend()
        #expect(await seen[0].wait { $0.last == .reachable(.wired) })
        #expect(far.status == .notReachable && unnamed.status == .notReachable && seen[3].all.count == 1)
        withExtendedLifetime(observations) {}
    }

    @Test(
        "a sequence begins with the known status and continues with changes; waiting ends when there is a path",
        .rows("B11")
    )
    func sequence() async throws {
        let manager = manager()
        try manager.start()
        let waiting = Task { try await manager.waitUntilReachable() }
        var iterator = manager.statuses.makeAsyncIterator()
        #expect(await iterator.next() == .notReachable)
        try connect()
        #expect(await iterator.next() == .reachable(.wired))
        try await waiting.value
        try await manager.waitUntilReachable()
        try cut()
        #expect(await iterator.next() == .notReachable)
        let cancelled = Task { try await manager.waitUntilReachable() }
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
    }

    @Test("where netlink is forbidden the failure says so and the status stays unknown")
    func forbidden() async throws {
        let watch = NetworkWatch(resolver: Resolver()) { () throws(Errno) in throw .accessDenied }
        let manager = ReachabilityManager(nil, watch: watch, queue: nil, center: NotificationCenter())
        try manager.start()
        #expect(await Sightings<Void>.eventually { manager.failure != nil })
        #expect(manager.status == .unknown && manager.failure?.description.contains("EACCES") == true)
    }

    @Test("the status has AFNetworking's numbers and words", .rows("R1"))
    func words() {
        #expect(ReachabilityStatus.unknown.rawValue == -1 && ReachabilityStatus.notReachable.rawValue == 0)
        #expect(
            ReachabilityStatus.reachable(.cellular).rawValue == 1
                && ReachabilityStatus.reachable(.wireless).rawValue == 2
        )
        #expect(ReachabilityStatus.reachable(.cellular).isReachable && !ReachabilityStatus.unknown.isReachable)
        #expect(ReachabilityStatus.reachable(.wireless).localizedDescription == "Reachable via WiFi")
        #expect(ReachabilityManager.statusNumberKey == "AFNetworkingReachabilityNotificationStatusItem")
    }

    @Test("the network of this machine has a status once the manager is started, and none before", .rows("R2", "R6"))
    func real() async throws {
        let manager = try ReachabilityManager(host: "127.0.0.1")
        let seen = Sightings<ReachabilityStatus>()
        let observation = manager.observe { seen.add($0) }
        #expect(manager.status == .unknown)
        try manager.start()
        #expect(await seen.wait { $0 == [.reachable(.wired)] })
        observation.cancel()
    }

    @Test(
        "what is no host is refused: a URL, an empty text",
        arguments: ["", "http://h/", "h:80", "a b", "[h]", "[]", "/"]
    )
    func noHost(text: String) {
        #expect(throws: ReachabilityError.self) { try ReachabilityManager(host: text) }
    }

    @Test("a host is a name or an address", arguments: ["h", "example.com", "127.0.0.1", "::1", "[::1]", "a_b.test"])
    func hostText(text: String) throws { _ = try ReachabilityManager(host: text) }

    @Test("an observer that comes after the first status hears it, once, and then each change")
    func lateObserver() async throws {
        let manager = manager()
        let first = Sightings<ReachabilityStatus>()
        let early = manager.observe { first.add($0) }
        try manager.start()
        #expect(await first.wait { $0 == [.notReachable] })
        let seen = Sightings<ReachabilityStatus>()
        let late = manager.observe { seen.add($0) }
        #expect(await seen.wait { $0 == [.notReachable] })
        try connect()
        #expect(await seen.wait { $0 == [.notReachable, .reachable(.wired)] })
        #expect(await first.wait { $0 == [.notReachable, .reachable(.wired)] })
        withExtendedLifetime((early, late)) {}
    }

    @Test("waiting for a path starts a manager that was not started, and fails where the network cannot be read")
    func unstarted() async throws {
        let manager = manager()
        let waiting = Task { try await manager.waitUntilReachable() }
        try connect()
        try await waiting.value
        #expect(manager.isReachable)
        let watch = NetworkWatch(resolver: Resolver()) { () throws(Errno) in throw .accessDenied }
        let forbidden = ReachabilityManager(nil, watch: watch, queue: nil, center: NotificationCenter())
        await #expect(throws: ReachabilityError.self) { try await forbidden.waitUntilReachable() }
    }
}
