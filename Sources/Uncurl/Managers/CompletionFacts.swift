internal import URLLoading

/// The user info of the notification of a task's end. Every request posts one. The dictionary is copied from a template
/// and only its values are replaced, so no key is hashed again.
struct CompletionFacts: @unchecked Sendable {
    // `@unchecked` because `AnyHashable` need not be `Sendable`; these keys are strings.

    private enum Fact {
        case serializer
        case data
        case value
    }

    static let ofTasks = CompletionFacts()

    /// The keys of nearly every notification.
    private let usual: [AnyHashable: Fact] = [
        URLSessionManager.responseSerializerKey: .serializer,
        URLSessionManager.responseDataKey: .data,
        URLSessionManager.serializedResponseKey: .value,
    ]

    func userInfo(of response: ResponseFacts, by serializer: any ResponseSerializer) -> [AnyHashable: Any] {
        let value = response.made
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
