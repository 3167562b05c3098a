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

    /// A new node under a name.
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

    /// A new node after the last element.
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

/// The encoder that is passed to a value's `encode(to:)`.
struct ParameterEncoder: Encoder {
    let node: ParameterNode
    let codingPath: [any CodingKey]
    let depth: Int

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
        guard depth <= Parameters.maximumDepth else {
            throw ParameterFailure(.tooDeep(limit: Parameters.maximumDepth))
        }
        switch value {
        case let value as Parameters: node.content = .value(value)
        case let value as Date: node.content = .value(.date(value))
        case let value as Data: node.content = .value(.data(value))
        case let value as Decimal: node.content = .value(.decimal(value))
        case let value as URL: node.content = .value(.string(value.absoluteString))
        case let value as any UnorderedValues:
            node.content = .value(.set(try value.parameters(at: path, depth: depth + 1)))
        default:
            try value.encode(to: ParameterEncoder(node: node, codingPath: path, depth: depth))
            if value is any UnorderedNames { node.sortNames() }
        }
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        node.becomeObject()
        return KeyedEncodingContainer(ParameterKeyedContainer(node: node, codingPath: codingPath, depth: depth))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        node.becomeArray()
        return ParameterUnkeyedContainer(node: node, codingPath: codingPath, depth: depth)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        ParameterSingleContainer(node: node, codingPath: codingPath, depth: depth)
    }
}

/// Marks `Set`, which encodes itself like an array.
private protocol UnorderedValues {
    func parameters(at path: [any CodingKey], depth: Int) throws -> [Parameters]
}

extension Set: UnorderedValues where Element: Encodable {
    fileprivate func parameters(at path: [any CodingKey], depth: Int) throws -> [Parameters] {
        try map { try ParameterEncoder.parameters(of: $0, at: path, depth: depth) }
    }
}

/// Marks `Dictionary`, whose order differs from process to process. Its names are sorted, so that equal requests are
/// written equally.
private protocol UnorderedNames {}

extension Dictionary: UnorderedNames {}
