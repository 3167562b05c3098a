internal import URLLoading

/// A property list in any of its formats.
public struct PropertyListResponseSerializer: ResponseSerializer {
    /// Which answers are acceptable: status 200 to 299 and ``contentTypes``, unless set.
    public var validation: ResponseValidation
    /// Where no content is an empty dictionary and no failure.
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
