internal import URLLoading

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
