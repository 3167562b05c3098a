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
            let value = try JSONText.value(of: content, charset: answer.charset)
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
