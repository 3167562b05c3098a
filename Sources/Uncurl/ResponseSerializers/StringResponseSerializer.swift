public import URLLoading

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
        let stated = try encoding ?? answer.knownCharset() ?? TextEncoding.marked(content)
        let used = stated ?? (TextEncoding.isUTF8(content) ? .utf8 : .isoLatin1)
        guard let text = TextEncoding.text(content, used) else {
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
