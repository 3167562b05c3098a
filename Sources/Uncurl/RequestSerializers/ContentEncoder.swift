public import URLLoading

/// Encodes values as content.
public protocol ContentEncoder: Sendable {
    /// The value of the Content-Type field.
    var contentType: String { get }

    /// Encodes a value. May be called on any thread, for several values at once.
    func encode<Value: Encodable>(_ value: Value) throws -> Data

    /// A copy of the encoder that later changes do not affect. A value type returns itself.
    func snapshot() -> any ContentEncoder
}

extension ContentEncoder {
    public func snapshot() -> any ContentEncoder { self }
}

extension JSONEncoder: ContentEncoder {
    public var contentType: String { "application/json" }

    /// Returns a subclass's object itself: its additions cannot be copied.
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

    /// Returns a subclass's object itself: its additions cannot be copied.
    public func snapshot() -> any ContentEncoder {
        guard type(of: self) == PropertyListEncoder.self else { return self }
        let copy = PropertyListEncoder()
        copy.outputFormat = outputFormat
        copy.userInfo = userInfo
        return copy
    }
}
