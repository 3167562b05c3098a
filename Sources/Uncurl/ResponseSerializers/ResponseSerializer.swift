/// Makes a value of an answer. A serializer is a value itself, so a task's copy never changes.
public protocol ResponseSerializer<Value>: Sendable {
    /// What an answer is made into.
    associatedtype Value: Sendable

    /// Which answers are acceptable; checked before ``serialize(_:)``.
    var validation: ResponseValidation { get }

    /// Called on no particular thread, for several answers at once.
    ///
    /// - Throws: anything; what is not a ``SerializationFailure`` is wrapped in one.
    func serialize(_ answer: ReceivedResponse) throws -> Value

    /// This serializer with a decoder, where it decodes and has been given none. A manager asks each serializer for
    /// that with its own decoder, when a task is made. The same serializer unless said otherwise.
    func decoding(by decoder: any ContentDecoder) -> Self
}

extension ResponseSerializer {
    public func decoding(by decoder: any ContentDecoder) -> Self { self }
}

/// The outcome of serialization. Value and error may both be there: the content of a refused answer is made into a
/// value too.
public struct SerializedResponse<Value: Sendable>: Sendable {
    /// What the serializer made, of a refused answer too. Nil where it made nothing.
    public var value: Value?
    /// Nil: the answer is acceptable and ``value`` is there.
    public var error: UncurlError?

    /// The value and the failure, of which one may be missing.
    public init(value: Value?, error: UncurlError?) {
        self.value = value
        self.error = error
    }
}

extension ResponseSerializer {
    /// Validates the answer and makes a value of it. Neither failure hides the other.
    public func outcome(of answer: ReceivedResponse) -> SerializedResponse<Value> {
        let (result, rejected) = outcome(of: answer, refusal: validation.failure(of: answer))
        return switch result {
        case .success(let value): SerializedResponse(value: value, error: nil)
        case .failure(let error): SerializedResponse(value: rejected, error: error)
        }
    }

    /// The content of a refused answer is read as well: an error document must not be lost because of its status.
    func outcome(
        of answer: ReceivedResponse,
        refusal: ValidationFailure?
    ) -> (Result<Value, UncurlError>, rejected: Value?) {
        do {
            let value = try serialize(answer)
            guard let refusal else { return (.success(value), nil) }
            return (.failure(.validation(refusal)), value)
        } catch {
            let failure = SerializationFailure.wrapping(error, .other, answer: answer)
            guard var refusal else { return (.failure(.serialization(failure)), nil) }
            // That a refused download has no file says nothing of its content.
            if case .noFile = failure.reason {} else { refusal.serialization = failure }
            return (.failure(.validation(refusal)), nil)
        }
    }
}
