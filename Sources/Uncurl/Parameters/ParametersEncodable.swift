/// Parameters can be encoded by any encoder. The encoder's own strategies write decimals, dates and bytes; sets become
/// arrays.
extension Parameters: Encodable {
    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .null:
            var container = encoder.singleValueContainer()
            try container.encodeNil()
        case .bool(let value): try value.encode(to: encoder)
        case .integer(let value): try value.encode(to: encoder)
        case .unsigned(let value): try value.encode(to: encoder)
        case .double(let value): try value.encode(to: encoder)
        case .string(let value): try value.encode(to: encoder)
        // Encoded through a container, because encoders know these three types.
        case .decimal(let value):
            var container = encoder.singleValueContainer()
            try container.encode(value)
        case .data(let value):
            var container = encoder.singleValueContainer()
            try container.encode(value)
        case .date(let value):
            var container = encoder.singleValueContainer()
            try container.encode(value)
        case .array(let elements), .set(let elements):
            guard encoder.codingPath.count <= Parameters.maximumDepth else {
                throw ParameterFailure(.tooDeep(limit: Parameters.maximumDepth))
            }
            var container = encoder.unkeyedContainer()
            for element in elements { try container.encode(element) }
        case .keyed(let fields):
            guard encoder.codingPath.count <= Parameters.maximumDepth else {
                throw ParameterFailure(.tooDeep(limit: Parameters.maximumDepth))
            }
            var container = encoder.container(keyedBy: ParameterKey.self)
            for (name, value) in fields { try container.encode(value, forKey: ParameterKey(name)) }
        }
    }
}
