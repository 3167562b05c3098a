internal import Synchronization
internal import URLLoading

/// The user info of the notification of a task's end. Every request posts one, and few programs keep it. The next
/// request reuses a dictionary that no observer has kept, so no key is hashed or copied again.
struct CompletionFacts: @unchecked Sendable {
    // `@unchecked` because `AnyHashable` need not be `Sendable`; these keys are strings.

    /// The most unused dictionaries that are kept. If more threads post at once, further ones are made.
    private static let kept = 8
    private static let unused = Mutex<[CompletionFacts]>([])

    /// The keys of nearly every end, with their values. The indices of the keys follow.
    private var usual: [AnyHashable: Any]
    private let serializer, data, value: Dictionary<AnyHashable, Any>.Index?

    private init() {
        let keys = [
            URLSessionManager.responseSerializerKey, URLSessionManager.responseDataKey,
            URLSessionManager.serializedResponseKey,
        ]
        usual = [AnyHashable: Any](uniqueKeysWithValues: keys.map { (AnyHashable($0), ()) })
        serializer = usual.index(forKey: URLSessionManager.responseSerializerKey)
        data = usual.index(forKey: URLSessionManager.responseDataKey)
        value = usual.index(forKey: URLSessionManager.serializedResponseKey)
    }

    /// Calls `post` with the user info of a response.
    static func with(
        _ response: ResponseFacts,
        _ serializer: any ResponseSerializer,
        _ post: ([AnyHashable: Any]) -> Void
    ) {
        var facts = unused.withLock { $0.popLast() } ?? CompletionFacts()
        facts.set(serializer, response.data, response.made ?? ())
        post(facts.userInfo(of: response))
        // Nothing of the answer is kept here.
        facts.set((), (), ())
        unused.withLock { unused in
            if unused.count < kept { unused.append(facts) }
        }
    }

    private mutating func set(_ serializer: Any, _ data: Any, _ value: Any) {
        if let place = self.serializer { usual.values[place] = serializer }
        if let place = self.data { usual.values[place] = data }
        if let place = self.value { usual.values[place] = value }
    }

    private func userInfo(of response: ResponseFacts) -> [AnyHashable: Any] {
        if response.made != nil, response.fileURL == nil, response.metrics == nil, response.error == nil {
            return usual
        }
        var facts = usual
        if response.made == nil { facts[URLSessionManager.serializedResponseKey] = nil }
        if let file = response.fileURL {
            facts[URLSessionManager.responseDataKey] = nil
            facts[URLSessionManager.assetPathKey] = file
        }
        if let metrics = response.metrics { facts[URLSessionManager.sessionTaskMetricsKey] = metrics }
        if let error = response.error { facts[URLSessionManager.errorKey] = error }
        return facts
    }
}
