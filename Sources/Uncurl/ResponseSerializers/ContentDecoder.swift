public import URLLoading

/// Makes values of content.
public protocol ContentDecoder: Sendable {
    /// What a serializer with this decoder accepts unless told otherwise.
    var contentTypes: AcceptableTypes { get }

    /// Decodes a value. May be called on any thread, for several answers at once.
    ///
    /// - Parameters:
    ///   - type: the type of the value.
    ///   - content: the content, decompressed.
    ///   - charset: the encoding that the content type names; nil where it names none.
    func decode<Value: Decodable>(_ type: Value.Type, from content: Data, charset: String.Encoding?) throws -> Value

    /// A decoder that behaves as this one does now, whatever changes later. A value returns itself.
    func snapshot() -> any ContentDecoder
}

extension ContentDecoder {
    public func snapshot() -> any ContentDecoder { self }
}

extension JSONDecoder: ContentDecoder {
    public var contentTypes: AcceptableTypes { JSONResponseSerializer.contentTypes }

    public func decode<Value: Decodable>(
        _ type: Value.Type,
        from content: Data,
        charset: String.Encoding?
    ) throws -> Value {
        try decode(type, from: JSONText.utf8(content, charset: charset))
    }

    /// A subclass is taken as it is: what it adds cannot be copied.
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
        // Read and written anew: Foundation's decoder follows a list that holds itself for ever, and one of XML down to
        // the end of its stack.
        let object = try PropertyListValue(reading: content).foundationObject
        return try decode(
            type,
            from: PropertyListSerialization.data(fromPropertyList: object, format: .binary, options: 0)
        )
    }

    /// A subclass is taken as it is: what it adds cannot be copied.
    public func snapshot() -> any ContentDecoder {
        guard type(of: self) == PropertyListDecoder.self else { return self }
        let copy = PropertyListDecoder()
        copy.userInfo = userInfo
        return copy
    }
}
