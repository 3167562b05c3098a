/// A JSON text as a ``JSONValue``.
public struct JSONResponseSerializer: ResponseSerializer {
    public var validation: ResponseValidation
    /// Takes out what is null, of objects and arrays, at every depth.
    public var removesNulls: Bool
    /// Where no content (or one space) is null and no failure.
    public var emptyContent: EmptyContentRule
    public var preprocessor: ContentPreprocessor

    public static let contentTypes: AcceptableTypes = ["application/json", "text/json", "text/javascript"]

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

    public func serialize(_ answer: ReceivedResponse) throws -> JSONValue { .null }
}

extension ResponseSerializer where Self == JSONResponseSerializer {
    public static var json: JSONResponseSerializer { JSONResponseSerializer() }
}
