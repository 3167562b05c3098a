internal import URLLoading

/// Shared by all serializers without a decoder of their own: a serializer is made for each request, and a decoder would
/// be most of its cost.
private let plainJSON: any ContentDecoder = JSONDecoder()

/// A value of any type that can be decoded.
public struct DecodableResponseSerializer<Value: Decodable & Sendable>: ResponseSerializer {
    /// Statuses 200 to 299 and the decoder's content types, unless another has been given.
    public var validation: ResponseValidation {
        get { ownValidation ?? ResponseValidation(contentTypes: decoder.contentTypes) }
        set { ownValidation = newValue }
    }
    private var ownValidation: ResponseValidation?
    /// The decoder as it was when this serializer got it: later changes to a decoder object do not reach a running
    /// task.
    public var decoder: any ContentDecoder {
        get { own ?? plainJSON }
        set { own = newValue.snapshot() }
    }
    /// Nil until one is given.
    private var own: (any ContentDecoder)?
    /// Where no content is no failure. Then the value is that of an ``EmptyValue``; other types fail all the same.
    public var emptyContent: EmptyContentRule
    /// What is done to the content before it is decoded.
    public var preprocessor: ContentPreprocessor

    /// A serializer of values of one type.
    ///
    /// - Parameters:
    ///   - type: the type of the value.
    ///   - decoder: decodes the content; nil for the decoder of the task's manager, and without a manager for a
    ///     `JSONDecoder`.
    ///   - validation: which answers are acceptable; nil for status 200 to 299 and the decoder's content types.
    ///   - emptyContent: which answers may have no content.
    ///   - preprocessor: what is done to the content before it is decoded.
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
    /// `.decodable(User.self)`
    public static func decodable<Decoded>(
        _ type: Decoded.Type,
        decoder: (any ContentDecoder)? = nil
    ) -> DecodableResponseSerializer<Decoded> where Self == DecodableResponseSerializer<Decoded> {
        DecodableResponseSerializer(type, decoder: decoder)
    }
}
