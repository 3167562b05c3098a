internal import URLLoading

/// The user info of the notification of a task's end. Every request posts one, so its dictionary is made from another
/// by replacing the values: no key is hashed again.
struct CompletionFacts: @unchecked Sendable {
    // `@unchecked`: a key of any type need not be `Sendable`; these are strings.

    private enum Fact {
        case serializer
        case data
        case value
    }

    static let ofTasks = CompletionFacts()

    /// The keys of nearly every end.
    private let usual: [AnyHashable: Fact] = [
        URLSessionManager.responseSerializerKey: .serializer,
        URLSessionManager.responseDataKey: .data,
        URLSessionManager.serializedResponseKey: .value,
    ]

    func userInfo<Value>(
        of response: Response<Value>,
        by serializer: some ResponseSerializer
    ) -> [AnyHashable: Any] {
        let value: Any? = (response.value ?? response.rejectedValue).map { $0 }
        var facts: [AnyHashable: Any] = usual.mapValues { fact in
            switch fact {
            case .serializer: serializer
            case .data: response.data
            case .value: value ?? ()
            }
        }
        if value == nil { facts[URLSessionManager.serializedResponseKey] = nil }
        if let file = response.fileURL {
            facts[URLSessionManager.responseDataKey] = nil
            facts[URLSessionManager.assetPathKey] = file
        }
        if let metrics = response.metrics { facts[URLSessionManager.sessionTaskMetricsKey] = metrics }
        if let error = response.error { facts[URLSessionManager.errorKey] = error }
        return facts
    }
}
