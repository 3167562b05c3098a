/// Wraps any serializer, whatever the type of its value.
public struct AnyResponseSerializer: ResponseSerializer {
    /// The serializer that does the work.
    public let base: any ResponseSerializer

    /// Hides the type of a serializer's value.
    public init(_ base: any ResponseSerializer) { self.base = base }

    public var validation: ResponseValidation { base.validation }

    public func serialize(_ answer: ReceivedResponse) throws -> any Sendable { try base.serialize(answer) }

    public func decoding(by decoder: any ContentDecoder) -> AnyResponseSerializer {
        AnyResponseSerializer(base.decoding(by: decoder))
    }
}
