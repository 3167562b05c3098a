internal import URLLoading

/// The first of several serializers that accepts an answer's content type and makes a value of it.
///
/// Candidates of several kinds of value are brought to one by ``ResponseSerializer/map(_:)``:
/// ```swift
/// let either = CompoundResponseSerializer(
///     [JSONResponseSerializer().map(Content.json), ImageResponseSerializer().map(Content.image)],
///     otherwise: { Content.bytes($0) }
/// )
/// ```
public struct CompoundResponseSerializer<Value: Sendable>: ResponseSerializer {
    /// The validation of the whole. A candidate's own validation only says which content types the candidate is asked
    /// about.
    public var validation: ResponseValidation
    /// The serializers, in the order in which they are tried.
    public var candidates: [any ResponseSerializer<Value>]
    /// Makes a value of content that none of the candidates could; nil: that is a failure.
    public var otherwise: (@Sendable (Data) throws -> Value)?

    /// Tries serializers in their order.
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

/// Another serializer's value, made into one of another type.
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
    /// A serializer whose value is made of this one's. What `transform` throws becomes a ``SerializationFailure``.
    public func map<Other: Sendable>(
        _ transform: @escaping @Sendable (Value) throws -> Other
    ) -> MappedResponseSerializer<Self, Other> {
        MappedResponseSerializer(source: self, transform: transform)
    }
}
