public import URLLoading

/// The content as text. Its encoding is the one given here, else that of the content type's charset, else that of a
/// byte order mark, else UTF-8 if it is that, else ISO 8859-1.
public struct StringResponseSerializer: ResponseSerializer {
    public var validation: ResponseValidation
    /// Counts instead of what the server says.
    public var encoding: String.Encoding?
    public var preprocessor: ContentPreprocessor

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
        let stated = encoding ?? answer.charset ?? TextEncoding.marked(content)
        let used = stated ?? (TextEncoding.isUTF8(content) ? .utf8 : .isoLatin1)
        guard let text = TextEncoding.text(content, used) else {
            throw SerializationFailure(.text(used), answer: answer)
        }
        return text
    }
}

extension ResponseSerializer where Self == StringResponseSerializer {
    public static var string: StringResponseSerializer { StringResponseSerializer() }
    public static func string(_ encoding: String.Encoding) -> StringResponseSerializer {
        StringResponseSerializer(encoding: encoding)
    }
}
