/// Parameters that cannot be put into a request.
public struct ParameterFailure: Error, Sendable {
    public let reason: String
}
