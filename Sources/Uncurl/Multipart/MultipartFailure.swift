/// A form that cannot be sent.
public struct MultipartFailure: Error, Sendable {
    public let reason: String
}
