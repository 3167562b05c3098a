internal import URLLoading

/// Uses the first of several serializers that accepts an answer's content type and makes a value of it.
///
/// ``ResponseSerializer/map(_:)`` brings candidates with different values to one type:
/// ```swift
/// let either = CompoundResponseSerializer(
///     [JSONResponseSerializer().map(Content.json), ImageResponseSerializer().map(Content.image)],
///     otherwise: { Content.bytes($0) }
/// )
/// ```
public struct CompoundResponseSerializer<Value: Sendable>: ResponseSerializer {
    /// The validation of the compound. Of a candidate's own validation, only the content types are used: they say
    /// whether the candidate is tried.
    public var validation: ResponseValidation
    /// The serializers, in the order in which they are tried.
    public var candidates: [any ResponseSerializer<Value>]
    /// Makes a value of content that no candidate could read. Nil makes that a failure.
    public var otherwise: (@Sendable (Data) throws -> Value)?

    /// Tries the candidates in their order.
    public init(
        _ candidates: [any ResponseSerializer<Value>],
        validation: ResponseValidation = ResponseValidation(),
        otherwise: (@Sendable (Data) throws -> Value)? = nil
    ) {
        self.candidates = candidates
        self.validation = validation
        self.otherwise = otherwise
    }

    public func serialize(_ answer: ReceivedResponse) throws -> Value {
        var last: (any Error)?
        for candidate in candidates {
            let ownTypes = ResponseValidation(statusCodes: nil, contentTypes: candidate.validation.contentTypes)
            if let failure = ownTypes.failure(of: answer) {
                last = failure
                continue
            }
            do {
                return try candidate.serialize(answer)
            } catch {
                last = error
            }
        }
        guard let otherwise else { throw SerializationFailure(.unmatched, answer: answer, underlying: last) }
        return try otherwise(answer.content())
    }

    public func decoding(by decoder: any ContentDecoder) -> CompoundResponseSerializer {
        var whole = self
        whole.candidates = candidates.map { $0.decoding(by: decoder) }
        return whole
    }
}

/// Converts the value of another serializer.
public struct MappedResponseSerializer<Source: ResponseSerializer, Value: Sendable>: ResponseSerializer {
    let source: Source
    let transform: @Sendable (Source.Value) throws -> Value

    public var validation: ResponseValidation { source.validation }

    public func serialize(_ answer: ReceivedResponse) throws -> Value {
        try transform(source.serialize(answer))
    }

    public func decoding(by decoder: any ContentDecoder) -> MappedResponseSerializer {
        MappedResponseSerializer(source: source.decoding(by: decoder), transform: transform)
    }
}

extension ResponseSerializer {
    /// A serializer that converts this one's value. What `transform` throws becomes a ``SerializationFailure``.
    public func map<Other: Sendable>(
        _ transform: @escaping @Sendable (Value) throws -> Other
    ) -> MappedResponseSerializer<Self, Other> {
        MappedResponseSerializer(source: self, transform: transform)
    }
}
