internal import URLLoading

/// After a failure that says that there was no network, sends a request again once one is available.
///
/// A request that never reached its host is sent again whatever its method. After a lost connection, only a request
/// with an idempotent method is sent again (RFC 9110 §9.2.2).
public struct OfflineRetrier: RequestInterceptor {
    /// The longest wait for a network. After it the request fails with its original error.
    public var maximumWait: Duration
    /// The most retries of one request.
    public var limit: Int
    /// Measures the wait.
    public var clock: any Clock<Duration> = ContinuousClock()
    /// Returns when a network is available.
    private let path: @Sendable () async throws -> Void

    /// A retrier.
    ///
    /// - Parameters:
    ///   - maximumWait: the longest wait for a network.
    ///   - limit: the most retries of one request.
    ///   - reachability: says when a network is available. Nil: the retrier itself watches for any network.
    public init(
        maximumWait: Duration = .seconds(5),
        limit: Int = 1,
        reachability: ReachabilityManager? = nil
    ) {
        self.init(maximumWait: maximumWait, limit: limit) {
            try await (reachability ?? ReachabilityManager()).waitUntilReachable()
        }
    }

    init(maximumWait: Duration, limit: Int, path: @escaping @Sendable () async throws -> Void) {
        self.maximumWait = maximumWait
        self.limit = limit
        self.path = path
    }

    public func retry(_ failure: FailedAttempt) async -> RetryDecision {
        guard failure.error.isConnectivity, failure.isReplayable, failure.attempt.retryCount < limit else {
            return .doNotRetry
        }
        let method = HTTPMethod(rawValue: failure.request?.httpMethod ?? "GET")
        if failure.error.urlError?.code == .networkConnectionLost, !RetryPolicy.idempotentMethods.contains(method) {
            return .doNotRetry
        }
        return await isOnline() ? .retry : .doNotRetry
    }

    private func isOnline() async -> Bool {
        await withTaskGroup(of: Bool.self) { group in
            let (path, clock, wait) = (path, clock, maximumWait)
            group.addTask { (try? await path()) != nil }
            group.addTask {
                _ = try? await clock.sleep(for: wait.bounded)
                return false
            }
            defer { group.cancelAll() }
            return await group.next() ?? false
        }
    }
}
