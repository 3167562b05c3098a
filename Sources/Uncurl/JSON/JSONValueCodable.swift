extension JSONValue: Encodable {
    /// Encodes the value. Encoders have no integers beyond 64 bits, so these are encoded as a `Decimal`.
    ///
    /// - Throws: `EncodingError` for an integer that no `Decimal` holds: it has more than 38 digits.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .number(.integer(let value)): try container.encode(value)
        case .number(.unsigned(let value)): try container.encode(value)
        case .number(.floating(let value)): try container.encode(value)
        case .number(.digits(let digits)):
            guard let decimal = Decimal(string: digits), decimal.description == digits else {
                let words = "\(digits) has more digits than a Decimal"
                throw EncodingError.invalidValue(
                    self,
                    EncodingError.Context(codingPath: container.codingPath, debugDescription: words)
                )
            }
            try container.encode(decimal)
        case .string(let value): try container.encode(value)
        case .array(let elements): try container.encode(elements)
        case .object(let members): try container.encode(members)
        }
    }
}

extension JSONValue: Decodable {
    /// Decodes a value of any kind. Integers are exact up to 38 digits, as many as a `Decimal` holds; beyond, a number
    /// is ``JSONNumber/floating(_:)``.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .number(.integer(value))
        } else if let value = try? container.decode(UInt64.self) {
            self = .number(.unsigned(value))
        } else if let value = try? container.decode(Double.self) {
            self = .number(Self.largeInteger(value, container).map { .digits($0) } ?? .floating(value))
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([JSONValue].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: JSONValue].self))
        }
    }

    /// The digits of a number beyond 64 bits; nil if it has a fraction, or more digits than a `Decimal`.
    private static func largeInteger(_ value: Double, _ container: any SingleValueDecodingContainer) -> String? {
        guard abs(value) >= 0x1p63, let text = try? container.decode(Decimal.self).description else { return nil }
        let digits = text.utf8.drop { $0 == UInt8(ascii: "-") }
        return digits.count <= 38 && digits.allSatisfy { (0x30...0x39).contains($0) } ? text : nil
    }
}
