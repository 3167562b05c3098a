public import URLLoading
internal import UncurlText

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

extension MappedResponseSerializer: CustomStringConvertible {
    public var description: String { described(Self.self, ["": source]) }
}

extension ResponseSerializer {
    /// A serializer that converts this one's value. What `transform` throws becomes a ``SerializationFailure``.
    public func map<Other: Sendable>(
        _ transform: @escaping @Sendable (Value) throws -> Other
    ) -> MappedResponseSerializer<Self, Other> {
        MappedResponseSerializer(source: self, transform: transform)
    }
}

/// Decodes a value of any `Decodable` type.
public struct DecodableResponseSerializer<Value: Decodable & Sendable>: ResponseSerializer {
    /// Which answers are acceptable: by default those with the status 200 to 299 and the decoder's content types.
    public var validation: ResponseValidation {
        get { ownValidation ?? ResponseValidation(contentTypes: decoder.contentTypes) }
        set { ownValidation = newValue }
    }
    private var ownValidation: ResponseValidation?
    /// The decoder, as a snapshot: later changes to a decoder object do not affect a running task.
    public var decoder: any ContentDecoder {
        get { own ?? JSONDecoder.shared }
        set { own = newValue.snapshot() }
    }
    private var own: (any ContentDecoder)?
    /// Which answers may have no content. Their value is ``EmptyValue/emptyValue``. For a type that is not an
    /// ``EmptyValue``, they fail.
    public var emptyContent: EmptyContentRule
    /// Changes the content before it is decoded.
    public var preprocessor: ContentPreprocessor

    /// A serializer of values of one type.
    ///
    /// - Parameters:
    ///   - type: the type of the value.
    ///   - decoder: decodes the content. Nil: the decoder of the task's manager, or a `JSONDecoder` without a manager.
    ///   - validation: which answers are acceptable; nil for status 200 to 299 and the decoder's content types.
    ///   - emptyContent: which answers may have no content.
    ///   - preprocessor: changes the content before it is decoded.
    public init(
        _ type: Value.Type = Value.self,
        decoder: (any ContentDecoder)? = nil,
        validation: ResponseValidation? = nil,
        emptyContent: EmptyContentRule = .whereThereIsNone,
        preprocessor: ContentPreprocessor = .passthrough
    ) {
        own = decoder?.snapshot()
        ownValidation = validation
        self.emptyContent = emptyContent
        self.preprocessor = preprocessor
    }

    public func serialize(_ answer: ReceivedResponse) throws -> Value {
        let content = try preprocessor(answer.content())
        guard !content.isEmpty else {
            let empty = (Value.self as? any EmptyValue.Type)?.emptyValue as? Value
            guard let empty, emptyContent.allows(answer) else { throw SerializationFailure(.empty, answer: answer) }
            return empty
        }
        do {
            return try decoder.decode(Value.self, from: content, charset: answer.charset)
        } catch let failure as JSONFailure {
            throw SerializationFailure(.json(failure), answer: answer, underlying: failure)
        } catch {
            throw SerializationFailure(.decoding, answer: answer, underlying: error)
        }
    }
}

extension DecodableResponseSerializer: CustomStringConvertible {
    public var description: String { described(Self.self, ["decoder": type(of: decoder)]) }
}

extension DecodableResponseSerializer {
    public func decoding(by decoder: any ContentDecoder) -> DecodableResponseSerializer {
        if own != nil || decoder.isShared { return self }
        var decoding = self
        decoding.decoder = decoder
        return decoding
    }
}

extension ResponseSerializer {
    /// A value of a `Decodable` type, such as `.decodable(User.self)`.
    public static func decodable<Decoded>(
        _ type: Decoded.Type,
        decoder: (any ContentDecoder)? = nil
    ) -> DecodableResponseSerializer<Decoded> where Self == DecodableResponseSerializer<Decoded> {
        DecodableResponseSerializer(type, decoder: decoder)
    }
}

/// Makes the value that `as:` asks for: text and bytes are the body as it is, and nothing needs no body. Any other type
/// is decoded.
func bodySerializer<Value: Decodable & Sendable>(of type: Value.Type) -> any ResponseSerializer {
    if type == String.self { return .string }
    if type == Data.self { return .data }
    if type == EmptyResponse.self { return .data.map { _ in EmptyResponse() } }
    return .decodable(type)
}

/// Decodes values from content.
public protocol ContentDecoder: Sendable {
    /// The content types that a serializer with this decoder accepts by default.
    var contentTypes: AcceptableTypes { get }

    /// Decodes a value. May be called on any thread, for several answers at once.
    ///
    /// - Parameters:
    ///   - type: the type of the value.
    ///   - content: the content, decompressed.
    ///   - charset: the encoding that the content type names; nil where it names none.
    func decode<Value: Decodable>(_ type: Value.Type, from content: Data, charset: String.Encoding?) throws -> Value

    /// A copy of the decoder that later changes do not affect. A value type returns itself.
    func snapshot() -> any ContentDecoder
}

extension ContentDecoder {
    public func snapshot() -> any ContentDecoder { self }
}

extension ContentDecoder {
    /// Whether this is the decoder that nothing changes, so that no request needs a copy.
    var isShared: Bool { self as? JSONDecoder === JSONDecoder.shared }
}

extension JSONDecoder: ContentDecoder {
    /// The decoder of all serializers and managers without one of their own. No program gets it, so nothing changes it.
    /// A serializer is made for each request, and a new decoder would be most of its cost.
    static let shared = JSONDecoder()

    public var contentTypes: AcceptableTypes { JSONResponseSerializer.contentTypes }

    /// Decodes a value. Content that is not a JSON text is a ``JSONFailure``; so is a member's name with more than 128
    /// combining marks in a row. With `allowsJSON5` or `assumesTopLevelDictionary`, no text at all may have so many.
    public func decode<Value: Decodable>(
        _ type: Value.Type,
        from content: Data,
        charset: String.Encoding?
    ) throws -> Value {
        let text = try JSONValue.utf8(content, charset: charset)
        if !allowsJSON5, !assumesTopLevelDictionary {
            try JSONValue.check(text)
        } else if MarkRun.isTooLong(inText: text.span) {
            throw JSONFailure(JSONReader.Problem(.tooManyMarks(limit: MarkRun.limit), at: 0))
        }
        return try decode(type, from: text)
    }

    /// Returns a subclass's object itself: its additions cannot be copied.
    public func snapshot() -> any ContentDecoder {
        guard type(of: self) == JSONDecoder.self else { return self }
        let copy = JSONDecoder()
        copy.dateDecodingStrategy = dateDecodingStrategy
        copy.dataDecodingStrategy = dataDecodingStrategy
        copy.nonConformingFloatDecodingStrategy = nonConformingFloatDecodingStrategy
        copy.keyDecodingStrategy = keyDecodingStrategy
        copy.allowsJSON5 = allowsJSON5
        copy.assumesTopLevelDictionary = assumesTopLevelDictionary
        copy.userInfo = userInfo
        return copy
    }
}

extension PropertyListDecoder: ContentDecoder {
    public var contentTypes: AcceptableTypes { PropertyListResponseSerializer.contentTypes }

    public func decode<Value: Decodable>(
        _ type: Value.Type,
        from content: Data,
        charset: String.Encoding?
    ) throws -> Value {
        // The list is read and written anew. Foundation's decoder never ends on a list that contains itself, and a
        // deeply nested XML list overflows its stack.
        let object = try PropertyListValue(reading: content).foundationObject
        return try decode(
            type,
            from: PropertyListSerialization.data(fromPropertyList: object, format: .binary, options: 0)
        )
    }

    /// Returns a subclass's object itself: its additions cannot be copied.
    public func snapshot() -> any ContentDecoder {
        guard type(of: self) == PropertyListDecoder.self else { return self }
        let copy = PropertyListDecoder()
        copy.userInfo = userInfo
        return copy
    }
}

/// Reads a property list in any format.
public struct PropertyListResponseSerializer: ResponseSerializer {
    /// Which answers are acceptable: by default those with the status 200 to 299 and one of the ``contentTypes``.
    public var validation: ResponseValidation
    /// Which answers may have no content. Their value is an empty dictionary.
    public var emptyContent: EmptyContentRule

    /// `application/x-plist`.
    public static let contentTypes: AcceptableTypes = ["application/x-plist"]

    /// Makes a serializer. Each argument is described at the property of its name.
    public init(
        validation: ResponseValidation = ResponseValidation(contentTypes: contentTypes),
        emptyContent: EmptyContentRule = .always
    ) {
        self.validation = validation
        self.emptyContent = emptyContent
    }

    public func serialize(_ answer: ReceivedResponse) throws -> PropertyListValue {
        let content = try answer.content()
        guard !content.isEmpty else {
            guard emptyContent.allows(answer) else { throw SerializationFailure(.empty, answer: answer) }
            return .dictionary([:])
        }
        do {
            return try PropertyListValue(reading: content)
        } catch {
            throw SerializationFailure(.propertyList, answer: answer, underlying: error)
        }
    }
}

extension ResponseSerializer where Self == PropertyListResponseSerializer {
    /// A property list of any shape: ``PropertyListResponseSerializer`` with its defaults.
    public static var propertyList: PropertyListResponseSerializer { PropertyListResponseSerializer() }
}
