/// A JSON text as a ``JSONValue``: of an object, an array or a single value, in UTF-8, UTF-16 or UTF-32, or where it
/// is none of them in the encoding that the content type's charset names.
public struct JSONResponseSerializer: ResponseSerializer {
    /// Which answers are acceptable: status 200 to 299 and ``contentTypes``, unless set.
    public var validation: ResponseValidation
    /// Takes out what is null, of objects and arrays, at every depth.
    public var removesNulls: Bool
    /// Where no content (or one space) is null and no failure.
    public var emptyContent: EmptyContentRule
    /// What is done to the content before it is read.
    public var preprocessor: ContentPreprocessor

    /// `application/json`, `text/json` and `text/javascript`, with what RFC 6839 makes of the first.
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
        // A space is what Rails' `head :ok` sent.
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
