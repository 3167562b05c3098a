internal import URLLoading

extension Parameters {
    /// Makes parameters of Foundation's objects, such as the results of `JSONSerialization` and
    /// `PropertyListSerialization`, or a `[String: Any]`. The names of dictionaries are sorted. A nil is null.
    ///
    /// - Throws: ``ParameterFailure`` for an object of another kind, with its position, and for nesting beyond the
    ///   limit.
    public init(foundationObject object: Any) throws(ParameterFailure) {
        self = try Self.value(of: object, at: "", depth: 0)
    }

    private static func value(of object: Any, at path: String, depth: Int) throws(ParameterFailure) -> Parameters {
        guard depth <= maximumDepth else { throw ParameterFailure(.tooDeep(limit: maximumDepth)) }
        switch object {
        case let value as Parameters: return value
        case let value as any PossiblyNil:
            return try value.content.map { content throws(ParameterFailure) in
                try self.value(of: content, at: path, depth: depth)
            } ?? .null
        case let value as String: return .string(value)
        // Decided by the type: a cast would convert 1 to true.
        case let value as Bool where type(of: object) == Bool.self: return .bool(value)
        case let value as any FixedWidthInteger where !(object is NSNumber): return Parameters(value)
        case let value as Decimal where type(of: object) == Decimal.self: return .decimal(value)
        case let value as NSDecimalNumber: return .decimal(value.decimalValue)
        case let value as NSNumber: return number(value)
        case let value as Data: return .data(value)
        case let value as Date: return .date(value)
        case let value as URL: return .string(value.absoluteString)
        case is NSNull: return .null
        case let values as [String: Any]:
            var fields = KeyedParameters()
            for (name, value) in values.sorted(by: { $0.key < $1.key }) {
                fields[name] = try self.value(of: value, at: path.isEmpty ? name : "\(path).\(name)", depth: depth + 1)
            }
            return .keyed(fields)
        case let values as Set<AnyHashable>: return .set(try elements(of: values.map(\.base), at: path, depth: depth))
        case let values as [Any]: return .array(try elements(of: values, at: path, depth: depth))
        default:
            throw ParameterFailure(.notExpressible(path: path, kind: "\(type(of: object))", format: "a request"))
        }
    }

    private static func elements(
        of objects: [Any],
        at path: String,
        depth: Int
    ) throws(ParameterFailure) -> [Parameters] {
        var values: [Parameters] = []
        for (index, object) in objects.enumerated() {
            values.append(try value(of: object, at: "\(path)[\(index)]", depth: depth + 1))
        }
        return values
    }

    private static func number(_ number: NSNumber) -> Parameters {
        switch unsafe String(cString: number.objCType) {
        case "d": .double(number.doubleValue)
        case "f": Parameters(number.floatValue)
        case "Q": Parameters(number.uint64Value)
        // Foundation has only two Boolean objects.
        case "c",
            "B" where number === NSNumber(value: true) || number === NSNumber(value: false):
            .bool(number.boolValue)
        default: .integer(number.int64Value)
        }
    }
}

/// Marks `Optional`: a dictionary of anything may have optional values.
private protocol PossiblyNil {
    var content: Any? { get }
}

extension Optional: PossiblyNil {
    fileprivate var content: Any? { self }
}
