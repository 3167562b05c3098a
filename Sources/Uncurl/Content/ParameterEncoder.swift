internal import Foundation

extension Parameters {
    /// Makes parameters of an `Encodable` value. Dates, bytes, decimals and `Set`s keep their kind, URLs become text.
    /// Names keep the order in which the value encodes them.
    public init(encoding value: some Encodable) throws(ParameterFailure) {
        do {
            self = try ParameterEncoder.parameters(of: value, at: [], depth: 0)
        } catch let failure as ParameterFailure {
            throw failure
        } catch {
            throw ParameterFailure(.thrown(error))
        }
    }
}

/// A place in the tree where one value is made. Containers write into it; its content at the end is the value.
final class ParameterNode {
    enum Content {
        case none
        case value(Parameters)
        case array([ParameterNode])
        case keyed([(name: String, node: ParameterNode)])
    }

    var content = Content.none

    /// Makes the node an object, unless it is one already: a superclass continues in its subclass's object.
    func becomeObject() {
        if case .keyed = content { return }
        content = .keyed([])
    }

    func becomeArray() {
        if case .array = content { return }
        content = .array([])
    }

    func field(_ name: String) -> ParameterNode {
        let place = ParameterNode()
        if case .keyed(var fields) = content {
            // Released first; otherwise each name would copy all names before it.
            content = .none
            fields.append((name, place))
            content = .keyed(fields)
        }
        return place
    }

    /// The node under a name, for a container that continues what another has begun; a new one if there is none.
    func continued(_ name: String) -> ParameterNode {
        guard case .keyed(let fields) = content, let last = fields.last(where: { $0.name == name }) else {
            return field(name)
        }
        return last.node
    }

    func element() -> ParameterNode {
        let place = ParameterNode()
        if case .array(var nodes) = content {
            content = .none
            nodes.append(place)
            content = .array(nodes)
        }
        return place
    }

    func sortNames() {
        guard case .keyed(let fields) = content else { return }
        content = .keyed(fields.sorted { $0.name < $1.name })
    }

    /// The value of the node. A value that encodes nothing is an empty object, as with `JSONEncoder`.
    var parameters: Parameters {
        switch content {
        case .none: return .empty
        case .value(let value): return value
        case .array(let nodes): return .array(nodes.map(\.parameters))
        case .keyed(let fields):
            var keyed = KeyedParameters()
            for (name, node) in fields { keyed[name] = node.parameters }
            return .keyed(keyed)
        }
    }
}

/// The encoder that is passed to a value's `encode(to:)`, and its containers but for those with names.
struct ParameterEncoder: Encoder {
    let node: ParameterNode
    let codingPath: [any CodingKey]
    let depth: Int
    /// Whether it takes one value after the other.
    var isArray = false

    var userInfo: [CodingUserInfoKey: Any] { [:] }

    static func parameters(
        of value: some Encodable,
        at path: [any CodingKey],
        depth: Int
    ) throws -> Parameters {
        let node = ParameterNode()
        try encode(value, into: node, at: path, depth: depth)
        return node.parameters
    }

    /// Values of types with a case of their own are stored as they are. Other values encode themselves.
    static func encode(
        _ value: some Encodable,
        into node: ParameterNode,
        at path: [any CodingKey],
        depth: Int
    ) throws {
        try Parameters.check(depth: depth)
        switch value {
        case let value as Parameters: node.content = .value(value)
        case let value as Date: node.content = .value(.date(value))
        case let value as Data: node.content = .value(.data(value))
        case let value as Decimal: node.content = .value(.decimal(value))
        case let value as URL: node.content = .value(.string(value.absoluteString))
        default:
            if let elements = try (value as? any Unordered)?.parameters(at: path, depth: depth + 1) {
                node.content = .value(.set(elements))
                return
            }
            try value.encode(to: ParameterEncoder(node: node, codingPath: path, depth: depth))
            if value is any Unordered { node.sortNames() }
        }
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        node.becomeObject()
        return KeyedEncodingContainer(ParameterKeyedContainer(node: node, codingPath: codingPath, depth: depth))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        node.becomeArray()
        return ParameterEncoder(node: node, codingPath: codingPath, depth: depth, isArray: true)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        ParameterEncoder(node: node, codingPath: codingPath, depth: depth)
    }
}

/// The values of an array, one after the other, or a single value.
extension ParameterEncoder: UnkeyedEncodingContainer, SingleValueEncodingContainer {
    var count: Int {
        if case .array(let nodes) = node.content { nodes.count } else { 0 }
    }

    private func put(_ value: Parameters) { (isArray ? node.element() : node).content = .value(value) }

    func encodeNil() throws { put(.null) }
    func encode(_ value: Bool) throws { put(.bool(value)) }
    func encode(_ value: String) throws { put(.string(value)) }
    func encode(_ value: Double) throws { put(.double(value)) }
    func encode(_ value: Float) throws { put(Parameters(value)) }
    func encode(_ value: some FixedWidthInteger & Encodable) throws { put(Parameters(value)) }

    func encode<Value: Encodable>(_ value: Value) throws {
        let inner = isArray ? nested() : ParameterEncoder(node: node, codingPath: codingPath, depth: depth + 1)
        try Self.encode(value, into: inner.node, at: inner.codingPath, depth: inner.depth)
    }

    func nestedContainer<Nested: CodingKey>(keyedBy keyType: Nested.Type) -> KeyedEncodingContainer<Nested> {
        nested().container(keyedBy: keyType)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { nested().unkeyedContainer() }
    func superEncoder() -> any Encoder { nested() }

    private func nested() -> ParameterEncoder {
        let path = codingPath + [ParameterKey(index: count)]
        return ParameterEncoder(node: node.element(), codingPath: path, depth: depth + 1)
    }
}

/// Marks the collections whose order differs from process to process. A `Set` encodes itself like an array; the names
/// of a `Dictionary` are sorted, so that equal requests are written equally.
private protocol Unordered {
    /// The elements of a set; nil for a dictionary.
    func parameters(at path: [any CodingKey], depth: Int) throws -> [Parameters]?
}

extension Set: Unordered where Element: Encodable {
    fileprivate func parameters(at path: [any CodingKey], depth: Int) throws -> [Parameters]? {
        try map { try ParameterEncoder.parameters(of: $0, at: path, depth: depth) }
    }
}

extension Dictionary: Unordered {
    fileprivate func parameters(at path: [any CodingKey], depth: Int) throws -> [Parameters]? { nil }
}

/// An object that is being encoded. A class and its superclass may write to the same node through separate containers.
struct ParameterKeyedContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let node: ParameterNode
    let codingPath: [any CodingKey]
    let depth: Int

    private func put(_ value: Parameters, _ key: Key) { node.field(key.stringValue).content = .value(value) }

    func encodeNil(forKey key: Key) throws { put(.null, key) }
    func encode(_ value: Bool, forKey key: Key) throws { put(.bool(value), key) }
    func encode(_ value: String, forKey key: Key) throws { put(.string(value), key) }
    func encode(_ value: Double, forKey key: Key) throws { put(.double(value), key) }
    func encode(_ value: Float, forKey key: Key) throws { put(Parameters(value), key) }
    func encode(_ value: some FixedWidthInteger & Encodable, forKey key: Key) throws { put(Parameters(value), key) }

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        try ParameterEncoder.encode(value, into: node.field(key.stringValue), at: codingPath + [key], depth: depth + 1)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy keyType: Nested.Type,
        forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        nested(key, node.continued(key.stringValue)).container(keyedBy: keyType)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        nested(key, node.continued(key.stringValue)).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { superEncoder(ParameterKey("super")) }
    func superEncoder(forKey key: Key) -> any Encoder { superEncoder(key) }

    private func superEncoder(_ key: any CodingKey) -> ParameterEncoder { nested(key, node.field(key.stringValue)) }

    private func nested(_ key: any CodingKey, _ node: ParameterNode) -> ParameterEncoder {
        ParameterEncoder(node: node, codingPath: codingPath + [key], depth: depth + 1)
    }
}

extension Parameters {
    /// The integer in the case that can hold it.
    public init(_ value: some FixedWidthInteger) {
        if let small = Int64(exactly: value) {
            self = .integer(small)
        } else if let large = UInt64(exactly: value) {
            self = .unsigned(large)
        } else {
            self = .string(String(value))
        }
    }

    /// The double with the same shortest digits, so that a float's `0.1` is not written as `0.10000000149011612`.
    init(_ value: Float) {
        self = .double(Double(value.description) ?? Double(value))
    }
}

struct ParameterKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(_ name: String) {
        stringValue = name
        intValue = nil
    }

    init(index: Int) {
        stringValue = String(index)
        intValue = index
    }

    init?(stringValue: String) { self.init(stringValue) }
    init?(intValue: Int) { self.init(index: intValue) }
}
