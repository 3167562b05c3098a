internal import URLLoading

/// A property list in any of its formats.
public struct PropertyListResponseSerializer: ResponseSerializer {
    public var validation: ResponseValidation
    /// Where no content is an empty dictionary and no failure.
    public var emptyContent: EmptyContentRule

    public static let contentTypes: AcceptableTypes = ["application/x-plist"]

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
    public static var propertyList: PropertyListResponseSerializer { PropertyListResponseSerializer() }
}
