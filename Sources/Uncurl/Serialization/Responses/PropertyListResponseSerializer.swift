public import URLLoading

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

    public func serialize(_ answer: ReceivedResponse) throws -> PropertyListValue { .dictionary([:]) }
}

/// A property list.
public indirect enum PropertyListValue: Sendable, Hashable {
    case bool(Bool)
    case integer(Int64)
    case unsigned(UInt64)
    case real(Double)
    case string(String)
    case data(Data)
    case date(Date)
    case array([PropertyListValue])
    case dictionary([String: PropertyListValue])
}

extension ResponseSerializer where Self == PropertyListResponseSerializer {
    public static var propertyList: PropertyListResponseSerializer { PropertyListResponseSerializer() }
}
