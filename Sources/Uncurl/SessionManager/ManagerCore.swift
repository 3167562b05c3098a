internal import Dispatch
internal import Synchronization
internal import URLLoading

/// What a manager, its session's delegate and its tasks' delegates share. It holds neither the manager nor the session, so that both can
/// be let go of.
final class ManagerCore: Sendable {
    /// All that a user may set, copied into each task when it is made (hooks apart, which are looked up).
    struct Settings: Sendable {
        var hooks = TaskHooks()
        var sessionHooks = SessionHooks()
        var responseSerializer: any ResponseSerializer = JSONResponseSerializer()
        var requestSerializer: any RequestSerializer = HTTPRequestSerializer()
        var decoder: any ContentDecoder = JSONDecoder()
        var securityPolicy: any ServerTrustEvaluator = SecurityPolicy()
        var completionQueue: DispatchQueue?
        var completionGroup: DispatchGroup?
        var notificationCenter: NotificationCenter? = .default
        var interceptors: [any RequestInterceptor] = []
        var monitors: [any EventMonitor] = []
        var redirects: RedirectBehavior?
        var caching: CacheBehavior?
        var collectsMetrics = false
        /// Waits before retries.
        var clock: any Clock<Duration> = ContinuousClock()
    }

    private let stored: Mutex<Settings>
    /// Of the hooks, for those who ask with every event.
    private let hooked = Atomic<UInt16>(0)
    /// Why a host was not trusted: what its tasks fail with.
    private let distrusted = Mutex<[String: TrustFailure]>([:])

    /// The queue of who set none.
    let ownQueue = DispatchQueue(label: "Uncurl.completion")
    /// The group of who set none: one for the process.
    static let sharedGroup = DispatchGroup()
    /// Where answers are made into values; several at once.
    static let processing = DispatchQueue(label: "Uncurl.serialization", attributes: .concurrent)

    init(_ settings: Settings) {
        stored = Mutex(settings)
        hooked.store(Self.interests(settings).rawValue, ordering: .relaxed)
    }

    var settings: Settings { stored.withLock { $0 } }

    func change(_ change: (inout Settings) -> Void) {
        // What is let go of may run code of the user's: never under the lock.
        let old = stored.withLock { settings in
            let old = settings
            change(&settings)
            hooked.store(Self.interests(settings).rawValue, ordering: .relaxed)
            return old
        }
        withExtendedLifetime(old) {}
    }

    var hooks: TaskHooks { stored.withLock { $0.hooks } }
    var sessionHooks: SessionHooks { stored.withLock { $0.sessionHooks } }
    var interests: TaskInterests { TaskInterests(rawValue: hooked.load(ordering: .relaxed)) }

    private static func interests(_ settings: Settings) -> TaskInterests {
        var interests = settings.hooks.interests
        if settings.redirects != nil { interests.insert(.redirect) }
        if settings.caching != nil { interests.insert(.caching) }
        return interests
    }

    // MARK: Trust

    func judge(_ trust: URLServerTrust, _ host: String) -> TrustFailure? {
        let policy = stored.withLock { $0.securityPolicy }
        do throws(TrustFailure) {
            try policy.evaluate(trust, host: host)
            distrusted.withLock { $0[host] = nil }
            return nil
        } catch {
            distrusted.withLock { $0[host] = error }
            return error
        }
    }

    func failure(of host: String?) -> TrustFailure? {
        guard let host else { return nil }
        return distrusted.withLock { $0[host] }
    }

    // MARK: Notifications

    func post(_ name: Notification.Name, _ object: AnyObject, _ facts: [AnyHashable: Any]? = nil) {
        guard let center = stored.withLock({ $0.notificationCenter }) else { return }
        center.post(name: name, object: object, userInfo: facts)
    }
}
