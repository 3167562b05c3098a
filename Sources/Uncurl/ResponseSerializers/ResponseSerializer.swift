internal import URLLoading

/// Makes a value of an answer. A serializer is a value, so a task's copy never changes.
public protocol ResponseSerializer<Value>: Sendable {
    /// The type of the value.
    associatedtype Value: Sendable

    /// Says which answers are acceptable. It is checked before ``serialize(_:)``.
    var validation: ResponseValidation { get }

    /// Makes the value. Called on any thread, for several answers at once.
    ///
    /// - Throws: any error. An error that is not a ``SerializationFailure`` is wrapped in one.
    func serialize(_ answer: ReceivedResponse) throws -> Value

    /// A copy with this decoder, for a serializer that decodes and has no decoder of its own. A manager calls it with
    /// its own decoder when a task is made. By default it returns the serializer unchanged.
    func decoding(by decoder: any ContentDecoder) -> Self
}

extension ResponseSerializer {
    public func decoding(by decoder: any ContentDecoder) -> Self { self }
}

/// The outcome of serialization. It may have both a value and an error: the content of a refused answer is made into a
/// value too.
public struct SerializedResponse<Value: Sendable>: Sendable {
    /// The value, also of a refused answer; nil where the serializer made none.
    public var value: Value?
    /// The failure; nil where the answer is acceptable and ``value`` is set.
    public var error: UncurlError?

    /// An outcome with a value, a failure, or both.
    public init(value: Value?, error: UncurlError?) {
        self.value = value
        self.error = error
    }
}

extension ResponseSerializer {
    /// Validates the answer and makes a value of it. The outcome reports both failures.
    public func outcome(of answer: ReceivedResponse) -> SerializedResponse<Value> {
        let result = serialized(answer, refusal: validation.failure(of: answer))
        return SerializedResponse(value: result.value.map { SerializedResponse.exact($0) }, error: result.error)
    }

    /// Reads the content of a refused answer too: it may be an error document.
    func serialized(_ answer: ReceivedResponse, refusal: ValidationFailure?) -> SerializedResponse<any Sendable> {
        do {
            return SerializedResponse(value: try serialize(answer), error: refusal.map { .validation($0) })
        } catch {
            let failure = SerializationFailure.wrapping(error, .other, answer: answer)
            guard var refusal else { return SerializedResponse(value: nil, error: .serialization(failure)) }
            // `noFile` says nothing about the content: the file of a refused download has been deleted.
            if case .noFile = failure.reason {} else { refusal.serialization = failure }
            return SerializedResponse(value: nil, error: .validation(refusal))
        }
    }
}

extension SerializedResponse {
    /// A made value with its static type. The inner call opens the existential first, so that an optional value stays
    /// as it is.
    static func exact(_ made: any Sendable) -> Value {
        func opened<Made>(_ made: Made) -> Value {
            guard let value = made as? Value else { preconditionFailure("\(Made.self) was made, and no \(Value.self)") }
            return value
        }
        return opened(made)
    }
}

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
