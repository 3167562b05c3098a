internal import URLLoading

/// The decoder of all serializers without one of their own. A serializer is made for each request, and a new decoder
/// would be most of its cost.
private let plainJSON: any ContentDecoder = JSONDecoder()

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
        get { own ?? plainJSON }
        set { own = newValue.snapshot() }
    }
    /// The given decoder; nil where none was given.
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

extension DecodableResponseSerializer {
    public func decoding(by decoder: any ContentDecoder) -> DecodableResponseSerializer {
        if own != nil { return self }
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
