/// The first of several serializers that accepts an answer's content type and makes a value of it.
public struct CompoundResponseSerializer<Value: Sendable>: ResponseSerializer {
    public var validation: ResponseValidation
    public var candidates: [any ResponseSerializer<Value>]
    /// Takes what none of the candidates could; nil: that is a failure.
    public var otherwise: (@Sendable (ReceivedResponse) throws -> Value)?

    public init(
        _ candidates: [any ResponseSerializer<Value>],
        validation: ResponseValidation = ResponseValidation(),
        otherwise: (@Sendable (ReceivedResponse) throws -> Value)? = nil
    ) {
        self.candidates = candidates
        self.validation = validation
        self.otherwise = otherwise
    }

    public func serialize(_ answer: ReceivedResponse) throws -> Value {
        throw SerializationFailure(.other, answer: answer)
    }
}

/// Another serializer's value, made into one of another type.
public struct MappedResponseSerializer<Source: ResponseSerializer, Value: Sendable>: ResponseSerializer {
    let source: Source
    let transform: @Sendable (Source.Value) throws -> Value

    public var validation: ResponseValidation { source.validation }

    public func serialize(_ answer: ReceivedResponse) throws -> Value {
        try transform(source.serialize(answer))
    }
}

extension ResponseSerializer {
    public func map<Other: Sendable>(
        _ transform: @escaping @Sendable (Value) throws -> Other
    ) -> MappedResponseSerializer<Self, Other> {
        MappedResponseSerializer(source: self, transform: transform)
    }
}
