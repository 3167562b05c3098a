public import URLLoading
internal import UncurlText

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

extension JSONDecoder: ContentDecoder {
    public var contentTypes: AcceptableTypes { JSONResponseSerializer.contentTypes }

    /// Decodes a value. Content that is not a JSON text is a ``JSONFailure``; so is a member's name with more than 128
    /// combining marks in a row. With `allowsJSON5` or `assumesTopLevelDictionary`, no text at all may have so many.
    public func decode<Value: Decodable>(
        _ type: Value.Type,
        from content: Data,
        charset: String.Encoding?
    ) throws -> Value {
        let text = try JSONText.utf8(content, charset: charset)
        if !allowsJSON5, !assumesTopLevelDictionary {
            try JSONText.check(text)
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
