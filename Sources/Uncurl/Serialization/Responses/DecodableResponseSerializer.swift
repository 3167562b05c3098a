public import URLLoading

/// Makes values of content.
public protocol ContentDecoder: Sendable {
    /// What a serializer with this decoder accepts unless told otherwise.
    var contentTypes: AcceptableTypes { get }

    func decode<Value: Decodable>(_ type: Value.Type, from content: Data) throws -> Value
}

extension JSONDecoder: ContentDecoder {
    public var contentTypes: AcceptableTypes { JSONResponseSerializer.contentTypes }
}

extension PropertyListDecoder: ContentDecoder {
    public var contentTypes: AcceptableTypes { PropertyListResponseSerializer.contentTypes }
}

/// A value of any type that can be decoded.
public struct DecodableResponseSerializer<Value: Decodable & Sendable>: ResponseSerializer {
    public var validation: ResponseValidation
    public var decoder: any ContentDecoder
    /// Where no content is no failure. Then the value is that of an ``EmptyValue``; other types fail all the same.
    public var emptyContent: EmptyContentRule
    public var preprocessor: ContentPreprocessor

    /// - Parameter validation: nil: statuses 200 to 299 and the decoder's content types.
    public init(
        _ type: Value.Type = Value.self,
        decoder: any ContentDecoder = JSONDecoder(),
        validation: ResponseValidation? = nil,
        emptyContent: EmptyContentRule = .whereThereIsNone,
        preprocessor: ContentPreprocessor = .passthrough
    ) {
        self.decoder = decoder
        self.validation = validation ?? ResponseValidation(contentTypes: decoder.contentTypes)
        self.emptyContent = emptyContent
        self.preprocessor = preprocessor
    }

    public func serialize(_ answer: ReceivedResponse) throws -> Value {
        try decoder.decode(Value.self, from: preprocessor(answer.content()))
    }
}

extension ResponseSerializer {
    /// `.decodable(User.self)`
    public static func decodable<Decoded>(
        _ type: Decoded.Type,
        decoder: any ContentDecoder = JSONDecoder()
    ) -> DecodableResponseSerializer<Decoded> where Self == DecodableResponseSerializer<Decoded> {
        DecodableResponseSerializer(type, decoder: decoder)
    }
}
