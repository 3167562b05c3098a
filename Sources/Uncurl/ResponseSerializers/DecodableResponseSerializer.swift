public import URLLoading
internal import UncurlText

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
