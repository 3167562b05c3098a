public import URLLoading

/// Makes content of values that can be encoded.
public protocol ContentEncoder: Sendable {
    /// What goes into Content-Type.
    var contentType: String { get }

    /// The content. May run on any thread, for several values at once.
    func encode<Value: Encodable>(_ value: Value) throws -> Data

    /// An encoder that behaves as this one does now, whatever changes later. A value returns itself.
    func snapshot() -> any ContentEncoder
}

extension ContentEncoder {
    public func snapshot() -> any ContentEncoder { self }
}

extension JSONEncoder: ContentEncoder {
    public var contentType: String { "application/json" }

    /// A subclass is taken as it is: what it adds cannot be copied.
    public func snapshot() -> any ContentEncoder {
        guard type(of: self) == JSONEncoder.self else { return self }
        let copy = JSONEncoder()
        copy.outputFormatting = outputFormatting
        copy.dateEncodingStrategy = dateEncodingStrategy
        copy.dataEncodingStrategy = dataEncodingStrategy
        copy.nonConformingFloatEncodingStrategy = nonConformingFloatEncodingStrategy
        copy.keyEncodingStrategy = keyEncodingStrategy
        copy.userInfo = userInfo
        return copy
    }
}

extension PropertyListEncoder: ContentEncoder {
    public var contentType: String { "application/x-plist" }

    /// A subclass is taken as it is: what it adds cannot be copied.
    public func snapshot() -> any ContentEncoder {
        guard type(of: self) == PropertyListEncoder.self else { return self }
        let copy = PropertyListEncoder()
        copy.outputFormat = outputFormat
        copy.userInfo = userInfo
        return copy
    }
}
