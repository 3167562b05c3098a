public import URLLoading

/// Returns the content unchanged. Empty content is a value too.
public struct DataResponseSerializer: ResponseSerializer {
    /// Which answers are acceptable: by default those with the status 200 to 299.
    public var validation: ResponseValidation
    /// Changes the content before it is returned.
    public var preprocessor: ContentPreprocessor

    /// Makes a serializer. Each argument is described at the property of its name.
    public init(validation: ResponseValidation = ResponseValidation(), preprocessor: ContentPreprocessor = .passthrough)
    {
        self.validation = validation
        self.preprocessor = preprocessor
    }

    public func serialize(_ answer: ReceivedResponse) throws -> Data {
        try preprocessor(answer.content())
    }
}

/// Returns the URL of a downloaded file.
public struct FileResponseSerializer: ResponseSerializer {
    /// Which answers are acceptable: by default those with the status 200 to 299.
    public var validation: ResponseValidation

    /// Makes a serializer with this validation.
    public init(validation: ResponseValidation = ResponseValidation()) {
        self.validation = validation
    }

    public func serialize(_ answer: ReceivedResponse) throws -> URL {
        guard let url = answer.fileURL else { throw SerializationFailure(.noFile, answer: answer) }
        return url
    }
}

extension ResponseSerializer where Self == DataResponseSerializer {
    /// The content as `Data`: ``DataResponseSerializer`` with its defaults.
    public static var data: DataResponseSerializer { DataResponseSerializer() }
}

extension ResponseSerializer where Self == FileResponseSerializer {
    /// The `URL` of a downloaded file: ``FileResponseSerializer`` with its defaults.
    public static var file: FileResponseSerializer { FileResponseSerializer() }
}

/// Decodes the content as text. The encoding is ``encoding``, else the charset of the content type by the Encoding
/// Standard's labels, else that of a byte order mark, else UTF-8 if the content is valid UTF-8, else ISO 8859-1. A
/// charset with an unknown name is an error.
public struct StringResponseSerializer: ResponseSerializer {
    /// Which answers are acceptable: by default those with the status 200 to 299.
    public var validation: ResponseValidation
    /// The encoding to use, whatever the server declares.
    public var encoding: String.Encoding?
    /// Changes the content before it is read.
    public var preprocessor: ContentPreprocessor

    /// Makes a serializer. Each argument is described at the property of its name.
    public init(
        validation: ResponseValidation = ResponseValidation(),
        encoding: String.Encoding? = nil,
        preprocessor: ContentPreprocessor = .passthrough
    ) {
        self.validation = validation
        self.encoding = encoding
        self.preprocessor = preprocessor
    }

    public func serialize(_ answer: ReceivedResponse) throws -> String {
        let content = try preprocessor(answer.content())
        let stated = try encoding ?? answer.knownCharset() ?? String.Encoding.marked(content)
        let used = stated ?? (String.Encoding.isUTF8(content) ? .utf8 : .isoLatin1)
        guard let text = used.text(content) else {
            let isKnown = Charset.byEncoding[used]?.isAvailable ?? true
            throw SerializationFailure(isKnown ? .text(used) : .charset("\(used)"), answer: answer)
        }
        return text
    }
}

extension ResponseSerializer where Self == StringResponseSerializer {
    /// Text by the answer's charset: ``StringResponseSerializer`` with its defaults.
    public static var string: StringResponseSerializer { StringResponseSerializer() }
    /// Text in this encoding, whatever the answer's charset.
    public static func string(_ encoding: String.Encoding) -> StringResponseSerializer {
        StringResponseSerializer(encoding: encoding)
    }
}

/// Reads a JSON text as a ``JSONValue``: an object, an array or a single value, in UTF-8, UTF-16 or UTF-32, or else in
/// the encoding of the content type's charset.
public struct JSONResponseSerializer: ResponseSerializer {
    /// Which answers are acceptable: by default those with the status 200 to 299 and one of the ``contentTypes``.
    public var validation: ResponseValidation
    /// Whether members and elements that are null are removed, at every depth.
    public var removesNulls: Bool
    /// Which answers may have no content, or one space. Their value is null.
    public var emptyContent: EmptyContentRule
    /// Changes the content before it is read.
    public var preprocessor: ContentPreprocessor

    /// `application/json`, `text/json` and `text/javascript`, and types with the suffix `+json` (RFC 6839).
    public static let contentTypes: AcceptableTypes = ["application/json", "text/json", "text/javascript"]

    /// Makes a serializer. Each argument is described at the property of its name.
    public init(
        validation: ResponseValidation = ResponseValidation(contentTypes: contentTypes),
        removesNulls: Bool = false,
        emptyContent: EmptyContentRule = .always,
        preprocessor: ContentPreprocessor = .passthrough
    ) {
        self.validation = validation
        self.removesNulls = removesNulls
        self.emptyContent = emptyContent
        self.preprocessor = preprocessor
    }

    public func serialize(_ answer: ReceivedResponse) throws -> JSONValue {
        let content = try preprocessor(answer.content())
        // Rails' `head :ok` used to send one space.
        if content.isEmpty || content.elementsEqual([0x20]) {
            guard emptyContent.allows(answer) else { throw SerializationFailure(.empty, answer: answer) }
            return .null
        }
        do throws(JSONFailure) {
            let value = try JSONValue(reading: content, charset: answer.charset)
            return removesNulls ? value.removingNulls : value
        } catch {
            throw SerializationFailure(.json(error), answer: answer, underlying: error)
        }
    }
}

extension ResponseSerializer where Self == JSONResponseSerializer {
    /// JSON of any shape: ``JSONResponseSerializer`` with its defaults.
    public static var json: JSONResponseSerializer { JSONResponseSerializer() }
}
