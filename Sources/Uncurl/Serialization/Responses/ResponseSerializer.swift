/// Makes a value of an answer. A value itself: its copy in a task cannot be changed by anybody else.
public protocol ResponseSerializer<Value>: Sendable {
    associatedtype Value: Sendable

    /// Which answers are looked at; checked before ``serialize(_:)``.
    var validation: ResponseValidation { get }

    /// Called on no particular thread, for several answers at once.
    ///
    /// - Throws: anything; what is not a ``SerializationFailure`` is wrapped in one.
    func serialize(_ answer: ReceivedResponse) throws -> Value
}

/// What came of an answer. Both may be there: the body of a rejected answer is made into a value all the same.
public struct SerializedResponse<Value: Sendable>: Sendable {
    public var value: Value?
    /// Nil: the answer is acceptable and ``value`` is there.
    public var error: UncurlError?

    public init(value: Value?, error: UncurlError?) {
        self.value = value
        self.error = error
    }
}

extension ResponseSerializer {
    /// Checks the answer and makes a value of it; neither failure hides the other.
    public func outcome(of answer: ReceivedResponse) -> SerializedResponse<Value> {
        let validated = validation.failure(of: answer)
        do {
            let value = try serialize(answer)
            return SerializedResponse(value: value, error: validated.map { .validation($0) })
        } catch {
            let failure = SerializationFailure.wrapping(error, .other, answer: answer)
            guard var validated else { return SerializedResponse(value: nil, error: .serialization(failure)) }
            validated.serialization = failure
            return SerializedResponse(value: nil, error: .validation(validated))
        }
    }
}
