internal import Dispatch
internal import Synchronization
internal import URLLoading

/// The state that a manager, its session's delegate and its tasks' delegates share. It retains neither the manager nor
/// the session, so both can be released.
///
/// The members of ``Settings`` are members of the core. A replaced value is released outside the lock.
@dynamicMemberLookup
final class ManagerCore: Sendable {
    /// Everything that a program may set. A task copies it when it is made; only hooks are looked up later.
    struct Settings: Sendable {
        var hooks = TaskHooks()
        var sessionHooks = SessionHooks()
        var responseSerializer: any ResponseSerializer = JSONResponseSerializer()
        var requestSerializer: any RequestSerializer = HTTPRequestSerializer()
        var requestDefaults = RequestDefaults.none
        var decoder: any ContentDecoder = JSONDecoder.shared
        var securityPolicy: any ServerTrustEvaluator = SecurityPolicy()
        /// Nil for the shared one.
        var reachability: ReachabilityManager?
        var completionQueue: DispatchQueue?
        var completionGroup: DispatchGroup?
        var notificationCenter: NotificationCenter? = .default
        var interceptors: [any RequestInterceptor] = []
        var monitors: [any EventMonitor] = []
        var collectsMetrics = false
        var staysAtBaseOrigin = false
        /// What applies where a request has no such option of its own: redirects, caching, the deadline.
        var options = RequestOptions()
        /// The clock of the waits before retries.
        var clock: any Clock<Duration> = ContinuousClock()
    }

    /// The settings of one moment, as one reference.
    private let stored: Mutex<Shared<Settings>>
    private let turns = ChangeTurns()
    /// Which hooks are set. It is read with every event.
    private let hooked = Atomic<UInt16>(0)
    /// The last refusal of each host, and of any proxy, the oldest first. The tasks of that host, or by that proxy,
    /// fail with it. A refusal holds a chain of certificates, so only the newest are kept.
    private let refusals = Mutex<[(key: String, refusal: UncurlError)]>([])
    /// The most refusals. Tasks of fewer hosts are refused at one time; beyond that, a task ends with the session's own
    /// error.
    private static let refusalCapacity = 64

    /// The places that hooks have given to downloads, for tasks that the manager did not make. They are kept until the
    /// task's end is reported.
    private let places = Mutex<[ObjectIdentifier: URL]>([:])

    /// The requests under way.
    let transfers: TransferList

    /// The completion queue of a manager without one of its own.
    let ownQueue = DispatchQueue(label: "Uncurl.completion")
    /// The completion group of managers without one of their own. The process has one.
    static let sharedGroup = DispatchGroup()
    /// The queue that makes answers into values, several at once.
    static let processing = DispatchQueue(label: "Uncurl.serialization", attributes: .concurrent)

    convenience init(_ hooks: TaskHooks, _ sessionHooks: SessionHooks, resourceLimit: TimeInterval) {
        var settings = Settings()
        (settings.hooks, settings.sessionHooks) = (hooks, sessionHooks)
        self.init(settings, resourceLimit: resourceLimit)
    }

    /// - Parameter resourceLimit: the session's `timeoutIntervalForResource`, in seconds.
    init(_ settings: Settings, resourceLimit: TimeInterval) {
        transfers = TransferList(stepLimit: resourceLimit)
        stored = Mutex(Shared(settings))
        hooked.store(Self.interests(settings).rawValue, ordering: .relaxed)
    }

    var settings: Shared<Settings> { stored.withLock { $0 } }

    subscript<Value: Sendable>(dynamicMember member: WritableKeyPath<Settings, Value>) -> Value {
        get {
            // Through a temporary reference, all settings would be copied before one is read.
            let settings = settings
            return settings.values[keyPath: member]
        }
        // From the read to the write no other thread changes a setting. A change that throws is kept as far as it came.
        _modify {
            let turn = turns.begin()
            var value = settings.values[keyPath: member]
            defer {
                store(value, member)
                turns.end(turn)
            }
            yield &value
        }
    }

    private func store<Value: Sendable>(_ value: Value, _ member: WritableKeyPath<Settings, Value>) {
        // Releasing a value may run the program's code, so it happens outside the lock.
        let old = stored.withLock { snapshot in
            let old = snapshot
            var settings = old.values
            settings[keyPath: member] = value
            snapshot = Shared(settings)
            hooked.store(Self.interests(settings).rawValue, ordering: .relaxed)
            return old
        }
        withExtendedLifetime(old) {}
    }

    /// Called before the program gets the decoder, which it may change: from then on the manager has one of its own.
    func giveDecoder() {
        guard settings.values.decoder.isShared else { return }
        func replace(_ decoder: inout any ContentDecoder) { if decoder.isShared { decoder = JSONDecoder() } }
        replace(&self[dynamicMember: \.decoder])
    }

    var interests: TaskInterests { TaskInterests(rawValue: hooked.load(ordering: .relaxed)) }

    private static func interests(_ settings: Settings) -> TaskInterests {
        settings.hooks.interests.union(settings.options.interests)
    }

    // MARK: Trust

    /// Why the policy refuses a server; nil where it trusts the server.
    func judge(_ trust: URLServerTrust, _ host: String) -> UncurlError? {
        let policy = settings.values.securityPolicy
        do throws(TrustFailure) {
            try policy.evaluate(trust, host: host)
            return nil
        } catch {
            var failure = error
            failure.trust = trust
            return .trust(failure)
        }
    }

    /// - Parameter refusal: nil if the server or the proxy is no longer refused.
    func note(_ refusal: UncurlError?, of space: URLProtectionSpace) {
        let key = space.isProxy() ? ManagerCore.proxies : space.host
        // What leaves the table is released outside the lock: it may hold the program's values.
        let old = refusals.withLock { rows in
            let old = rows
            rows.removeAll { $0.key == key }
            if let refusal { rows.append((key, refusal)) }
            if rows.count > Self.refusalCapacity { rows.removeFirst() }
            return old
        }
        withExtendedLifetime(old) {}
    }

    /// The refusal behind the error of a task for this host.
    func refusal(behind error: URLError, of host: String?) -> UncurlError? {
        guard let key = error.isOfProxy ? ManagerCore.proxies : host else { return nil }
        return refusals.withLock { $0.last { $0.key == key }?.refusal }
    }

    /// The key of ``refusals`` for proxies: no server's host is empty.
    private static let proxies = ""

    // MARK: Notifications

    func note(_ place: URL, of task: URLSessionTask) { places.withLock { $0[ObjectIdentifier(task)] = place } }

    func takePlace(of task: URLSessionTask) -> URL? {
        places.withLock { $0.removeValue(forKey: ObjectIdentifier(task)) }
    }

    /// Posts the end of a task that the manager did not make and that has no serializer.
    func postEnd(of task: URLSessionTask, _ error: UncurlError?, _ place: URL?) {
        var facts: [AnyHashable: Any] = [:]
        if let error { facts[Self.errorKey] = error }
        if let place { facts[Self.assetPathKey] = place }
        post(.taskDidComplete, task, facts)
    }

    func post(_ name: Notification.Name, _ object: AnyObject, _ facts: [AnyHashable: Any]? = nil) {
        self.notificationCenter?.post(name: name, object: object, userInfo: facts)
    }
}

/// The names and keys of notifications. Programs read them as members of ``URLSessionManager``.
extension Notification.Name {
    static let taskDidResume = Self("com.alamofire.networking.task.resume")
    static let taskDidSuspend = Self("com.alamofire.networking.task.suspend")
    static let taskDidComplete = Self("com.alamofire.networking.task.complete")
    static let sessionDidInvalidate = Self("com.alamofire.networking.session.invalidate")
    static let didMoveFile = Self("com.alamofire.networking.session.download.file-manager-succeed")
    static let didFailToMoveFile = Self("com.alamofire.networking.session.download.file-manager-error")
    static let operationDidStart = Self("com.alamofire.networking.operation.start")
    static let operationDidFinish = Self("com.alamofire.networking.operation.finish")
}

extension ManagerCore {
    static let assetPathKey = "com.alamofire.networking.task.complete.assetpath"
    static let errorKey = "com.alamofire.networking.task.complete.error"
}
